"""The looms as WireViz draws them, from the pins that the code uses; the GPIO header as a picture."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from firmware.puck_reader import config
from hardware.make.sheet import Sheet

POWER_PINS: Final = {
    **dict.fromkeys((1, 17), "3V3"),
    **dict.fromkeys((2, 4), "5V"),
    **dict.fromkeys((6, 9, 14, 20, 25, 30, 34, 39), "GND"),
}
"""The pins of the Pi's 40-pin header that are no GPIO."""

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

COLOURS: Final = {"green": "GN", "red": "RD", "white": "WH"}


@dataclass(frozen=True)
class Wire:
    """A wire from the header to the panel board."""

    pin: int
    bcm: int | None
    name: str
    colour: str


def panel_wires(pinmap: Path) -> list[Wire]:
    """List what goes from the Pi's header to the panel board, by pin; the power-fail line goes to the UPS."""
    table: dict[str, Any] = tomllib.loads(pinmap.read_text(encoding="utf-8"))
    wires = [
        Wire(v["pin"], v["bcm"], f"{kind} {name}", colour)
        for section, kind, colour in (
            ("buttons", "button", "YE"),
            ("lamps", "lamp", "BU"),
            ("buzzer", "", "VT"),
        )
        for name, v in table[section].items()
    ]
    wires += [Wire(1, None, "3V3", "OG"), Wire(2, None, "5V", "RD"), Wire(6, None, "GND", "BK")]
    return sorted((Wire(w.pin, w.bcm, w.name.strip(), w.colour) for w in wires), key=lambda w: w.pin)


def panel_loom(pinmap: Path) -> dict[str, Any]:
    """The loom from the Pi to the panel board and on to buttons, lamps and buzzer."""
    table: dict[str, Any] = tomllib.loads(pinmap.read_text(encoding="utf-8"))
    wires = panel_wires(pinmap)
    connectors: dict[str, Any] = {
        "Pi": {
            "type": "40-pin header",
            "subtype": "female, 2 x 20",
            "pins": [w.pin for w in wires],
            "pinlabels": [_label(w) for w in wires],
            "notes": "3.3 V at most on every GPIO. The Pi feeds the panel: never a second 5 V.",
        },
        "Board": {
            "type": "panel board, in",
            "subtype": f"JST-XH {len(wires)}",
            "pinlabels": [w.name for w in wires],
            "notes": "each button: 10k to 3V3, 1k in series, 100 nF to GND, TVS. Lamps, buzzer: through ULN2003A.",
        },
    }
    cables: dict[str, Any] = {
        "W1": {
            "wirecount": len(wires),
            "gauge": "0.14 mm2",
            "length": 0.3,
            "colors": [w.colour for w in wires],
            "wirelabels": [w.name for w in wires],
        }
    }
    every = list(range(1, len(wires) + 1))
    connections: list[Any] = [[{"Pi": [w.pin for w in wires]}, {"W1": every}, {"Board": every}]]
    ends = [
        (f"button {name}", ["contact", "GND", "lamp +5V", "lamp -"], v["colour"])
        for name, v in table["buttons"].items()
    ]
    ends += [
        (f"lamp {n}", ["+5V (150R inside)", "-"], "") for n in table["lamps"] if n not in table["buttons"]
    ]
    ends += [("buzzer", ["+5V", "-"], "")]
    for number, (name, labels, colour) in enumerate(ends, start=2):
        key, plug, cable = name.replace(" ", "_"), f"Out_{name.replace(' ', '_')}", f"W{number}"
        kind = "illuminated push button" if name.startswith("button") else name.split()[0]
        connectors[plug] = {
            "type": "panel board, out",
            "subtype": f"JST-XH {len(labels)}",
            "pinlabels": labels,
        }
        connectors[key] = {
            "type": f"{kind}, {colour}" if colour else kind,
            "subtype": name,
            "pinlabels": labels,
        }
        wire_colours = ["YE", "BK", "RD", "BU"] if len(labels) == 4 else ["RD", "BU"]
        cables[cable] = {"wirecount": len(labels), "gauge": "0.25 mm2", "length": 0.8, "colors": wire_colours}
        cables[cable] |= {"notes": "twisted, under 1 m"}
        connections.append(
            [{plug: f"[1-{len(labels)}]"}, {cable: f"[1-{len(labels)}]"}, {key: f"[1-{len(labels)}]"}]
        )
        connections[-1] = [{k: list(range(1, len(labels) + 1)) for k in part} for part in connections[-1]]
    return {"connectors": connectors, "cables": cables, "connections": connections}


