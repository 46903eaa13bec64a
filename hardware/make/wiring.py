"""Every loom, from the pins that the code uses, the parts list and `electric.toml`; and the parts on both boards."""

import tomllib
from typing import Any, Final

from firmware.puck_reader import config
from hardware.make.bom import Bom
from hardware.make.loom import Loom
from hardware.make.tables import fill

TomlTable = dict[str, Any]

POWER_PINS: Final = {
    **dict.fromkeys((1, 17), "3V3"),
    **dict.fromkeys((2, 4), "5V"),
    **dict.fromkeys((6, 9, 14, 20, 25, 30, 34, 39), "GND"),
}
"""The pins of the Pi's 40-pin header that are not GPIO pins."""

HEADER_BCM: Final = {
    3: 2, 5: 3, 7: 4, 8: 14, 10: 15, 11: 17, 12: 18, 13: 27, 15: 22, 16: 23, 18: 24, 19: 10, 21: 9, 22: 25, 23: 11,
    24: 8, 26: 7, 27: 0, 28: 1, 29: 5, 31: 6, 32: 12, 33: 13, 35: 19, 36: 16, 37: 26, 38: 20, 40: 21,
}  # fmt: skip
"""The BCM number behind each other pin, the same on every Pi with 40 pins."""

PICO_PINS: Final = {
    0: 1, 1: 2, 2: 4, 3: 5, 4: 6, 5: 7, 6: 9, 7: 10, 8: 11, 9: 12, 10: 14, 11: 15, 12: 16, 13: 17, 14: 19, 15: 20,
    16: 21, 17: 22, 18: 24, 19: 25, 20: 26, 21: 27, 22: 29, 26: 31, 27: 32, 28: 34,
}  # fmt: skip
"""The Pico's pin behind each GP number; ground is pin 38 among others, VBUS pin 40."""

COLOURS: Final = {
    "3V3": "OG", "5V": "RD", "+5V": "RD", "GND": "BK",
    "confirm": "WH", "reject": "BN", "next": "GN",
    "lamp confirm": "YE", "lamp reject": "GY", "lamp next": "PK", "lamp fault": "BU", "lamp ready": "VT",
    "buzzer": "GYPK",
}  # fmt: skip
"""The colour of each signal, the same in every cable; a cable of twelve cores has them by DIN 47100, but orange."""

LAMP_OHMS: Final = {"fault": 270, "ready": 180}
"""In series with each status lamp: 10 mA at 5 V (electric.toml)."""

GATES: Final = {1: (1, 2, 3), 2: (4, 5, 6), 3: (10, 9, 8), 4: (13, 12, 11)}
"""A gate's enable, input and output, pins of an SN74AHC125N; 7 is ground, 14 is 3.3 V."""


def colour(signal: str) -> str:
    """Return the colour of a signal: `push-button next`, `contact next` and `next` are one."""
    name = signal.removesuffix(" -").removeprefix("contact ").removeprefix("push-button ")
    return COLOURS[name]


def panel_wires(pinmap: TomlTable) -> list[TomlTable]:
    """List what goes from the Pi's header to the panel board, by pin; the power-fail line goes to the UPS."""
    wires = [
        {**entry, "name": f"{kind}{name}", "label": f"BCM {entry['bcm']} {kind}{name}"}
        for section, kind in (("buttons", "push-button "), ("lamps", "lamp "), ("buzzer", ""))
        for name, entry in pinmap[section].items()
    ]
    wires += [{"pin": pin, "name": POWER_PINS[pin], "label": POWER_PINS[pin]} for pin in (1, 2, 6)]
    return sorted(({**wire, "colour": colour(wire["name"])} for wire in wires), key=lambda wire: wire["pin"])


def panel_cores(table: dict[str, Any]) -> list[str]:
    """List the cores of the cable from the panel board to the panel: a contact each, feeds, and what sinks current."""
    cores = [f"contact {name}" for name in table["buttons"]] + ["GND", "+5V"]
    return cores + [f"lamp {name} -" for name in table["lamps"]] + ["buzzer -"]


def _lit(name: str) -> list[str]:
    """The pins of a push-button: its contact, its lamp."""
    return [f"contact {name}", "GND", "+5V", f"lamp {name} -"]


def looms(pinmap: TomlTable, bom: Bom, electric: TomlTable) -> dict[str, Loom]:
    """Make every loom, by its name: `templates/looms.toml.j2`, filled in."""
    panel = {"wires": panel_wires(pinmap), "cores": panel_cores(pinmap), "lit": _lit, "ohms": LAMP_OHMS}
    panel |= {"colour": colour, "pins": pinmap, "pin_of": {bcm: pin for pin, bcm in HEADER_BCM.items()}}
    supply = {supply.id: supply for supply in bom.supply}
    text = fill("looms.toml", bom=bom, supply=supply, reader=config, ups=electric["ups"], **panel)
    return {name: Loom.of(**values) for name, values in tomllib.loads(text).items()}


def panel_board_page(pinmap: TomlTable) -> str:
    """Write what the panel board has between the header's pins and the panel's cores, in Markdown."""
    sinks = {f"lamp {name} -": v for name, v in pinmap["lamps"].items()}
    sinks |= {f"{name} -": v for name, v in pinmap["buzzer"].items()}
    core = {name: number for number, name in enumerate(panel_cores(pinmap), start=1)}
    return fill("panel-board.md", pins=pinmap, sinks=sinks, core=core)


def puck_board_page() -> str:
    """Write where each wire of the RP2040 goes, in Markdown."""
    gates = {seat: (i // 4 + 1, GATES[i % 4 + 1]) for i, seat in enumerate(config.ANTENNAS)}
    spare = list(GATES.values())[len(gates) % 4 :]
    return fill("puck-board.md", it=config, pin=PICO_PINS, gates=gates, spare=spare)
