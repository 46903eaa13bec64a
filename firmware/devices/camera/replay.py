"""A recorded hand in the place of a camera: the full frames that the archive kept of it."""

from __future__ import annotations

from pathlib import Path

from firmware.devices.camera.files import FileFrames
from firmware.devices.camera.source import CameraMissing

FRAMES = "*-frame.jpg"
"""How the archive names full frames, in the order in which they were taken (DESIGN.md 5)."""
LOOKS = 4
"""Frames that one reading asks for: one to compare with, and the three that must agree."""


class ReplayFrames(FileFrames):
    """A hand's folder of captures as a `FrameSource`; a folder of such folders gives hand after hand.

    Each recorded frame stands for the still table that it was taken of, so it is given `looks` times: one reading
    sees one recorded frame. After the last, NoMoreFrames.
    """

    def __init__(self, folder: Path, looks: int = LOOKS) -> None:
        super().__init__(folder)
        self._looks = looks

    def open(self) -> None:
        """List the frames. Opened again, it goes on where it was. Raises CameraMissing."""
        if self._files:
            return
        frames = sorted(self._path.glob(FRAMES)) or sorted(self._path.glob(f"*/{FRAMES}"))
        if not frames:
            raise CameraMissing(f"No hand was recorded in {self._path}: name a hand's folder of captures.")
        self._files = [frame for frame in frames for _ in range(self._looks)]
        self._next = 0

    def close(self) -> None:
        """Let go of nothing: a lost camera is opened again, and that must not rewind what was recorded."""
