"""The felt's calibration: where a table's felt lies in its camera's picture, measured once, stored and compared.

Every reading finds the felt again by its markers. The calibration stores where it lay at the setup, so that a moved
camera is detected; its figures describe how well the camera is mounted.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.base.errors import N_, CalibrationError
from vision.felt.felt_view import FeltView
from vision.felt.geometry import camera_matrix, find_felt
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens, scaling
from vision.felt.quality import PictureVerdict, judge
from vision.felt.resample import project

FRAMES: Final = 5
"""Pictures of one calibration: enough to see that nothing moves, and to halve the corners' noise."""

MAX_ERROR_PX: Final = 1.0
"""The most that markers may lie off a flat felt on average (docs/calibration.md)."""

MAX_WANDER_PX: Final = 1.0
"""The most that a marker's corner may wander between the pictures: three times what noise does to it."""

MAX_TILT_DEG: Final = 2.0
"""Beyond, the far side is noticeably smaller and out of focus (docs/calibration.md)."""

MAX_SHEETS_TILT_DEG: Final = 40.0
"""The same over sheets: the camera stands where it can, and what it sees too small is said by the resolution."""

MIN_MARGIN_PX: Final = 10.0
"""Markers whose white border came nearer to the picture's edge were missed (docs/calibration.md)."""

MUST_BE_WELL: Final = ("sharpness", "resolution", "light", "colour")
"""Without these there is nothing to hold a later picture against."""


OTHER_PROPORTIONS: Final = N_(
    "The felt was calibrated at %(width_px)s×%(height_px)s pixels; a picture of %(width)s×%(height)s has other "
    "proportions: calibrate in the camera's present mode."
)


@dataclass(frozen=True)
class Pose:
    """The camera's position: its tilt ``tilt_deg``, its height above the felt, its offset from the middle (mm)."""

    tilt_deg: float
    height_mm: float
    across_mm: float
    down_mm: float


@dataclass(frozen=True)
class Movement:
    """What moved between two calibrations, seen on the felt.

    ``most_mm``: the movement of the felt's corner that moved farthest. The others describe the picture as a whole:
    shift to the right and down, clockwise rotation, and growth as a share.
    """

    most_mm: float
    right_mm: float
    down_mm: float
    turned_deg: float
    larger: float


