"""What stands around the table: where camera and lamps come to hang, and whether each cable reaches.

Computed from `mech/mech.toml`, `table.toml` and `bom.toml`. UNTESTED on hardware.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from hardware.make.bom import Bom
from hardware.make.finding import Finding
from vision.felt.layout import TableLayout
from vision.felt.optics import CameraModel, cameras

END_MM: Final = 100.0
"""Of a cable, inside the box and at its other end."""
SPARE_MM: Final = 50.0
"""What stays over of each cable, at least."""
SUPPLY_CABLE_MM: Final = 1200.0
"""Of the Pi's own supply (its data sheet)."""
STRIP_MM: Final = 250.0
"""The socket strip's length."""
HEAD_ROOM_MM: Final = 2000.0
"""Above the floor: nothing that people walk below hangs lower."""

Point = tuple[float, float, float]


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
        self.measures, self.layout = measures, layout
        self.said, self.head = measures["frame"], measures["camera_head"]
        self.pocket, self.buttons = measures["antenna_pocket"], measures["button_box"]
        self.middle = (layout.width_mm / 2, layout.height_mm / 2)
        self.beam_z: float = self.said["floor_z_mm"] + self.said["plate_mm"][2] + self.said["post_long_mm"]
        """The beam's lower side, on the posts' ends."""

    @property
    def camera(self) -> CameraModel:
        """The camera of this build. Raises KeyError where `cameras.toml` does not know it."""
        return cameras()[self.said["camera"]]

    @property
    def camera_mm(self) -> Point:
        """Where the lens hangs: x, y and its height above the felt."""
        down = self.head["drop_mm"] + self.head["spacer_mm"] + self.head["pupil_mm"]
        return (self.said["post_mm"][0], self.middle[1], self.beam_z - down)

    @property
    def gap_mm(self) -> float:
        """What is free between a post and the table's edge, at least."""
        edges = (self.middle[1] - self.said["table_mm"][1] / 2, self.middle[1] + self.said["table_mm"][1] / 2)
        half = self.said["profile_mm"] / 2
        return float(min(edges[0] - self.said["post_mm"][1], self.said["near_post_mm"][1] - edges[1]) - half)

    @property
    def lamps_mm(self) -> tuple[Point, Point]:
        """The middle of each lamp."""
        x, y = self.middle
        return tuple((x, y + side * self.said["lamp_y_mm"], self.said["lamp_z_mm"]) for side in (-1, 1))  # type: ignore[return-value]

    @property
    def hanger_mm(self) -> float:
        """From the lower side of a carrier, which lies on the beam, down to its lamp."""
        return float(self.beam_z + self.said["profile_mm"] - self.said["lamp_z_mm"])

    @property
    def lamp_turned(self) -> float:
        """How far off the vertical each lamp looks, to the table's middle; radians."""
        return math.atan2(self.said["lamp_y_mm"], self.said["lamp_z_mm"])

    @property
    def lamp_edges_mm(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The diffuser's inner and outer edge: from the lamp's middle towards the table's, and down."""
        turn, half = self.lamp_turned, self.said["lamp_wide_mm"] / 2
        inner = (half * math.cos(turn), -half * math.sin(turn))
        return inner, (-inner[0], -inner[1])

    @property
    def hood_turned(self) -> float:
        """How far off the vertical a hood stands: from the lamp's inner edge to the felt's far edge; radians."""
        (inward, down), _ = self.lamp_edges_mm
        return math.atan2(self.lamps_mm[1][1] - inward, self.said["lamp_z_mm"] - down)

    @property
    def hood_tip_mm(self) -> tuple[float, float]:
        """The hood's lower edge: from the lamp's middle towards the table's, and down."""
        (inward, down), _ = self.lamp_edges_mm
        turn, deep = self.hood_turned, self.said["hood_mm"]
        return inward + deep * math.sin(turn), down + deep * math.cos(turn)

    def inward(self, board: tuple[float, float]) -> tuple[float, float]:
        """Return the direction in which an antenna's pins and ribbon look: to the table's middle, along x or y."""
        dx, dy = self.middle[0] - board[0], self.middle[1] - board[1]
        return (0.0, math.copysign(1.0, dy)) if abs(dy) > abs(dx) else (math.copysign(1.0, dx), 0.0)

    def coils_mm(self) -> list[tuple[float, float]]:
        """List the middle of each seat's coil: there the puck lies."""
        off, found = self.pocket["coil_off_mm"], []
        for x, y in self.said["antennas_mm"]:
            ix, iy = self.inward((x, y))
            found.append((x - off * ix, y - off * iy))
        return found

    def ribbons_mm(self) -> list[tuple[float, float]]:
        """List where each seat's ribbon goes down through the top."""
        out, found = self.pocket["hole_out_mm"], []
        for x, y in self.said["antennas_mm"]:
            ix, iy = self.inward((x, y))
            found.append((x + out * ix, y + out * iy))
        return found

    def cut_outs(self) -> tuple[tuple[str, Point], ...]:
        """List where the cloth is cut: for what, x, y and the diameter."""
        said, (x, y), (to_x, to_y) = self.said, self.said["panel_mm"], self.said["display_mm"]
        return (
            ("push-buttons", (x + self.buttons["wide_mm"] / 2 + 12, y, said["panel_hole_mm"])),
            ("screen", (to_x + 55, to_y, said["display_hole_mm"])),
        )

    def overhead(self) -> tuple[tuple[str, float], ...]:
        """List what hangs beyond the table's outline, and how far its lower side is above the floor."""
        said, floor = self.said, self.said["floor_z_mm"]
        lowest = max(self.hood_tip_mm[1], self.lamp_edges_mm[1][1])
        return (
            ("lamps, with their hoods", said["lamp_z_mm"] - lowest - floor),
            ("ends of the beam", self.beam_z - floor),
            ("carriers of the lamps", self.beam_z + said["profile_mm"] - floor),
            ("ties", said["tie_z_mm"] - said["profile_mm"] / 2 - floor),
        )

    def head_room(self) -> Finding:
        """Judge whether nobody's head meets what hangs beyond the table."""
        what, lowest = min(self.overhead(), key=lambda one: one[1])
        return Finding(
            "Head room beyond the table",
            f"{what}: {lowest:.0f} mm above the floor",
            f"{HEAD_ROOM_MM:.0f} mm",
            lowest >= HEAD_ROOM_MM,
        )

    def cables(self, bom: Bom) -> list[Finding]:
        """Judge whether each cable reaches with some to spare."""
        return [
            Finding(
                f"Cable reaches: {route.what}",
                f"{route.needed_mm:.0f} of {route.cable_mm:.0f} mm",
                f"{SPARE_MM:.0f} mm stay over",
                route.ok,
            )
            for route in self.routes(bom)
        ]

    def routes(self, bom: Bom) -> tuple[Route, ...]:
        """List every cable that is bought by length, and what it takes to lay it along the frame."""
        said, post = self.said, self.said["near_post_mm"]
        top = self.beam_z + said["profile_mm"]
        far_end = self.middle[1] + said["box_from_camera_mm"] + said["box_mm"][0]
        to_post = post[1] - far_end
        thick = said["table_thick_mm"]

        def from_box(to: tuple[float, float], up: float) -> float:
            return float(to_post + top + thick + math.dist(post, to) + up + 2 * END_MM)

        half = self.said["hub_mm"][1] / 2
        antennas = max(math.dist(self.middle, at) for at in self.ribbons_mm()) - half + 2 * thick
        eye = top - self.camera_mm[2] - self.head["pupil_mm"]
        _, lamp_y, lamp_z = self.lamps_mm[0]
        lamp = (
            post[1] - lamp_y + top - lamp_z + said["lamp_long_mm"] / 2
        )  # to the bar's end: there its cable enters
        supply_top = said["socket_z_mm"] + STRIP_MM
        down = "along the beam, down the near post, under the table"
        ways = (
            (
                "camera-cable",
                "up beside the beam, round its edge and along it",
                eye + 2 * said["profile_mm"] + said["box_from_camera_mm"] + END_MM,
            ),
            ("panel-cable", down, from_box(said["panel_mm"], thick)),
            ("display-cable", down, from_box(said["display_mm"], thick + 2 * END_MM)),
            ("puck-cable", down, from_box(self.middle, 0.0)),
            ("antenna-cable", "down through the top, to the board under its middle", antennas),
            (
                "lamp-cable",
                "up the near post, along the beam and the carrier, to the far lamp's end",
                top - said["socket_z_mm"] + lamp + END_MM,
            ),
        )
        found = [
            Route(next(p.name for p in bom.part if p.id == part), way, needed, 1000 * bom.length_m(part))
            for part, way, needed in ways
        ]
        supply = to_post + top - supply_top + 50 + END_MM  # its plug lies 50 mm below the strip's upper end
        found.append(
            Route("Power supply's own cable", "up the near post to the box", supply, SUPPLY_CABLE_MM)
        )
        return tuple(found)

    def spots(self) -> tuple[Spot, ...]:
        """List what lies on the top and what is cut into it, from its edges, so that a tape finds it."""
        said, pocket, box = self.said, self.pocket, self.buttons
        left, far = (self.middle[i] - said["table_mm"][i] / 2 for i in (0, 1))

        def spot(what: str, x: float, y: float, cut: str = "") -> Spot:
            return Spot(what, x - left, y - far, cut)

        found = [spot("corner of the felt's print at place A", 0, 0)]
        wide, high, deep = pocket["recess_mm"]
        for seat, (board, coil, ribbon) in enumerate(
            zip(said["antennas_mm"], self.coils_mm(), self.ribbons_mm(), strict=True), start=1
        ):
            sides = (wide, high) if self.inward(board)[0] else (high, wide)
            cut = f"recess {sides[0]:g} across × {sides[1]:g} mm, {deep:g} mm deep"
            found += [
                spot(f"antenna of seat {seat}", board[0], board[1], cut),
                spot(f"its ribbon, seat {seat}", *ribbon, f"hole {pocket['hole_mm']:g} mm"),
                spot(f"middle of its coil, seat {seat}: the felt's circle", *coil),
            ]
        holes = {name: hole[:2] for name, hole in self.cut_outs()}
        x, y = said["panel_mm"]
        along, across = (
            (box[side] - 2 * box["wall_mm"] - box["foot_mm"]) / 2 for side in ("long_mm", "wide_mm")
        )
        found += [
            spot("middle of the push-buttons' box", x, y),
            *(
                spot(
                    f"screw {number} of the push-buttons' box",
                    x + dx,
                    y + dy,
                    f"hole {box['through_mm']:g} mm",
                )
                for number, (dx, dy) in enumerate(
                    ((sx * across, sy * along) for sx in (-1, 1) for sy in (-1, 1)), start=1
                )
            ),
            spot("its cable", *holes["push-buttons"], f"hole {said['panel_hole_mm']:g} mm"),
        ]
        found.append(spot("middle of the puck reader's board, below", *self.middle))
        x, y = said["display_mm"]
        found += [
            spot("middle of the screen", x, y),
            spot("its plugs", *holes["screen"], f"hole {said['display_hole_mm']:g} mm"),
        ]
        return tuple(found)
