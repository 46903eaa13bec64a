"""The looms as WireViz draws them, from the pins that the code uses; the GPIO header as a picture."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from firmware.puck_reader import config
from hardware.make.bom import Bom
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

CORE_COLOURS: Final = ("WH", "BN", "GN", "YE", "GY", "PK", "BU", "RD", "BK", "VT", "GYPK", "RDBU")
"""Of a cable with twelve cores, by DIN 47100."""


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


def panel_cores(table: dict[str, Any]) -> list[str]:
    """List the cores of the cable from the panel board to the panel: a contact each, feeds, and what sinks current."""
    cores = [f"contact {name}" for name in table["buttons"]] + ["GND", "+5V"]
    return cores + [f"lamp {name} -" for name in table["lamps"]] + ["buzzer -"]


def panel_loom(pinmap: Path, cable_m: float) -> dict[str, Any]:
    """The loom from the Pi to the panel board, by a cable to the panel, and on to buttons, lamps and buzzer."""
    table: dict[str, Any] = tomllib.loads(pinmap.read_text(encoding="utf-8"))
    wires = panel_wires(pinmap)
    cores = panel_cores(table)
    to_board, to_panel = list(range(1, len(wires) + 1)), list(range(1, len(cores) + 1))
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
            "subtype": "in the box",
            "pinlabels": [w.name for w in wires],
            "notes": "each contact: 10k to 3V3, 1k in series, 100 nF to GND, TVS. Lamps, buzzer: through ULN2003A.",
        },
        "Out": {"type": "panel board, out", "subtype": "terminal strip", "pinlabels": cores},
        "Panel": {"type": "terminal strip", "subtype": "in the button box", "pinlabels": cores},
    }
    cables: dict[str, Any] = {
        "W1": {
            "wirecount": len(wires),
            "gauge": "0.14 mm2",
            "length": 0.2,
            "colors": [w.colour for w in wires],
            "wirelabels": [w.name for w in wires],
        },
        "W2": {
            "wirecount": len(cores),
            "gauge": "0.14 mm2",
            "length": cable_m,
            "colors": list(CORE_COLOURS[: len(cores)]),
            "wirelabels": cores,
            "shield": True,
            "notes": "screen to GND at the box only",
        },
    }
    connections: list[Any] = [
        [{"Pi": [w.pin for w in wires]}, {"W1": to_board}, {"Board": to_board}],
        [{"Out": to_panel}, {"W2": to_panel}, {"Panel": to_panel}],
        [{"Out": cores.index("GND") + 1}, {"W2": "s"}],
    ]
    ends = [
        (
            f"button {name}",
            f"illuminated push button, {v['colour']}",
            [f"contact {name}", "GND", "+5V", f"lamp {name} -"],
        )
        for name, v in table["buttons"].items()
    ]
    ends += [
        (f"lamp {name}", "lamp with 150R", ["+5V", f"lamp {name} -"])
        for name in table["lamps"]
        if name not in table["buttons"]
    ]
    ends += [("buzzer", "buzzer", ["+5V", "buzzer -"])]
    for number, (name, kind, labels) in enumerate(ends, start=3):
        key = name.replace(" ", "_")
        connectors[key] = {"type": kind, "subtype": name, "pinlabels": labels}
        at = [cores.index(label) + 1 for label in labels]
        cables[f"W{number}"] = {
            "wirecount": len(labels),
            "gauge": "0.14 mm2",
            "length": 0.15,
            "colors": [CORE_COLOURS[i - 1] for i in at],
        }
        every = list(range(1, len(labels) + 1))
        connections.append([{"Panel": at}, {f"W{number}": every}, {key: every}])
    return {"connectors": connectors, "cables": cables, "connections": connections}


def panel_board_page(pinmap: Path) -> str:
    """Write what the panel board has between the header's pins and the panel's cores, in Markdown."""
    table: dict[str, Any] = tomllib.loads(pinmap.read_text(encoding="utf-8"))
    cores = panel_cores(table)
    rows = [
        (
            v,
            f"contact {name}",
            "1 kΩ to the core; at the pin 10 kΩ to 3V3 and 100 nF to GND; a TVS at the core",
        )
        for name, v in table["buttons"].items()
    ]
    sinks = [(v, f"lamp {name} -") for name, v in table["lamps"].items()]
    sinks += [(v, f"{name} -") for name, v in table["buzzer"].items()]
    rows += [
        (v, core, f"ULN2003A: in at its pin {channel}, out at its pin {17 - channel}")
        for channel, (v, core) in enumerate(sinks, start=1)
    ]
    lines = [
        "# The panel board",
        "",
        "Made by `make hardware` from `hardware/pinmap.toml`. UNTESTED on hardware.",
        "",
        "| header pin | BCM | core of W2 | between them |",
        "|--:|--:|---|---|",
        *(
            f"| {v['pin']} | {v['bcm']} | {cores.index(core) + 1} {core} | {between} |"
            for v, core, between in rows
        ),
        f"| 6 | | {cores.index('GND') + 1} GND, screen | ULN2003A pin 8 |",
        f"| 2 | | {cores.index('+5V') + 1} +5V | ULN2003A pin 9 |",
        "| 1 | | | the three 10 kΩ |",
    ]
    return "\n".join(lines) + "\n"


def puck_loom(cable_m: float) -> dict[str, Any]:
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
            f"\nGP{config.MISO}: 10k to ground, and a diode into\neach reader's MISO, anode to the reader.\n"
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
            "length": cable_m,
            "colors": colours,
            "category": "bundle",
        }
        sources = [PICO_PINS[gp] for gp in (*bus.values(), select, reset)]
        connections += [
            [{"Regulator": [3, 2]}, {cable: [1, 2]}, {reader: [1, 2]}],
            [{"Pico": sources}, {cable: [3, 4, 5, 6, 7]}, {reader: [3, 4, 5, 6, 7]}],
        ]
    return {"connectors": connectors, "cables": cables, "connections": connections}


def puck_board_page() -> str:
    """Write where each wire of the RP2040 goes, in Markdown."""
    rows = [
        (config.SCK, "every reader's SCK", ""),
        (config.MOSI, "every reader's MOSI", ""),
        (config.MISO, "every reader's MISO", "a diode for each reader, anode to the reader; 10 kΩ to GND"),
    ]
    for seat, (select, reset) in config.ANTENNAS.items():
        rows += [(select, f"SDA (select) of seat {seat}", ""), (reset, f"RST of seat {seat}", "")]
    lines = [
        "# The puck reader's board",
        "",
        "Made by `make hardware` from `firmware/puck_reader/config.py`. UNTESTED on hardware.",
        "",
        "| Pico's pin | GP | to | with |",
        "|--:|--:|---|---|",
        *(f"| {PICO_PINS[gp]} | {gp} | {to} | {extra} |" for gp, to, extra in rows),
        "| 40 | VBUS | the regulator's IN | |",
        "| 38 | GND | the regulator's GND, every reader's GND | |",
        "| | | the regulator's OUT to every reader's 3V3 | |",
    ]
    return "\n".join(lines) + "\n"


def supply_loom(bom: Bom) -> dict[str, Any]:
    """The loom of what is plugged: mains, both supplies, the Pi's ports, the lamps."""
    box, light = ({s.id: s for s in bom.supply}[name] for name in ("box", "light"))
    connectors: dict[str, Any] = {
        "Strip": {
            "type": "socket strip",
            "subtype": "on the post",
            "pinlabels": ["socket 1", "socket 2"],
            "notes": "the only mains on the table",
        },
        "Box_supply": {
            "type": "USB-C supply",
            "subtype": f"{box.volts:g} V {box.amps:g} A",
            "pinlabels": ["mains", "USB-C"],
        },
        "Lamp_supply": {
            "type": "LED driver",
            "subtype": f"{light.volts:g} V {light.amps:g} A, no PWM",
            "pinlabels": ["mains", "+24V", "-"],
        },
        "Pi": {
            "type": "Raspberry Pi",
            "subtype": "in the box",
            "pinlabels": ["USB-C power", "CAM/DISP 0", "HDMI 0", "USB 1", "USB 2"],
            "notes": "any USB port; the panel is on the header",
        },
        "Camera": {"type": "Camera Module 3", "subtype": "at the arm's end", "pinlabels": ["ribbon"]},
        "Display": {
            "type": "display",
            "subtype": "before the dealer",
            "pinlabels": ["HDMI", "USB (touch, power)"],
        },
        "Pico": {"type": "puck reader", "subtype": "under the table", "pinlabels": ["micro-USB"]},
        "Lamp_left": {"type": "LED bar", "subtype": "24 V", "pinlabels": ["+24V", "-"]},
        "Lamp_right": {"type": "LED bar", "subtype": "24 V", "pinlabels": ["+24V", "-"]},
    }
    plugged = {"wirecount": 1, "colors": ["BK"]}
    pair = {"wirecount": 2, "gauge": "0.75 mm2", "length": bom.length_m("lamp-cable"), "colors": ["RD", "BK"]}
    cables: dict[str, Any] = {
        "M1": plugged | {"type": "mains plug"},
        "M2": plugged | {"type": "mains plug"},
        "W1": plugged | {"type": "its own USB-C cable", "length": 1.2},
        "W2": plugged | {"type": "ribbon, 15 to 22 pins", "length": bom.length_m("camera-cable")},
        "W3": plugged | {"type": "HDMI to micro-HDMI", "length": bom.length_m("display-cable")},
        "W4": plugged | {"type": "USB", "length": bom.length_m("display-cable")},
        "W5": plugged | {"type": "USB, micro-B", "length": bom.length_m("puck-cable")},
        "W6": pair,
        "W7": pair,
    }
    connections: list[Any] = [
        [{"Strip": 1}, {"M1": 1}, {"Box_supply": 1}],
        [{"Strip": 2}, {"M2": 1}, {"Lamp_supply": 1}],
        [{"Box_supply": 2}, {"W1": 1}, {"Pi": 1}],
        [{"Pi": 2}, {"W2": 1}, {"Camera": 1}],
        [{"Pi": 3}, {"W3": 1}, {"Display": 1}],
        [{"Pi": 4}, {"W4": 1}, {"Display": 2}],
        [{"Pi": 5}, {"W5": 1}, {"Pico": 1}],
        [{"Lamp_supply": [2, 3]}, {"W6": [1, 2]}, {"Lamp_left": [1, 2]}],
        [{"Lamp_supply": [2, 3]}, {"W7": [1, 2]}, {"Lamp_right": [1, 2]}],
    ]
    return {"connectors": connectors, "cables": cables, "connections": connections}


