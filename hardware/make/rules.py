"""Every rule that a build must keep, computed from all data at once: `out/checks.md`. UNTESTED on hardware."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hardware.make import electric, fits, strength, view
from hardware.make.boards.circuit import Board, load_boards, pins_agree, tracks_bear
from hardware.make.bom import Bom
from hardware.make.felt import cloth_marks
from hardware.make.finding import Finding, most, none
from hardware.make.frame import Frame
from hardware.make.loom import Loom
from hardware.make.tables import fill, toml
from hardware.make.wiring import looms
from vision.felt.layout import TableLayout
from vision.felt.optics import cameras

LETTER_MM: Final = 30.0
"""A place's letter on the cloth, at least: legible from a chair."""
FLUSH_MM: Final = 0.3


@dataclass(frozen=True)
class Sources:
    """All data of a build, read."""

    frame: Frame
    bom: Bom
    electric: dict[str, Any]
    pins: dict[str, Any]
    boards: dict[str, Board]

    @classmethod
    def load(cls, root: Path) -> Sources:
        """Read the data of `hardware/`, and the standard felt's layout. Raises DataTableError."""
        frame = Frame(toml(root / "mech/mech.toml"), TableLayout.load())
        bom = Bom.load(root / "bom.toml")
        electrical, pins = (toml(root / f"{name}.toml") for name in ("electric", "pinmap"))
        return cls(frame, bom, electrical, pins, load_boards(root))

    def looms(self) -> dict[str, Loom]:
        """Make every loom, by its name."""
        return looms(self.pins, self.bom, self.electric)


def antennas_hold(frame: Frame) -> list[Finding]:
    """Judge reach, lids and circles: two pucks that lie side by side on the felt's circle are both read."""
    shell, pocket, lid = (frame.measures[part] for part in ("puck_shell", "antenna_pocket", "antenna_lid"))
    stack = lid["thick_mm"] + pocket["cloth_mm"] + shell["bottom_mm"] + pocket["gap_mm"]
    aside, reach = shell["outer_mm"] / 2, pocket["coil_mm"] / 2 + shell["tag_mm"] / 4
    proud = pocket["floor_mm"] + pocket["board_deep_mm"] + lid["thick_mm"] - pocket["recess_mm"][2]
    half = pocket["range_mm"] / 2
    return [
        most("From the coil to the tag", "{:.1f} mm", stack, half, f"half of {2 * half:g} mm"),
        most("Two pucks on one coil", "{:.1f} mm off its middle", aside, reach, "{:.1f} mm"),
        Finding(
            "A lid closes each antenna's recess, flush",
            f"{lid['pieces']} lids, {proud:+.1f} mm",
            f"{pocket['pieces']} lids, ± {FLUSH_MM} mm",
            lid["pieces"] == pocket["pieces"] and abs(proud) <= FLUSH_MM,
        ),
    ]


def cloth_holds(frame: Frame) -> list[Finding]:
    """Judge what the cloth shows beyond the felt: circles, seats, legible places, cut-outs, none of it on the felt."""
    marks, coils, layout = cloth_marks(frame), frame.coils_mm(), frame.layout
    circles = [(m.x, m.y) for m in marks if m.what == "circle"]
    off = max(map(math.dist, circles, coils), default=0.0)
    seats = [m.words for m in marks if m.what == "seat"]
    letters = {m.words: m.size for m in marks if m.what == "place"}
    size = min(letters.values(), default=0)
    cuts = sum(m.what == "cut" for m in marks)
    middle = layout.width_mm / 2, layout.height_mm / 2
    on = [
        m.what
        for m in marks
        if all(abs(at - half) < half + m.size / 2 for at, half in zip((m.x, m.y), middle, strict=True))
    ]
    each, held = f"letters of {size:g} mm for {', '.join(letters)}", set(letters) == set(layout.places)
    drawn = f"{len(circles)} circles, {off:.1f} mm off"
    over = len(circles) == len(coils) and off < 0.1
    return [
        Finding("A circle on the cloth over every coil", drawn, "5, 0 mm", over),
        Finding("Seats are numbered on the cloth", ", ".join(seats), "1 to 5", seats == list("12345")),
        Finding("Places are legible", each, f"{LETTER_MM:g} mm", held and size >= LETTER_MM),
        Finding("Cut-outs are drawn", str(cuts), "2: push-buttons, screen", cuts == 2),
        none("Nothing of this on the felt", on, "nothing", "nothing"),
    ]


def looms_hold(drawn: dict[str, Loom]) -> list[Finding]:
    """Judge that no cable has two wires of one colour."""
    cables = {f"{loom} {name}": one for loom, it in drawn.items() for name, one in it.cables.items()}
    wrong = [name for name, one in cables.items() if len(set(one.colours)) != len(one.colours)]
    return [none("Wires of a cable differ in colour", wrong, "in every cable", "each its own")]


def judge(sources: Sources) -> dict[str, list[Finding]]:
    """Judge every rule, by its subject."""
    frame, bom = sources.frame, sources.bom
    fine = [view.layout_agrees(frame), view.reader_measured(frame)]
    fitting, standing = fits.frame_fits(frame), []
    if all(one.ok for one in fitting):  # else nothing holds the beam
        for hung, name in ((False, "Frame"), (True, "Hung from the ceiling")):
            standing += strength.judge(frame, strength.portal(frame, hung=hung), name)
    bought = [strength.profile_agrees(frame), strength.brackets_bought(frame, bom)]
    antennas = [*antennas_hold(frame), *fits.antennas_apart(frame)]
    wired = [*looms_hold(sources.looms()), *frame.cables(bom), *fits.cables_feed(bom)]
    return {
        "Camera": [*map(view.camera_agrees, cameras().values()), *view.field_holds(frame), *fine],
        "Light": view.light_holds(frame),
        "Frame": [frame.head_room(), *fitting, *bought, *standing],
        "Antennas and cloth": [*antennas, *cloth_holds(frame)],
        "Electric": [
            *electric.judge(sources.electric, sources.pins, bom),
            tracks_bear(sources.boards, sources.electric),
            pins_agree(sources.boards, sources.pins),
        ],
        "Looms and cables": wired,
        "Parts and prices": [*fits.judge_pieces(frame, bom, sources.pins), bom.prices()],
    }


def broken(judged: dict[str, list[Finding]]) -> list[str]:
    """Say which rules do not hold."""
    wrong = [finding for findings in judged.values() for finding in findings if not finding.ok]
    return [f"{finding.rule}: {finding.figure}; the limit: {finding.limit}" for finding in wrong]


def rules_page(judged: dict[str, list[Finding]]) -> str:
    """Write every rule with its figure and its limit, in Markdown."""
    return fill("checks.md", judged=judged)
