"""Whether the frame holds: its bend, its first natural frequency, what its joints carry, a knock. UNTESTED on hardware.

Computed with `statics.py` from `mech/mech.toml`: a portal of two posts and a beam, tied to wall or ceiling; the same
beam hung from a ceiling by two drops.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hardware.make.bom import Bom
from hardware.make.finding import Finding
from hardware.make.frame import Frame
from hardware.make.statics import G_ACCELERATION, Point, Section, Structure

MOST_SAG_MM: Final = 1.0
LEAST_HZ: Final = 10.0
MOST_MOVED_MM: Final = 0.5
"""Of the camera, when somebody leans on a post."""
ACCIDENT_N: Final = 200.0
"""Somebody hangs on the beam's end."""
KNOCK_N: Final = 50.0
"""Somebody leans on a post, at the table's height."""
LEAST_TIES: Final = 3
"""Along the beam, and across it at each post: with one tie across, the other post swings."""
ALUMINIUM: Final = 2.7e-3
"""Kilograms of a metre of 1 mm²."""
STEEL: Final = 7.85e-6
"""Kilograms of a cubic millimetre."""
AGREES: Final = 0.05
CARRIER_BRACKETS: Final = 4
"""Two for each carrier."""
GROUND: Final = 1e9
"""Newtons a metre: an anchored foot does not move."""


@dataclass(frozen=True)
class Build:
    """A structure with its places of interest, metres, and what it is held by."""

    structure: Structure
    section: Section
    camera: Point
    end: Point
    joints: tuple[Point, ...]
    pushed: Point | None
    ties: int | None
    bracket_nm: float
    brackets: int
    yield_mpa: float


def section_of(profile: dict[str, float]) -> Section:
    """Return a profile's section in SI units."""
    return Section(
        profile["area_mm2"] * 1e-6,
        profile["bending_cm4"] * 1e-8,
        profile["twisting_cm4"] * 1e-8,
        profile["modulus_cm3"] * 1e-6,
        profile["kg_per_m"],
    )


def portal(frame: Frame, *, tied: bool = True) -> Build:
    """Build the frame as it stands: two posts, the beam, its ties."""
    said, strong = frame.said, frame.measures["strength"]
    section = section_of(frame.measures["profile"])
    floor, axis = said["floor_z_mm"] + said["plate_mm"][2], frame.beam_z + said["profile_mm"] / 2

    def at(x: float, y: float, z: float) -> Point:
        return x / 1000, y / 1000, z / 1000

    structure = Structure()
    x, middle = said["post_mm"][0], frame.middle[1]
    posts = [at(x, said[name][1], axis) for name in ("post_mm", "near_post_mm")]
    feet = [at(x, said[name][1], floor) for name in ("post_mm", "near_post_mm")]
    pushed = at(x, said["post_mm"][1], 0)
    structure.beam(feet[0], posts[0], section, via=(pushed,))
    structure.beam(feet[1], posts[1], section)
    for foot in feet:
        structure.hold(foot, (GROUND, GROUND, GROUND), strong["foot_nm_per_rad"])
    half = said["beam_long_mm"] / 2
    lamps = [at(x, lamp[1], axis) for lamp in frame.lamps_mm]
    camera, end = at(x, middle, axis), at(x, middle + half, axis)
    structure.beam(at(x, middle - half, axis), end, section, via=(*posts, camera, *lamps))
    for lamp in lamps:
        structure.load(lamp, strong["lamp_kg"])
    structure.load(camera, strong["eye_kg"])
    ties = said["ties_mm"] if tied else []
    for tie_x, tie_y, along in ties:
        stiff = strong["tie_n_per_mm"] * 1000
        structure.hold(at(tie_x, tie_y, axis), (stiff * (along == "x"), stiff * (along == "y"), 0.0))
    return _build(frame, structure, section, camera, end, (*posts, *feet), pushed, len(ties))


def hung(frame: Frame) -> Build:
    """Build the other way: the same beam on two drops from the ceiling, four anchors each side."""
    said, strong = frame.said, frame.measures["strength"]
    section = section_of(frame.measures["profile"])
    axis, top = frame.beam_z + said["profile_mm"] / 2, said["ceiling_mm"] + said["floor_z_mm"]
    structure = Structure()
    x, middle, half = said["post_mm"][0] / 1000, frame.middle[1] / 1000, said["beam_long_mm"] / 2000
    posts = [(x, said[name][1] / 1000, axis / 1000) for name in ("post_mm", "near_post_mm")]
    for post in posts:
        above = (post[0], post[1], top / 1000)
        structure.beam(above, post, section)
        structure.hold(above, (GROUND, GROUND, GROUND), strong["foot_nm_per_rad"])
    camera, end = (x, middle, axis / 1000), (x, middle + half, axis / 1000)
    lamps = [(x, lamp[1] / 1000, axis / 1000) for lamp in frame.lamps_mm]
    structure.beam((x, middle - half, axis / 1000), end, section, via=(*posts, camera, *lamps))
    for lamp in lamps:
        structure.load(lamp, strong["lamp_kg"])
    structure.load(camera, strong["eye_kg"])
    return _build(frame, structure, section, camera, end, tuple(posts), None, None)