def ups_loom(pinmap: Path) -> dict[str, Any]:
    """The loom of a UPS between the box's supply and the Pi, with its power-fail line."""
    fail = tomllib.loads(pinmap.read_text(encoding="utf-8"))["power"]["fail"]
    ground = min(
        (pin for pin, name in POWER_PINS.items() if name == "GND"), key=lambda pin: abs(pin - fail["pin"])
    )
    connectors: dict[str, Any] = {
        "Box_supply": {"type": "USB-C supply", "pinlabels": ["USB-C"]},
        "UPS": {
            "type": "UPS board",
            "pinlabels": ["in", "out 5V", "GND", "power fail"],
            "notes": "low while it runs on its battery, 3.3 V at most; measure it before it is wired",
        },
        "Pi": {
            "type": "Raspberry Pi",
            "pins": ["USB-C", ground, fail["pin"]],
            "pinlabels": ["power", "GND", f"BCM {fail['bcm']} power fail"],
        },
    }
    cables: dict[str, Any] = {
        "W1": {"wirecount": 1, "type": "its own USB-C cable", "colors": ["BK"], "length": 1.2},
        "W2": {"wirecount": 1, "type": "USB-C", "colors": ["BK"], "length": 0.15},
        "W3": {"wirecount": 2, "gauge": "0.14 mm2", "colors": ["BK", "WH"], "length": 0.15},
    }
    connections: list[Any] = [
        [{"Box_supply": 1}, {"W1": 1}, {"UPS": 1}],
        [{"UPS": 2}, {"W2": 1}, {"Pi": "USB-C"}],
        [{"UPS": [3, 4]}, {"W3": [1, 2]}, {"Pi": [ground, fail["pin"]]}],
    ]
    return {"connectors": connectors, "cables": cables, "connections": connections}


def looms(pinmap: Path, bom: Bom) -> dict[str, str]:
    """Write every loom as WireViz reads it, by its name."""
    return {
        "panel": loom_text(
            panel_loom(pinmap, bom.length_m("panel-cable")), "From the Pi's header to the dealer's panel"
        ),
        "puck": loom_text(puck_loom(bom.length_m("antenna-cable")), "From the RP2040 to the antennas"),
        "supply": loom_text(
            supply_loom(bom), "What is plugged: supplies, camera, display, puck reader, lamps"
        ),
        "ups": loom_text(ups_loom(pinmap), "An optional UPS between supply and Pi"),
    }


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
