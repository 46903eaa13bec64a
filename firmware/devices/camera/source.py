"""The camera: one protocol, frames as BGR arrays with the monotonic time they were taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from firmware.devices.errors import DeviceError, DeviceMissing

Image = npt.NDArray[np.uint8]
"""Height x width x 3, blue-green-red, one byte each."""


class CameraError(DeviceError):
    """Any fault of a camera."""


class CameraMissing(CameraError, DeviceMissing):
    """The camera, or the file that stands for it, is not there."""


class FrameUnreadable(CameraError, ValueError):
    """What came is no picture: not an image file, not height x width x 3 bytes, or empty."""


class FrameLate(CameraError, TimeoutError):
    """No frame in time; the next one may come. Ask again."""


class CameraHung(CameraError, TimeoutError):
    """No frame for so long that waiting is no use. Replace the process that holds the camera."""


class NoMoreFrames(CameraError, EOFError):
    """The pictures that stand for the camera are used up."""


class SettingRefused(CameraError, RuntimeError):
    """The camera did not take a setting that was written and read back."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture and when it was taken."""

    image: Image
    at: float
    """Monotonic seconds; never earlier than the call of `frame()` that gave it."""


class FrameSource(Protocol):
    """A camera, or what stands for one. Used from one thread."""

    def open(self) -> None:
        """Take the camera. Raises CameraMissing, SettingRefused or another CameraError."""

    def frame(self) -> Frame:
        """A picture taken after this call began. Raises FrameLate, CameraHung or another CameraError."""

    def check(self) -> None:
        """See that the camera is there and gives pictures, without using one up. Raises as `frame` does."""

    def close(self) -> None:
        """Let go of the camera. May be called twice."""
