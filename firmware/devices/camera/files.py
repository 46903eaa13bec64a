"""Pictures on disk instead of a camera, or a video."""

import time
from pathlib import Path
from typing import cast

import cv2
import numpy as np

from firmware.devices.camera.source import (
    PICTURES,
    CameraMissing,
    Frame,
    FrameUnreadable,
    Image,
    NoMoreFrames,
    TakenSetting,
)

USUAL_RATE = 25.0
"""Pictures a second of a video that does not say it."""


class FileFrames:
    """A picture, or a folder of pictures in the order of their names, as a `FrameSource`.

    `repeat` starts again after the last one; without it NoMoreFrames is raised.
    """

    def __init__(self, path: Path, repeat: bool = False) -> None:
        self._path = path
        self._repeat = repeat
        self._files: list[Path] = []
        self._next = 0
        self.taken: tuple[TakenSetting, ...] = ()

    def open(self) -> None:
        """List the pictures. Raises CameraMissing."""
        if self._path.is_dir():
            self._files = sorted(path for path in self._path.iterdir() if path.suffix.lower() in PICTURES)
            if not self._files:
                raise CameraMissing(
                    "There is no picture in %(path)s: put some there, or name another folder.",
                    path=self._path,
                )
        elif self._path.is_file():
            self._files = [self._path]
        else:
            raise CameraMissing("There is no picture and no folder %(path)s.", path=self._path)
        self._next = 0

    def frame(self) -> Frame:
        """Return the next picture. Raises FrameUnreadable (then the next call continues), NoMoreFrames."""
        if self._repeat and self._files:
            self._next %= len(self._files)
        if self._next >= len(self._files):
            raise NoMoreFrames("All pictures of %(path)s were shown.", path=self._path)
        path = self._files[self._next]
        self._next += 1
        at = time.monotonic()
        return Frame(_read(path), at)

    def check(self) -> None:
        """Check that the pictures exist. Raises CameraMissing."""
        if self._path.exists():
            return
        raise CameraMissing("There is no picture and no folder %(path)s.", path=self._path)

    def close(self) -> None:
        """Forget the list."""
        self._files = []


def _read(path: Path) -> Image:
    try:
        data = np.frombuffer(path.read_bytes(), np.uint8)
        image = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    except (OSError, cv2.error):
        image = None
    if image is None:
        raise FrameUnreadable("%(path)s cannot be read as a picture.", path=path)
    return cast(Image, image)


class VideoFrames:
    """A video as a `FrameSource`: it plays as fast as it was taken, whether or not somebody looks, again and again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._capture: cv2.VideoCapture | None = None
        self._began = self._rate = 0.0
        self._next = 0
        self.taken: tuple[TakenSetting, ...] = ()

    def open(self) -> None:
        """Begin to play. Raises CameraMissing."""
        self.check()
        self._capture = cv2.VideoCapture(str(self._path))
        self._rate = self._capture.get(cv2.CAP_PROP_FPS) or USUAL_RATE
        self._began, self._next = time.monotonic(), 0

    def frame(self) -> Frame:
        """Return the picture that is due now. Raises FrameUnreadable."""
        assert self._capture is not None
        at = time.monotonic()
        due = int((at - self._began) * self._rate)
        if due - self._next > self._rate:  # nobody looked for a while
            self._capture.set(cv2.CAP_PROP_POS_FRAMES, due)
            self._next = due
        good = True
        while good and self._next < due:
            good = self._capture.grab()
            self._next += 1
        good, image = self._capture.read() if good else (False, None)
        self._next += 1
        if not good:  # the end, wherever the file says that it is
            self.close()
            self.open()
            good, image = self._capture.read()
            self._next = 1
        if not good:
            raise FrameUnreadable("%(path)s cannot be played as a video.", path=self._path)
        return Frame(cast(Image, image), at)

    def check(self) -> None:
        """Check that the video exists. Raises CameraMissing."""
        if not self._path.is_file():
            raise CameraMissing("There is no video %(path)s.", path=self._path)

    def close(self) -> None:
        """Close the file."""
        if self._capture is not None:
            self._capture.release()
            self._capture = None


def is_video(path: Path) -> bool:
    """Return whether a file is a video that can be played."""
    capture = cv2.VideoCapture(str(path))
    try:
        return bool(capture.isOpened() and capture.grab())
    finally:
        capture.release()
