"""Which device each configuration means."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from firmware.devices.camera.files import FileFrames
from firmware.devices.camera.network import NetworkCamera
from firmware.devices.camera.replay import ReplayFrames
from firmware.devices.camera.rpicam import RpicamCamera, RpicamSettings
from firmware.devices.camera.uvc import UvcCamera, UvcSettings
from firmware.devices.errors import DeviceSettings
from firmware.devices.panel.gpio import GpioButtons, GpioBuzzer, GpioLamps, GpioPowerLine
from firmware.devices.panel.simulated import SimulatedPanel
from firmware.devices.puck.protocol import PuckLine
from firmware.devices.puck.serial_port import SerialPuck
from firmware.devices.puck.spot_em4100 import Em4100Spot
from firmware.devices.puck.spot_pn532 import Pn532Spot
from firmware.record.journal.journal import Journal
from firmware.runtime.config import CameraConfig, Config
from firmware.runtime.device_factory import make_camera, open_devices, panel_trouble
from firmware.runtime.house_config import prepare_house
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.table.events import SetUpEnded
from tests.firmware.running_table import FakeReadings
from tests.waiting import DEADLINE, until


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("rpicam", RpicamCamera),
        ("uvc", UvcCamera),
        ("network", NetworkCamera),
        ("files", FileFrames),
        ("replay", ReplayFrames),
    ],
)
def test_each_kind_of_camera_is_made(kind: Any, made: type) -> None:
    config = CameraConfig(
        kind=kind, device=Path("somewhere"), address=SecretStr("http://ann:geheim@phone:8080/video")
    )
    assert type(make_camera(config)) is made
    assert "geheim" not in repr(config) + config.model_dump_json(), "not in a support file either"


def test_a_camera_is_fixed_as_the_configuration_says() -> None:
    ribbon = make_camera(CameraConfig(kind="rpicam", mains_hz=60, focus=0.9, colour_gains=(1.5, 2.5)))
    assert isinstance(ribbon, RpicamCamera)
    assert ribbon._settings == RpicamSettings(
        mains_hz=60, exposure_ms=500 / 60, focus=0.9, colour_gains=(1.5, 2.5)
    )
    usb = make_camera(CameraConfig(kind="uvc", exposure_ms=20, gain=8, white_balance_k=4000))
    assert isinstance(usb, UvcCamera)
    assert usb._settings == UvcSettings(exposure_ms=20, gain=8, white_balance_k=4000)
    usb = make_camera(CameraConfig(kind="uvc", mains_hz=60, size=(1280, 720)))
    assert isinstance(usb, UvcCamera)
    assert usb._settings == UvcSettings(1280, 720, mains_hz=60), "what is not configured is not set"


def test_a_lens_without_a_motor_is_never_told_to_focus_and_pictures_have_the_size_that_is_configured() -> (
    None
):
    """The HQ camera: 4,056 pixels across are not a multiple of 64."""
    ribbon = make_camera(CameraConfig(kind="rpicam", focus="locked", size=(4032, 3024)))
    assert isinstance(ribbon, RpicamCamera)
    assert ribbon._settings == RpicamSettings(width=4032, height=3024, focus=None)
    told = ribbon._settings.arguments()
    assert "--lens-position" not in told
    assert told[told.index("--width") + 1] == "4032"
    usb = make_camera(CameraConfig(kind="uvc", focus="locked"))
    assert isinstance(usb, UvcCamera)
    assert usb._settings == UvcSettings()


@pytest.mark.parametrize("size", [(4056, 3040), (4032, 3023), (0, 2)])
def test_a_picture_of_a_size_that_no_camera_gives_is_refused_with_a_sentence(size: tuple[int, int]) -> None:
    with pytest.raises(DeviceSettings, match="cannot be had from this camera"):
        make_camera(CameraConfig(kind="rpicam", size=size))


@pytest.mark.parametrize("wrong", ["loose", -1.0])
def test_a_focus_that_is_neither_a_figure_nor_locked_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="focus"):
        CameraConfig(focus=wrong)


@pytest.mark.parametrize(
    ("kind", "link"),
    [("puckd", PuckLine), ("pn532", Pn532Spot), ("rdm6300", Em4100Spot), ("id12la", Em4100Spot)],
)
def test_each_kind_of_puck_reader_is_made(kind: str, link: type) -> None:
    config = Config.model_validate({"puck": {"kind": kind, "dealer": ("04A1B2C3D4E580",)}})
    puck = open_devices(config).puck
    assert isinstance(puck, SerialPuck)
    assert type(puck._link) is link


def test_what_is_missing_is_told_and_the_table_runs_without_it() -> None:
    devices = open_devices(Config())
    assert (devices.buttons, devices.lamps) == (None, None)
    assert devices.puck is not None, "it lists the tags that are laid down, to be named"
    faults = devices.trouble()
    assert "GPIO header" in str(faults["buttons"])


def test_what_is_configured_as_absent_is_not_opened_and_is_no_fault() -> None:
    config = Config.model_validate({"puck": {"kind": "none"}, "panel": {"kind": "none"}})
    devices = open_devices(config)
    assert (devices.puck, devices.buttons, devices.lamps, devices.buzzer) == (None,) * 4
    assert devices.faults(None, 1e9).keys() <= {"power"}
    assert config.without == ("puck", "panel")


def test_a_table_beeps_twice_and_says_so_when_the_mains_goes(config: Config) -> None:
    panel = SimulatedPanel(seed=1)
    buttons = GpioButtons(panel.pins, panel.factory)
    line = GpioPowerLine(panel.pins, panel.factory)
    devices = Devices(
        None,
        buttons,
        GpioLamps(panel.pins, panel.factory),
        partial(panel_trouble, buttons, line),
        GpioBuzzer(panel.pins, panel.factory),
        (line,),
    )
    pin: Any = panel.factory.pin(panel.pins.buzzer)
    with Journal(config.data) as journal:
        journal.append([SetUpEnded()], "test")
        house = prepare_house(config, journal)
        table = TableProcess(config.data, journal, house, devices, FakeReadings(), config.socket, 0.0)
        thread = threading.Thread(target=table.run)
        thread.start()
        try:
            until(lambda: panel.lit() == {"ready", "next"})
            pin.clear_states()
            panel.cut_mains()
            until(lambda: "battery" in str(table.state.faults.get("power", "")))
            until(lambda: panel.lit() == {"fault", "next"})
            until(lambda: [state.state for state in pin.states] == [False, True, False, True, False])
            panel.restore_mains()
            until(lambda: not table.state.faults)
            until(lambda: panel.lit() == {"ready", "next"})
            assert len(pin.states) == 5
        finally:
            table.stop()
            thread.join(DEADLINE)


def test_a_cameras_limits_are_those_of_the_configuration() -> None:
    for kind in ("rpicam", "uvc", "network"):
        camera: Any = make_camera(
            CameraConfig.model_validate(
                {
                    "kind": kind,
                    "address": "rtsp://phone/",
                    "late_s": 3,
                    "late_ceiling_s": 9,
                    "hung_s": 5,
                    "open_s": 6,
                }
            )
        )
        late = camera._limit.figures()
        assert (late.floor_s, late.ceiling_s, camera._hung_after, camera._open_within) == (3, 9, 5, 6)
