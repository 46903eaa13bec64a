"""A USB camera through V4L2. UNTESTED on hardware: written to the V4L2 and OpenCV documentation.

Every setting is fixed, so that pictures at noon and at night are alike, and every setting is read back: drivers clamp
or ignore values silently.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from firmware.devices.camera import v4l2
from firmware.devices.camera.mains import half_periods
from firmware.devices.camera.source import CameraError, CameraMissing, Frame, SettingRefused
from firmware.devices.camera.timed import TimedCamera
from firmware.messages import Message

MANUAL_EXPOSURE = 1  # V4L2_EXPOSURE_MANUAL; OpenCV passes the menu entry on
FIRST_FRAMES = 5
"""Frames dropped after opening, until the sensor has applied its settings."""
MOST_OLD_FRAMES = 8
"""Maximum number of buffered frames that may be older than the request: more than any driver has."""

STAMP_TRUSTED = 5.0
"""Maximum age in seconds of a new picture; beyond it the driver's timestamps have another epoch."""


@dataclass(frozen=True, slots=True)
class UvcSettings:
    """The camera's settings. None leaves a setting unchanged. Raises DeviceSettings."""

    width: int = 3840
    height: int = 2160
    mains_hz: int = 50
    exposure_ms: float = 10.0
    """A multiple of half the mains period: 10 ms at 50 Hz, 8.3 or 16.7 ms at 60 Hz; others cause bands."""
    gain: float | None = None
    white_balance_k: int | None = 4500
    focus: float | None = None
    """In the camera's own steps, as measured by `calibrate`; autofocus is always off."""

    def __post_init__(self) -> None:
        half_periods(self.exposure_ms, self.mains_hz)


class UvcCamera(TimedCamera):
    """A USB camera as a `FrameSource`, by its stable name under /dev/v4l/by-id."""

    def __init__(
        self,
        device: Path,
        settings: UvcSettings | None = None,
        capture: Callable[[int], Any] = lambda number: cv2.VideoCapture(number, cv2.CAP_V4L2),
        control: Callable[[Path, int, int], int | None] = v4l2.set_control,
        **timing: Any,
    ) -> None:
        super().__init__(**timing)
        self._control = control
        self._device = device
        self._settings = settings or UvcSettings()
        self._new_capture = capture
        self._capture: Any = None

    def _open(self) -> None:
        # The number behind the stable name: OpenCV's wheel does not open V4L2 devices by name.
        video = re.fullmatch(r"video([0-9]+)", self._device.resolve().name)
        if video is None or not self._device.exists():
            raise CameraMissing("The camera %(device)s is not connected: plug it in.", device=self._device)
        self._capture = self._new_capture(int(video[1]))
        if not self._capture.isOpened():
            raise CameraMissing(
                "The camera %(device)s cannot be opened: another program may hold it.", device=self._device
            )
        self._fix()
        for _ in range(FIRST_FRAMES):
            at = self._grab()
        if not 0 <= time.monotonic() - at < STAMP_TRUSTED:
            raise SettingRefused(
                "The camera %(device)s does not stamp its pictures with the system's clock.",
                device=self._device,
            )

    def _fix(self) -> None:
        wanted = self._settings
        mjpg = cv2.VideoWriter.fourcc(*"MJPG")
        self._set(Message("the format MJPG"), cv2.CAP_PROP_FOURCC, mjpg)  # before the size: 4K is MJPG only
        self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, wanted.width)  # applied only together with the height
        self._set(
            Message("the height %(value)s", value=wanted.height), cv2.CAP_PROP_FRAME_HEIGHT, wanted.height
        )
        self._set(
            Message("the width %(value)s", value=wanted.width),
            cv2.CAP_PROP_FRAME_WIDTH,
            wanted.width,
            again=False,
        )
        mains = v4l2.MAINS[wanted.mains_hz]
        try:
            got = self._control(self._device, v4l2.POWER_LINE_FREQUENCY, mains)
        except OSError as error:
            raise CameraMissing(
                "The camera %(device)s cannot be set (%(error)s).", device=self._device, error=error
            ) from error
        if got not in (mains, None):
            raise SettingRefused(
                "The camera %(device)s does not take mains of %(mains_hz)s Hz.",
                device=self._device,
                mains_hz=wanted.mains_hz,
            )
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # a hint; old frames show by their time
        self._set(Message("manual exposure"), cv2.CAP_PROP_AUTO_EXPOSURE, MANUAL_EXPOSURE)
        self._set(
            Message("an exposure of %(value)s ms", value=f"{wanted.exposure_ms:g}"),
            cv2.CAP_PROP_EXPOSURE,
            round(wanted.exposure_ms * 10),
        )
        if wanted.gain is not None:
            self._set(
                Message("a gain of %(value)s", value=f"{wanted.gain:g}"), cv2.CAP_PROP_GAIN, wanted.gain
            )
        if wanted.white_balance_k is not None:
            self._set(Message("a fixed white balance"), cv2.CAP_PROP_AUTO_WB, 0)
            self._set(
                Message("a white balance of %(value)s K", value=wanted.white_balance_k),
                cv2.CAP_PROP_WB_TEMPERATURE,
                wanted.white_balance_k,
            )
        if self._capture.get(cv2.CAP_PROP_AUTOFOCUS) != -1:  # -1: no autofocus, so the focus is fixed
            self._set(Message("a fixed focus"), cv2.CAP_PROP_AUTOFOCUS, 0)
        if wanted.focus is not None:
            self._set(
                Message("the focus %(value)s", value=f"{wanted.focus:g}"), cv2.CAP_PROP_FOCUS, wanted.focus
            )

    def _set(self, what: Message, prop: int, value: float, again: bool = True) -> None:
        if again:
            self._capture.set(prop, value)
        got = self._capture.get(prop)
        if got != value:
            raise SettingRefused(
                "The camera %(device)s does not take %(what)s (it says %(got)s).",
                device=self._device,
                what=what,
                got=f"{got:g}",
            )

    def _take(self) -> Frame:
        asked = time.monotonic()
        for _ in range(MOST_OLD_FRAMES):
            at = self._grab()
            if at >= asked:
                break
        else:
            raise CameraError(
                "The camera %(device)s gives only old pictures: unplug it and plug it in.",
                device=self._device,
            )
        good, image = self._capture.retrieve()
        if not good:
            raise CameraError("The camera %(device)s gave a damaged picture.", device=self._device)
        return Frame(image, at)

    def _grab(self) -> float:
        """Wait for the next frame; return the driver's monotonic timestamp."""
        if not self._capture.grab():
            raise CameraMissing(
                "The camera %(device)s gives no pictures: check its cable.", device=self._device
            )
        return float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) / 1000

    def _release(self) -> None:
        if self._capture is not None:
            self._capture.release()
            self._capture = None
