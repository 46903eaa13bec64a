"""The looms and the Pi's header, drawn: on A4 pages for the bench, in one column for the book."""

from __future__ import annotations

import math
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from hardware.make.bom import Bom
from hardware.make.plugs import supply_loom, ups_loom
from hardware.make.sheet import PAPERS, Sheet
from hardware.make.wiring import HEADER_BCM, POWER_PINS, panel_loom, panel_wires, puck_loom

TITLES: Final = {
    "panel": "From the Pi's header to the dealer's panel",
    "puck": "From the puck reader's board to the antennas",
    "supply": "What is plugged: supplies, camera, display, puck reader, lamps",
    "ups": "The optional UPS between supply and Pi",
}
INK: Final = {
    "WH": "#ffffff", "BN": "#7b4a1e", "GN": "#2da44e", "YE": "#f2cc0c", "GY": "#8c959f", "PK": "#ff8fb3",
    "BU": "#0969da", "RD": "#cf222e", "BK": "#24292f", "VT": "#8250df", "OG": "#e36209", "GYPK": "#8c959f",
    "GNYE": "#2da44e",
}  # fmt: skip
SECOND: Final = {"GYPK": "#ff8fb3", "GNYE": "#f2cc0c"}
"""The second colour of a wire with two."""
DARK, GREY = "#24292f", "#57606a"
ROW_MM: Final = 5.5
EDGE_MM: Final = 12.0
NOTE_CHARS: Final = 118


@dataclass(frozen=True)
class Block:
    """A cable: its title, the connectors at its ends, its wires (left, colour, right), notes; on one page."""

    title: str
    ends: tuple[str, str]
    wires: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...]

    @property
    def high_mm(self) -> float:
        """What it takes of a page."""
        return 17 + ROW_MM * len(self.wires) + 4 * len(self.notes)


def blocks(loom: dict[str, Any]) -> list[Block]:
    """Take a loom apart into its cables."""
    found: list[Block] = []
    told: set[str] = set()
    for name, cable in loom["cables"].items():
        wires: list[tuple[str, str, str]] = []
        named: tuple[list[str], list[str]] = ([], [])
        for parts in loom["connections"]:
            if len(parts) != 3 or name not in parts[1]:
                continue
            ((left, at),), ((right, to),) = parts[0].items(), parts[2].items()
            named[0].append(left)
            named[1].append(right)
            rows = zip(_list(at), _list(parts[1][name]), _list(to), strict=True)
            wires += [
                (_pin(loom, left, a), str(cable["colors"][wire - 1]), _pin(loom, right, b))
                for a, wire, b in rows
            ]
        said = [
            cable.get("type", ""),
            f"{cable['wirecount']} × {cable['gauge'].replace('mm2', 'mm²')}" if "gauge" in cable else "",
        ]
        said += [
            f"{cable['length']:g} m" if "length" in cable else "",
            "screened" if cable.get("shield") else "",
        ]
        ends = [loom["connectors"][end] for side in named for end in side]
        notes = [one["notes"] for one in (cable, *ends) if one.get("notes", "") not in ("", *told)]
        told |= {
            one["notes"] for one in ends if "notes" in one
        }  # a connector's note once, at its first cable
        lines = [
            line
            for note in dict.fromkeys(notes)
            for line in textwrap.wrap(note.replace("\n", ""), NOTE_CHARS)
        ]
        found.append(
            Block(
                f"{name}   " + ", ".join(word for word in said if word),
                (_plug(loom, named[0][0]), _plug(loom, named[1][0])),
                tuple(wires),
                tuple(lines),
            )
        )
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _plug(loom: dict[str, Any], name: str) -> str:
    one = loom["connectors"][name]
    return ", ".join(word for word in (one.get("type"), one.get("subtype")) if word)


def _pin(loom: dict[str, Any], name: str, pin: int) -> str:
    one = loom["connectors"][name]
    at = one["pins"].index(pin) if "pins" in one else int(pin) - 1
    return f"{pin}  {one['pinlabels'][at]}"


