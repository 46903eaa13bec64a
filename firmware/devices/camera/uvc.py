"""A USB camera through V4L2, as it is. UNTESTED on hardware: written to the V4L2 and OpenCV documentation.

Only what is configured is set. Cameras have exposures in steps or powers of two, white balances in steps, or no such
control: the nearest value is taken and told (`taken`). What it does to the picture is judged from the picture.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from firmware.devices.camera import v4l2
from firmware.devices.camera.mains import half_periods
from firmware.devices.camera.source import CameraError, CameraMissing, Frame, TakenSetting
from firmware.devices.camera.timed_camera import TimedCamera

FIRST_FRAMES = 5
"""Frames dropped after opening, until the sensor has applied its settings."""
MAX_OLD_FRAMES = 8
"""Maximum number of buffered frames that may be older than the request: more than any driver has."""
STAMP_TRUSTED = 5.0
"""Maximum age in seconds of a new picture; beyond it the driver's timestamps have another epoch."""
KELVIN = 1000
"""A white balance whose highest value lies below this has a scale of its own, not kelvin."""


@dataclass(frozen=True, slots=True)
class UvcSettings:
    """The camera's settings. None leaves a setting as the camera has it. Raises DeviceSettings."""

    width: int = 3840
    height: int = 2160
    mains_hz: int | None = None
    exposure_ms: float | None = None
    """A multiple of half the mains period: 10 ms at 50 Hz, 8.3 or 16.7 ms at 60 Hz; others cause bands."""
    gain: float | None = None
    white_balance_k: int | None = None
    focus: float | None = None
    """In the camera's own steps, as measured by `calibrate`; its autofocus is then off."""

    def __post_init__(self) -> None:
        if self.exposure_ms is not None and self.mains_hz is not None:
            half_periods(self.exposure_ms, self.mains_hz)


class UvcCamera(TimedCamera):
    """A USB camera as a `FrameSource`, by its stable name under /dev/v4l/by-id."""

    def __init__(
        self,
        device: Path,
        settings: UvcSettings | None = None,
        capture: Callable[[int], Any] = lambda number: cv2.VideoCapture(number, cv2.CAP_V4L2),
        controls: Callable[[Path], v4l2.Controls] = v4l2.Controls,
        **timing: Any,
    ) -> None:
        super().__init__(**timing)
        self._controls = controls
        self._device = device
        self._settings = settings or UvcSettings()
        self._new_capture = capture
        self._capture: Any = None
        self._stamped = True

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
        try:
            with self._controls(self._device) as controls:
                self.taken = (*self._set_format(), *self._set_controls(controls))
        except OSError as error:
            raise CameraMissing(
                "The camera %(device)s cannot be set (%(error)s).", device=self._device, error=error
            ) from error
        for _ in range(FIRST_FRAMES):
            at = self._grab()
        self._stamped = 0 <= time.monotonic() - at < STAMP_TRUSTED

    def _set_format(self) -> tuple[TakenSetting, ...]:
        """Ask for MJPG, before the size: 4K is MJPG only. Of both the camera takes what it has."""
        wanted, capture = self._settings, self._capture
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, wanted.width)  # applied only together with the height
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, wanted.height)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # a hint; old frames show by their time
        code = int(capture.get(cv2.CAP_PROP_FOURCC))
        has = code.to_bytes(4, "little").decode("ascii", "replace").strip("\0 ") if code > 0 else ""
        width, height = (
            int(capture.get(prop)) for prop in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
        )
        return (
            TakenSetting("format", "MJPG", has),
            TakenSetting("size", f"{wanted.width} × {wanted.height}", f"{width} × {height}"),
        )

    def _set_controls(self, controls: v4l2.Controls) -> list[TakenSetting]:
        wanted = self._settings
        taken = []
        if wanted.mains_hz is not None:
            mains = v4l2.MAINS[wanted.mains_hz]
            took = controls.set(v4l2.POWER_LINE_FREQUENCY, mains) == mains
            taken.append(
                TakenSetting("mains", f"{wanted.mains_hz} Hz", f"{wanted.mains_hz} Hz" if took else "")
            )
        if wanted.exposure_ms is not None:
            exposure = controls.fix_exposure(round(wanted.exposure_ms * 10))
            taken.append(_taken("exposure", wanted.exposure_ms, exposure and exposure / 10, " ms"))
        if wanted.gain is not None:
            taken.append(_taken("gain", wanted.gain, controls.set_number(v4l2.GAIN, wanted.gain)))
        if wanted.white_balance_k is not None:
            span = controls.span(v4l2.WHITE_BALANCE)
            kelvin = None
            if span and span.high >= KELVIN and controls.switch(v4l2.AUTO_WHITE_BALANCE, 0):
                kelvin = controls.set_number(v4l2.WHITE_BALANCE, wanted.white_balance_k)
            taken.append(_taken("white_balance", wanted.white_balance_k, kelvin, " K"))
        if wanted.focus is not None:
            still = controls.switch(v4l2.FOCUS_AUTO, 0)
            focus = controls.set_number(v4l2.FOCUS, wanted.focus) if still else None
            taken.append(_taken("focus", wanted.focus, focus))
        return taken

    def _take(self) -> Frame:
        asked = time.monotonic()
        for dropped in range(MAX_OLD_FRAMES):
            began = time.monotonic()
            at = self._grab()
            if self._stamped and at >= asked:
                break
            if not self._stamped and dropped == FIRST_FRAMES:  # more than the driver and OpenCV keep
                at = began
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


def _taken(name: str, wanted: float, took: float | None, unit: str = "") -> TakenSetting:
    return TakenSetting(name, f"{wanted:g}{unit}", "" if took is None else f"{took:g}{unit}")
