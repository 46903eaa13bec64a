"""The looms of panel and puck reader, from the pins that the code uses; what lies on their boards.

A loom is written as YAML in WireViz's form, so that other tools draw it, too; `loom_sheet.py` draws it on A4.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware.puck_reader import config

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
        Wire(v["pin"], v["bcm"], name, colour(name))
        for section, kind in (("buttons", "push-button "), ("lamps", "lamp "), ("buzzer", ""))
        for name, v in ((f"{kind}{one}", v) for one, v in table[section].items())
    ]
    wires += [Wire(pin, None, name, colour(name)) for pin, name in ((1, "3V3"), (2, "5V"), (6, "GND"))]
    return sorted(wires, key=lambda w: w.pin)


def panel_cores(table: dict[str, Any]) -> list[str]:
    """List the cores of the cable from the panel board to the panel: a contact each, feeds, and what sinks current."""
    cores = [f"contact {name}" for name in table["buttons"]] + ["GND", "+5V"]
    return cores + [f"lamp {name} -" for name in table["lamps"]] + ["buzzer -"]


def panel_loom(pinmap: Path, cable_m: float) -> dict[str, Any]:
    """The loom from the Pi to the panel board, by a cable to the panel, and on to push-buttons, lamps and buzzer."""
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
            "notes": "each contact: 10k to 3V3, 1k in series, 100 nF to GND, PESD5V0S1BA at the core. Lamps, buzzer: "
            "through TBD62003APG. +5V: through PTC MF-R050, P6KE6.8A, its band to +5V.",
        },
        "Out": {"type": "panel board, out", "subtype": "terminal strip", "pinlabels": cores},
        "Panel": {"type": "terminal strip", "subtype": "in the push-buttons' box", "pinlabels": cores},
    }
    cables: dict[str, Any] = {
        "W1": {
            "wirecount": len(wires),
            "gauge": "0.14 mm2",
            "length": 0.2,
            "colors": [w.colour for w in wires],
            "wirelabels": [w.name for w in wires],
            "notes": "soldered to the socket's pins, heat-shrink tube on each",
        },
        "W2": {
            "wirecount": len(cores),
            "gauge": "0.14 mm2",
            "length": cable_m,
            "colors": [colour(core) for core in cores],
            "wirelabels": cores,
            "shield": True,
            "notes": "screen to GND at the box only; ferrite at the box; the twelfth core is spare",
        },
    }
    connections: list[Any] = [
        [{"Pi": [w.pin for w in wires]}, {"W1": to_board}, {"Board": to_board}],
        [{"Out": to_panel}, {"W2": to_panel}, {"Panel": to_panel}],
        [{"Out": cores.index("GND") + 1}, {"W2": "s"}],
    ]
    ends = [
        (
            f"push-button {name}",
            f"illuminated, {v['colour']}",
            [f"contact {name}", "GND", "+5V", f"lamp {name} -"],
        )
        for name, v in table["buttons"].items()
    ]
    ends += [
        (f"lamp {name}", f"with {LAMP_OHMS[name]}R", ["+5V", f"lamp {name} -"])
        for name in table["lamps"]
        if name not in table["buttons"]
    ]
    ends += [("buzzer", "active, 5 V", ["+5V", "buzzer -"])]
    contacts = [name for name, _, labels in ends if len(labels) == 4]
    for number, (name, kind, labels) in enumerate(ends, start=3):
        key = name.replace(" ", "_").replace("-", "_")
        connectors[key] = {"type": name, "subtype": kind, "pinlabels": labels}
        at = [cores.index(label) + 1 for label in labels]
        cables[f"W{number}"] = {
            "wirecount": len(labels),
            "gauge": "0.14 mm2",
            "length": 0.15,
            "colors": [colour(label) for label in labels],
        }
        if name in contacts:
            cables[f"W{number}"]["notes"] = (
                "contact and GND: terminals C and NO; +5V: lamp +, its own core: lamp -"
            )
        every = list(range(1, len(labels) + 1))
        connections.append([{"Panel": at}, {f"W{number}": every}, {key: every}])
    fan = f"W{len(ends) + 3}"
    connectors |= {
        "Pi_fan": {
            "type": "40-pin header",
            "subtype": "the same plug",
            "pins": [4, 9],
            "pinlabels": ["5V", "GND"],
        },
        "Fan": {"type": "fan", "subtype": "40 mm, 5 V", "pinlabels": ["+", "-"]},
        "Bodies": {
            "type": "push-buttons' bodies",
            "subtype": "ring lugs, toothed washers",
            "pinlabels": ["earth"],
        },
        "Earth": {"type": "near post", "subtype": "lug M8", "pinlabels": ["earth"]},
        "Zero": {"type": "panel board, out", "subtype": "the same strip", "pinlabels": ["GND"]},
        "Beam": {
            "type": "beam",
            "subtype": "lug M5, toothed washer, a screw that holds the box",
            "pinlabels": ["earth"],
        },
    }
    cables[fan] = {"wirecount": 2, "gauge": "0.14 mm2", "length": 0.2, "colors": ["RD", "BK"]}
    cables["PE"] = {
        "wirecount": 1,
        "gauge": "2.5 mm2",
        "length": 2.0,
        "colors": ["GNYE"],
        "notes": "0.1 ohm at most",
    }
    cables["PE0"] = {
        "wirecount": 1,
        "gauge": "2.5 mm2",
        "length": 0.3,
        "colors": ["GNYE"],
        "notes": "here, and nowhere else, 0 V joins earth",
    }
    connections += [
        [{"Pi_fan": [4, 9]}, {fan: [1, 2]}, {"Fan": [1, 2]}],
        [{"Bodies": [1]}, {"PE": [1]}, {"Earth": [1]}],
        [{"Zero": [1]}, {"PE0": [1]}, {"Beam": [1]}],
    ]
    return {"connectors": connectors, "cables": cables, "connections": connections}


def panel_board_page(pinmap: Path) -> str:
    """Write what the panel board has between the header's pins and the panel's cores, in Markdown."""
    table: dict[str, Any] = tomllib.loads(pinmap.read_text(encoding="utf-8"))
    cores = panel_cores(table)
    rows = [
        (
            v,
            f"contact {name}",
            "1 kΩ to the core; at the pin 10 kΩ to 3V3 and 100 nF to GND; PESD5V0S1BA from the core to GND",
        )
        for name, v in table["buttons"].items()
    ]
    sinks = [(v, f"lamp {name} -") for name, v in table["lamps"].items()]
    sinks += [(v, f"{name} -") for name, v in table["buzzer"].items()]
    rows += [
        (v, core, f"TBD62003APG: in at its pin {channel}, out at its pin {17 - channel}")
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
        f"| 6 | | {cores.index('GND') + 1} GND, screen | TBD62003APG pin 8 |",
        f"| 2 | | {cores.index('+5V') + 1} +5V | PTC MF-R050 from pin 2; behind it TBD62003APG pin 9, and "
        "P6KE6.8A to GND, its band to +5V |",
        "| 4 | | | the fan's + |",
        "| 9 | | | the fan's - |",
        "| 1 | | | the three 10 kΩ |",
        f"| | | {cores.index('GND') + 1} GND | green and yellow wire to a lug below a screw that holds the box "
        "on the beam: 0 V joins earth here, once |",
        "",
        "A PESD5V0S1BA (SOD323, 2.5 mm long) is soldered across two neighbouring pads on the copper side, "
        "either way round.",
    ]
    return "\n".join(lines) + "\n"


def puck_loom(cable_m: float) -> dict[str, Any]:
    """The loom from the puck reader's board to its antennas: one bus, a select and a reset line, a gate each."""
    signals = ["3V3", "GND", "SCK", "MOSI", "MISO", "SDA (select)", "RST"]
    connectors: dict[str, Any] = {}
    cables: dict[str, Any] = {}
    connections: list[Any] = []
    for seat, (select, reset) in config.ANTENNAS.items():
        plug, reader, cable = f"Plug_{seat}", f"Reader_{seat}", f"W{seat}"
        connectors[plug] = {
            "type": "puck reader's board",
            "subtype": f"plug of seat {seat}",
            "pinlabels": [
                "regulator OUT 3V3",
                "GND",
                f"GP{config.SCK} SCK, 47R",
                f"GP{config.MOSI} MOSI, 47R",
                f"gate {seat}, in",
                f"GP{select} select {seat}, 10k to 3V3",
                f"GP{reset} reset {seat}",
            ],
        }
        connectors[reader] = {
            "type": f"{config.CHIP.upper()} board",
            "subtype": f"seat {seat}",
            "pinlabels": signals,
            "notes": "go by the names printed on the board, not by their order; parts and pins down, bare face up; "
            "pins towards the table's middle",
        }
        cables[cable] = {
            "wirecount": 7,
            "gauge": "0.14 mm2",
            "length": cable_m,
            "colors": ["OG", "BK", "GN", "BU", "YE", "WH", "GY"],
            "category": "bundle",
        }
        every = list(range(1, 8))
        connections.append([{plug: every}, {cable: every}, {reader: every}])
    return {"connectors": connectors, "cables": cables, "connections": connections}