def _build(
    frame: Frame,
    structure: Structure,
    section: Section,
    camera: Point,
    end: Point,
    joints: tuple[Point, ...],
    pushed: Point | None,
    ties: int | None,
) -> Build:
    strong = frame.measures["strength"]
    return Build(
        structure,
        section,
        camera,
        end,
        joints,
        pushed,
        ties,
        strong["bracket_nm"],
        strong["brackets"],
        frame.measures["profile"]["yield_mpa"],
    )


def judge(build: Build, name: str = "Frame") -> list[Finding]:
    """Judge a structure: bend, first frequency, a knock, somebody hanging on its end, its ties."""
    made = build.structure
    still = made.bend({})
    camera, end = made.node(*build.camera), made.node(*build.end)
    sag = float(max(abs(still[camera][2]), abs(still[end][2]))) * 1000
    (hertz,) = made.frequencies(1)
    accident = made.bend({build.end: (0.0, 0.0, -ACCIDENT_N)})
    moment = max(made.moment(accident, joint) for joint in build.joints)
    rated = build.bracket_nm * build.brackets
    mega = moment / build.section.modulus / 1e6
    knocked = []
    if build.pushed is not None:
        moved = 0.0
        for push in ((KNOCK_N, 0.0, 0.0), (0.0, KNOCK_N, 0.0)):
            pushed = made.bend({build.pushed: push}, weight=False)
            moved = max(moved, float((pushed[camera][:3] ** 2).sum() ** 0.5) * 1000)
        knocked = [
            Finding(
                f"{name}: the camera moves when {KNOCK_N:.0f} N push a post",
                f"{moved:.2f} mm",
                f"{MOST_MOVED_MM} mm",
                moved <= MOST_MOVED_MM,
            )
        ]
    tied = []
    if build.ties is not None:
        tied = [
            Finding(f"{name}: stiff ties", str(build.ties), f"{LEAST_TIES} or more", build.ties >= LEAST_TIES)
        ]
    return [
        Finding(f"{name}: sag", f"{sag:.2f} mm", f"{MOST_SAG_MM:g} mm", sag <= MOST_SAG_MM),
        Finding(f"{name}: first natural frequency", f"{hertz:.1f} Hz", f"{LEAST_HZ:g} Hz", hertz >= LEAST_HZ),
        *knocked,
        Finding(
            f"{name}: moment at a joint, {ACCIDENT_N:.0f} N at the beam's end",
            f"{moment:.0f} N·m",
            f"{rated:.0f} N·m ({build.brackets} brackets)",
            moment <= rated,
        ),
        Finding(
            f"{name}: stress in the profile then",
            f"{mega:.0f} MPa",
            f"{build.yield_mpa / 2:.0f} MPa",
            mega <= build.yield_mpa / 2,
        ),
        *tied,
    ]


def tips_n(frame: Frame) -> float:
    """Return the force at the beam, across it, that tips the frame over where it is neither anchored nor tied."""
    said, strong = frame.said, frame.measures["strength"]
    long, wide, thick = said["plate_mm"]
    metres = (2 * said["post_long_mm"] + said["beam_long_mm"]) / 1000
    kilograms = metres * frame.measures["profile"]["kg_per_m"] + 2 * strong["lamp_kg"] + strong["eye_kg"]
    kilograms += 2 * long * wide * thick * STEEL
    return float(kilograms * G_ACCELERATION * long / 2 / (frame.beam_z - said["floor_z_mm"]))


def profile_agrees(frame: Frame) -> Finding:
    """Judge whether the profile's figures are of one profile, and of the size that everything is drawn for."""
    said, side = frame.measures["profile"], frame.said["profile_mm"]
    solid = side**4 / 12 / 1e4
    modulus = said["bending_cm4"] / (side / 20)
    weight = said["area_mm2"] * ALUMINIUM
    off = max(abs(said["modulus_cm3"] / modulus - 1), abs(said["kg_per_m"] / weight - 1))
    return Finding(
        "Frame: the profile's table agrees with itself",
        f"{side:g} mm: {said['bending_cm4']:g} cm⁴, {said['modulus_cm3']:g} cm³, {said['kg_per_m']:g} kg/m; "
        f"{off:.0%} off",
        f"I/(a/2), area × density, within {AGREES:.0%}; below {solid:.1f} cm⁴, a solid bar's",
        off <= AGREES and said["bending_cm4"] < solid and said["area_mm2"] < side**2,
    )


def brackets_bought(frame: Frame, bom: Bom) -> Finding:
    """Judge whether the parts list has the brackets that the joints are computed with, of that rating."""
    strong = frame.measures["strength"]
    part = next(part for part in bom.part if part.id == "brackets")
    rated = [float(one) for one in re.findall(r"([\d.]+) N·m", part.choice.name)]
    needed = 4 * strong["brackets"] + CARRIER_BRACKETS
    return Finding(
        "Frame: brackets on the parts list",
        f"{part.quantity}, {part.choice.name}",
        f"{needed}: {strong['brackets']} at each end of two posts, {CARRIER_BRACKETS} for the carriers; "
        f"{strong['bracket_nm']:g} N·m",
        part.quantity >= needed and rated == [strong["bracket_nm"]],
    )
