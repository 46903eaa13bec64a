"""Encodes and stores the pictures of a reading: the frame, and a crop of each zone.

Encoding takes longer than the disk does. So the first of the frames that have to agree is encoded while the others are
awaited; nothing is written before the reading is complete.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import cv2

from firmware.record.journal.captures import CaptureStore
from firmware.threads import Worker
from vision.base.arrays import Image
from vision.felt.felt_view import FeltView
from vision.felt.layout import Zone

FRAME_QUALITY: Final = 88
CROP_QUALITY: Final = 85
"""JPEG qualities that keep a full frame below 5 MB and a zone's crop below 120 kB."""
CROP_PX_PER_MM: Final = 2.5
AT_ONCE: Final = 4
"""Pictures that are encoded and synced side by side: one waits for the disk while another is encoded."""

Reference = dict[str, Any]
"""The reference of a stored picture, as an event has it."""


@dataclass(frozen=True)
class EncodedPictures:
    """JPEG files in the making: of a frame, and of each zone in it by place and row."""

    frame: Future[bytes]
    crops: dict[tuple[str, str], Future[bytes]]


class PictureSaver:
    """Encodes pictures side by side and stores them."""

    def __init__(self, data: Path) -> None:
        """`data`: the record's folder. Raises NoThread."""
        self._store = CaptureStore(data)
        self._workers = tuple(Worker(f"picture {n}") for n in range(AT_ONCE))

    def encode(self, frame: Image, view: FeltView, zones: tuple[Zone, ...]) -> EncodedPictures:
        """Begin to encode a frame (BGR) and the crops of these zones."""

        def crop(zone: Zone) -> bytes:
            return encode(view.rectify(frame, zone, CROP_PX_PER_MM), CROP_QUALITY)

        first, *others = self._workers  # the frame takes as long as all crops
        crops = {
            (zone.place, zone.row): others[n % len(others)].submit(crop, zone) for n, zone in enumerate(zones)
        }
        return EncodedPictures(first.submit(encode, frame, FRAME_QUALITY), crops)

    def save_all(
        self, name: str, encoded: EncodedPictures
    ) -> tuple[Reference, dict[tuple[str, str], Reference]]:
        """Store a reading's pictures; return the references of the frame and of the crops. Raises CaptureError."""

        def save(file: str, data: Future[bytes]) -> Callable[[], Reference]:
            return lambda: self._save(file, data.result())

        first, *others = self._workers
        frame = first.submit(save(f"{name}-frame.jpg", encoded.frame))
        crops = {
            key: others[n % len(others)].submit(save(crop_name(name, *key), data))
            for n, (key, data) in enumerate(encoded.crops.items())
        }
        return frame.result(), {key: crop.result() for key, crop in crops.items()}

    def save_crop(self, name: str, frame: Image, view: FeltView, zone: Zone) -> Reference:
        """Store one zone's crop. Raises CaptureError."""
        picture = view.rectify(frame, zone, CROP_PX_PER_MM)
        return self._save(crop_name(name, zone.place, zone.row), encode(picture, CROP_QUALITY))

    def save_frame(self, file: str, frame: Image) -> Reference:
        """Store a frame as the file of this name. Raises CaptureError."""
        return self._save(file, encode(frame, FRAME_QUALITY))

    def _save(self, file: str, data: bytes) -> Reference:
        return asdict(self._store.save(file, data))


def crop_name(name: str, place: str, row: str) -> str:
    """Return the file name of a zone's crop."""
    return f"{name}-{place.lower()}-{row}.jpg"


def encode(picture: Image, quality: int) -> bytes:
    """Return a picture (BGR) as JPEG."""
    return cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
