"""A camera on the Pi's ribbon cable, through `rpicam-vid`. UNTESTED on hardware: written to rpicam-apps' sources.

OpenCV cannot open these cameras, and apt's picamera2 is incompatible with a virtual environment's numpy. So a child
process (`rpicam_child`) runs rpicam-vid and passes full-resolution frames through shared memory. Exposure, gain, white
balance and focus are set at the start. The metadata of every frame is compared with them: a frame with other values is
refused.
"""

import json
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np

from firmware.devices.camera import rpicam_child
from firmware.devices.camera.mains import half_periods
from firmware.devices.camera.source import CameraMissing, Frame, FrameUnreadable, Image, SettingRefused
from firmware.devices.camera.timed_camera import TimedCamera
from firmware.devices.errors import DeviceSettings
from firmware.messages import Message

FIRST_FRAMES = 12
"""Frames after the start until the sensor has applied its settings."""
EXPOSURE_OFF, GAIN_OFF, COLOUR_OFF, FOCUS_OFF = 0.01, 0.05, 0.05, 0.05
"""Tolerances between a setting and its value in the metadata: relative (an exposure is a whole number of the sensor's
lines), in dioptres for the focus.
"""


@dataclass(frozen=True, slots=True)
class RpicamSettings:
    """The camera's settings. Raises DeviceSettings."""

    width: int = 4032
    height: int = 3024
    mains_hz: int = 50
    exposure_ms: float = 10.0
    """A multiple of half the mains period: 10 ms at 50 Hz, 8.33 or 16.67 ms at 60 Hz; others cause bands."""
    gain: float = 2.0
    colour_gains: tuple[float, float] = (2.0, 2.0)
    """White balance: gains of red and blue relative to green, as measured by `calibrate`."""
    focus: float | None = None
    """Dioptres, 1 / metres: 0.76 for 1.32 m. None: the lens has no motor, as the build's."""
    frames_per_second: float = 5.0

    def __post_init__(self) -> None:
        if self.width % 64 or self.height % 2 or self.width <= 0 or self.height <= 0:
            raise DeviceSettings(  # the sensor's rows are padded to 64 pixels, and rpicam-vid keeps the padding
                "A picture of %(width)s x %(height)s cannot be had from this camera: its width is a "
                "multiple of 64 (4608, 2304), its height is even.",
                width=self.width,
                height=self.height,
            )
        half_periods(self.exposure_ms, self.mains_hz)

    def arguments(self) -> list[str]:
        """Return rpicam-vid's arguments. Every version of it reads numbers without a unit as microseconds."""
        red, blue = self.colour_gains
        wanted = {
            "width": self.width,
            "height": self.height,
            "framerate": self.frames_per_second,
            "shutter": round(self.exposure_ms * 1000),
            "gain": self.gain,
            "awbgains": f"{red},{blue}",
            "flicker-period": round(500_000 / self.mains_hz),
            "codec": "yuv420",
            "timeout": 0,
            "output": "-",
        }
        if self.focus is not None:
            wanted |= {"autofocus-mode": "manual", "lens-position": self.focus}
        return ["--nopreview", "--flush", *(part for k, v in wanted.items() for part in (f"--{k}", str(v)))]


