"""A survey of the table for its setup: what is detected where in the picture, and every figure with its limit.

It does not search for cards.
"""

from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.base.errors import CalibrationError, MarkersError, VisionError
from vision.felt.calibration import (
    MARKERS_HIDDEN,
    FeltCalibration,
    Movement,
    Pose,
    movement,
    pose,
    set_up_verdicts,
)
from vision.felt.geometry import find_felt, find_markers
from vision.felt.layout import SHEETS, TableLayout
from vision.felt.lens import Lens
from vision.felt.quality import PictureVerdict, colour, judge
from vision.felt.resample import as_grey, reduce_picture

SHOWN_PX: Final = 1280
"""The long side of the picture that is shown, at most."""
JPEG_QUALITY: Final = 80


@dataclass(frozen=True)
class Outline:
    """A thing's four corners in the displayed picture, 4×2 pixels."""

    name: str
    corners: Points


@dataclass(frozen=True)
class Survey:
    """The survey of one frame.

    ``picture`` is a JPEG of ``shown`` pixels, made from the frame of ``size``; outlines are in the picture's pixels. If
    the felt is not found, ``error`` says why, and only the detected markers are given. ``missing``: where the markers
    that are not seen should be. ``strange``: markers that the layout does not have.
    """

    picture: bytes
    size: tuple[int, int]
    shown: tuple[int, int]
    error: VisionError | None
    found: tuple[Outline, ...]
    strange: tuple[Outline, ...]
    verdicts: tuple[PictureVerdict, ...]
    missing: tuple[Outline, ...] = ()
    zones: tuple[Outline, ...] = ()
    pose: Pose | None = None
    moved: Movement | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all but the picture as JSON values."""
        markers = {"found": self.found, "missing": self.missing, "strange": self.strange}
        return {
            "size": list(self.size),
            "shown": list(self.shown),
            "error": self.error.to_json() if self.error else None,
            "markers": {kind: _to_dicts(outlines) for kind, outlines in markers.items()},
            "zones": _to_dicts(self.zones),
            "verdicts": {verdict.name: verdict.to_json() for verdict in self.verdicts},
            "pose": _round(self.pose),
            "moved": _round(self.moved),
        }


def survey(
    frame: Image,
    layout: TableLayout,
    lens: Lens | None = None,
    calibration: FeltCalibration | None = None,
    trouble: MarkersError | None = None,
) -> Survey:
    """Survey a frame (BGR, h × w × 3); with the calibration in force, also what moved since.

    `trouble`: why the four marker sheets in place of a felt cannot be used. Then only their markers are shown.

    Raises:
        PictureError: the frame is not a usable picture.
    """
    grey = as_grey(frame)
    height, width = grey.shape
    small, factor = reduce_picture(frame, SHOWN_PX)
    picture = jpeg(small)
    shown = (small.shape[1], small.shape[0])

    def outline(name: str, corners: Points) -> Outline:
        return Outline(name, (corners + 0.5) / factor - 0.5)

    name = layout.markers.name
    known = {marker.id for marker in layout.markers.at} if trouble is None else {*SHEETS}
    try:
        if trouble is not None:
            raise trouble
        view = find_felt(frame, layout, lens)
    except (MarkersError, CalibrationError) as error:
        seen = find_markers(grey, layout)
        count = PictureVerdict(
            "markers", False, len({m.id for m in seen} & known), len(known), "markers", MARKERS_HIDDEN
        )
        return Survey(
            picture,
            (width, height),
            shown,
            error,
            found=tuple(outline(name(m.id), m.corners) for m in seen if m.id in known),
            strange=tuple(outline(str(m.id), m.corners) for m in seen if m.id not in known),
            verdicts=(count, colour(frame)),
        )
    reference: Matrix | None = None
    why: CalibrationError | None = None
    if calibration:
        try:
            reference = calibration.reference(width, height)
        except CalibrationError as error:
            why = error
    judged = judge(frame, view, layout, reference)
    present = {marker.id for marker in view.markers}
    return Survey(
        picture,
        (width, height),
        shown,
        why,
        found=tuple(outline(name(i), view.to_image(layout.markers.corners_mm(i))) for i in sorted(present)),
        missing=tuple(
            outline(name(i), view.to_image(layout.markers.corners_mm(i))) for i in sorted(known - present)
        ),
        strange=tuple(
            outline(str(m.id), lens.for_size(width, height).distort(m.corners) if lens else m.corners)
            for m in view.others
        ),
        zones=tuple(outline(zone.name, view.to_image(zone.corners_mm)) for zone in layout.zones),
        verdicts=(*set_up_verdicts(view, layout), *judged.values()),
        pose=pose(view, layout),
        moved=movement(view.homography, reference, layout) if reference is not None else None,
    )


def jpeg(picture: Image) -> bytes:
    """Encode a picture for display."""
    return cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()


def _to_dicts(outlines: tuple[Outline, ...]) -> list[dict[str, Any]]:
    return [{"name": o.name, "corners": np.round(o.corners, 1).tolist()} for o in outlines]


def _round(values: Pose | Movement | None) -> dict[str, float] | None:
    return None if values is None else {name: round(value, 4) for name, value in vars(values).items()}
