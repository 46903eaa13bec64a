"""What stands around the table: where camera and lamps come to hang, and whether each cable reaches.

Computed from `mech/mech.toml`, `table.toml` and `bom.toml`. UNTESTED on hardware.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hardware.make.bom import Bom
from hardware.make.finding import Finding, least
from hardware.make.tables import fill
from vision.felt.layout import TableLayout
from vision.felt.optics import CameraModel, cameras

END_MM: Final = 100.0
"""Slack of a cable, inside the box and at its other end."""
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
        self.sizes, self.head = measures["frame"], measures["camera_head"]
        self.pocket, self.buttons = measures["antenna_pocket"], measures["button_box"]
        self.middle = (layout.width_mm / 2, layout.height_mm / 2)
        self.beam_z: float = self.sizes["floor_z_mm"] + self.sizes["plate_mm"][2] + self.sizes["post_long_mm"]
        """The beam's lower side, on the posts' ends."""

    @property
    def camera(self) -> CameraModel:
        """The camera of this build. Raises KeyError where `cameras.toml` does not know it."""
        return cameras()[self.sizes["camera"]]

    @property
    def camera_mm(self) -> Point:
        """Where the lens hangs: x, y and its height above the felt."""
        down = self.head["drop_mm"] + self.head["spacer_mm"] + self.head["pupil_mm"]
        return (self.sizes["post_mm"][0], self.middle[1], self.beam_z - down)

    @property
    def gap_mm(self) -> float:
        """What is free between a post and the table's edge, at least."""
        posts = (self.sizes[post][1] for post in ("post_mm", "near_post_mm"))
        edge = (self.sizes["table_mm"][1] + self.sizes["profile_mm"]) / 2
        return float(min(abs(y - self.middle[1]) for y in posts) - edge)

    @property
    def lamps_mm(self) -> tuple[Point, Point]:
        """The middle of each lamp."""
        x, y = self.middle
        return tuple((x, y + side * self.sizes["lamp_y_mm"], self.sizes["lamp_z_mm"]) for side in (-1, 1))  # type: ignore[return-value]

    @property
    def hanger_mm(self) -> float:
        """From the lower side of a carrier, which lies on the beam, down to its lamp."""
        return float(self.beam_z + self.sizes["profile_mm"] - self.sizes["lamp_z_mm"])

    @property
    def lamp_turned(self) -> float:
        """How far off the vertical each lamp looks, to the table's middle; radians."""
        return math.atan2(self.sizes["lamp_y_mm"], self.sizes["lamp_z_mm"])

    @property
    def lamp_edges_mm(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The diffuser's inner and outer edge: from the lamp's middle towards the table's, and down."""
        turn, half = self.lamp_turned, self.sizes["lamp_wide_mm"] / 2
        inner = (half * math.cos(turn), -half * math.sin(turn))
        return inner, (-inner[0], -inner[1])

    @property
    def hood_turned(self) -> float:
        """How far off the vertical a hood stands: from the lamp's inner edge to the felt's far edge; radians."""
        (inward, down), _ = self.lamp_edges_mm
        return math.atan2(self.lamps_mm[1][1] - inward, self.sizes["lamp_z_mm"] - down)

    @property
    def hood_tip_mm(self) -> tuple[float, float]:
        """The hood's lower edge: from the lamp's middle towards the table's, and down."""
        (inward, down), _ = self.lamp_edges_mm
        turn, deep = self.hood_turned, self.sizes["hood_mm"]
        return inward + deep * math.sin(turn), down + deep * math.cos(turn)

    def inward(self, board: tuple[float, float]) -> tuple[float, float]:
        """Return the direction in which an antenna's pins and ribbon look: to the table's middle, along x or y."""
        dx, dy = self.middle[0] - board[0], self.middle[1] - board[1]
        return (0.0, math.copysign(1.0, dy)) if abs(dy) > abs(dx) else (math.copysign(1.0, dx), 0.0)

    def _inward(self, far: float) -> list[tuple[float, float]]:
        """List the point so far towards the table's middle from that of each seat's antenna."""
        boards = [(at, self.inward(at)) for at in self.sizes["antennas_mm"]]
        return [(x + far * ix, y + far * iy) for (x, y), (ix, iy) in boards]

    def coils_mm(self) -> list[tuple[float, float]]:
        """List the middle of each seat's coil: there the puck lies."""
        return self._inward(-self.pocket["coil_off_mm"])

    def ribbons_mm(self) -> list[tuple[float, float]]:
        """List where each seat's ribbon goes down through the top."""
        return self._inward(self.pocket["hole_out_mm"])

    def cut_outs(self) -> tuple[tuple[str, Point], ...]:
        """List where the cloth is cut: for what, x, y and the diameter."""
        sizes, (x, y), (to_x, to_y) = self.sizes, self.sizes["panel_mm"], self.sizes["display_mm"]
        return (
            ("push-buttons", (x + self.buttons["wide_mm"] / 2 + 12, y, sizes["panel_hole_mm"])),
            ("screen", (to_x + 55, to_y, sizes["display_hole_mm"])),
        )

    def overhead(self) -> tuple[tuple[str, float], ...]:
        """List what hangs beyond the table's outline, and how far its lower side is above the floor."""
        sizes, floor = self.sizes, self.sizes["floor_z_mm"]
        lowest = max(self.hood_tip_mm[1], self.lamp_edges_mm[1][1])
        return (
            ("lamps, with their hoods", sizes["lamp_z_mm"] - lowest - floor),
            ("ends of the beam", self.beam_z - floor),
            ("carriers of the lamps", self.beam_z + sizes["profile_mm"] - floor),
            ("ties", sizes["tie_z_mm"] - sizes["profile_mm"] / 2 - floor),
        )

    def head_room(self) -> Finding:
        """Judge whether nobody's head meets what hangs beyond the table."""
        what, lowest = min(self.overhead(), key=lambda one: one[1])
        figure = f"{what}: {{:.0f}} mm above the floor"
        return least("Head room beyond the table", figure, lowest, HEAD_ROOM_MM, "{:.0f} mm")

    def cables(self, bom: Bom) -> list[Finding]:
        """Judge whether each cable reaches with some to spare."""
        limit = f"{SPARE_MM:.0f} mm stay over"
        return [
            Finding(f"Cable reaches: {it.what}", f"{it.needed_mm:.0f} of {it.cable_mm:.0f} mm", limit, it.ok)
            for it in self.routes(bom)
        ]

    def routes(self, bom: Bom) -> tuple[Route, ...]:
        """List every cable that is bought by length, and what it takes to lay it along the frame."""
        sizes, post, thick = self.sizes, self.sizes["near_post_mm"], self.sizes["table_thick_mm"]
        top = self.beam_z + sizes["profile_mm"]
        to_post = post[1] - self.middle[1] - sizes["box_from_camera_mm"] - sizes["box_mm"][0]
        table = to_post + top + thick + 2 * END_MM  # from the box to below the table's edge at the near post
        down = "along the beam, down the near post, under the table"
        eye = top - self.camera_mm[2] - self.head["pupil_mm"]
        antennas = max(math.dist(self.middle, at) for at in self.ribbons_mm()) - sizes["hub_mm"][1] / 2
        _, lamp_y, lamp_z = self.lamps_mm[0]  # to the bar's end: there its cable enters
        lamp = post[1] - lamp_y + 2 * top - lamp_z - sizes["socket_z_mm"] + sizes["lamp_long_mm"] / 2
        supply = top - sizes["socket_z_mm"] - STRIP_MM + 50  # its plug lies 50 mm below the strip's upper end
        eye += 2 * sizes["profile_mm"] + sizes["box_from_camera_mm"] + END_MM
        up = "up the near post, along the beam and the carrier, to the far lamp's end"
        ways = (
            ("camera-cable", "up beside the beam, round its edge and along it", eye),
            ("panel-cable", down, table + math.dist(post, sizes["panel_mm"]) + thick),
            ("display-cable", down, table + math.dist(post, sizes["display_mm"]) + thick + 2 * END_MM),
            ("puck-cable", down, table + math.dist(post, self.middle)),
            ("antenna-cable", "down through the top, to the board under its middle", antennas + 2 * thick),
            ("lamp-cable", up, lamp + END_MM),
        )
        own = ("Power supply's own cable", "up the near post to the box", to_post + supply + END_MM)
        laid = [Route(bom.get(id_).name, way, needed, 1000 * bom.length_m(id_)) for id_, way, needed in ways]
        return (*laid, Route(*own, SUPPLY_CABLE_MM))

    def spots(self) -> tuple[Spot, ...]:
        """List what lies on the top and what is cut into it, from its edges, so that a tape finds it."""
        sizes, pocket, box = self.sizes, self.pocket, self.buttons
        left, far = (self.middle[i] - sizes["table_mm"][i] / 2 for i in (0, 1))
        found: list[Spot] = []

        def spot(what: str, at: Sequence[float], cut: str = "") -> None:
            found.append(Spot(what, at[0] - left, at[1] - far, cut))

        spot("corner of the felt's print at place A", (0, 0))
        wide, high, deep = pocket["recess_mm"]
        antennas = zip(sizes["antennas_mm"], self.coils_mm(), self.ribbons_mm(), strict=True)
        for seat, (board, coil, ribbon) in enumerate(antennas, start=1):
            across, along = (wide, high) if self.inward(board)[0] else (high, wide)
            spot(
                f"antenna of seat {seat}", board, f"recess {across:g} across × {along:g} mm, {deep:g} mm deep"
            )
            spot(f"its ribbon, seat {seat}", ribbon, f"hole {pocket['hole_mm']:g} mm")
            spot(f"middle of its coil, seat {seat}: the felt's circle", coil)
        holes = dict(self.cut_outs())
        x, y = sizes["panel_mm"]
        dy, dx = ((box[side] - 2 * box["wall_mm"] - box["foot_mm"]) / 2 for side in ("long_mm", "wide_mm"))
        spot("middle of the push-buttons' box", (x, y))
        for number, (sx, sy) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1)), start=1):
            cut = f"hole {box['through_mm']:g} mm"
            spot(f"screw {number} of the push-buttons' box", (x + sx * dx, y + sy * dy), cut)
        spot("its cable", holes["push-buttons"], f"hole {sizes['panel_hole_mm']:g} mm")
        spot("middle of the puck reader's board, below", self.middle)
        spot("middle of the screen", sizes["display_mm"])
        spot("its plugs", holes["screen"], f"hole {sizes['display_hole_mm']:g} mm")
        return tuple(found)


def place_text(frame: Frame) -> str:
    """Say how much room the frame takes, and what hangs from a ceiling in the posts' place."""
    sizes = frame.sizes
    top = frame.beam_z + sizes["profile_mm"] - sizes["floor_z_mm"]  # the beam's upper side, above the floor
    return fill("place.md", it=sizes, top=top).rstrip()


def frame_page(frame: Frame, bom: Bom, light: str) -> str:
    """Write the frame in Markdown: what is cut, where it stands, its cables, and what `light` says of the lamps."""
    half, floor = frame.sizes["beam_long_mm"] / 2, frame.sizes["floor_z_mm"]
    facts = {"it": frame.sizes, "half": half, "floor": floor, "routes": frame.routes(bom)}
    return fill("frame.md", frame=frame, place=place_text(frame), light=light, **facts)


def top_page(frame: Frame) -> str:
    """Write what lies on the table's top and what is cut into it, in Markdown."""
    (wide, high), thick = frame.sizes["table_mm"], frame.sizes["table_thick_mm"]
    return fill("table-top.md", wide=wide, high=high, thick=thick, spots=frame.spots())
