"""What stands around the table: where the camera comes to hang, whether each cable reaches, the lamps' light and glare.

Computed from `mech/mech.toml`, `table.toml` and `bom.toml`. UNTESTED on hardware.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hardware.make.bom import Bom
from vision.felt.layout import TableLayout
from vision.felt.optics import MIN_LUX

END_MM: Final = 100.0
"""Of a cable, inside the box and at its other end."""
SPARE_MM: Final = 20.0
"""What stays over of each cable, at least."""
EVEN: Final = 0.25
"""By how much the light may differ from its mean, as a share."""
SUPPLY_CABLE_MM: Final = 1200.0
"""Of the Pi's own supply (its data sheet)."""


@dataclass(frozen=True)
class Route:
    """A cable and the way it goes, millimetres."""

    what: str
    way: str
    needed_mm: float
    cable_mm: float

    @property
    def ok(self) -> bool:
        """Whether it reaches with some to spare."""
        return self.needed_mm + SPARE_MM <= self.cable_mm


@dataclass(frozen=True)
class Spot:
    """Something on the table's top or cut into it: from the top's left and far edge, as the camera sees it."""

    what: str
    x: float
    y: float
    cut: str = ""


class Frame:
    """The frame's measures, next to those of the printed parts: `mech.toml`, read."""

    def __init__(self, measures: dict[str, dict[str, Any]], layout: TableLayout) -> None:
        self.said, self.head, self.layout = measures["frame"], measures["camera_head"], layout
        self.pocket, self.buttons = measures["antenna_pocket"], measures["button_box"]
        self.middle = (layout.width_mm / 2, layout.height_mm / 2)
        self.arm_z: float = self.said["floor_z_mm"] + self.said["post_long_mm"] + self.said["profile_mm"] / 2

    @property
    def camera_mm(self) -> tuple[float, float, float]:
        """Where the camera hangs: x, y and its height above the felt."""
        end = self.said["post_mm"][1] - self.said["profile_mm"] / 2 + self.said["arm_long_mm"]
        hollow = self.head["profile_mm"] + self.head["play_mm"]
        return (
            self.said["post_mm"][0],
            end + self.head["wall_mm"] + self.head["reach_mm"] / 2,
            self.arm_z - self.head["wall_mm"] - hollow / 2,
        )

    @property
    def gap_mm(self) -> float:
        """What is free between the post and the table's edge."""
        edge = self.middle[1] - self.said["table_mm"][1] / 2
        return float(edge - self.said["post_mm"][1] - self.said["profile_mm"] / 2)

    def routes(self, bom: Bom) -> tuple[Route, ...]:
        """List every cable that is bought by length, and what it takes to lay it along the frame."""
        said, post = self.said, self.said["post_mm"]
        far_end = self.middle[1] - said["box_from_camera_mm"] - said["box_mm"][0]
        to_post = far_end - post[1]
        under = self.arm_z + said["table_thick_mm"]

        def from_box(to: tuple[float, float], up: float) -> float:
            return float(to_post + under + math.dist(post, to) + up + 2 * END_MM)

        thick = said["table_thick_mm"]
        antennas = max(math.dist(self.middle, at) for at in said["antennas_mm"])
        lamps = said["crossbar_z_mm"] - said["socket_z_mm"] + said["crossbar_long_mm"] / 2
        down = "along the arm, down the post, under the table"
        ways = (
            ("camera-cable", "along the arm", said["box_from_camera_mm"] + 2 * END_MM),
            ("panel-cable", down, from_box(said["panel_mm"], thick)),
            ("display-cable", down, from_box(said["display_mm"], thick + 2 * END_MM)),
            ("puck-cable", down, from_box(self.middle, 0.0)),
            ("antenna-cable", "under the table, from its middle", antennas + thick),
            (
                "lamp-cable",
                "up the post, along crossbar and lamp arm",
                lamps + self.middle[1] - post[1] + END_MM,
            ),
        )
        found = [
            Route(next(p.name for p in bom.part if p.id == part), way, needed, 1000 * bom.length_m(part))
            for part, way, needed in ways
        ]
        supply = to_post + self.arm_z - said["socket_z_mm"] - 200 + END_MM  # the strip is 250 mm long
        found.append(Route("Power supply's own cable", "up the post to the box", supply, SUPPLY_CABLE_MM))
        return tuple(found)

    def spots(self) -> tuple[Spot, ...]:
        """List what lies on the top and what is cut into it, from its edges, so that a tape finds it."""
        said, pocket, box = self.said, self.pocket, self.buttons
        left, far = (self.middle[i] - said["table_mm"][i] / 2 for i in (0, 1))

        def spot(what: str, x: float, y: float, cut: str = "") -> Spot:
            return Spot(what, x - left, y - far, cut)

        found = [spot("corner of the felt's print at place A", 0, 0)]
        wide, high, deep = pocket["recess_mm"]
        for seat, (x, y) in enumerate(said["antennas_mm"], start=1):
            out = math.copysign(pocket["hole_out_mm"], self.middle[0] - x)
            found += [
                spot(f"antenna of seat {seat}", x, y, f"recess {wide:g} × {high:g} mm, {deep:g} mm deep"),
                spot(f"its ribbon, seat {seat}", x + out, y, f"hole {pocket['hole_mm']:g} mm"),
            ]
        x, y = said["panel_mm"]
        along, across = (
            (box[side] - 2 * box["wall_mm"] - box["foot_mm"]) / 2 for side in ("long_mm", "wide_mm")
        )
        found += [
            spot("middle of the button box", x, y),
            *(
                spot(f"screw {number} of the button box", x + dx, y + dy, f"hole {box['through_mm']:g} mm")
                for number, (dx, dy) in enumerate(
                    ((sx * across, sy * along) for sx in (-1, 1) for sy in (-1, 1)), start=1
                )
            ),
            spot("its cable", x + box["wide_mm"] / 2 + 12, y, f"hole {said['panel_hole_mm']:g} mm"),
        ]
        x, y = said["display_mm"]
        found += [
            spot("middle of the screen", x, y),
            spot("its plugs", x + 55, y, f"hole {said['display_hole_mm']:g} mm"),
        ]
        return tuple(found)

    def lux(self) -> tuple[float, float, float]:
        """Give the least, the mean and the most light that both bars alone throw on the felt; Lambert's law."""
        x, y = np.meshgrid(np.linspace(0, self.layout.width_mm, 9), np.linspace(0, self.layout.height_mm, 9))
        light = np.zeros_like(x)
        long, height = self.said["lamp_long_mm"], self.said["crossbar_z_mm"]
        pieces = np.linspace(-long / 2, long / 2, 13)
        intensity = self.said["lamp_lm"] / math.pi / len(pieces)  # candela, straight ahead
        for side in (-1, 1):
            lamp_x = self._lamp_x(side)
            for piece in pieces:
                dx, dy = x - lamp_x, y - self.middle[1] - piece
                far = np.sqrt(dx**2 + dy**2 + height**2)
                ahead = (-side * dx + height) / math.sqrt(2) / far  # the bars are turned by 45 degrees
                light += intensity * np.clip(ahead, 0, 1) * (height / far) / (far / 1000) ** 2
        return float(light.min()), float(light.mean()), float(light.max())

    def glare_mm(self) -> float:
        """Give how far beyond the felt's edge the camera sees the bars mirrored in a shiny card; negative: on it."""
        camera = self.camera_mm[2]
        share = camera / (camera + float(self.said["crossbar_z_mm"]))
        return min(
            abs(self._lamp_x(side) - self.middle[0]) * share - self.layout.width_mm / 2 for side in (-1, 1)
        )

    def _lamp_x(self, side: int) -> float:
        reach = (self.said["crossbar_long_mm"] - self.said["profile_mm"]) / 2
        return float(self.said["post_mm"][0] + side * reach)