def puck_board_page() -> str:
    """Write where each wire of the RP2040 goes, in Markdown."""
    rows = [
        (config.SCK, "every reader's SCK", "47 Ω in each branch"),
        (config.MOSI, "every reader's MOSI", "47 Ω in each branch"),
        (config.MISO, "every gate's out", "10 kΩ to GND"),
    ]
    gates = []
    for number, (seat, (select, reset)) in enumerate(config.ANTENNAS.items()):
        chip, (enable, into, out) = number // 4 + 1, GATES[number % 4 + 1]
        rows += [
            (select, f"SDA (select) of seat {seat}", f"10 kΩ to 3V3; gate {seat}'s enable"),
            (reset, f"RST of seat {seat}", ""),
        ]
        gates.append(f"| {seat} | {chip} | {enable} | {into} | {out} |")
    spare = [str(pin) for gate in list(GATES.values())[len(config.ANTENNAS) % 4 :] for pin in gate[:1]]
    inputs = [str(gate[1]) for gate in list(GATES.values())[len(config.ANTENNAS) % 4 :]]
    lines = [
        "# The puck reader's board",
        "",
        "Made by `make hardware` from `firmware/puck_reader/config.py`. UNTESTED on hardware.",
        "",
        "| Pico's pin | GP | to | with |",
        "|--:|--:|---|---|",
        *(f"| {PICO_PINS[gp]} | {gp} | {to} | {extra} |" for gp, to, extra in rows),
        "| 40 | VBUS | the regulator's IN | PTC MF-R030, behind it P6KE6.8A to GND, its band to VBUS |",
        "| 38 | GND | the regulator's GND, every reader's GND | |",
        "| | | the regulator's OUT to every reader's 3V3 and both SN74AHC125N | 100 nF at each |",
        f"| {PICO_PINS[config.SERVICE]} | {config.SERVICE} | ground at the start: service | two pins and a jumper |",
        "",
        "A reader in reset may hold its MISO high or low: so a gate of an SN74AHC125N for each, open only while "
        "its reader",
        "is selected. Pin 7 is GND, pin 14 is 3V3; 100 kΩ to GND at each input.",
        "",
        "| gate, seat | chip | enable: select | in: reader's MISO | out: GP16 |",
        "|--:|--:|--:|--:|--:|",
        *gates,
        "",
        f"On the last chip pins {', '.join(spare)} (enable) go to 3V3 and pins {', '.join(inputs)} (in) to GND.",
    ]
    return "\n".join(lines) + "\n"


def _label(wire: Wire) -> str:
    return wire.name if wire.bcm is None else f"BCM {wire.bcm} {wire.name}"
