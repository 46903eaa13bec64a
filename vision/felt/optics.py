"""The view of an overhead camera at a height: area, pixels, depth of field, light. Computed, not measured.

The camera looks straight down through a lens without distortion. UNTESTED on hardware.
"""

import importlib.resources
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from vision.base.errors import OpticsError
from vision.felt.calibration import MIN_MARGIN_PX
from vision.felt.layout import TableLayout
from vision.felt.quality import MIN_PX_PER_MM

WELL_PX_PER_MM: Final = 2.0
"""The coarsest picture at which the reader was measured over the whole grid of decks (docs/reader-report.md)."""

MEASURED_PX_PER_MM: Final = 1.5
"""The coarsest at which it still read every card, in a small sample (docs/reader-report.md, "1.5 px/mm (limit)")."""

MIN_MARKER_PX: Final = 60.0
"""The side from which a marker is always found in a strongly blurred picture."""

INDEX_MM: Final[Mapping[str, float]] = {"regular": 8.5, "jumbo": 15.0}
"""The height of an index's rank: a usual deck's 8.4 to 9.2 mm, a jumbo one's 14 to 18, as measured on decks."""

METER: Final = 250.0
"""The constant of incident-light meters: E = 250 · N² / (t · ISO), in lux."""

MIN_LUX: Final = 500.0
"""What the house's lamps give at least on the felt; a camera that needs more needs more lamps."""

GRAIN_ISO: Final = 200

FINE_PX_PER_MM: Final = 2.5
"""The scale that a build must reach in every corner of a zone, whatever its tolerances (hardware/out/checks.md)."""


# What may go wrong at once between the camera and the felt of a table that is built after the book. A tape, a plumb
# line and a level hold it. UNTESTED on hardware.

CLOTH_MM: Final = 20.0
"""How far the felt may be off its position, each way."""

MOUNTING_MM: Final = 10.0
"""How far the lens may be off its position, each way, above and below."""

TURN: Final = math.radians(1.0)
"""How far the felt may be turned below the camera."""

LEAN: Final = math.radians(2.0)
"""How far the camera may look off the vertical."""


def _reach_mm(layout: TableLayout) -> float:
    """Return how far the outermost zone reaches from the felt's middle, along its longer side."""
    middle = layout.width_mm / 2
    return max(
        float(abs(zone.to_felt(np.array([[0.0, 0.0], [zone.width_mm, zone.height_mm]]))[:, 0] - middle).max())
        for zone in layout.zones
    )


