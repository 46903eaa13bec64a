"""The looms and the Pi's header, drawn: on A4 pages for the bench, in one column for the book."""

import math
import textwrap
from dataclasses import dataclass
from typing import Any, Final

from hardware.make.loom import Loom
from hardware.make.sheet import PAPERS, Sheet
from hardware.make.wiring import HEADER_BCM, POWER_PINS, panel_wires

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
        """The height that it takes on a page."""
        return 17 + ROW_MM * len(self.wires) + 4 * len(self.notes)


def blocks(loom: Loom) -> list[Block]:
    """Take a loom apart into its cables; a connector's note stands once, at its first cable."""
    found: list[Block] = []
    written = {""}
    for name, cable in loom.cables.items():
        attributes, ends = cable.attributes, [loom.connectors[end] for end in cable.ends]
        words = [
            attributes.get("type", ""),
            f"{len(cable.colours)} × {attributes['gauge'].replace('mm2', 'mm²')}"
            if "gauge" in attributes
            else "",
            f"{attributes['length']:g} m" if "length" in attributes else "",
            "shielded" if "shield" in attributes else "",
        ]
        notes = [
            note
            for note in (attributes.get("notes", ""), *(end.notes for end in ends))
            if note not in written
        ]
        written |= {end.notes for end in ends}
        lines = [line for note in dict.fromkeys(notes) for line in textwrap.wrap(note, NOTE_CHARS)]
        title = f"{name}   " + ", ".join(word for word in words if word)
        found.append(Block(title, (ends[0].text, ends[1].text), tuple(loom.wires(cable)), tuple(lines)))
    return found


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


def pages(loom: Loom) -> list[Sheet]:
    """Draw a loom on as few A4 pages as hold it, all about equally full; no cable is cut in two."""
    across, down = PAPERS["a4"]
    sheets: list[Sheet] = []
    found, most = blocks(loom), down - 3 * EDGE_MM
    fewest = len(_fill(found, most))
    fair = math.ceil(sum(block.high_mm for block in found) / fewest)
    # of the plans with the fewest pages, the one with the lowest limit is the most even
    plans = (_fill(found, min(limit, most)) for limit in range(max(fair, 1), math.ceil(most) + 1))
    plan = next(plan for plan in plans if len(plan) == fewest)
    for number, page in enumerate(plan, start=1):
        sheet = Sheet(loom.title, across, down)
        sheet.text(EDGE_MM, EDGE_MM + 3, loom.title, 5, DARK, "start")
        sheet.text(across / 2, down - 6, f"UNTESTED on hardware. Page {number} of {len(plan)}", 3, GREY)
        _stack(page, sheet, 2 * EDGE_MM - 2)
        sheets.append(sheet)
    return sheets


def _fill(found: list[Block], most: float) -> list[list[Block]]:
    """Fill pages one after another, each with at most this many millimetres of cables."""
    plan: list[list[Block]] = [[]]
    for block in found:
        if plan[-1] and sum(one.high_mm for one in plan[-1]) + block.high_mm > most:
            plan.append([])
        plan[-1].append(block)
    return plan


def _stack(found: list[Block], sheet: Sheet, top: float) -> None:
    for block in found:
        _draw(block, sheet, top)
        top += block.high_mm


def column(loom: Loom) -> Sheet:
    """Draw a loom in one column as wide as a page: for the book."""
    found = blocks(loom)
    sheet = Sheet(loom.title, PAPERS["a4"][0], EDGE_MM + sum(block.high_mm for block in found))
    sheet.rect(0, 0, sheet.width, sheet.height, "#ffffff")
    _stack(found, sheet, 0.0)
    sheet.text(sheet.width / 2, sheet.height - 4, "UNTESTED on hardware", 3, GREY)
    return sheet


def header_sheet(pinmap: dict[str, Any]) -> Sheet:
    """Draw the Pi's header seen from above, board to the left, with what is wired where."""
    kinds = {"3V3": "#e36209", "5V": "#cf222e", "GND": DARK, "": "#d0d7de"}
    drawn = {pin: (name, kinds[name], name) for pin, name in POWER_PINS.items()}
    used = {
        wire["pin"]: (wire["name"], "#1f6feb" if wire["name"].startswith("lamp") else "#b8860b")
        for wire in panel_wires(pinmap)
        if "bcm" in wire
    }
    used |= {pinmap["power"]["fail"]["pin"]: ("power fail (UPS)", "#8250df")}
    used |= {entry["pin"]: (f"reserved: {name}", "#6e7781") for name, entry in pinmap["reserved"].items()}
    for pin, bcm in HEADER_BCM.items():
        name, colour = used.get(pin, ("", kinds[""]))
        drawn[pin] = (name, colour, f"{name}  BCM {bcm}" if name else f"BCM {bcm}, free")
    sheet = Sheet("Feltwatch: the pins of the Pi's header", 150, 138)
    sheet.rect(0, 0, 150, 138, "#ffffff")
    sheet.text(75, 7, "Raspberry Pi header, from above; pin 1 is at the corner of the board", 4, DARK)
    for pin in range(1, 41):
        (name, colour, label), y = drawn[pin], 13 + (pin - 1) // 2 * 6
        x, at = (69, 66) if pin % 2 else (76, 84)
        sheet.rect(x, y, 5, 5, colour)
        sheet.text(x + 2.5, y + 3.5, str(pin), 2.8, "#ffffff" if name else DARK)
        sheet.text(at, y + 3.6, label, 3.2, DARK if name else "#8c959f", "end" if pin % 2 else "start")
    sheet.text(75, 136, "UNTESTED on hardware", 3, "#8c959f")
    return sheet
