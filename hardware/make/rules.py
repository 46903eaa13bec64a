"""Every rule that a build must keep, computed from all data at once: `out/checks.md`. UNTESTED on hardware."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hardware.make import electric, fits, strength, view
from hardware.make.bom import Bom
from hardware.make.felt import cloth_marks
from hardware.make.finding import Finding
from hardware.make.frame import Frame
from hardware.make.mech import measures
from vision.felt.layout import TableLayout
from vision.felt.optics import cameras

LETTER_MM: Final = 30.0
"""A place's letter on the cloth, at least: legible from a chair."""


@dataclass(frozen=True)
class Sources:
    """All data of a build, read."""

    frame: Frame
    bom: Bom
    electric: dict[str, Any]
    pins: dict[str, Any]

    @classmethod
    def load(cls, root: Path, layout: TableLayout) -> Sources:
        """Read the data of `hardware/`. Raises BomError, OSError."""
        return cls(
            Frame(measures(root / "mech"), layout),
            Bom.load(root / "bom.toml"),
            electric.read(root / "electric.toml"),
            electric.read(root / "pinmap.toml"),
        )


def antennas_hold(frame: Frame) -> list[Finding]:
    """Judge reach, lids and circles: two pucks that lie side by side on the felt's circle are both read."""
    shell, pocket = frame.measures["puck_shell"], frame.pocket
    lid = frame.measures.get("antenna_lid", {"thick_mm": 0.0, "pieces": 0})
    stack = lid["thick_mm"] + pocket["cloth_mm"] + shell["bottom_mm"] + pocket["gap_mm"]
    aside, reach = shell["outer_mm"] / 2, pocket["coil_mm"] / 2 + shell["tag_mm"] / 4
    proud = pocket["floor_mm"] + pocket["board_deep_mm"] + lid["thick_mm"] - pocket["recess_mm"][2]
    return [
        Finding(
            "From the coil to the tag",
            f"{stack:.1f} mm",
            f"half of {pocket['range_mm']:g} mm",
            stack <= pocket["range_mm"] / 2,
        ),
        Finding("Two pucks on one coil", f"{aside:.1f} mm off its middle", f"{reach:.1f} mm", aside <= reach),
        Finding(
            "A lid closes each antenna's recess, flush",
            f"{lid['pieces']} lids, {proud:+.1f} mm",
            f"{pocket['pieces']} lids, ± 0.3 mm",
            lid["pieces"] == pocket["pieces"] and abs(proud) <= 0.3,
        ),
    ]


def cloth_holds(frame: Frame) -> list[Finding]:
    """Judge what the cloth shows beyond the felt: circles, seats, legible places, cut-outs, none of it on the felt."""
    marks = cloth_marks(frame)
    circles = [(m.x, m.y) for m in marks if m.what == "circle"]
    coils = frame.coils_mm()
    off = max((math.dist(one, other) for one, other in zip(circles, coils, strict=False)), default=0.0)
    seats = [m.words for m in marks if m.what == "seat"]
    letters = {m.words: m.size for m in marks if m.what == "place"}
    layout = frame.layout
    on = [
        m.what
        for m in marks
        if -m.size / 2 < m.x < layout.width_mm + m.size / 2
        and -m.size / 2 < m.y < layout.height_mm + m.size / 2
    ]
    cuts = sum(m.what == "cut" for m in marks)
    return [
        Finding(
            "A circle on the cloth over every coil",
            f"{len(circles)} circles, {off:.1f} mm off",
            "5, 0 mm",
            len(circles) == len(coils) and off < 0.1,
        ),
        Finding(
            "Seats are numbered on the cloth", ", ".join(seats), "1 to 5", seats == ["1", "2", "3", "4", "5"]
        ),
        Finding(
            "Places are legible",
            f"letters of {min(letters.values(), default=0):g} mm for {', '.join(letters)}",
            f"{LETTER_MM:g} mm",
            set(letters) == set(layout.places) and min(letters.values()) >= LETTER_MM,
        ),
        Finding("Cut-outs are drawn", str(cuts), "2: push-buttons, screen", cuts == 2),
        Finding("Nothing of this on the felt", ", ".join(on) or "nothing", "nothing", not on),
    ]


def looms_hold(frame_looms: dict[str, dict[str, Any]]) -> list[Finding]:
    """Judge that no cable has two wires of one colour, and that wires and colours are as many."""
    wrong = [
        f"{loom} {name}"
        for loom, said in frame_looms.items()
        for name, cable in said["cables"].items()
        if len(set(cable["colors"])) != len(cable["colors"]) or len(cable["colors"]) != cable["wirecount"]
    ]
    return [
        Finding(
            "Wires of a cable differ in colour",
            ", ".join(wrong) or "in every cable",
            "each its own",
            not wrong,
        )
    ]


def judge(sources: Sources, looms: dict[str, dict[str, Any]]) -> dict[str, list[Finding]]:
    """Judge every rule, by its subject."""
    frame, fitting = sources.frame, fits.frame_fits(sources.frame)
    fits_together = all(one.ok for one in fitting)  # else nothing holds the frame, and it cannot be computed
    standing = strength.judge(strength.portal(frame)) if fits_together else []
    return {
        "Camera": [
            *(view.camera_agrees(camera) for camera in cameras().values()),
            *view.field_holds(frame),
            view.layout_agrees(frame),
            view.reader_measured(frame),
        ],
        "Light": view.light_holds(frame),
        "Frame": [
            frame.head_room(),
            *fitting,
            strength.profile_agrees(frame),
            strength.brackets_bought(frame, sources.bom),
            *standing,
            *strength.judge(strength.hung(frame), "Hung from the ceiling"),
        ],
        "Antennas and cloth": [*antennas_hold(frame), *fits.antennas_apart(frame), *cloth_holds(frame)],
        "Electric": electric.judge(sources.electric, sources.pins, sources.bom),
        "Looms and cables": [*looms_hold(looms), *frame.cables(sources.bom), *fits.cables_feed(sources.bom)],
        "Parts and prices": [*fits.bought(frame, sources.bom, sources.pins), sources.bom.prices()],
    }


def broken(judged: dict[str, list[Finding]]) -> list[str]:
    """Say which rules do not hold."""
    return [
        f"{finding.rule}: {finding.figure}; the limit: {finding.limit}"
        for findings in judged.values()
        for finding in findings
        if not finding.ok
    ]


def rules_page(judged: dict[str, list[Finding]]) -> str:
    """Write every rule with its figure and its limit, in Markdown."""
    lines = [
        "# What was computed",
        "",
        "Made by `make hardware` from all data of `hardware/`; it refuses data that break a rule. Computed, "
        "nothing measured:",
        "UNTESTED on hardware.",
    ]
    for subject, findings in judged.items():
        lines += ["", f"## {subject}", "", "| rule | figure | limit | |", "|---|---|---|---|"]
        lines += [
            f"| {one.rule} | {one.figure} | {one.limit} | {'holds' if one.ok else 'BROKEN'} |"
            for one in findings
        ]
    return "\n".join(lines) + "\n"
