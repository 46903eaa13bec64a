"""The ribbon-cable camera: its real child process, its shared memory, and a stand-in for rpicam-vid."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firmware.devices.camera.rpicam import RpicamCamera, RpicamSettings, from_yuv420
from firmware.devices.camera.source import (
    CameraHung,
    CameraMissing,
    FrameLate,
    FrameUnreadable,
    SettingRefused,
)
from firmware.devices.errors import DeviceSettings
from tests.processes import children, is_alive
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

FAKE = str(Path(__file__).with_name("rpicam_vid.py"))
SMALL = RpicamSettings(width=128, height=72, focus=0.76, frames_per_second=100.0)
Make = Callable[..., RpicamCamera]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    made: list[RpicamCamera] = []

    def camera(
        settings: RpicamSettings = SMALL, timing: dict[str, float] | None = None, **fault: Any
    ) -> RpicamCamera:
        monkeypatch.setenv("FAKE", json.dumps(fault))
        patient = dict.fromkeys(("late_after", "hung_after", "open_within"), DEADLINE)
        made.append(RpicamCamera(settings, FAKE, **(patient | (timing or {}))))
        return made[-1]

    yield camera
    for one in made:
        one.close()


def test_frames_come_whole_and_from_after_the_call(make: Make) -> None:
    camera = make()
    camera.open()
    shades = []
    for _ in range(20):
        asked = time.monotonic()
        frame = camera.frame()
        assert asked <= frame.at <= time.monotonic()
        assert frame.image.shape == (72, 128, 3)
        assert np.ptp(frame.image) == 0, "a frame of one shade: none is torn"
        shades.append(int(frame.image[0, 0, 0]))
    assert shades == sorted(set(shades))
    camera.check()


def test_a_frame_that_was_handed_over_does_not_change_under_its_reader(make: Make) -> None:
    camera = make()
    camera.open()
    first = camera.frame().image
    before = first.copy()
    for _ in range(5):
        camera.frame()
    assert (first == before).all()


def test_every_setting_is_asked_for_and_read_back(make: Make, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    settings = RpicamSettings(
        128,
        72,
        mains_hz=60,
        exposure_ms=16.67,
        gain=1.5,
        colour_gains=(1.8, 2.4),
        focus=0.76,
        frames_per_second=50,
    )
    camera = make(settings, told=str(told))
    camera.open()
    camera.frame()
    wanted = json.loads(told.read_text())
    assert {k: wanted[k] for k in ("shutter", "gain", "awbgains", "flicker_period", "lens_position")} == {
        "shutter": "16670",
        "gain": "1.5",
        "awbgains": "1.8,2.4",
        "flicker_period": "8333",
        "lens_position": "0.76",
    }
    assert wanted["autofocus_mode"] == "manual"
    assert wanted["nopreview"] is wanted["flush"] is True


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ({"ExposureTime": 33000}, "exposure of 10 ms .it says 33000"),
        ({"AnalogueGain": 8.0}, "gain of 2"),
        ({"ColourGains": "[ 1.000000, 1.000000 ]"}, "colour gains 2, 2"),
        ({"ColourGains": "rubbish"}, "colour gains"),
        ({"LensPosition": 4.2}, "focus 0.76 .it says 4.2"),
    ],
)
def test_a_setting_that_did_not_take_is_refused_by_name(
    make: Make, fault: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(SettingRefused, match=complaint):
        make(**fault).open()


def test_a_setting_that_is_lost_later_spoils_the_frame(make: Make) -> None:
    camera = make(settle=0)
    camera.open()
    camera._settings = RpicamSettings(128, 72, gain=4.0)  # as if the camera had gone another way
    with pytest.raises(SettingRefused, match="without a gain of 4"):
        camera.frame()


def test_a_lens_without_a_motor_has_no_focus_to_fix(make: Make, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    camera = make(RpicamSettings(128, 72, focus=None), told=str(told), LensPosition="")
    camera.open()
    camera.frame()
    assert json.loads(told.read_text())["autofocus_mode"] is None


def test_what_rpicam_vid_complains_of_is_told(make: Make) -> None:
    camera = make(die_after=15)
    camera.open()
    with pytest.raises(CameraMissing, match=r"frontend has timed out.*check its ribbon cable"):  # noqa: PT012
        for _ in range(30):
            camera.frame()


@pytest.mark.parametrize("fault", [{"half": 15}, {"half": 0}])
def test_half_a_frame_is_no_frame(make: Make, fault: dict[str, Any]) -> None:
    camera = make(**fault)
    with pytest.raises(CameraMissing):  # noqa: PT012
        camera.open()
        for _ in range(30):
            camera.frame()


def test_a_missing_rpicam_vid_is_a_sentence() -> None:
    camera = RpicamCamera(SMALL, "no-such-rpicam-vid")
    with pytest.raises(CameraMissing, match="rpicam-vid is installed"):
        camera.open()
    camera.close()


def test_a_camera_that_never_starts_is_hung(make: Make) -> None:
    camera = make(timing={"late_after": 0.3, "open_within": 0.8}, silent=1)
    with pytest.raises(CameraHung, match="does not open"):
        camera.open()


def test_a_camera_that_stops_is_late_then_hung_and_its_processes_are_gone_when_it_is_closed(
    make: Make,
) -> None:
    camera = make(timing={"late_after": 0.2, "hung_after": 0.8}, stop_after=20)
    camera.open()
    with pytest.raises(CameraHung):  # noqa: PT012
        while True:
            with suppress(FrameLate):
                camera.frame()
    assert camera._child is not None
    helper = camera._child.pid
    (program,) = children(helper)
    camera.close()
    until(lambda: not is_alive(program))
    assert not is_alive(helper)


def test_frames_that_are_always_old_are_never_given(make: Make) -> None:
    camera = make(timing={"late_after": 0.3}, behind_s=30)
    camera.open()
    with pytest.raises(FrameLate):
        camera.frame()


def test_a_killed_helper_takes_the_program_with_it(make: Make) -> None:
    camera = make()
    camera.open()
    assert camera._child is not None
    (program,) = children(camera._child.pid)
    os.kill(camera._child.pid, signal.SIGKILL)
    with pytest.raises(CameraMissing):
        camera.frame()
    until(lambda: not is_alive(program))


def test_the_full_range_of_a_picture_is_kept() -> None:
    for shade in (0, 7, 128, 250, 255):
        raw = np.concatenate([np.full(128 * 72, shade, np.uint8), np.full(128 * 36, 128, np.uint8)])
        assert (from_yuv420(raw, 128, 72) == shade).all()
    red = np.concatenate(
        [np.full(128 * 72, 76, np.uint8), np.full(64 * 36, 85, np.uint8), np.full(64 * 36, 255, np.uint8)]
    )
    blue, green, full = from_yuv420(red, 128, 72)[36, 64]  # JPEG's YCbCr of pure red is 76, 85, 255
    assert (blue, green, full) == (
        pytest.approx(0, abs=2),
        pytest.approx(0, abs=2),
        pytest.approx(254, abs=2),
    )
    with pytest.raises(FrameUnreadable):
        from_yuv420(red[:-1], 128, 72)


def test_what_cannot_be_asked_of_the_camera_is_a_sentence() -> None:
    with pytest.raises(DeviceSettings, match="multiple of 64"):
        RpicamSettings(width=1000)
    with pytest.raises(DeviceSettings, match=r"bands: use 8.333 or 16.67 ms"):
        RpicamSettings(mains_hz=60)
    with pytest.raises(DeviceSettings, match="use another ms"):
        RpicamSettings(mains_hz=55)
