"""A camera that a test holds in its own process: it shows what a function returns, and hangs or unplugs on request."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from firmware.devices.camera.source import CameraMissing, Frame, Image
from firmware.devices.camera.timed_camera import TimedCamera


class ProgramCamera(TimedCamera):
    """A `FrameSource` over any function that returns a BGR picture of the table.

    The methods may be called from any thread. `timing` goes to `TimedCamera`.
    """

    def __init__(self, picture: Callable[[], Image], **timing: Any) -> None:
        super().__init__(**timing)
        self._picture = picture
        self._going = threading.Event()
        self._going.set()
        self._plugged = True
        self._held = False

    def freeze(self) -> None:
        """Hang: no picture until `thaw`."""
        self._going.clear()

    def thaw(self) -> None:
        """Continue after `freeze`."""
        self._going.set()

    def unplug(self) -> None:
        """Pull the cable."""
        self._plugged = self._held = False

    def replug(self) -> None:
        """Plug it in again; it must be opened again."""
        self._plugged = True

    def show(self, picture: Callable[[], Image]) -> None:
        """Use another source of pictures."""
        self._picture = picture

    def _open(self) -> None:
        if not self._plugged:
            raise CameraMissing("The camera is not connected: plug it in.")
        self._held = True

    def _take(self) -> Frame:
        at = time.monotonic()
        self._going.wait()
        if not self._held:
            raise CameraMissing("The camera gives no pictures: check its cable.")
        return Frame(self._picture(), at)