def _draw(block: Block, sheet: Sheet, top: float) -> None:
    left, right, inner = EDGE_MM, sheet.width - EDGE_MM, 74.0
    sheet.text(left, top + 5, block.title, 4, DARK, "start")
    _fit(sheet, left, top + 10.5, block.ends[0], inner, "start")
    _fit(sheet, right, top + 10.5, block.ends[1], inner, "end")
    y = top + 12.5
    for start, code, end in block.wires:
        for x in (left, right - inner + 4):
            sheet.outline(
                [(x, y), (x + inner - 4, y), (x + inner - 4, y + ROW_MM), (x, y + ROW_MM)], "#d0d7de", 0.2
            )
        _fit(sheet, left + 2, y + 3.9, start, inner - 8, "start", DARK)
        _fit(sheet, right - inner + 6, y + 3.9, end, inner - 8, "start", DARK)
        middle, begin, stop = y + ROW_MM / 2, left + inner - 4, right - inner + 4
        sheet.line(begin, middle, stop, middle, DARK, 2.2)
        sheet.line(begin, middle, stop, middle, INK[code], 1.5)
        if code in SECOND:
            sheet.line(begin, middle, stop, middle, SECOND[code], 0.6)
        sheet.rect(sheet.width / 2 - 7, middle - 2, 14, 4, "#ffffff")
        sheet.text(sheet.width / 2, middle + 1.1, code, 3, DARK)
        y += ROW_MM
    for note in block.notes:
        y += 4
        sheet.text(left, y - 0.3, note, 2.8, GREY, "start")


def _fit(sheet: Sheet, x: float, y: float, words: str, room: float, anchor: Any, ink: str = GREY) -> None:
    size = min(3.2, room / (0.52 * max(1, len(words))))
    sheet.text(x, y, words, size, ink, anchor)


def pages(loom: dict[str, Any], title: str) -> list[Sheet]:
    """Draw a loom on A4 pages, as few as hold it and as full as each other; no cable is cut in two."""
    across, down = PAPERS["a4"]
    sheets: list[Sheet] = []
    found, most = blocks(loom), down - 3 * EDGE_MM
    plan = _filled(found, most)
    fair = max(math.ceil(sum(block.high_mm for block in found) / len(plan)), 1)
    plan = next(
        even
        for limit in range(fair, math.ceil(most) + 1)
        if len(even := _filled(found, min(limit, most))) == len(plan)
    )
    for number, page in enumerate(plan, start=1):
        sheet = Sheet(title, across, down)
        sheet.text(EDGE_MM, EDGE_MM + 3, title, 5, DARK, "start")
        sheet.text(across / 2, down - 6, f"UNTESTED on hardware. Page {number} of {len(plan)}", 3, GREY)
        top = 2 * EDGE_MM - 2
        for block in page:
            _draw(block, sheet, top)
            top += block.high_mm
        sheets.append(sheet)
    return sheets


def _filled(found: list[Block], most: float) -> list[list[Block]]:
    """Fill pages one after another, each with `most` millimetres of cables."""
    plan: list[list[Block]] = [[]]
    used = 0.0
    for block in found:
        if plan[-1] and used + block.high_mm > most:
            plan.append([])
            used = 0.0
        plan[-1].append(block)
        used += block.high_mm
    return plan


def column(loom: dict[str, Any], title: str) -> Sheet:
    """Draw a loom in one column as wide as a page: for the book."""
    found = blocks(loom)
    sheet = Sheet(title, PAPERS["a4"][0], EDGE_MM + sum(block.high_mm for block in found))
    sheet.rect(0, 0, sheet.width, sheet.height, "#ffffff")
    top = 0.0
    for block in found:
        _draw(block, sheet, top)
        top += block.high_mm
    sheet.text(sheet.width / 2, sheet.height - 4, "UNTESTED on hardware", 3, GREY)
    return sheet


def looms(pinmap: Path, bom: Bom, electric: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Make every loom, by its name."""
    return {
        "panel": panel_loom(pinmap, bom.length_m("panel-cable")),
        "puck": puck_loom(bom.length_m("antenna-cable")),
        "supply": supply_loom(bom),
        "ups": ups_loom(pinmap, electric),
    }


def loom_text(loom: dict[str, Any], what: str) -> str:
    """Write a loom as YAML in WireViz's form."""
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
    used |= {entry["pin"]: (f"reserved: {name}", "#6e7781") for name, entry in table["reserved"].items()}
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