@dataclass(frozen=True)
class CameraModel:
    """A camera's data sheet: pixels, lens and sensor.

    ``listed_fov_deg`` is the field of view across and down that the maker lists, where one is listed;
    ``measure_field`` says that it differs from the lens's own, so that each piece has to be measured.
    ``focal_tolerance`` is the share by which the focal length may differ, where the lens is bought separately.
    """

    key: str
    name: str
    width_px: int
    height_px: int
    focal_mm: float
    f_number: float
    pixel_um: float
    nearest_focus_mm: float
    note: str
    listed_fov_deg: Sequence[float] = ()
    measure_field: bool = False
    focal_tolerance: float = 0.0

    @property
    def ideal_fov_deg(self) -> tuple[float, float]:
        """The field of view across and down of an ideal lens: 2 · atan(pixels · pitch / 2f)."""
        pitch = self.pixel_um / 1000
        across, down = (
            math.degrees(2 * math.atan(count * pitch / (2 * self.focal_mm)))
            for count in (self.width_px, self.height_px)
        )
        return across, down

    @property
    def field_deg(self) -> tuple[float, float]:
        """The field of view across and down that may be relied on: the narrower of the ideal and the listed one."""
        across, down = self.ideal_fov_deg
        if not self.listed_fov_deg:
            return across, down
        return min(across, self.listed_fov_deg[0]), min(down, self.listed_fov_deg[1])

    def area_mm(self, height_mm: float) -> tuple[float, float]:
        """Return width and height of the felt in view, millimetres."""
        across, down = (2 * height_mm * math.tan(math.radians(field) / 2) for field in self.field_deg)
        return across, down

    def px_per_mm(self, height_mm: float) -> float:
        """Return the pixels per millimetre of felt in the picture's middle."""
        return 1000 * self.focal_mm / (self.pixel_um * height_mm)

    def worst_px_per_mm(self, height_mm: float, layout: TableLayout) -> float:
        """Return the pixels per millimetre in the zones' farthest corner, the camera leaning away from it."""
        far = _reach_mm(layout)
        return 1000 * self.focal_mm / self.pixel_um / (height_mm * math.cos(LEAN) + far * math.sin(LEAN))

    def window_mm(self, layout: TableLayout) -> tuple[float, float]:
        """Return the lowest and the highest place of the lens above the felt at which every tolerance holds at once.

        From the lowest the whole felt is in the picture; up to the highest every zone has `FINE_PX_PER_MM`. Where the
        lowest is the higher one, this camera does not suit this felt.
        """
        spare = CLOTH_MM + MOUNTING_MM + MIN_MARGIN_PX / FINE_PX_PER_MM
        halves = sorted((layout.width_mm / 2, layout.height_mm / 2), reverse=True)
        fields = sorted(self.field_deg, reverse=True)
        long = 1 + self.focal_tolerance
        views = [math.atan(math.tan(math.radians(field) / 2) / long) for field in fields]
        lowest = max(
            (half + other * math.sin(TURN) + spare) / math.tan(view - LEAN)
            for half, other, view in zip(halves, halves[::-1], views, strict=True)
        )
        fine = 1000 * self.focal_mm * (1 - self.focal_tolerance) / self.pixel_um / FINE_PX_PER_MM
        highest = (fine - _reach_mm(layout) * math.sin(LEAN)) / math.cos(LEAN)
        return lowest, highest

    def depth_mm(self, height_mm: float) -> tuple[float, float]:
        """Return the distances between which a point is blurred by at most a pixel; the far one may be infinite."""
        circle = self.pixel_um / 1000
        hyperfocal = self.focal_mm**2 / (self.f_number * circle) + self.focal_mm
        near = height_mm * (hyperfocal - self.focal_mm) / (hyperfocal + height_mm - 2 * self.focal_mm)
        left = hyperfocal - height_mm
        return near, height_mm * (hyperfocal - self.focal_mm) / left if left > 0 else math.inf

    def lux(self, exposure_ms: float, iso: float) -> float:
        """Return the light on the felt needed for this exposure."""
        return METER * self.f_number**2 / (exposure_ms / 1000 * iso)

    def lowest_mm(self, width_mm: float, height_mm: float) -> float:
        """Return the lowest height at which a felt of this size fits the picture, in either orientation."""
        wide, high = self.area_mm(1.0)
        return min(max(width_mm / wide, height_mm / high), max(height_mm / wide, width_mm / high))


def cameras() -> dict[str, CameraModel]:
    """Read the known cameras, by their short names: `hardware/cameras.toml`."""
    source = importlib.resources.files("hardware") / "cameras.toml"
    table: dict[str, dict[str, Any]] = tomllib.loads(source.read_text(encoding="utf-8"))
    return {key: CameraModel(key=key, **values) for key, values in table.items()}


class Grade(StrEnum):
    """The reader's measured accuracy at such a scale."""

    WELL = "well"
    MARGINAL = "marginal"
    NO = "no"


