"""USB cameras as users report them: the nearest value is taken and told, and nothing is set that is not configured."""

from __future__ import annotations

import time
from pathlib import Path

import cv2
import pytest

from firmware.devices.camera import v4l2
from firmware.devices.camera.source import CameraError, CameraMissing, TakenSetting
from firmware.devices.camera.uvc import FIRST_FRAMES, UvcCamera, UvcSettings
from firmware.devices.errors import DeviceSettings
from tests.firmware.devices.camera.v4l2_camera import Control, V4l2Camera, deaf, fails, only

MODE, EXPOSURE, WHITE, AUTO_WHITE = (
    v4l2.EXPOSURE_AUTO,
    v4l2.EXPOSURE,
    v4l2.WHITE_BALANCE,
    v4l2.AUTO_WHITE_BALANCE,
)


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A stable name that leads to video3, as udev makes them."""
    (tmp_path / "video3").touch()
    link = tmp_path / "usb-ACME_Camera-index0"
    link.symlink_to("video3")
    return link


def opened(device: Path, fake: V4l2Camera, settings: UvcSettings | None = None) -> UvcCamera:
    camera = UvcCamera(device, settings, fake.capture, fake.of)
    camera.open()
    return camera


def mode(value: int = 3, answer: object = only(1, 3)) -> Control:
    return Control(0, 3, value=value, answer=answer)  # type: ignore[arg-type]


def waking(camera: V4l2Camera) -> None:
    """An exposure that is taken only after the automatic was on and off again (opencv/opencv issue 9738)."""
    modes: list[int] = []

    def of_mode(value: int, _had: int) -> int:
        modes.append(value)
        return value

    camera.controls[MODE].answer = of_mode
    camera.controls[EXPOSURE].answer = lambda value, had: value if modes[-2:] == [3, 1] else had


POWERS = tuple(round(10_000 / 2**n) for n in range(12))
EXPOSURES = {
    "each value": ({MODE: mode(), EXPOSURE: Control(3, 2047, value=250)}, "10 ms"),
    "steps of 5 ms, from 3": ({MODE: mode(), EXPOSURE: Control(3, 2003, 50)}, "10.3 ms"),
    "a span that ends below": ({MODE: mode(), EXPOSURE: Control(1, 80)}, "8 ms"),
    "powers of two, others fail": (
        {MODE: mode(), EXPOSURE: Control(5, 20_000, answer=only(*POWERS))},
        "7.8 ms",
    ),
    "powers of two, others fall to the next below": (
        {MODE: mode(), EXPOSURE: Control(5, 20_000, answer=only(*sorted(POWERS), low=True))},
        "7.8 ms",
    ),
    "shutter priority in the place of manual": (
        {MODE: mode(0, only(0, 2)), EXPOSURE: Control(1, 2500)},
        "10 ms",
    ),
    "no choice of a mode": ({EXPOSURE: Control(1, 5000)}, "10 ms"),
    "no manual exposure": ({MODE: mode(3, only(3)), EXPOSURE: Control(1, 5000)}, ""),
    "a mode that stays as it is": ({MODE: mode(3, deaf), EXPOSURE: Control(1, 5000)}, ""),
    "no such control": ({}, ""),
    "a control that is disabled": ({EXPOSURE: Control(1, 5000, flags=v4l2.DISABLED)}, ""),
    "a control that always fails": ({MODE: mode(), EXPOSURE: Control(1, 5000, answer=fails)}, ""),
}
WHITES = {
    "each kelvin": ({AUTO_WHITE: Control(0, 1, value=1), WHITE: Control(2000, 6500)}, "4520 K"),
    "steps of 100 K": ({AUTO_WHITE: Control(0, 1, value=1), WHITE: Control(2500, 10_000, 100)}, "4500 K"),
    "a span that ends below": ({AUTO_WHITE: Control(0, 1), WHITE: Control(2800, 4000)}, "4000 K"),
    "no automatic to switch off": ({WHITE: Control(2000, 6500)}, "4520 K"),
    "an automatic that stays on": (
        {AUTO_WHITE: Control(0, 1, value=1, answer=deaf), WHITE: Control(2000, 6500)},
        "",
    ),
    "a scale of its own, 11 to 50": ({AUTO_WHITE: Control(0, 1), WHITE: Control(11, 50)}, ""),
    "no such control": ({}, ""),
}


@pytest.mark.parametrize("kind", EXPOSURES)
def test_a_camera_takes_the_exposure_that_it_has_nearest_and_says_which(device: Path, kind: str) -> None:
    controls, took = EXPOSURES[kind]
    camera = opened(device, V4l2Camera(controls), UvcSettings(exposure_ms=10))
    assert camera.taken[-1] == TakenSetting("exposure", "10 ms", took)
    if took and EXPOSURE in controls:
        assert controls[EXPOSURE].value == round(float(took.split()[0]) * 10), "it was left at what is told"
    assert camera.frame().image.shape == (4, 6, 3), "and its pictures come"
    camera.close()


def test_an_exposure_that_needs_its_automatic_on_and_off_again_is_taken(device: Path) -> None:
    fake = V4l2Camera({MODE: mode(), EXPOSURE: Control(3, 2047, value=250)})
    waking(fake)
    camera = opened(device, fake, UvcSettings(exposure_ms=10))
    assert camera.taken[-1].took == "10 ms"
    camera.close()


@pytest.mark.parametrize("kind", WHITES)
def test_a_camera_takes_the_white_balance_that_it_has_nearest_and_says_which(device: Path, kind: str) -> None:
    controls, took = WHITES[kind]
    fake = V4l2Camera(controls)
    camera = opened(device, fake, UvcSettings(white_balance_k=4520))
    assert camera.taken[-1] == TakenSetting("white_balance", "4520 K", took)
    if not took:
        assert WHITE not in dict(fake.set_controls), "what could not be meant is not set"
    camera.close()


def test_gain_focus_and_mains_are_taken_as_near_as_they_are_had(device: Path) -> None:
    fake = V4l2Camera(
        {
            v4l2.GAIN: Control(0, 255, 8),
            v4l2.FOCUS_AUTO: Control(0, 1, value=1),
            v4l2.FOCUS: Control(0, 250, 5),
            v4l2.POWER_LINE_FREQUENCY: Control(0, 2, value=2, answer=deaf),
        }
    )
    camera = opened(device, fake, UvcSettings(mains_hz=50, gain=4.4, focus=32))
    assert camera.taken[2:] == (
        TakenSetting("mains", "50 Hz", ""),
        TakenSetting("gain", "4.4", "8"),
        TakenSetting("focus", "32", "30"),
    )
    assert fake.controls[v4l2.FOCUS_AUTO].value == 0
    camera.close()


def test_what_is_not_configured_is_not_set(device: Path) -> None:
    numbers = (MODE, EXPOSURE, WHITE, AUTO_WHITE, v4l2.GAIN, v4l2.FOCUS, v4l2.FOCUS_AUTO)
    fake = V4l2Camera({number: Control(0, 10_000, value=7) for number in numbers})
    camera = opened(device, fake)
    assert fake.number == 3
    assert fake.set_controls == []
    assert fake.set_order.index(cv2.CAP_PROP_FOURCC) < fake.set_order.index(cv2.CAP_PROP_FRAME_WIDTH)
    assert fake.grabbed == FIRST_FRAMES
    assert [(one.asked, one.took) for one in camera.taken] == [
        ("MJPG", "MJPG"),
        ("3840 × 2160", "3840 × 2160"),
    ]
    camera.close()
    assert not fake.opened


def test_a_camera_of_another_size_and_format_is_taken_with_what_it_has(device: Path) -> None:
    has = {
        cv2.CAP_PROP_FOURCC: float(cv2.VideoWriter.fourcc(*"YUYV")),
        cv2.CAP_PROP_FRAME_WIDTH: 1280.0,
        cv2.CAP_PROP_FRAME_HEIGHT: 720.0,
    }
    camera = opened(device, V4l2Camera(fixed=has))
    assert [one.took for one in camera.taken] == ["YUYV", "1280 × 720"]
    camera.close()


def test_pictures_from_before_the_call_are_thrown_away(device: Path) -> None:
    fake = V4l2Camera()
    camera = opened(device, fake)
    now = time.monotonic()
    fake.queued = [now - 0.3, now - 0.2, now - 0.1]
    frame = camera.frame()
    assert frame.at >= now
    assert int(frame.image[0, 0, 0]) == FIRST_FRAMES + 4
    fake.queued = [now - 0.3] * 20
    with pytest.raises(CameraError, match="only old pictures"):
        camera.frame()
    camera.close()


def test_where_stamps_are_of_another_clock_more_pictures_are_dropped_than_a_driver_keeps(
    device: Path,
) -> None:
    fake = V4l2Camera(epoch=1.7e9)
    camera = opened(device, fake)
    asked = time.monotonic()
    frame = camera.frame()
    assert int(frame.image[0, 0, 0]) == 2 * FIRST_FRAMES + 1
    assert asked <= frame.at <= time.monotonic()
    camera.close()


def test_a_usb_camera_that_is_absent_held_or_pulled_is_a_sentence(device: Path) -> None:
    fake = V4l2Camera({EXPOSURE: Control(1, 5000)})
    with pytest.raises(CameraMissing, match="not connected"):
        opened(device.with_name("nowhere"), fake)
    fake.opened = False
    with pytest.raises(CameraMissing, match="another program"):
        opened(device, fake)
    fake.opened = True
    camera = opened(device, fake)
    fake.plugged = False
    with pytest.raises(CameraMissing, match="cable"):
        camera.frame()
    camera.close()
    fake.opened = True
    with pytest.raises(CameraMissing, match="cannot be set"):
        opened(device, fake, UvcSettings(exposure_ms=10))


def test_an_exposure_that_lets_lamps_make_bands_is_refused() -> None:
    for good, mains in ((10, 50), (20, 50), (8.3, 60), (8.33, 60), (16.7, 60)):
        UvcSettings(exposure_ms=good, mains_hz=mains)
    for bad, mains in ((8.3, 50), (10, 60), (5, 50), (0, 50)):
        with pytest.raises(DeviceSettings, match="bands"):
            UvcSettings(exposure_ms=bad, mains_hz=mains)


def test_a_file_is_no_camera_and_has_no_controls(device: Path) -> None:
    with v4l2.Controls(device) as controls:
        assert controls.span(EXPOSURE) is None
        assert controls.set(EXPOSURE, 100) is None
