"""The lens's distortion, measured once with a ChArUco board and stored as JSON.

The board is printed on A3 and held in front of the camera in a dozen positions. Its markers are of another dictionary
than the felt's, so the two are never confused.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.base.arrays import Image, Matrix, Points
from vision.base.errors import N_, CalibrationError, VisionFileError

BOARD_SQUARES = (10, 7)
BOARD_SQUARE_MM = 38.0
BOARD_MARKER_MM = 28.0
"""Ten by seven squares of 38 mm: 380 × 266 mm, which leaves A3 its margins."""

MIN_VIEWS = 6
"""Fewer views leave focal length and distortion entangled."""

MIN_CORNERS = 12
"""A view with fewer of the board's 54 inner corners says little."""

MIN_COVERAGE = 0.7
"""The share of the picture's width and height the views must reach: distortion shows at the edges."""

SAME_VIEW = 0.02
"""Corners that lie less than this share of the picture's width apart on average are the same view again."""

UNDISTORT_STEPS = 40
"""Each step leaves a share of the error, a small one but for a fisheye; half a dozen steps are usual."""

MAX_ERROR_PX = 1.0
"""The most the corners may lie off on average; a careful calibration reaches 0.2 to 0.5."""


OTHER_PROPORTIONS = N_(
    "The lens was calibrated at %(width_px)s×%(height_px)s pixels; a picture of %(width)s×%(height)s has other "
    "proportions: calibrate in the camera's present mode."
)


def scaling(before: tuple[int, int], now: tuple[int, int], refusal: str) -> Matrix:
    """Return the map of pixels from a picture's width and height to those of the same picture at another size.

    Raises:
        CalibrationError: the proportions are others; `refusal` says so.
    """
    sx, sy = now[0] / before[0], now[1] / before[1]
    if not math.isclose(sx, sy, rel_tol=0.01):
        width_px, height_px = before
        raise CalibrationError(refusal, width_px=width_px, height_px=height_px, width=now[0], height=now[1])
    # pixel 0 is centred on the origin, so sizes scale around half a pixel outside it
    return np.array([[sx, 0, (sx - 1) / 2], [0, sy, (sy - 1) / 2], [0, 0, 1]])


@dataclass(frozen=True, eq=False)
class Lens:
    """A calibrated lens: camera matrix (3×3, pixels), distortion (k1 k2 p1 p2 k3), the size of its pictures."""

    matrix: Matrix
    distortion: Points
    width_px: int
    height_px: int
    error_px: float

    def undistort(self, points: Points) -> Points:
        """Map n×2 pixels of the picture to their places in the undistorted picture."""
        bent = np.asarray(points, float)
        straight = bent.copy()
        for _ in range(UNDISTORT_STEPS):
            error = self.distort(straight) - bent
            straight -= error
            if np.abs(error).max(initial=0) < 1e-6:
                break
        return straight

    def distort(self, points: Points) -> Points:
        """Map n×2 pixels of the undistorted picture to the picture's own: the inverse of :meth:`undistort`."""
        flat = np.column_stack([np.asarray(points, float), np.ones(len(points))])
        rays = flat @ np.linalg.inv(self.matrix).T
        zero = np.zeros(3)
        bent, _ = cv2.projectPoints(rays.reshape(-1, 1, 3), zero, zero, self.matrix, self.distortion)
        return np.asarray(bent, float).reshape(-1, 2)

    def for_size(self, width: int, height: int) -> Lens:
        """Return the same lens for a picture of another size.

        Raises:
            CalibrationError: the picture's proportions are others, so it shows another part of the sensor.
        """
        if (width, height) == (self.width_px, self.height_px):
            return self
        scale = scaling((self.width_px, self.height_px), (width, height), OTHER_PROPORTIONS)
        return Lens(scale @ self.matrix, self.distortion, width, height, self.error_px * float(scale[0, 0]))

    @property
    def sha256(self) -> str:
        """The hash of the calibration's JSON; records refer to it by this."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()

    def to_text(self) -> str:
        """Write the calibration as JSON; :meth:`from_text` reads the same back."""
        size = {"width_px": self.width_px, "height_px": self.height_px}
        arrays = {"matrix": self.matrix.tolist(), "distortion": self.distortion.tolist()}
        return json.dumps({**size, **arrays, "error_px": self.error_px}, indent=1)

    @classmethod
    def from_text(cls, text: str) -> Lens:
        """Read a stored calibration.

        Raises:
            CalibrationError: the text is not a calibration.
        """
        try:
            values: dict[str, Any] = json.loads(text)
            lens = cls(
                np.array(values["matrix"], float),
                np.array(values["distortion"], float),
                int(values["width_px"]),
                int(values["height_px"]),
                float(values["error_px"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise CalibrationError(
                "This is no lens calibration (%(error)s): calibrate again.", error=error
            ) from error
        numbers = np.concatenate([lens.matrix.ravel(), lens.distortion.ravel()])
        if lens.matrix.shape != (3, 3) or lens.distortion.shape != (5,) or not np.isfinite(numbers).all():
            raise CalibrationError("This is no lens calibration (wrong shape): calibrate again.")
        if lens.matrix[0, 0] <= 0 or lens.matrix[1, 1] <= 0 or lens.width_px <= 0 or lens.height_px <= 0:
            raise CalibrationError("This is no lens calibration (impossible values): calibrate again.")
        return lens

    @classmethod
    def load(cls, path: str | Path) -> Lens:
        """Read a calibration from a JSON file.

        Raises:
            VisionFileError: the file cannot be read.
            CalibrationError: it is not a calibration.
        """
        try:
            return cls.from_text(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise VisionFileError(f"the lens calibration {path} cannot be read: {error.strerror}") from error


def board_picture(px_per_mm: float = 12.0) -> Image:
    """Draw the board to print: 266 × 380 mm, one channel. Print it at its true size and glue it on something flat."""
    size = tuple(round(n * BOARD_SQUARE_MM * px_per_mm) for n in BOARD_SQUARES)
    return np.asarray(_board().generateImage((size[0], size[1]), marginSize=0, borderBits=1), np.uint8)


@dataclass(frozen=True, eq=False)
class BoardView:
    """The board in one picture: the inner corners found (n×2 pixels), their numbers, the picture's size."""

    corners: npt.NDArray[np.float32]
    ids: npt.NDArray[np.int32]
    size: tuple[int, int]

    @property
    def outline(self) -> Points:
        """The corners' convex hull, n×2 pixels: the part of the picture that the board covers."""
        return np.asarray(cv2.convexHull(self.corners), float).reshape(-1, 2)

    def is_like(self, other: BoardView) -> bool:
        """Return whether the board is held as in another view, which then adds no information."""
        mine, theirs = (dict(zip(v.ids.tolist(), v.corners, strict=True)) for v in (self, other))
        both = mine.keys() & theirs.keys()
        apart = [float(np.linalg.norm(mine[k] - theirs[k])) for k in both]
        return bool(apart) and float(np.mean(apart)) < SAME_VIEW * self.size[0]


