"""The panel's pins: `hardware/pinmap.toml`, the Pi's gpiochip, its pin factory."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from firmware.devices.errors import DeviceMissing, DeviceRefused, DeviceSettings
from firmware.devices.panel.interface import BUTTONS, LAMPS, ButtonName, LampName

if TYPE_CHECKING:
    from gpiozero.pins import Factory

HEADER_CHIPS = (
    "raspberrypi,rp1-gpio",
    "brcm,bcm2711-gpio",
    "brcm,bcm2835-gpio",
    "pinctrl-rp1",
    "pinctrl-bcm2711",
    "pinctrl-bcm2835",
)
"""Names of the 40-pin header's chip: device-tree names, then driver labels (Pi 5, Pi 4, older)."""

_PINS: Mapping[str, tuple[str, ...]] = {
    "buttons": BUTTONS,
    "lamps": LAMPS,
    "buzzer": ("buzzer",),
    "power": ("fail",),
}


@dataclass(frozen=True, slots=True)
class PinMap:
    """BCM numbers of the panel's pins. Those that the file reserves for others are never opened."""

    buttons: Mapping[ButtonName, int]
    lamps: Mapping[LampName, int]
    buzzer: int
    power_fail: int

    @classmethod
    def load(cls, path: Path | None = None) -> PinMap:
        """Load the packaged pin map, or another file of its form. Raises DeviceSettings."""
        source = path or files("hardware") / "pinmap.toml"
        try:
            table = tomllib.loads(source.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise DeviceSettings(
                "The pin map %(source)s cannot be read: %(error)s.", source=source, error=error
            ) from error
        pins = {
            f"{section}.{name}": _bcm(table, section, name, source)
            for section, names in _PINS.items()
            for name in names
        }
        pins |= {
            f"reserved.{name}": _bcm(table, "reserved", name, source) for name in table.get("reserved", {})
        }
        taken: dict[int, str] = {}
        for name, bcm in pins.items():
            if (other := taken.setdefault(bcm, name)) != name:
                raise DeviceSettings(
                    "The pin map %(source)s gives BCM %(bcm)s to both %(other)s and %(name)s.",
                    source=source,
                    bcm=bcm,
                    other=other,
                    name=name,
                )
        return cls(
            {name: pins[f"buttons.{name}"] for name in BUTTONS},
            {name: pins[f"lamps.{name}"] for name in LAMPS},
            pins["buzzer.buzzer"],
            pins["power.fail"],
        )


def _bcm(table: dict[str, Any], section: str, name: str, source: object) -> int:
    try:
        bcm = table[section][name]["bcm"]
    except (KeyError, TypeError):
        raise DeviceSettings(
            "The pin map %(source)s has no [%(section)s] %(name)s with a `bcm` number.",
            source=source,
            section=section,
            name=name,
        ) from None
    if type(bcm) is not int or not 0 <= bcm <= 27:
        raise DeviceSettings(
            "The pin map %(source)s gives [%(section)s] %(name)s the BCM number %(bcm)s: 0 to 27 are.",
            source=source,
            section=section,
            name=name,
            bcm=f"{bcm!r}",
        )
    return bcm


def find_gpiochip(sys: Path = Path("/sys")) -> int:
    """Return the number of the gpiochip behind the 40-pin header, from sysfs.

    The number is not stable (0, 4, or 11 and up on a Pi 5, by kernel), and gpiozero's own guess is wrong there. Raises
    DeviceMissing if no header chip is found, DeviceSettings if there are several.
    """
    found = sorted(
        int(chip.name.removeprefix("gpiochip"))
        for chip in (sys / "bus/gpio/devices").glob("gpiochip*")
        if chip.name.removeprefix("gpiochip").isdecimal() and not _names(chip).isdisjoint(HEADER_CHIPS)
    )
    if not found:
        raise DeviceMissing(
            "No GPIO header was found: this is no Raspberry Pi, or its kernel does not show it."
        )
    if len(found) > 1:
        raise DeviceSettings(
            "Several GPIO headers were found (gpiochips %(found)s): name one in the configuration.",
            found=found,
        )
    return found[0]


def _names(chip: Path) -> set[str]:
    names: set[str] = set()
    for source in (chip / "of_node/compatible", chip / "label"):
        try:
            names.update(source.read_bytes().decode("ascii", "replace").replace("\0", "\n").split())
        except OSError:
            continue  # older and newer kernels use different ones
    return names


def pi_pin_factory(chip: int | None = None, sys: Path = Path("/sys")) -> Factory:
    """Return the pin factory of this Raspberry Pi; `chip` overrides the search for its gpiochip.

    Raises DeviceMissing without lgpio or header, DeviceRefused if the chip may not be used. UNTESTED on hardware.
    """
    number = find_gpiochip(sys) if chip is None else chip
    try:
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError as error:
        raise DeviceMissing(
            "lgpio is missing: install the extra [pi], or the package python3-lgpio."
        ) from error
    try:
        factory = LGPIOFactory(chip=number)
    except Exception as error:  # lgpio.error derives from Exception directly
        raise DeviceRefused(
            "/dev/gpiochip%(number)s cannot be used (%(error)s): this user needs the group gpio, and "
            "a program that holds the pins must stop.",
            number=number,
            error=error,
        ) from error
    if factory.chip != number:
        raise DeviceRefused(
            "gpiozero opened gpiochip %(chip)s in the place of %(number)s: install gpiozero 2.0.1.post3.",
            chip=factory.chip,
            number=number,
        )
    return cast("Factory", factory)
