"""A V4L2 camera: whether a device is one, its controls, and the nearest value that each takes.

From linux/videodev2.h and linux/v4l2-controls.h. UNTESTED on hardware.
"""

import errno
import fcntl
import math
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

AUTO_WHITE_BALANCE: Final = 0x0098090C
GAIN: Final = 0x00980913
POWER_LINE_FREQUENCY: Final = 0x00980918
WHITE_BALANCE: Final = 0x0098091A
EXPOSURE_AUTO: Final = 0x009A0901
EXPOSURE: Final = 0x009A0902
"""In 0.1 ms."""
FOCUS: Final = 0x009A090A
FOCUS_AUTO: Final = 0x009A090C

MAINS: Final = {50: 1, 60: 2}
"""Menu entries of POWER_LINE_FREQUENCY by mains frequency."""
MANUAL, SHUTTER_PRIORITY, APERTURE_PRIORITY = 1, 2, 3
"""Menu entries of EXPOSURE_AUTO. In the first two the exposure is what was set; many cameras have only one of them."""

QUERY, GET, SET = 0xC0445624, 0xC008561B, 0xC008561C  # VIDIOC_QUERYCTRL, VIDIOC_G_CTRL, VIDIOC_S_CTRL
CAPABILITIES: Final = 0x80685600  # VIDIOC_QUERYCAP
CAPABLE: Final = struct.Struct("=16s32s32sIII12x")  # struct v4l2_capability
CAPTURES, SAYS_DEVICE = 0x00000001, 0x80000000
CONTROL: Final = struct.Struct("=Ii")  # struct v4l2_control
QUERIED: Final = struct.Struct("=II32siiiiI8x")  # struct v4l2_queryctrl
DISABLED: Final = 0x0001

_GONE: Final = (errno.ENODEV, errno.ENOENT, errno.ENXIO)
"""Errors of a camera that is no longer there; every other one is the answer of a camera to a value."""
_SECOND: Final = 10_000
"""Exposure of one second."""


def is_capture(device: Path, ioctl: Callable[[int, int, bytes], bytes] = fcntl.ioctl) -> bool:
    """Return whether a device gives pictures; a webcam's second node gives only its metadata."""
    try:
        line = os.open(device, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        *_names, _version, whole, own = CAPABLE.unpack(ioctl(line, CAPABILITIES, bytes(CAPABLE.size)))
    except OSError:
        return False
    finally:
        os.close(line)
    return bool((own if whole & SAYS_DEVICE else whole) & CAPTURES)


@dataclass(frozen=True, slots=True)
class Span:
    """The values that a control says it has."""

    low: int
    high: int
    step: int = 1

    def nearest(self, value: float) -> int:
        """Return the value of the span that is nearest."""
        steps = round((min(max(value, self.low), self.high) - self.low) / self.step)
        return min(self.low + steps * self.step, self.low + (self.high - self.low) // self.step * self.step)


class Controls:
    """The controls of an open camera, as a context. Each method raises OSError when the camera is gone."""

    def __init__(self, device: Path, ioctl: Callable[[int, int, bytes], bytes] = fcntl.ioctl) -> None:
        self._device = device
        self._ioctl = ioctl
        self._line = -1

    def __enter__(self) -> Self:
        self._line = os.open(self._device, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self._line)

    def span(self, control: int) -> Span | None:
        """Return a control's values, or None if the camera has no such control."""
        data = self._ask(QUERY, QUERIED.pack(control, 0, b"", 0, 0, 0, 0, 0))
        if data is None:
            return None
        _id, _kind, _name, low, high, step, _default, flags = QUERIED.unpack(data)
        return None if flags & DISABLED or high < low else Span(low, high, max(1, step))

    def get(self, control: int) -> int | None:
        """Return a control's value, or None if the camera does not say it."""
        data = self._ask(GET, CONTROL.pack(control, 0))
        return None if data is None else int(CONTROL.unpack(data)[1])

    def set(self, control: int, value: int) -> int | None:
        """Set a control and return the value that it then has; None if the camera refuses the value or has no such."""
        if self._ask(SET, CONTROL.pack(control, value)) is None:
            return None
        return self.get(control)

    def set_number(self, control: int, value: float) -> int | None:
        """Set a control to the nearest value of its span; see `set`."""
        span = self.span(control)
        return None if span is None else self.set(control, span.nearest(value))

    def switch(self, control: int, value: int) -> bool:
        """Set a control that a camera may lack; return whether it is now so, or the camera lacks it."""
        return self.span(control) is None or self.set(control, value) == value

    def fix_exposure(self, wanted: int) -> int | None:
        """Set a fixed exposure, in 0.1 ms; return the camera's, or None if it keeps its automatic.

        Some cameras take only powers of two of a second, and refuse or ignore every other value; some take a value only
        after their automatic was switched on and off again. What is nearest by ratio is kept.
        """
        span = self.span(EXPOSURE)
        if span is None:
            return None
        mode = next((mode for mode in (MANUAL, SHUTTER_PRIORITY) if self.switch(EXPOSURE_AUTO, mode)), None)
        if mode is None:
            self.set(EXPOSURE_AUTO, APERTURE_PRIORITY)
            return None
        nearest = span.nearest(wanted)
        found = {nearest: self.set(EXPOSURE, nearest)}
        if found[nearest] != nearest and self.span(EXPOSURE_AUTO) is not None:
            self.set(EXPOSURE_AUTO, APERTURE_PRIORITY)
            self.switch(EXPOSURE_AUTO, mode)
            found[nearest] = self.set(EXPOSURE, nearest)
        if found[nearest] != nearest:
            for value in _powers_of_two(span, wanted):
                found[value] = self.set(EXPOSURE, value)
        taken = {value: got for value, got in found.items() if got is not None and got > 0}
        if not taken:
            return None
        best = min(taken, key=lambda value: abs(math.log(taken[value] / wanted)))
        return self.set(EXPOSURE, best) if best != list(found)[-1] else taken[best]

    def _ask(self, request: int, data: bytes) -> bytes | None:
        try:
            return bytes(self._ioctl(self._line, request, data))
        except OSError as error:
            if error.errno in _GONE:
                raise
            return None


def _powers_of_two(span: Span, wanted: int) -> list[int]:
    """Return the two nearest fractions of a second by powers of two, the longer one first."""
    power = math.floor(math.log2(_SECOND / wanted))
    values = (round(_SECOND / 2**power), round(_SECOND / 2 ** (power + 1)))
    return [value for value in values if span.low <= value <= span.high]
