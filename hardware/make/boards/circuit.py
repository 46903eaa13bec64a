"""Both circuit boards, as they were drawn in KiCad: their nets, compared with the pins that the code uses.

UNTESTED on hardware: nobody has ordered or fitted one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from firmware.puck_reader import config
from hardware.make.finding import Finding, least, none
from hardware.make.tables import DataTableError
from hardware.make.wiring import GATES, PICO_PINS, panel_cores, panel_wires

FOLDER: Final = "boards"
BOARDS: Final = ("panel", "puck")
MIL: Final = 0.0254
_TOKEN: Final = re.compile(r'"((?:\\.|[^"\\])*)"|([()])|([^\s()"]+)')

Nets = dict[str, dict[str, str]]
"""The net at each pin of a part, by the part's name on the board and the pin's number; "" is none."""


def _lists(text: str) -> list[Any]:
    """Read KiCad's form: lists in brackets, of words and lists."""
    stack: list[list[Any]] = [[]]
    for quoted, bracket, word in _TOKEN.findall(text):
        if bracket == "(":
            stack.append([])
        elif bracket:
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(word or quoted)
    (whole,) = stack[0]
    return list(whole)


def _all(inside: list[Any], *names: str) -> list[list[Any]]:
    return [one for one in inside if isinstance(one, list) and one[0] in names]


@dataclass(frozen=True)
class Board:
    """A board: its nets, what each part is, and the width of its narrowest track."""

    nets: Nets
    values: dict[str, str]
    narrowest_mm: float

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a board of KiCad 7 or later. Raises DataTableError."""
        try:
            inside = _lists(path.read_text(encoding="utf-8"))
            nets, values = {}, {}
            for part in _all(inside, "footprint"):
                # KiCad 7 writes `fp_text reference`, later ones `property "Reference"`
                words = {one[1].lower(): one[2] for one in _all(part, "fp_text", "property")}
                pads = {pad[1]: _net(pad) for pad in _all(part, "pad") if pad[1]}
                if pads:  # else a hole
                    nets[words["reference"]], values[words["reference"]] = pads, words["value"]
            wide = [float(_all(track, "width")[0][1]) for track in _all(inside, "segment")]
            return cls(nets, values, min(wide))
        except (OSError, ValueError, LookupError) as error:
            raise DataTableError(f"{path} is no board of KiCad: {error}") from error


def _net(pad: list[Any]) -> str:
    """Return a pad's net; KiCad names one that only a single pad has `unconnected-…`."""
    name = next((str(net[-1]) for net in _all(pad, "net")), "").removeprefix("/")
    return "" if name.startswith("unconnected-") else name


def _row(nets: Iterable[str]) -> dict[str, str]:
    return {str(number): net for number, net in enumerate(nets, start=1)}


def panel_nets(pinmap: dict[str, Any]) -> Nets:
    """Return what the pins say of the panel board: the header's wires, the driver, the cores of the panel's cable."""
    sinks = [*(f"lamp {name}" for name in pinmap["lamps"]), *pinmap["buzzer"]]
    driver = _row(sinks) | {"8": "GND", "9": "+5V"}
    driver |= {str(17 - number): f"{name} -" for number, name in enumerate(sinks, start=1)}
    return {
        "J1": _row(wire["name"] for wire in panel_wires(pinmap)),
        "J2": _row([*panel_cores(pinmap), "GND"]),
        "U1": driver,
    }


def puck_nets() -> Nets:
    """Return what the pins say of the puck reader's board: the microcontroller, the gates, each seat's plug."""
    pins = {PICO_PINS[config.SCK]: "SCK", PICO_PINS[config.MOSI]: "MOSI", PICO_PINS[config.MISO]: "MISO"}
    pins |= {PICO_PINS[config.SERVICE]: "SERVICE", 40: "VBUS"} | dict.fromkeys(range(3, 40, 5), "GND")
    nets: Nets = {}
    for number, (seat, (select, reset)) in enumerate(config.ANTENNAS.items()):
        pins |= {PICO_PINS[select]: f"SEL{seat}", PICO_PINS[reset]: f"RST{seat}"}
        bus = [f"{signal}{seat}" for signal in ("SCK", "MOSI", "MISO", "SEL", "RST")]
        nets[f"J{seat}"] = _row(["3V3", "GND", *bus])
        gate = zip(map(str, GATES[number % 4 + 1]), (f"SEL{seat}", f"MISO{seat}", "MISO"), strict=True)
        nets.setdefault(f"U{number // 4 + 1}", {"7": "GND", "14": "3V3"}).update(gate)
    for chip in (nets[name] for name in nets if name.startswith("U")):
        for enable, into, _ in GATES.values():  # a gate without a seat is off, its input at a level
            chip.setdefault(str(enable), "3V3")
            chip.setdefault(str(into), "GND")
    return nets | {"A1": {str(pin): net for pin, net in pins.items()}}


def load_boards(root: Path) -> dict[str, Board]:
    """Read both boards, by name; `root` is `hardware/`. Raises DataTableError."""
    return {name: Board.load(root / FOLDER / f"{name}.kicad_pcb") for name in BOARDS}


def pins_agree(boards: dict[str, Board], pinmap: dict[str, Any]) -> Finding:
    """Judge that what leaves each board, and its chips, are joined as the code uses its pins."""
    wrong = []
    for name, wanted in (("panel", panel_nets(pinmap)), ("puck", puck_nets())):
        for ref, pins in wanted.items():
            drawn = boards[name].nets.get(ref, {})
            wrong += [
                f"{name} {ref} pin {pin}: {drawn.get(pin) or 'nothing'} instead of {pins.get(pin) or 'nothing'}"
                for pin in sorted(drawn.keys() | pins, key=int)
                if drawn.get(pin, "") != pins.get(pin, "")
            ]
    return none("Both circuit boards have the pins of the code", wrong, "every pin", "every pin", "; ")


def bears_a(wide_mm: float, track: dict[str, float]) -> float:
    """Return the current that warms a track on the outside by `rise_k`, by IPC-2221; its area is in square mils."""
    area = wide_mm / MIL * track["copper_um"] / 1000 / MIL
    return float(0.048 * track["rise_k"] ** 0.44 * area**0.725)


def tracks_bear(boards: dict[str, Board], electric: dict[str, Any]) -> Finding:
    """Judge that the narrowest track bears what opens the fuse before it."""
    track, wide = electric["track"], min(board.narrowest_mm for board in boards.values())
    most = max(wires["opens_a"] for wires in electric["outgoing"] if "PTC" in wires["limit"])
    rule = f"Tracks of both boards, {wide:g} mm, {track['rise_k']:g} K warmer"
    return least(rule, "{:.1f} A", bears_a(wide, track), most, "{:.1f} A, what trips the panel's PTC")