class RpicamCamera(TimedCamera):
    """A ribbon cable camera as a `FrameSource`. `program`: the path of rpicam-vid."""

    def __init__(
        self, settings: RpicamSettings | None = None, program: str = "rpicam-vid", **timing: Any
    ) -> None:
        super().__init__(**timing)
        self._settings = settings or RpicamSettings()
        self._program = program
        self._child: subprocess.Popen[str] | None = None
        self._memory: mmap.mmap | None = None

    def close(self) -> None:
        """Release the camera; see `FrameSource.close`. Its process is ended even if it hangs."""
        if self._child is not None:
            self._child.kill()  # also ends rpicam-vid and wakes a thread that waits for a frame
        super().close()

    @property
    def _frame_bytes(self) -> int:
        return self._settings.width * self._settings.height * 3 // 2

    def _open(self) -> None:
        memory = os.memfd_create("feltwatch-frames")
        try:
            os.ftruncate(memory, 2 * self._frame_bytes)
            self._memory = mmap.mmap(memory, 2 * self._frame_bytes, prot=mmap.PROT_READ)
            self._child = subprocess.Popen(
                [sys.executable, str(Path(rpicam_child.__file__)), str(memory), str(self._frame_bytes)]
                + [self._program, *self._settings.arguments()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                pass_fds=(memory,),
            )
        finally:
            os.close(memory)
        for _ in range(FIRST_FRAMES):
            _, metadata = self._ask(0)
            wrong = self._find_fault(metadata)
            if wrong is None:
                return
        raise SettingRefused(
            "The camera does not take %(wrong)s: set another, or choose the camera again.", wrong=wrong
        )

    def _ask(self, not_before_ns: int) -> tuple[int, dict[str, str]]:
        """Return the slot of a frame taken from then on, and its metadata."""
        assert self._child is not None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(f"frame {not_before_ns}\n")
            self._child.stdin.flush()
            answer = json.loads(self._child.stdout.readline() or '{"error": ""}')
        except (OSError, ValueError):
            answer = {"error": ""}
        if "error" in answer:
            reason = f" ({answer['error']})" if answer["error"] else ""
            raise CameraMissing(
                "The camera gives no pictures%(reason)s: check its ribbon cable, and that rpicam-vid is "
                "installed.",
                reason=reason,
            )
        return answer["slot"], answer["metadata"]

    def _take(self) -> Frame:
        assert self._memory is not None
        asleep_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
        slot, metadata = self._ask(time.clock_gettime_ns(time.CLOCK_BOOTTIME))
        if wrong := self._find_fault(metadata):
            raise SettingRefused(
                "The camera took a picture without %(wrong)s: it is being started again.", wrong=wrong
            )
        raw = np.frombuffer(self._memory, np.uint8, self._frame_bytes, slot * self._frame_bytes)
        image = from_yuv420(raw, self._settings.width, self._settings.height)
        return Frame(image, (int(metadata["SensorTimestamp"]) - asleep_ns) / 1e9)

    def _find_fault(self, metadata: Mapping[str, str]) -> Message | None:
        """Return the setting that a frame was not taken with, or None."""
        wanted = self._settings
        red, blue = (f"{gain:g}" for gain in wanted.colour_gains)
        exposure_us = wanted.exposure_ms * 1000
        checks: list[tuple[Message, str, list[float], float]] = [
            (
                Message("an exposure of %(value)s ms", value=f"{wanted.exposure_ms:g}"),
                "ExposureTime",
                [exposure_us],
                exposure_us * EXPOSURE_OFF,
            ),
            (
                Message("a gain of %(value)s", value=f"{wanted.gain:g}"),
                "AnalogueGain",
                [wanted.gain],
                wanted.gain * GAIN_OFF,
            ),
            (
                Message("the colour gains %(red)s, %(blue)s", red=red, blue=blue),
                "ColourGains",
                [*wanted.colour_gains],
                COLOUR_OFF * max(wanted.colour_gains),
            ),
        ]
        if (focus := wanted.focus) is not None:
            what = Message("the focus %(value)s", value=f"{focus:g}")
            checks.append((what, "LensPosition", [focus], FOCUS_OFF))
        for what, name, values, off in checks:
            if not _near(_numbers(metadata, name), values, off):
                got = metadata.get(name, Message("nothing"))
                return Message("%(what)s (it says %(got)s)", what=what, got=got)
        return None

    def _release(self) -> None:
        if self._child is not None:
            self._child.kill()
            with suppress(BrokenPipeError), self._child:  # closes its pipes, waits for its end
                pass
            self._child = None
        self._memory = None  # unmapped with the last picture made of it


def _numbers(metadata: Mapping[str, str], name: str) -> list[float]:
    try:
        return [float(part) for part in metadata.get(name, "").strip("[] ").split(",")]
    except ValueError:
        return []


def _near(got: list[float], wanted: list[float], off: float) -> bool:
    return len(got) == len(wanted) and all(abs(a - b) <= off for a, b in zip(got, wanted, strict=True))


def from_yuv420(raw: Image, width: int, height: int) -> Image:
    """Return a planar YUV 4:2:0 picture as BGR.

    rpicam-vid's raw frames have the full range of JPEG. OpenCV's own conversion assumes the narrower range of video and
    would clip light and shadow. Raises FrameUnreadable.
    """
    if raw.size != width * height * 3 // 2:
        raise FrameUnreadable("The camera gave a picture of another size.")
    luma = raw[: width * height].reshape(height, width)
    blue, red = (
        cv2.resize(plane.reshape(height // 2, width // 2), (width, height), interpolation=cv2.INTER_LINEAR)
        for plane in np.split(raw[width * height :], 2)
    )
    return cast(Image, cv2.cvtColor(cv2.merge([luma, red, blue]), cv2.COLOR_YCrCb2BGR))
