"""Whether what is drawn fits together, and whether as many pieces are bought as it takes. UNTESTED on hardware."""

import itertools
import math
from typing import Any, Final

from firmware.puck_reader import config
from hardware.make.bom import MAX_LOSS, Bom
from hardware.make.finding import Finding, least, most, none
from hardware.make.frame import Frame

GAP_MM: Final = 20.0
"""Between table and post: no knock at the table moves the camera."""
COILS_MM: Final = 180.0
"""Between two coils: three times a reader's board, so that no field reads its neighbour's tag."""
METAL_MM: Final = 50.0
"""Between an antenna's recess and a post, a plate's edge or the puck reader's board."""
LUMEN_PER_WATT: Final = 120.0
"""Of a bar behind its diffuser, at most: more is not credible."""
USB_M: Final = 5.0
"""The longest USB cable."""


def frame_fits(frame: Frame) -> list[Finding]:
    """Judge whether the table stands clear, posts and ties hold the beam, the carriers lie on it."""
    sizes, (x, y) = frame.sizes, frame.middle
    side, end = sizes["profile_mm"], (sizes["beam_long_mm"] - sizes["profile_mm"]) / 2
    posts = [list(sizes[post]) for post in ("post_mm", "near_post_mm")]
    wrong = [f"post at x {post[0]:g}" for post in posts if post[0] != x]
    wrong += [f"post at y {post[1]:g}" for post in posts if abs(post[1] - y) > end]
    wrong += [f"tie at z {sizes['tie_z_mm']:g}"] if not 0 <= sizes["tie_z_mm"] - frame.beam_z <= side else []
    wrong += [f"tie at {tie[0]:g}, {tie[1]:g}" for tie in sizes["ties_mm"] if list(tie[:2]) not in posts]
    wrong += [f"carrier at ± {sizes['lamp_y_mm']:g}"] if sizes["lamp_y_mm"] > end else []
    wide, high = sizes["table_mm"]
    off = [spot.what for spot in frame.spots() if not (0 < spot.x < wide and 0 < spot.y < high)]
    return [
        least("Between table and posts", "{:.0f} mm", frame.gap_mm, GAP_MM, "{:g} mm"),
        none("Posts, ties and carriers are on the beam", wrong, "each", "each, over the middle"),
        none("Everything on the table's top lies on it", off, "everything", "everything"),
    ]


def antennas_apart(frame: Frame) -> list[Finding]:
    """Judge that no reader lies near another one, or near metal."""
    sizes, pairs = frame.sizes, itertools.combinations(frame.coils_mm(), 2)
    around = max(frame.pocket["recess_mm"][:2]) / 2
    metal = [(*sizes[post], sizes["profile_mm"] / 2) for post in ("post_mm", "near_post_mm")]
    metal.append((*frame.middle, max(sizes["hub_mm"]) / 2))
    near = min(
        math.hypot(max(abs(px - x) - half, 0), max(abs(py - y) - half, 0)) - around
        for x, y in sizes["antennas_mm"]
        for px, py, half in metal
    )
    apart = min(itertools.starmap(math.dist, pairs))
    return [
        least("Between two coils", "{:.0f} mm", apart, COILS_MM, "{:g} mm"),
        least("Metal beside an antenna", "{:.0f} mm off", near, METAL_MM, "{:g} mm"),
    ]


def judge_pieces(frame: Frame, bom: Bom, pins: dict[str, Any]) -> list[Finding]:
    """Judge whether as many pieces are bought as are drawn, wired and programmed, and what the bars promise."""
    pieces = {part.id: part.quantity for part in bom.part}
    measures, lamps, readers = frame.measures, len(frame.lamps_mm), len(config.ANTENNAS)
    needed = {
        **dict.fromkeys(("lamps", "hoods", "lamp-cable", "lamp-fuses"), lamps),
        "lamp-holders": 2 * lamps,
        **dict.fromkeys(("antenna", "antenna-cable"), readers),
        **dict.fromkeys(("tags", "disks"), measures["puck_shell"]["pieces"]),
        "natural-marker": len(frame.layout.places),
        "buttons": len(pins["buttons"]),
        "status": len(pins["lamps"]) - len(pins["buttons"]),
    }
    few = [f"{pieces.get(name, 0)} {name}" for name, count in needed.items() if pieces.get(name, 0) < count]
    drawn = [measures[part]["pieces"] for part in ("antenna_pocket", "antenna_lid")]
    drawn.append(len(frame.sizes["antennas_mm"]))
    few += [f"{count} antennas, trays or lids" for count in drawn if count != readers]
    bars = bom.get("lamps")
    efficacy, promised = (
        frame.sizes["lamp_lm"] * bars.quantity / bars.watts,
        "{:.0f} lm/W behind the diffuser",
    )
    return [
        none("As many pieces are bought as it takes", few, "of each part", "of each part"),
        most("What the bars promise", promised, efficacy, LUMEN_PER_WATT, "{:g} lm/W"),
    ]


def cables_feed(bom: Bom) -> list[Finding]:
    """Judge whether each cable lets enough of the volts through, and that no USB cable is too long for its signals."""
    long = [part.name for part in bom.part if "USB cable" in part.name and (part.length_m or 0) > USB_M]
    losses = [
        most(f"Loss in: {it.cable.name}", f"{{:.1%}} at {it.amps:.2f} A", it.share, MAX_LOSS, "{:.0%}")
        for it in bom.losses()
    ]
    return [*losses, none("USB cables are short enough", long, "each", f"{USB_M:g} m")]
