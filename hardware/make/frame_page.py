"""The pages on the frame and on the table's top: what is cut, where it stands, how far each cable goes. In Markdown."""

from __future__ import annotations

import math

from hardware.make.bom import Bom
from hardware.make.frame import Frame


def frame_page(frame: Frame, bom: Bom, light: str) -> str:
    """Write the frame in Markdown: what is cut, where it stands, its cables, and what `light` says of the lamps."""
    said = frame.said
    x, y, z = frame.camera_mm
    above_floor = -said["floor_z_mm"]
    posts = (said["post_mm"], said["near_post_mm"])
    half_beam, half_post = said["beam_long_mm"] / 2, said["profile_mm"] / 2
    out = half_beam - (posts[1][1] - posts[0][1]) / 2 - half_post
    lines = [
        "# The frame",
        "",
        "Made by `make hardware` from `hardware/mech/mech.toml`, `table.toml` and `bom.toml`; computed, UNTESTED on",
        "hardware. x and y are the felt's own, from its top left corner in the picture, z the height above it.",
        "",
        "| piece | cut to | where |",
        "|---|--:|---|",
        f"| two posts | 2\u00a0× {said['post_long_mm']:.0f}\u00a0mm | in the middle of the table's long sides, "
        f"{frame.gap_mm:.0f} mm off its edge: x {posts[0][0]:.0f}, y {posts[0][1]:.0f} mm (far, between places A and "
        f"B) and y {posts[1][1]:.0f} mm (near) |",
        "| two foot plates | {:.0f}\u00a0× {:.0f}\u00a0mm | a post in the middle of each; the long side along the "
        "table's edge; ".format(*said["plate_mm"])
        + "anchors {:.0f} mm to either side of the post's middle, {:.0f} mm before and behind it |".format(
            *said["anchors_mm"]
        ),
        f"| beam | {said['beam_long_mm']:.0f}\u00a0mm | on both posts, {out:.0f} mm beyond each; its lower side at z "
        f"{frame.beam_z:.0f} mm, {frame.beam_z + above_floor:.0f} mm above the floor |",
        f"| two carriers | 2\u00a0× {said['carrier_long_mm']:.0f}\u00a0mm | across the beam, on it, their middle "
        f"{half_beam - said['lamp_y_mm']:.0f} mm from its ends (y {frame.lamps_mm[0][1]:.0f} and "
        f"{frame.lamps_mm[1][1]:.0f} mm) |",
        f"| two lamps | | along x, under the carriers, {frame.hanger_mm:.0f} mm below them, hangers "
        f"{said['hanger_in_mm']:.0f} mm from the carriers' ends; their middle at x {frame.middle[0]:.0f} mm, z "
        f"{said['lamp_z_mm']:.0f} mm ({said['lamp_z_mm'] + above_floor:.0f} mm above the floor); turned "
        f"{math.degrees(frame.lamp_turned):.0f}° to the table's middle |",
        f"| two hoods | {said['lamp_long_mm']:.0f} × {said['hood_mm']:.0f} mm | along each lamp's inner edge, "
        f"{math.degrees(frame.hood_turned):.0f}° off the vertical: on the line to the felt's far edge |",
        "| three ties | to fit | from the beam's height to wall or ceiling: one along the beam, one across it at "
        "each post |",
        f"| camera head | | below the beam, its middle {half_beam:.0f} mm from either end |",
        f"| box | | on the beam, its end {said['box_from_camera_mm']:.0f} mm from the camera's middle, towards the "
        "near post |",
        f"| socket strip | | on the near post, its lower end {said['socket_z_mm'] + above_floor:.0f} mm above the "
        "floor; the lamps' supply below it |",
        "",
        place_text(frame),
        "",
        f"The lens then hangs at x {x:.0f}, y {y:.0f} mm, {z:.0f} mm above the felt, where the felt is "
        f"{said['floor_z_mm'] * -1:.0f} mm above the floor.",
        "",
        "| cable | way | needs | has |",
        "|---|---|--:|--:|",
    ]
    for route in frame.routes(bom):
        verdict = "" if route.ok else ", TOO SHORT"
        lines.append(
            f"| {route.what} | {route.way} | {route.needed_mm / 1000:.2f}\u00a0m "
            f"| {route.cable_mm / 1000:.2f}\u00a0m{verdict} |"
        )
    return "\n".join([*lines, "", light]) + "\n"


def place_text(frame: Frame) -> str:
    """Say how much room the frame takes, and what hangs from a ceiling in the posts' place."""
    said = frame.said
    beam = frame.beam_z + said["profile_mm"] - said["floor_z_mm"]  # its upper side, above the floor
    return (
        f"The frame takes {said['beam_long_mm'] / 1000:.2f} m along the beam and {said['lamp_long_mm'] / 1000:.2f} m "
        f"across it, up to {(beam + said['profile_mm']) / 1000:.2f} m above the floor. Hung from a ceiling "
        f"{said['ceiling_mm'] / 1000:.1f} m above the floor instead, the same beam needs two drops of "
        f"{said['ceiling_mm'] - beam:.0f} mm in the posts' places, as much longer as the ceiling is higher, with a "
        "plate and four anchors each."
    )


def top_page(frame: Frame) -> str:
    """Write what lies on the table's top and what is cut into it, in Markdown."""
    wide, high = frame.said["table_mm"]
    lines = [
        "# The table's top",
        "",
        "Made by `make hardware` from `hardware/mech/mech.toml` and `table.toml`; computed, UNTESTED on hardware.",
        f"Of a top of {wide:g} × {high:g} × {frame.said['table_thick_mm']:g} mm; millimetres, to the middle of what is",
        "named. Left is the dealer's side, far is the side of places A and B.",
        "",
        "| what | from the left edge | from the far edge | cut |",
        "|---|--:|--:|---|",
        *(f"| {spot.what} | {spot.x:.0f} | {spot.y:.0f} | {spot.cut} |" for spot in frame.spots()),
    ]
    return "\n".join(lines) + "\n"
