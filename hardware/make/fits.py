"""Whether what is drawn fits together, and whether as many pieces are bought as it takes. UNTESTED on hardware."""

from __future__ import annotations

import itertools
import math
from typing import Any, Final

from firmware.puck_reader import config
from hardware.make.bom import MOST_LOST, Bom
from hardware.make.finding import Finding
from hardware.make.frame import Frame

GAP_MM: Final = 20.0
"""Between table and post: no knock at the table moves the camera."""
COILS_MM: Final = 180.0
"""Between two coils: three times a reader's board, so that no field reads its neighbour's tag."""
METAL_MM: Final = 50.0
"""Between an antenna's recess and a post, a plate's edge or the puck reader's board."""
LUMEN_PER_WATT: Final = 120.0
"""Of a bar behind its diffuser, at most: more is no honest figure."""
USB_M: Final = 5.0
"""The longest USB cable."""


def frame_fits(frame: Frame) -> list[Finding]:
    """Judge whether the table stands clear, posts and ties hold the beam, the carriers lie on it."""
    said, (x, y) = frame.said, frame.middle
    half, side = said["beam_long_mm"] / 2, said["profile_mm"]
    posts = (said["post_mm"], said["near_post_mm"])
    wrong = [f"post at x {post[0]:g}" for post in posts if post[0] != x]
    wrong += [f"post at y {post[1]:g}" for post in posts if abs(post[1] - y) > half - side / 2]
    wrong += [f"tie at z {said['tie_z_mm']:g}"] if not 0 <= said["tie_z_mm"] - frame.beam_z <= side else []
    wrong += [
        f"tie at {tie[0]:g}, {tie[1]:g}" for tie in said["ties_mm"] if list(tie[:2]) not in map(list, posts)
    ]
    wrong += [f"carrier at ± {said['lamp_y_mm']:g}"] if said["lamp_y_mm"] > half - side / 2 else []
    off = [spot.what for spot in frame.spots() if not 0 < spot.x < said["table_mm"][0]]
    off += [spot.what for spot in frame.spots() if not 0 < spot.y < said["table_mm"][1]]
    return [
        Finding(
            "Between table and posts", f"{frame.gap_mm:.0f} mm", f"{GAP_MM:g} mm", frame.gap_mm >= GAP_MM
        ),
        Finding(
            "Posts, ties and carriers are on the beam",
            ", ".join(wrong) or "each",
            "each, over the middle",
            not wrong,
        ),
        Finding(
            "Everything on the table's top lies on it", ", ".join(off) or "everything", "everything", not off
        ),
    ]


def antennas_apart(frame: Frame) -> list[Finding]:
    """Judge that no reader lies near another one, or near metal."""
    said, pocket = frame.said, frame.pocket
    coils = frame.coils_mm()
    apart = min(math.dist(one, other) for one, other in itertools.combinations(coils, 2))
    around = max(pocket["recess_mm"][:2]) / 2
    metal = [(*post, said["profile_mm"] / 2) for post in (said["post_mm"], said["near_post_mm"])]
    metal.append((*frame.middle, max(said["hub_mm"]) / 2))
    near = min(
        math.hypot(max(abs(px - x) - half, 0), max(abs(py - y) - half, 0)) - around
        for x, y in said["antennas_mm"]
        for px, py, half in metal
    )
    return [
        Finding("Between two coils", f"{apart:.0f} mm", f"{COILS_MM:g} mm", apart >= COILS_MM),
        Finding("Metal beside an antenna", f"{near:.0f} mm off", f"{METAL_MM:g} mm", near >= METAL_MM),
    ]


def bought(frame: Frame, bom: Bom, pins: dict[str, Any]) -> list[Finding]:
    """Judge whether as many pieces are bought as are drawn, wired and programmed, and what the bars promise."""
    pieces = {part.id: part.quantity for part in bom.part}
    measures, lamps, readers = frame.measures, len(frame.lamps_mm), len(config.ANTENNAS)
    needed = {
        **dict.fromkeys(("lamps", "hoods", "lamp-cable", "lamp-fuses"), lamps),
        "lamp-holders": 2 * lamps,
        **dict.fromkeys(("antenna", "antenna-cable"), readers),
        "tags": measures["puck_shell"]["pieces"],
        "disks": measures["puck_shell"]["pieces"],
        "natural-marker": len(frame.layout.places),
        "buttons": len(pins["buttons"]),
        "status": len(pins["lamps"]) - len(pins["buttons"]),
    }
    few = [f"{pieces.get(name, 0)} {name}" for name, count in needed.items() if pieces.get(name, 0) < count]
    drawn = (
        len(frame.said["antennas_mm"]),
        measures["antenna_pocket"]["pieces"],
        measures["antenna_lid"]["pieces"],
    )
    few += [f"{count} antennas, trays or lids" for count in drawn if count != readers]
    (bars,) = (part for part in bom.part if part.id == "lamps")
    efficacy = frame.said["lamp_lm"] * bars.quantity / bars.watts
    return [
        Finding(
            "As many pieces are bought as it takes", ", ".join(few) or "of each part", "of each part", not few
        ),
        Finding(
            "What the bars promise",
            f"{efficacy:.0f} lm/W behind the diffuser",
            f"{LUMEN_PER_WATT:g} lm/W",
            efficacy <= LUMEN_PER_WATT,
        ),
    ]


def cables_feed(bom: Bom) -> list[Finding]:
    """Judge whether each cable lets enough of the volts through, and that no USB cable is too long for its signals."""
    long = [part.name for part in bom.part if "USB cable" in part.name and (part.length_m or 0) > USB_M]
    return [
        *(
            Finding(
                f"Loss in: {loss.cable.name}",
                f"{loss.share:.1%} at {loss.amps:.2f} A",
                f"{MOST_LOST:.0%}",
                loss.ok,
            )
            for loss in bom.losses()
        ),
        Finding("USB cables are short enough", ", ".join(long) or "each", f"{USB_M:g} m", not long),
    ]