def frame_page(frame: Frame, bom: Bom) -> str:
    """Write the frame in Markdown: what is cut, where it stands, its cables, its light."""
    said = frame.said
    x, y, z = frame.camera_mm
    least, mean, most = frame.lux()
    above_floor = -said["floor_z_mm"]
    lines = [
        "# The frame",
        "",
        "Made by `make hardware` from `hardware/mech/mech.toml`, `table.toml` and `bom.toml`; computed, UNTESTED on",
        "hardware. x and y are the felt's own, from its top left corner in the picture, z the height above it.",
        "",
        "| piece | cut to | where |",
        "|---|--:|---|",
        f"| post | {said['post_long_mm']:.0f} mm | x {said['post_mm'][0]:.0f}, y {said['post_mm'][1]:.0f} mm: "
        f"{frame.gap_mm:.0f} mm behind the table's edge, between places A and B |",
        f"| arm | {said['arm_long_mm']:.0f} mm | on the post, over the felt; on it the box, "
        f"{said['box_from_camera_mm']:.0f} mm from the camera |",
        f"| crossbar | {said['crossbar_long_mm']:.0f} mm | behind the post, z {said['crossbar_z_mm']:.0f} mm "
        f"({said['crossbar_z_mm'] + above_floor:.0f} mm above the floor) |",
        f"| lamp arms | 2 × {said['lamp_arm_long_mm']:.0f} mm | from the crossbar's ends, next to the table; a lamp "
        f"below each, its middle at y {frame.middle[1]:.0f} mm |",
        f"| socket strip | | on the post, its lower end {said['socket_z_mm'] + above_floor:.0f} mm above the floor |",
        "",
        f"The camera then hangs at x {x:.0f}, y {y:.0f} mm, {z:.0f} mm above the felt, where the felt is "
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
    enough = least >= MIN_LUX * (1 - EVEN) and mean >= MIN_LUX
    lines += [
        "",
        f"Light of both bars alone: {mean:.0f} lux on the felt, {least:.0f} to {most:.0f} "
        f"({'enough' if enough else 'TOO LITTLE'}: {MIN_LUX:.0f} lux, ± {EVEN:.0%}). A shiny card mirrors them into "
        f"the camera only {frame.glare_mm():.0f} mm beyond the felt's sides.",
    ]
    return "\n".join(lines) + "\n"


def top_page(frame: Frame) -> str:
    """Write what lies on the table's top and what is cut into it, in Markdown."""
    wide, high = frame.said["table_mm"]
    lines = [
        "# The table's top",
        "",
        "Made by `make hardware` from `hardware/mech/mech.toml` and `table.toml`; computed, UNTESTED on hardware.",
        f"Of a top of {wide:g} × {high:g} × {frame.said['table_thick_mm']:g} mm; millimetres, to the middle of what is",
        "named. Left is the dealer's side, far is the post's.",
        "",
        "| what | from the left edge | from the far edge | cut |",
        "|---|--:|--:|---|",
        *(f"| {spot.what} | {spot.x:.0f} | {spot.y:.0f} | {spot.cut} |" for spot in frame.spots()),
    ]
    return "\n".join(lines) + "\n"
