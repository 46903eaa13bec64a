"""A recorded hand instead of a camera: the hand's full frames from the archive."""

from pathlib import Path

from firmware.devices.camera.files import FileFrames
from firmware.devices.camera.source import CameraMissing

FRAMES = "*-frame.jpg"
"""File names of full frames in the archive; they sort in the order of capture."""
LOOKS = 4
"""Frames that one reading takes: one to compare with, and the three that must agree."""


class ReplayFrames(FileFrames):
    """A hand's folder of captures as a `FrameSource`; a folder of such folders gives one hand after another.

    Each recorded frame is returned `looks` times, because one reading of a table at rest takes that many frames. After
    the last, NoMoreFrames.
    """

    def __init__(self, folder: Path, looks: int = LOOKS) -> None:
        super().__init__(folder)
        self._looks = looks

    def open(self) -> None:
        """List the frames. A second `open` continues at the same frame. Raises CameraMissing."""
        if self._files:
            return
        frames = sorted(self._path.glob(FRAMES)) or sorted(self._path.glob(f"*/{FRAMES}"))
        if not frames:
            raise CameraMissing(
                "No hand was recorded in %(path)s: name a hand's folder of captures.", path=self._path
            )
        self._files = [frame for frame in frames for _ in range(self._looks)]
        self._next = 0

    def close(self) -> None:
        """Keep the position: a lost camera is opened again, and that must not restart the recording."""