@dataclass(frozen=True, eq=False)
class FeltCalibration:
    """A calibrated felt: the homography from felt millimetres to pixels, the picture's size, and its sources.

    ``layout`` and ``lens`` are SHA-256 of the layout's text and the lens's calibration ("": none). ``figures`` are for
    people to compare.
    """

    homography: Matrix
    width_px: int
    height_px: int
    layout: str
    lens: str
    figures: dict[str, float]

    @property
    def sha256(self) -> str:
        """The hash of the calibration's JSON; records refer to it by this."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()

    def reference(self, width: int, height: int) -> Matrix:
        """Return the homography for a picture of this size.

        Raises:
            CalibrationError: the picture's proportions are others.
        """
        return scaling((self.width_px, self.height_px), (width, height), OTHER_PROPORTIONS) @ self.homography

    def to_text(self) -> str:
        """Write the calibration as canonical JSON: the same calibration always gives the same text."""
        values = vars(self) | {"homography": self.homography.tolist()}
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> FeltCalibration:
        """Read a stored calibration.

        Raises:
            CalibrationError: the text is not a calibration of a felt.
        """
        try:
            values: dict[str, Any] = json.loads(text)
            found = cls(
                np.array(values["homography"], float),
                int(values["width_px"]),
                int(values["height_px"]),
                str(values["layout"]),
                str(values["lens"]),
                {str(name): float(figure) for name, figure in values["figures"].items()},
            )
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise CalibrationError(
                "This is no felt calibration (%(error)s): calibrate again.", error=error
            ) from error
        matrix = found.homography
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or abs(np.linalg.det(matrix)) < 1e-12:
            raise CalibrationError("This is no felt calibration (impossible values): calibrate again.")
        if found.width_px <= 0 or found.height_px <= 0:
            raise CalibrationError("This is no felt calibration (impossible size): calibrate again.")
        return found


def calibrate_felt(frames: Sequence[Image], layout: TableLayout, lens: Lens | None = None) -> FeltCalibration:
    """Measure where the felt lies, from several pictures of a still scene (BGR, h × w × 3).

    Raises:
        CalibrationError: a marker is hidden, something moves, or the picture is not good enough.
        MarkersError: a picture does not show the felt.
    """
    if not frames:
        raise CalibrationError("There is no picture to calibrate from: take some of the bare felt.")
    if len({frame.shape for frame in frames}) > 1:
        raise CalibrationError("The calibration pictures have different sizes; take all in one camera mode.")
    views = [find_felt(frame, layout, lens) for frame in frames]
    missing = sorted(
        {m.id for m in layout.markers.at} - _ids(views[0]).intersection(*(_ids(view) for view in views))
    )
    if missing:
        raise CalibrationError(
            "Not every marker was seen (%(missing)s missing): clear the felt's edges, keep hands away, "
            "and calibrate again.",
            missing=", ".join(map(layout.markers.name, missing)),
        )
    wander = _wander_px(views)
    if wander > MAX_WANDER_PX:
        raise CalibrationError(
            "The markers wander by %(wander)s pixels from picture to picture: fasten the camera, let "
            "the table be, and calibrate again.",
            wander=f"{wander:.1f}",
        )
    verdicts = judge(frames[-1], views[-1], layout)
    for name in MUST_BE_WELL:
        if not verdicts[name].ok:
            raise CalibrationError(verdicts[name].text)
    view = views[-1]
    matrix = np.mean([v.homography / v.homography[2, 2] for v in views], axis=0)
    figures = {
        "error_px": float(np.mean([v.error_px for v in views])),
        "wander_px": wander,
        "px_per_mm": view.px_per_mm,
        **vars(pose(view, layout)),
        **{name: verdicts[name].figure for name in ("sharpness", "light", "glare", "banding")},
    }
    width, height = view.size
    rounded = {name: round(figure, 4) for name, figure in figures.items()}
    lens_hash = lens.sha256 if lens else ""
    return FeltCalibration(np.asarray(matrix, float), width, height, layout.sha256, lens_hash, rounded)


def pose(view: FeltView, layout: TableLayout) -> Pose:
    """Compute the camera's position from a view of the felt.

    Without the lens's calibration the angle of view comes from the layout, which limits the accuracy of heights.
    """
    columns = np.linalg.inv(camera_matrix(view.size, layout, view.lens)) @ view.homography
    columns = columns / np.linalg.norm(columns[:, :2], axis=0).mean()
    if columns[2, 2] < 0:
        columns = -columns
    first, second, start = columns.T
    left, _, right = np.linalg.svd(np.column_stack([first, second, np.cross(first, second)]))
    turn = left @ right
    eye = -turn.T @ start
    tilt = math.degrees(math.acos(min(1.0, max(-1.0, float(turn[2, 2])))))
    middle = np.array([layout.width_mm, layout.height_mm]) / 2
    across, down = eye[:2] - middle
    return Pose(tilt, -float(eye[2]), float(across), float(down))


def movement(now: Matrix, before: Matrix, layout: TableLayout) -> Movement:
    """Compute what moved from one homography to another of the same felt, in millimetres on the felt."""
    middle = np.array([layout.width_mm, layout.height_mm]) / 2
    box = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]) * (layout.width_mm, layout.height_mm)
    there = project(np.asarray(np.linalg.inv(before), float), project(now, box))
    shift = (there - box).mean(axis=0)
    # the best-fitting rotation and scale, as a complex number: Procrustes in the plane
    old, new = _complex(box - middle), _complex(there - there.mean(axis=0))
    factor = complex((np.conj(old) * new).sum() / (np.abs(old) ** 2).sum())
    return Movement(
        most_mm=float(np.linalg.norm(there - box, axis=1).max()),
        right_mm=float(shift[0]),
        down_mm=float(shift[1]),
        turned_deg=math.degrees(math.atan2(factor.imag, factor.real)),
        larger=abs(factor) - 1,
    )


MARKERS_HIDDEN: Final = N_("Markers are hidden: clear the felt's edges and keep sleeves away.")
FLAT, LEVEL = N_("The felt lies flat."), N_("The camera looks straight down.")
NOT_FLAT: Final = N_("The markers do not lie as on a flat felt: smooth the felt, or calibrate the lens.")
LEANS: Final = N_("The camera leans: level it above the middle of the felt.")
WELL_INSIDE: Final = N_("The felt lies well inside the picture.")
NEAR_THE_EDGE: Final = N_("A marker lies too near the picture's edge: move the camera or hang it higher.")


def set_up_verdicts(view: FeltView, layout: TableLayout) -> list[PictureVerdict]:
    """Judge how the camera is mounted: markers, flatness of the felt, tilt, margin."""
    of, found, wanted = PictureVerdict.of, len(view.markers), len(layout.markers.at)
    error, tilt, margin = view.error_px, pose(view, layout).tilt_deg, margin_px(view, layout)
    most_tilt = MAX_SHEETS_TILT_DEG if layout.markers.are_sheets else MAX_TILT_DEG
    return [
        of("markers", found == wanted, found, wanted, "markers", N_("All markers are seen."), MARKERS_HIDDEN),
        of("fit", error <= MAX_ERROR_PX, error, MAX_ERROR_PX, "px", FLAT, NOT_FLAT),
        of("tilt", tilt <= most_tilt, tilt, most_tilt, "°", LEVEL, LEANS),
        of("margin", margin >= MIN_MARGIN_PX, margin, MIN_MARGIN_PX, "px", WELL_INSIDE, NEAR_THE_EDGE),
    ]


def margin_px(view: FeltView, layout: TableLayout) -> float:
    """Return the least distance between the markers' white borders and the picture's edge."""
    side = layout.markers.side_mm + 2 * layout.markers.quiet_mm
    corners = np.concatenate([marker.box_mm(side) for marker in layout.markers.at])
    at = view.to_image(corners)
    far = np.array(view.size) - 1 - at
    return float(min(at.min(), far.min()))


def _ids(view: FeltView) -> set[int]:
    return {marker.id for marker in view.markers}


def _wander_px(views: Sequence[FeltView]) -> float:
    """Return the largest distance of any corner from its mean place."""
    corners = np.array(
        [np.concatenate([m.corners for m in sorted(view.markers, key=lambda m: m.id)]) for view in views]
    )
    return float(np.linalg.norm(corners - corners.mean(axis=0), axis=2).max())


def _complex(points: Points) -> np.ndarray[Any, np.dtype[np.complex128]]:
    return np.asarray(points[:, 0] + 1j * points[:, 1])