def puck_loom() -> dict[str, Any]:
    """The loom from the RP2040 to its antennas: one bus, a select and a reset line each."""
    bus = {"SCK": config.SCK, "MOSI": config.MOSI, "MISO": config.MISO}
    colours = ["BN", "BK", "GN", "BU", "YE", "WH", "GY"]
    pico: dict[int, str] = {PICO_PINS[gp]: f"GP{gp} {name}" for name, gp in bus.items()}
    for seat, (select, reset) in config.ANTENNAS.items():
        pico |= {PICO_PINS[select]: f"GP{select} select {seat}", PICO_PINS[reset]: f"GP{reset} reset {seat}"}
    pico |= {38: "GND", 40: "VBUS 5V"}
    pins = sorted(pico)
    connectors: dict[str, Any] = {
        "Pico": {
            "type": "Raspberry Pi Pico",
            "pins": pins,
            "pinlabels": [pico[pin] for pin in pins],
            "notes": f"GP{config.SERVICE} (pin {PICO_PINS[config.SERVICE]}) to ground at the start: service. "
            "USB to the Pi, with no other supply.",
        },
        "Regulator": {
            "type": "3.3 V regulator",
            "subtype": "500 mA",
            "pinlabels": ["IN 5V", "GND", "OUT 3V3"],
            "notes": "readers take 3.3 V from here, not from the Pico",
        },
    }
    cables: dict[str, Any] = {
        "WR": {"wirecount": 2, "gauge": "0.25 mm2", "length": 0.05, "colors": ["RD", "BK"]}
    }
    connections: list[Any] = [[{"Pico": [40, 38]}, {"WR": [1, 2]}, {"Regulator": [1, 2]}]]
    for seat, (select, reset) in config.ANTENNAS.items():
        reader, cable = f"Reader_{seat}", f"W{seat}"
        connectors[reader] = {
            "type": f"{config.CHIP.upper()} board",
            "subtype": f"seat {seat}",
            "pinlabels": ["3V3", "GND", "SCK", "MOSI", "MISO", "SDA (select)", "RST"],
        }
        cables[cable] = {
            "wirecount": 7,
            "gauge": "0.14 mm2",
            "length": 0.5,
            "colors": colours,
            "category": "bundle",
        }
        sources = [PICO_PINS[gp] for gp in (*bus.values(), select, reset)]
        connections += [
            [{"Regulator": [3, 2]}, {cable: [1, 2]}, {reader: [1, 2]}],
            [{"Pico": sources}, {cable: [3, 4, 5, 6, 7]}, {reader: [3, 4, 5, 6, 7]}],
        ]
    return {"connectors": connectors, "cables": cables, "connections": connections}


def loom_text(loom: dict[str, Any], what: str) -> str:
    """Write a loom as WireViz reads it."""
    title = f"# {what}. Made from the pins that the code uses by `make hardware`: change those. UNTESTED on hardware.\n"
    return title + str(
        yaml.safe_dump(loom, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True)
    )


def header_sheet(pinmap: Path) -> Sheet:
    """Draw the Pi's header seen from above, board to the left, with what is wired where."""
    table: dict[str, Any] = tomllib.loads(pinmap.read_text(encoding="utf-8"))
    used = {
        w.pin: (w.name, "#1f6feb" if w.name.startswith("lamp") else "#b8860b")
        for w in panel_wires(pinmap)
        if w.bcm
    }
    used |= {table["power"]["fail"]["pin"]: ("power fail (UPS)", "#8250df")}
    ground = {"3V3": "#e36209", "5V": "#cf222e", "GND": "#24292f"}
    sheet = Sheet("Feltwatch: the pins of the Pi's header", 150, 138)
    sheet.rect(0, 0, 150, 138, "#ffffff")
    sheet.text(75, 7, "Raspberry Pi header, from above; pin 1 is at the corner of the board", 4, "#24292f")
    for pin in range(1, 41):
        y = 13 + (pin - 1) // 2 * 6
        left = pin % 2 == 1
        x = 69 if left else 76
        name, colour = used.get(
            pin, (POWER_PINS.get(pin, ""), ground.get(POWER_PINS.get(pin, ""), "#d0d7de"))
        )
        sheet.rect(x, y, 5, 5, colour)
        sheet.text(x + 2.5, y + 3.5, str(pin), 2.8, "#ffffff" if name else "#24292f")
        label = (
            name
            if pin in POWER_PINS
            else f"{name}  BCM {HEADER_BCM[pin]}"
            if name
            else f"BCM {HEADER_BCM[pin]}, free"
        )
        ink = "#24292f" if name else "#8c959f"
        sheet.text(66 if left else 84, y + 3.6, label, 3.2, ink, "end" if left else "start")
    sheet.text(75, 136, "UNTESTED on hardware", 3, "#8c959f")
    return sheet


def _label(wire: Wire) -> str:
    return wire.name if wire.bcm is None else f"BCM {wire.bcm} {wire.name}"
