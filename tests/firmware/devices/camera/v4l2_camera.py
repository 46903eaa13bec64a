"""A USB camera behind OpenCV's VideoCapture and behind the V4L2 ioctls, as its kernel and its firmware behave."""

from __future__ import annotations

import errno
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from firmware.devices.camera import v4l2
from firmware.devices.camera.source import Image

Answer = Callable[[int, int], int]
"""From the value that is set and the value that a control has, to the one that it has afterwards. Raises OSError."""


def exactly(value: int, _had: int) -> int:
    return value


def deaf(_value: int, had: int) -> int:
    """Say yes and change nothing."""
    return had


def fails(_value: int, _had: int) -> int:
    raise OSError(errno.EIO, "Input/output error")


def only(*values: int, low: bool = False) -> Answer:
    """Take these values and refuse others; `low`: take the next one below instead."""

    def answer(value: int, _had: int) -> int:
        if value in values:
            return value
        if not low:
            raise OSError(errno.EIO, "Input/output error")
        return max((one for one in values if one <= value), default=values[0])

    return answer


@dataclass
class Control:
    """One control of a camera: its span, its value, and what it makes of another one."""

    low: int
    high: int
    step: int = 1
    value: int = 0
    answer: Answer = exactly
    flags: int = 0


@dataclass
class V4l2Camera:
    """A camera: `controls` by id; `fixed`: what OpenCV reads back whatever it sets, by property."""

    controls: dict[int, Control] = field(default_factory=dict)
    fixed: Mapping[int, float] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    set_controls: list[tuple[int, int]] = field(default_factory=list)
    set_order: list[int] = field(default_factory=list)
    number: int = -1
    grabbed: int = 0
    opened: bool = True
    plugged: bool = True
    queued: list[float] = field(default_factory=list)
    stamp: float = 0.0
    epoch: float = 0.0

    def capture(self, number: int) -> V4l2Camera:
        self.number = number
        return self

    def of(self, device: Path) -> v4l2.Controls:
        return v4l2.Controls(device, self.ioctl)

    # ---- V4L2 ----

    def ioctl(self, _line: int, request: int, data: bytes) -> bytes:
        number = int(struct.unpack_from("=I", data)[0])
        if not self.plugged:
            raise OSError(errno.ENODEV, "No such device")
        if number not in self.controls:
            raise OSError(errno.EINVAL, "Invalid argument")
        control = self.controls[number]
        if request == v4l2.QUERY:
            return v4l2.QUERIED.pack(
                number, 1, b"", control.low, control.high, control.step, 0, control.flags
            )
        if request == v4l2.SET:
            value = int(v4l2.CONTROL.unpack(data)[1])
            self.set_controls.append((number, value))
            if not control.low <= value <= control.high:
                raise OSError(errno.ERANGE, "Numerical result out of range")
            control.value = control.answer(value, control.value)
        return v4l2.CONTROL.pack(number, control.value)

    # ---- OpenCV ----

    def isOpened(self) -> bool:  # noqa: N802
        return self.opened

    def set(self, prop: int, value: float) -> bool:
        self.set_order.append(prop)
        self.values[prop] = value
        return True  # as drivers do, whatever came of it

    def get(self, prop: int) -> float:
        if prop == cv2.CAP_PROP_POS_MSEC:
            return self.stamp * 1000
        return self.fixed.get(prop, self.values.get(prop, -1))

    def grab(self) -> bool:
        self.grabbed += 1
        time.sleep(0.002)
        self.stamp = (self.queued.pop(0) if self.queued else time.monotonic()) + self.epoch
        return self.plugged

    def retrieve(self) -> tuple[bool, Image]:
        return True, np.full((4, 6, 3), self.grabbed, np.uint8)

    def release(self) -> None:
        self.opened = False