@dataclass(frozen=True)
class Sight:
    """A camera's view of a felt from a height, and what is wrong with it.

    ``exposures`` are milliseconds, each with the lux that it needs. ``problems`` are sentences that say what to change;
    ``grade`` sums them up.
    """

    camera: CameraModel
    height_mm: float
    layout: TableLayout
    exposures: tuple[tuple[float, float], ...]
    grade: Grade
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values; lengths in millimetres unless the name says pixels."""
        camera, felt, fine = self.camera, self.layout, self.camera.px_per_mm(self.height_mm)
        near, far = camera.depth_mm(self.height_mm)
        return {
            "camera": camera.key,
            "name": camera.name,
            "height_mm": self.height_mm,
            "area_mm": [round(side) for side in camera.area_mm(self.height_mm)],
            "px_per_mm": round(fine, 2),
            "card_px": [round(side * fine) for side in (felt.card.width_mm, felt.card.height_mm)],
            "index_px": {name: round(size * fine) for name, size in INDEX_MM.items()},
            "marker_px": round(felt.markers.side_mm * fine),
            "depth_of_field_mm": [round(near), None if math.isinf(far) else round(far)],
            "light": [{"exposure_ms": round(ms, 2), "lux": round(lux)} for ms, lux in self.exposures],
            "lowest_height_mm": round(camera.lowest_mm(felt.width_mm, felt.height_mm)),
            "window_mm": [round(end) for end in camera.window_mm(felt)],
            "verdict": str(self.grade),
            "problems": list(self.problems),
        }


def sight(
    camera: CameraModel, height_mm: float, layout: TableLayout, *, mains_hz: int = 50, iso: int = GRAIN_ISO
) -> Sight:
    """Compute and judge this camera's view of this felt from this height.

    Raises:
        OpticsError: no camera hangs at such a height, or no sensor has such a sensitivity.
    """
    if not 100 <= height_mm <= 5000:
        raise OpticsError(f"a camera hangs 0.1 to 5 m above the felt, not {height_mm / 1000:g} m")
    if iso <= 0 or mains_hz not in (50, 60):
        raise OpticsError("the sensitivity is more than ISO 0 and the mains have 50 or 60 Hz")
    fine = camera.px_per_mm(height_mm)
    margin = 2 * MIN_MARGIN_PX / fine
    lowest = camera.lowest_mm(layout.width_mm, layout.height_mm)
    flicker_ms = 1000 / (2 * mains_hz)
    exposures = tuple((n * flicker_ms, camera.lux(n * flicker_ms, iso)) for n in (1, 2))
    marker_px = layout.markers.side_mm * fine
    wrong, poor = [], []
    if camera.lowest_mm(layout.width_mm + margin, layout.height_mm + margin) > height_mm:
        wrong.append(f"the felt does not fit into the picture: hang the camera above {lowest / 1000:.2f} m")
    if fine < MIN_PX_PER_MM:
        wrong.append(f"below {MIN_PX_PER_MM:g} px/mm the reader refuses the picture: hang the camera lower")
    elif fine < MEASURED_PX_PER_MM:
        wrong.append(f"below {MEASURED_PX_PER_MM:g} px/mm nothing was measured: hang the camera lower")
    elif fine < WELL_PX_PER_MM:
        poor.append(
            f"below {WELL_PX_PER_MM:g} px/mm little was measured: hang the camera lower or use a jumbo index"
        )
    window = camera.window_mm(layout)
    if window[0] > window[1]:
        poor.append(
            "no height holds the felt and 2.5 px/mm when every tolerance adds up: take another camera"
        )
    elif not window[0] <= height_mm <= window[1]:
        poor.append(
            f"when every tolerance adds up, only {window[0] / 1000:.2f} to {window[1] / 1000:.2f} m will do"
        )
    if marker_px < MIN_MARKER_PX:
        poor.append(f"a marker covers less than {MIN_MARKER_PX:g} px: print larger ones")
    if height_mm < camera.nearest_focus_mm:
        wrong.append("the lens does not focus so near: hang the camera higher")
    if exposures[1][1] > MIN_LUX:
        poor.append(
            f"it needs more than {MIN_LUX:g} lux at {exposures[1][0]:.3g} ms: more light or a higher ISO"
        )
    grade = Grade.NO if wrong else Grade.MARGINAL if poor else Grade.WELL
    return Sight(camera, height_mm, layout, exposures, grade, (*wrong, *poor))


def coverage_table() -> str:
    """Write the table of all cameras over usual heights in Markdown: metres in view and px/mm."""
    known = cameras().values()
    lines = ["| height, m | " + " | ".join(c.name for c in known) + " |", "|---" * (len(known) + 1) + "|"]
    for height in (1000, 1130, 1320, 1500):
        cells = []
        for camera in known:
            wide, high = (side / 1000 for side in camera.area_mm(height))
            cells.append(f"{wide:.2f} × {high:.2f} m, {camera.px_per_mm(height):.2f} px/mm")
        lines.append(f"| {height / 1000:.2f} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
