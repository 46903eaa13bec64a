"""The one V4L2 control that OpenCV lacks: the mains frequency for the camera's flicker filter.

From linux/videodev2.h and linux/v4l2-controls.h. UNTESTED on hardware.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from collections.abc import Callable
from pathlib import Path

POWER_LINE_FREQUENCY = 0x00980918  # V4L2_CID_BASE + 24
MAINS = {50: 1, 60: 2}
"""Menu entries of POWER_LINE_FREQUENCY by mains frequency."""
GET, SET = 0xC008561B, 0xC008561C  # VIDIOC_G_CTRL, VIDIOC_S_CTRL: read and write a struct v4l2_control
_CONTROL = struct.Struct("=Ii")


def set_control(
    device: Path, control: int, value: int, ioctl: Callable[[int, int, bytes], bytes] = fcntl.ioctl
) -> int | None:
    """Set a control and return the camera's value; None if it has no such control. Raises OSError."""
    line = os.open(device, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        ioctl(line, SET, _CONTROL.pack(control, value))
        return int(_CONTROL.unpack(ioctl(line, GET, _CONTROL.pack(control, 0)))[1])
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOTTY):
            return None
        raise
    finally:
        os.close(line)