def find_board(frame: Image) -> BoardView | None:
    """Find the board in a picture; None if too little of it is visible."""
    corners, ids, _, _ = cv2.aruco.CharucoDetector(_board()).detectBoard(frame)
    if ids is None or len(ids) < MIN_CORNERS:
        return None
    seen = np.asarray(corners, np.float32).reshape(-1, 2)
    return BoardView(seen, np.ravel(ids).astype(np.int32), (frame.shape[1], frame.shape[0]))


def reach(views: Sequence[BoardView]) -> tuple[float, float]:
    """Return the share of the picture's width and of its height that the views cover."""
    if not views:
        return 0.0, 0.0
    x, y = np.ptp(np.concatenate([view.corners for view in views]), axis=0) / views[0].size
    return float(x), float(y)


def calibrate_lens(frames: Sequence[Image]) -> Lens:
    """Measure the lens from pictures of the board, all of one size.

    Raises:
        CalibrationError: too few pictures show the board, they leave the edges out, or they do not agree.
    """
    return lens_of([view for frame in frames if (view := find_board(frame))], len(frames))


def lens_of(views: Sequence[BoardView], pictures: int | None = None) -> Lens:
    """Measure the lens from views of the board, found in so many `pictures` (by default as many as views).

    Raises:
        CalibrationError: they are too few, of different sizes, leave the edges out, or do not agree.
    """
    if len({view.size for view in views}) > 1:
        raise CalibrationError("The calibration pictures have different sizes; take all in one camera mode.")
    if len(views) < MIN_VIEWS:
        raise CalibrationError(
            "The board can be made out in %(seen)s of %(taken)s pictures; %(least)s are needed: hold "
            "it flat, wholly in view, lit and sharp, each time at another angle.",
            seen=len(views),
            taken=len(views) if pictures is None else pictures,
            least=MIN_VIEWS,
        )
    across, down = reach(views)
    if min(across, down) < MIN_COVERAGE:
        raise CalibrationError(
            "The board was shown over %(across)s of the picture's width and %(down)s of its height; "
            "at least %(least)s are needed: show it near the edges too.",
            across=f"{across:.0%}",
            down=f"{down:.0%}",
            least=f"{MIN_COVERAGE:.0%}",
        )
    lens = fit_lens(views)
    if not lens.error_px <= MAX_ERROR_PX:
        raise CalibrationError(
            "The pictures do not agree: corners lie %(error_px)s pixels off, at most %(most)s are "
            "allowed; use a flat, stiff board and sharp pictures.",
            error_px=f"{lens.error_px:.2f}",
            most=f"{MAX_ERROR_PX:g}",
        )
    return lens


def fit_lens(views: Sequence[BoardView]) -> Lens:
    """Fit a lens to at least two views, without judging the result: `lens_of` does."""
    known, size = np.asarray(_board().getChessboardCorners(), np.float32), views[0].size
    printed, seen = [known[view.ids] for view in views], [view.corners for view in views]
    error, matrix, bends, _, _ = cv2.calibrateCamera(printed, seen, size, np.eye(3), np.zeros(5))
    return Lens(np.asarray(matrix, float), np.asarray(bends, float).ravel()[:5], *size, float(error))


def _board() -> cv2.aruco.CharucoBoard:
    words = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    return cv2.aruco.CharucoBoard(BOARD_SQUARES, BOARD_SQUARE_MM, BOARD_MARKER_MM, words)
