"""The pin map, and the way to the Pi's pins on trees made up like /sys."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from firmware.devices.errors import DeviceMissing, DeviceRefused, DeviceSettings
from firmware.devices.panel.interface import BUTTONS, LAMPS
from firmware.devices.panel.pins import PinMap, find_gpiochip, pi_pin_factory

GOOD = """
[buttons]
confirm = { bcm = 5 }
reject = { bcm = 6 }
next = { bcm = 4 }
[lamps]
confirm = { bcm = 12 }
reject = { bcm = 13 }
next = { bcm = 19 }
fault = { bcm = 20 }
ready = { bcm = 21 }
[buzzer]
buzzer = { bcm = 18 }
[power]
fail = { bcm = 16 }
"""


def test_the_packaged_pin_map_names_every_button_and_lamp() -> None:
    pins = PinMap.load()
    assert set(pins.buttons) == set(BUTTONS)
    assert set(pins.lamps) == set(LAMPS)
    reserved = {0, 1, 2, 3, 14, 15, 7, 8, 9, 10, 11, 16}  # EEPROM, I2C, UART, SPI, the UPS's charging line
    assert reserved.isdisjoint({*pins.buttons.values(), *pins.lamps.values(), pins.buzzer, pins.power_fail})


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("next = { bcm = 4 }", "", r"no \[buttons\] next"),
        ("bcm = 21", "bcm = 28", "0 to 27"),
        ("bcm = 21", "bcm = true", "0 to 27"),
        ("bcm = 21", "bcm = 5", "both buttons.confirm and lamps.ready"),
        ("[lamps]", "[lamps", "cannot be read"),
        ("[power]", "[reserved]\ncharging = { bcm = 21 }\n[power]", "both lamps.ready and reserved.charging"),
        ("[power]", "[reserved]\ncharging = 21\n[power]", r"no \[reserved\] charging"),
    ],
)
def test_a_wrong_pin_map_is_refused_with_a_sentence(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    path = tmp_path / "pinmap.toml"
    path.write_text(GOOD)
    assert PinMap.load(path).buttons["next"] == 4
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(DeviceSettings, match=complaint):
        PinMap.load(path)


def test_a_missing_pin_map_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DeviceSettings, match="cannot be read"):
        PinMap.load(tmp_path / "nowhere.toml")


def chip(sys_tree: Path, number: int, *, compatible: str | None = None, label: str | None = None) -> None:
    folder = sys_tree / f"bus/gpio/devices/gpiochip{number}"
    (folder / "of_node").mkdir(parents=True)
    if compatible is not None:
        (folder / "of_node/compatible").write_bytes(compatible.encode() + b"\0")
    if label is not None:
        (folder / "label").write_text(label + "\n")


BRCMSTB = "brcm,bcm7445-gpio\0brcm,brcmstb-gpio"


@pytest.mark.parametrize(
    ("chips", "number"),
    [
        # (a Pi 5's early kernel, 6.6.45, 6.12.96; a Pi 4; a Pi 3; driver labels only)
        ({0: BRCMSTB, 1: BRCMSTB, 4: "raspberrypi,rp1-gpio"}, 4),
        ({0: "raspberrypi,rp1-gpio", 10: BRCMSTB, 11: BRCMSTB}, 0),
        ({11: BRCMSTB, 12: BRCMSTB, 13: "raspberrypi,rp1-gpio", 14: BRCMSTB, 15: BRCMSTB}, 13),
        ({0: "brcm,bcm2711-gpio", 1: "raspberrypi,firmware-gpio"}, 0),
        ({0: "brcm,bcm2835-gpio", 1: "raspberrypi,firmware-gpio"}, 0),
    ],
)
def test_the_headers_chip_is_found_whatever_its_number(
    tmp_path: Path, chips: dict[int, str], number: int
) -> None:
    for at, compatible in chips.items():
        chip(tmp_path, at, compatible=compatible)
    assert find_gpiochip(tmp_path) == number


def test_the_headers_chip_is_found_by_its_drivers_label(tmp_path: Path) -> None:
    chip(tmp_path, 512, label="pinctrl-rp1")
    chip(tmp_path, 566, label="/soc@107c000000/gpio@7d517c00")
    assert find_gpiochip(tmp_path) == 512


def test_no_header_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DeviceMissing, match="no Raspberry Pi"):
        find_gpiochip(tmp_path)
    chip(tmp_path, 0, compatible="intel,gpio")
    with pytest.raises(DeviceMissing):
        find_gpiochip(tmp_path)


def test_two_headers_are_not_guessed_between(tmp_path: Path) -> None:
    chip(tmp_path, 0, compatible="raspberrypi,rp1-gpio")
    chip(tmp_path, 4, compatible="raspberrypi,rp1-gpio")
    with pytest.raises(DeviceSettings, match=r"\[0, 4\]"):
        find_gpiochip(tmp_path)


class FakeLGPIOFactory:
    """In the place of gpiozero's, which needs a real /dev/gpiochip."""

    def __init__(self, chip: int) -> None:
        if chip == 99:
            raise Exception("can not open gpiochip")
        self.chip = 0 if chip == 98 else chip


@pytest.fixture
def lgpio(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("gpiozero.pins.lgpio")
    module.LGPIOFactory = FakeLGPIOFactory  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", module)


@pytest.mark.usefixtures("lgpio")
def test_the_pin_factory_is_opened_on_the_chip_that_was_found(tmp_path: Path) -> None:
    chip(tmp_path, 13, compatible="raspberrypi,rp1-gpio")
    assert pi_pin_factory(sys=tmp_path).chip == 13
    assert pi_pin_factory(chip=2, sys=tmp_path).chip == 2


@pytest.mark.usefixtures("lgpio")
def test_a_chip_that_may_not_be_used_is_a_sentence() -> None:
    with pytest.raises(DeviceRefused, match="group gpio"):
        pi_pin_factory(chip=99)


@pytest.mark.usefixtures("lgpio")
def test_a_library_that_opens_another_chip_is_caught() -> None:
    with pytest.raises(DeviceRefused, match="in the place of 98"):
        pi_pin_factory(chip=98)


def test_a_missing_lgpio_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", None)
    with pytest.raises(DeviceMissing, match="python3-lgpio"):
        pi_pin_factory(chip=0)
