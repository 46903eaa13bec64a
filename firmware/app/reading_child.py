"""The reading process itself: owns the camera and the card reader, answers one job at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware.app.inputs import ReadingDone, ReadingJob, ReadingLost
from firmware.devices.camera import CameraError, CameraHung, Frame, FrameLate, FrameSource

if TYPE_CHECKING:
    from vision.arrays import Image

FRAME_QUALITY: Final = 88
CROP_QUALITY: Final = 85
"""JPEG qualities that keep a full frame under 5 MB and a zone's crop under 120 kB (DESIGN.md 5)."""
CROP_PX_PER_MM: Final = 2.5
LATE_FRAMES: Final = 3


@dataclass(frozen=True)
class ReaderSpec:
    """What the child is to be. `camera` makes the camera, in the child; it must be picklable."""

    data: Path
    camera: Callable[[], FrameSource]
    layout: Path | None = None
    threads: int = 2


@dataclass(frozen=True)
class Ready:
    """The child has its camera and its model."""


@dataclass(frozen=True)
class Failed:
    """The child cannot go on, for this reason."""

    reason: str


def serve(line: Connection, spec: ReaderSpec) -> None:
    """Run the reading process: `Ready` or `Failed` first, then an answer for every (attempt, job)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the table's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from vision.errors import VisionError

    try:
        worker = _Worker(spec)
    except (VisionError, CameraError) as error:
        line.send(Failed(str(error)))
        return
    line.send(Ready())
    with suppress(EOFError, BrokenPipeError):
        while True:
            attempt, job = line.recv()
            line.send(worker.read(replace(job, name=f"{job.name}-{attempt}")))


def _end_with_parent() -> None:
    """A child that outlives a killed table would hold the camera."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Worker:
    """Camera, layout and model, ready to read. Raises CameraError or VisionError."""

    def __init__(self, spec: ReaderSpec) -> None:
        from firmware.table.captures import CaptureStore
        from vision.layout import TableLayout
        from vision.reader import CardReader

        self._store = CaptureStore(spec.data)
        self._layout = TableLayout.load(spec.layout)
        self._reader = CardReader(threads=spec.threads)
        self._camera = spec.camera()
        self._camera.open()

    def read(self, job: ReadingJob) -> ReadingDone | ReadingLost | Failed:
        """Take a frame, store it, read it, store the zones' crops."""
        from firmware.table.errors import CaptureError
        from vision.errors import VisionError
        from vision.geometry import find_felt
        from vision.reading import read

        frame: dict[str, Any] | None = None
        try:
            image = self._frame().image
            frame = self._save(f"{job.name}-frame.jpg", image, FRAME_QUALITY)
            reading = read(image, self._layout, self._reader).to_json()
            felt = find_felt(image, self._layout)
            crops = {
                (zone.place, zone.row): self._save(
                    f"{job.name}-{zone.place.lower()}-{zone.row}.jpg",
                    felt.rectify(image, zone, CROP_PX_PER_MM),
                    CROP_QUALITY,
                )
                for zone in self._layout.zones
                if zone.place in job.places
            }
        except CameraHung as error:
            return Failed(str(error))  # only a fresh process gets rid of a hung driver
        except (CameraError, CaptureError) as error:
            return ReadingLost(job.number, str(error), fault=True, frame=frame)
        except VisionError as error:
            return ReadingLost(job.number, _sentence(str(error)), fault=False, frame=frame)
        zones = [zone | {"capture": crops.get((zone["place"], zone["row"]))} for zone in reading["zones"]]
        return ReadingDone(job.number, reading | {"zones": zones, "frame": frame})

    def _frame(self) -> Frame:
        """Return a fresh frame; late ones are waited for, a lost camera is opened anew."""
        for _ in range(LATE_FRAMES):
            try:
                return self._camera.frame()
            except FrameLate:
                continue
            except CameraHung:
                raise
            except CameraError:
                self._camera.close()
                self._camera.open()
        return self._camera.frame()

    def _save(self, name: str, image: Image, quality: int) -> dict[str, Any]:
        import cv2

        _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
        return asdict(self._store.save(name, data.tobytes()))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
