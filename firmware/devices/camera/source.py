"""The camera protocol: frames as BGR arrays with the monotonic time of capture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from firmware.devices.errors import DeviceError, DeviceMissing

if TYPE_CHECKING:  # not at run time: the table's process imports this module, and never needs NumPy
    import numpy as np
    import numpy.typing as npt

PICTURES: Final = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
"""How the names of picture files end."""
Image: TypeAlias = "npt.NDArray[np.uint8]"
"""Height x width x 3, blue-green-red, one byte each."""


class CameraError(DeviceError):
    """Any fault of a camera."""


class CameraMissing(CameraError, DeviceMissing):
    """The camera, or the file used instead of it, does not exist."""


class FrameUnreadable(CameraError, ValueError):
    """Invalid picture: not an image file, not height x width x 3 bytes, or empty."""


class FrameLate(CameraError, TimeoutError):
    """No frame in time; the next call may succeed."""


class CameraHung(CameraError, TimeoutError):
    """No frame for too long. Replace the process that holds the camera."""


class NoMoreFrames(CameraError, EOFError):
    """No pictures are left in the files used instead of a camera."""


class SettingRefused(CameraError, RuntimeError):
    """The camera did not apply a setting: reading it back gave another value."""


@dataclass(frozen=True, slots=True)
class TakenSetting:
    """A setting as it was asked for and as the camera took it, each with its unit; "" for one that it did not take."""

    name: str
    """"size", "format", "mains", "exposure", "gain", "white_balance", "focus"."""
    asked: str
    took: str


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture and its time of capture."""

    image: Image
    at: float
    """Monotonic seconds; never earlier than the call of `frame()` that returned it."""


class FrameSource(Protocol):
    """A camera, or its substitute. Used from one thread."""

    @property
    def taken(self) -> Sequence[TakenSetting]:
        """What the camera made of its settings when it was last opened.

        Empty if there are no settings, or if the camera refuses each one that it cannot take exactly.
        """

    def open(self) -> None:
        """Open the camera. Raises CameraMissing, SettingRefused or another CameraError."""

    def frame(self) -> Frame:
        """Return a picture taken after this call began. Raises FrameLate, CameraHung or another CameraError."""

    def check(self) -> None:
        """Check that the camera is there and delivers pictures, without using one up. Raises as `frame` does."""

    def close(self) -> None:
        """Release the camera. May be called twice."""
