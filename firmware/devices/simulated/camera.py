"""A camera that is handed its pictures, and fails as cameras do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from firmware.devices.camera import CameraMissing, Frame, Image
from firmware.devices.camera_timed import TimedCamera


class SimulatedCamera(TimedCamera):
    """A `FrameSource` over any function that gives a BGR picture of the table as it is now.

    The verbs may be called from any thread. `timing` goes to `TimedCamera`.
    """

    def __init__(self, picture: Callable[[], Image], **timing: Any) -> None:
        super().__init__(**timing)
        self._picture = picture
        self._going = threading.Event()
        self._going.set()
        self._plugged = True
        self._held = False
        self._delay = 0.0

    def freeze(self) -> None:
        """Hang: no picture comes until it thaws."""
        self._going.clear()

    def thaw(self) -> None:
        """Go on."""
        self._going.set()

    def dawdle(self, seconds: float) -> None:
        """Take this much longer for every picture from now on."""
        self._delay = seconds

    def unplug(self) -> None:
        """Pull the cable."""
        self._plugged = self._held = False

    def replug(self) -> None:
        """Plug it in again; whoever held it must open it anew."""
        self._plugged = True

    def show(self, picture: Callable[[], Image]) -> None:
        """Look at something else."""
        self._picture = picture

    def _open(self) -> None:
        if not self._plugged:
            raise CameraMissing("The camera is not connected: plug it in.")
        self._held = True

    def _take(self) -> Frame:
        at = time.monotonic()
        if self._delay:
            time.sleep(self._delay)
        self._going.wait()
        if not self._held:
            raise CameraMissing("The camera gives no pictures: check its cable.")
        return Frame(self._picture(), at)
