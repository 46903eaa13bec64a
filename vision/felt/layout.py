"""The felt in millimetres: its markers, the zones where cards are laid, and the camera above it.

The only source is a TOML file, by default the package's ``hardware/table.toml``. Its text is stored with the layout, so
that the record of a hand can store it by its hash and read the hand again years later.

Millimetres are measured on the felt, seen from above: the origin is its top left corner in the camera's picture, x runs
to the right, y down. Angles are in degrees, clockwise in the camera's picture.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import itertools
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.base.arrays import Points
from vision.base.errors import LayoutError, VisionFileError

ROWS = ("front", "middle", "back")
"""From the table's centre to the player."""

MIN_MARKERS = 4
"""Fewer leave no spare: two hidden by a sleeve must not stop the table."""

MIN_NATURAL_MARKER_MM = 30.0
"""No sign on a card is one patch of colour as large as this."""


@dataclass(frozen=True)
class CardSize:
    """A card's size and the gaps between laid cards, millimetres."""

    width_mm: float
    height_mm: float
    gap_mm: float
    row_gap_mm: float


SHEETS = (11, 12, 13, 14)
"""The markers of the four sheets that lie in place of a printed felt, clockwise from the far left one (`sheets.py`)."""


@dataclass(frozen=True)
class Marker:
    """An ArUco marker's number, the centre of its black square, and how far it is turned."""

    id: int
    x_mm: float
    y_mm: float
    turned_deg: float = 0.0

    def to_felt(self, points_mm: Points) -> Points:
        """Map n×2 points around the upright marker's centre to felt millimetres."""
        return points_mm @ _turn(self.turned_deg).T + (self.x_mm, self.y_mm)

    def box_mm(self, side_mm: float) -> Points:
        """Return the corners of a square around the marker's centre, turned as it is: 4×2, felt millimetres."""
        return _box(self.x_mm, self.y_mm, side_mm, side_mm, self.turned_deg)


@dataclass(frozen=True)
class Markers:
    """The felt's markers: their dictionary (an OpenCV name), black square, white border and places."""

    dictionary: str
    side_mm: float
    quiet_mm: float
    at: tuple[Marker, ...]

    def corners_mm(self, marker_id: int) -> Points:
        """Return the four corners of a marker's black square in OpenCV's order, 4×2, felt millimetres."""
        return self.marker(marker_id).box_mm(self.side_mm)

    def marker(self, marker_id: int) -> Marker:
        """Return the marker of this number."""
        return next(m for m in self.at if m.id == marker_id)

    @property
    def are_sheets(self) -> bool:
        """Whether they are sheets on a table, laid by hand and measured there, rather than a printed felt's."""
        return {marker.id for marker in self.at} == {*SHEETS}

    def name(self, marker_id: int) -> str:
        """Return what people call a marker: a sheet has its own number printed on it."""
        return str(SHEETS.index(marker_id) + 1 if self.are_sheets and marker_id in SHEETS else marker_id)


@dataclass(frozen=True)
class Zone:
    """The rectangle of felt in which one row's cards are laid.

    ``x_mm, y_mm`` is its centre. ``width_mm`` runs along the row and ``height_mm`` from the table's centre to the
    player. ``turned_deg`` is the row's rotation: at 0 its player sits at the bottom of the camera's picture, at 90 on
    the left, at 180 at the top. ``capacity`` is the number of cards of a full row.
    """

    place: str
    row: str
    x_mm: float
    y_mm: float
    width_mm: float
    height_mm: float
    turned_deg: float
    capacity: int

    @property
    def name(self) -> str:
        """The zone's name in messages."""
        return f"{self.place} {self.row}"

    @property
    def corners_mm(self) -> Points:
        """The four corners as the player sees them, from far left clockwise: 4×2, felt millimetres."""
        return _box(self.x_mm, self.y_mm, self.width_mm, self.height_mm, self.turned_deg)

    def to_felt(self, points_mm: Points) -> Points:
        """Map n×2 points of the upright zone (origin its far left corner, mm) to felt millimetres."""
        centred = np.asarray(points_mm, float) - (self.width_mm / 2, self.height_mm / 2)
        return centred @ _turn(self.turned_deg).T + (self.x_mm, self.y_mm)

    def from_felt(self, points_mm: Points) -> Points:
        """Map n×2 felt millimetres to the upright zone (origin its far left corner, mm)."""
        centred = np.asarray(points_mm, float) - (self.x_mm, self.y_mm)
        return centred @ _turn(self.turned_deg) + (self.width_mm / 2, self.height_mm / 2)


@dataclass(frozen=True)
class NaturalMarker:
    """The marker that the dealer lays on a confirmed natural: flat, of one colour that no card shows.

    ``shape`` is ``disk`` or ``plate`` (a rectangle); ``colour`` is ``#rrggbb`` as in white light.
    """

    shape: str
    width_mm: float
    height_mm: float
    colour: str

    @property
    def bgr(self) -> tuple[int, int, int]:
        """The colour in a picture: blue, green, red, 0 to 255."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return blue, green, red


@dataclass(frozen=True)
class Camera:
    """The camera of the reference build, straight above the felt's middle."""

    name: str
    width_px: int
    height_px: int
    horizontal_fov_deg: float
    height_mm: float

    @property
    def px_per_mm(self) -> float:
        """The pixels per millimetre of felt, straight below an ideal lens."""
        return self.width_px / (2 * self.height_mm * math.tan(math.radians(self.horizontal_fov_deg) / 2))


@dataclass(frozen=True)
class TableLayout:
    """A felt with its markers, zones and camera; ``text`` is the TOML it was read from.

    ``natural_marker`` is None if the house marks no naturals.
    """

    width_mm: float
    height_mm: float
    card: CardSize
    markers: Markers
    zones: tuple[Zone, ...]
    camera: Camera
    text: str
    natural_marker: NaturalMarker | None = None

    @classmethod
    def load(cls, path: str | Path | None = None) -> TableLayout:
        """Read a layout file; without a path, the packaged one.

        Raises:
            VisionFileError: the file cannot be read.
            LayoutError: what it says is no layout.
        """
        try:
            if path is None:
                source = importlib.resources.files("hardware") / "table.toml"
                return cls.parse(source.read_text(encoding="utf-8"))
            return cls.parse(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise VisionFileError(
                f"the table layout {path or 'hardware/table.toml'} cannot be read: {error.strerror or error}"
            ) from error
        except UnicodeDecodeError as error:
            raise LayoutError(f"the table layout {path} is not a text file") from error
        except LayoutError as error:
            raise LayoutError(f"{path or 'hardware/table.toml'}: {error}") from error

    @classmethod
    def parse(cls, text: str) -> TableLayout:
        """Read a layout from its TOML text.

        Raises:
            LayoutError: it is not TOML, a key is missing, unknown or wrong, or measures contradict.
        """
        try:
            top = _Table("", tomllib.loads(text))
        except (ValueError, RecursionError) as error:  # also a number of thousands of digits
            raise LayoutError(f"not a TOML file: {error}") from error
        felt, card, zones = top.table("felt"), top.table("card"), top.table("zones")
        size = CardSize(*(card.length(k) for k in ("width_mm", "height_mm", "gap_mm", "row_gap_mm")))
        rows = zones.table("rows")
        capacity = {row: rows.count(row) for row in ROWS}
        layout = cls(
            width_mm=felt.length("width_mm"),
            height_mm=felt.length("height_mm"),
            card=size,
            markers=_markers(top.table("markers")),
            zones=_zones(top.table("places"), size, zones.length("margin_mm", zero=True), capacity),
            camera=_camera(top.table("camera")),
            text=text,
            natural_marker=_natural_marker(top) if "natural_marker" in top.names() else None,
        )
        for table in (felt, card, rows, zones, top):
            table.done()
        _check(layout)
        return layout

    @cached_property
    def sha256(self) -> str:
        """The hash of the layout's text; records refer to it by this."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the places, clockwise from the first."""
        return tuple(dict.fromkeys(zone.place for zone in self.zones))

    def zone(self, place: str, row: str) -> Zone:
        """Find the zone of a place's row.

        Raises:
            LayoutError: this felt has no such zone.
        """
        for zone in self.zones:
            if (zone.place, zone.row) == (place, row):
                return zone
        raise LayoutError(f"this felt has no zone {place} {row}; its places are {', '.join(self.places)}")

    def slots_mm(self, zone: Zone) -> Points:
        """Return the centres of a full row's cards, in order: capacity×2, millimetres of the upright zone."""
        step = self.card.width_mm + self.card.gap_mm
        offsets = (np.arange(zone.capacity) - (zone.capacity - 1) / 2) * step
        return np.stack([zone.width_mm / 2 + offsets, np.full(zone.capacity, zone.height_mm / 2)], axis=1)


class _Table:
    """One TOML table, read key by key, so that unread keys are reported as unknown."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self._name = name
        self._left = dict(values)

    def _take(self, key: str) -> Any:
        if key not in self._left:
            raise LayoutError(f"{self._path(key)} is missing")
        return self._left.pop(key)

    def _path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def names(self) -> list[str]:
        return list(self._left)

    def table(self, key: str) -> _Table:
        value = self._take(key)
        if not isinstance(value, dict):
            raise LayoutError(f"{self._path(key)} must be a table")
        return _Table(self._path(key), value)

    def tables(self, key: str) -> list[_Table]:
        value = self._take(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise LayoutError(f"{self._path(key)} must be a list of tables")
        return [_Table(f"{self._path(key)}[{i}]", item) for i, item in enumerate(value)]

    def number(self, key: str) -> float:
        value = self._take(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise LayoutError(f"{self._path(key)} must be a number, not {value!r}")
        return float(value)

    def length(self, key: str, *, zero: bool = False) -> float:
        value = self.number(key)
        if value < 0 or (value == 0 and not zero):
            raise LayoutError(f"{self._path(key)} must be more than 0, not {value:g}")
        return value

    def count(self, key: str, *, zero: bool = False) -> int:
        value = self._take(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < (0 if zero else 1):
            raise LayoutError(f"{self._path(key)} must be a whole number, {0 if zero else 1} or more")
        return value

    def text(self, key: str) -> str:
        value = self._take(key)
        if not isinstance(value, str) or not value:
            raise LayoutError(f"{self._path(key)} must be a text")
        return value

    def done(self) -> None:
        if self._left:
            raise LayoutError(f"{self._path(next(iter(self._left)))} is not known: mistyped?")


def _markers(table: _Table) -> Markers:
    dictionary = table.text("dictionary")
    number = getattr(cv2.aruco, dictionary, None) if dictionary.startswith("DICT_") else None
    if not isinstance(number, int):
        raise LayoutError(f"markers.dictionary {dictionary} is not one of OpenCV's, such as DICT_4X4_50")
    at = []
    for entry in table.tables("at"):
        turned = entry.number("turned_deg") if "turned_deg" in entry.names() else 0.0
        at.append(Marker(entry.count("id", zero=True), entry.number("x_mm"), entry.number("y_mm"), turned))
        entry.done()
    markers = Markers(dictionary, table.length("side_mm"), table.length("quiet_mm", zero=True), tuple(at))
    table.done()
    size = len(cv2.aruco.getPredefinedDictionary(number).bytesList)
    ids = [marker.id for marker in at]
    if len(at) < MIN_MARKERS:
        raise LayoutError(f"markers.at names {len(at)} markers; at least {MIN_MARKERS} are needed")
    if len(set(ids)) < len(ids):
        raise LayoutError("markers.at names an id twice; every marker needs its own")
    if max(ids) >= size:
        raise LayoutError(f"marker {max(ids)} does not exist in {dictionary}: its ids are 0 to {size - 1}")
    return markers


def _zones(places: _Table, card: CardSize, margin_mm: float, capacity: Mapping[str, int]) -> tuple[Zone, ...]:
    zones = []
    step = card.height_mm + card.row_gap_mm
    for name in places.names():
        if len(name) != 1 or not "A" <= name <= "Z":
            raise LayoutError(f"places.{name}: a place is named by one capital letter")
        place = places.table(name)
        x, y, turned = place.number("x_mm"), place.number("y_mm"), place.number("turned_deg")
        place.done()
        for i, row in enumerate(ROWS):
            away = _turn(turned) @ (0.0, (i - 1) * step)
            cards = capacity[row]
            width = cards * card.width_mm + (cards - 1) * card.gap_mm + 2 * margin_mm
            height = card.height_mm + 2 * margin_mm
            zones.append(
                Zone(name, row, x + float(away[0]), y + float(away[1]), width, height, turned, cards)
            )
    if not zones:
        raise LayoutError("places names no place")
    return tuple(zones)


def _camera(table: _Table) -> Camera:
    camera = Camera(
        table.text("name"),
        table.count("width_px"),
        table.count("height_px"),
        table.length("horizontal_fov_deg"),
        table.length("height_mm"),
    )
    table.done()
    if camera.horizontal_fov_deg >= 180:
        raise LayoutError("camera.horizontal_fov_deg must be less than 180")
    return camera


def _natural_marker(top: _Table) -> NaturalMarker:
    table = top.table("natural_marker")
    marker = NaturalMarker(
        table.text("shape"), table.length("width_mm"), table.length("height_mm"), table.text("colour")
    )
    table.done()
    if marker.shape not in ("disk", "plate"):
        raise LayoutError(f"natural_marker.shape must be disk or plate, not {marker.shape}")
    if marker.shape == "disk" and marker.width_mm != marker.height_mm:
        raise LayoutError("natural_marker: a disk is as wide as it is high")
    if min(marker.width_mm, marker.height_mm) < MIN_NATURAL_MARKER_MM:
        raise LayoutError(
            f"natural_marker must measure at least {MIN_NATURAL_MARKER_MM:g} mm each way, or it is taken for ink"
        )
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", marker.colour):
        raise LayoutError(f"natural_marker.colour must be like #6a2c91, not {marker.colour}")
    return marker


def _check(layout: TableLayout) -> None:
    """Refuse a felt on which things overlap, stick out, or lie the wrong way round."""
    border = layout.markers.side_mm + 2 * layout.markers.quiet_mm
    boxes = [(f"marker {m.id}", m.box_mm(border)) for m in layout.markers.at]
    boxes += [(f"zone {zone.name}", zone.corners_mm) for zone in layout.zones]
    slack = 0.01  # millimetres: neighbours that share an edge do not overlap
    for name, box in boxes:
        low, high = box.min(axis=0), box.max(axis=0)
        if low.min() < -slack or high[0] > layout.width_mm + slack or high[1] > layout.height_mm + slack:
            raise LayoutError(f"{name} sticks out of the felt ({layout.width_mm:g}×{layout.height_mm:g} mm)")
    for (name, box), (other, other_box) in itertools.combinations(boxes, 2):
        area, _ = cv2.intersectConvexConvex(box.astype(np.float32), other_box.astype(np.float32))
        if area > slack * border:
            raise LayoutError(f"{name} and {other} overlap; move one of them")
    middle = np.array([layout.width_mm / 2, layout.height_mm / 2])
    for place in layout.places:
        front, back = (layout.zone(place, row) for row in ("front", "back"))
        if math.dist((front.x_mm, front.y_mm), middle) > math.dist((back.x_mm, back.y_mm), middle):
            raise LayoutError(
                f"places.{place}: the front row lies farther from the felt's middle than the back row; "
                "turn it by 180 degrees (turned_deg)"
            )


def _turn(degrees: float) -> Points:
    """Rotate clockwise in the picture, y down; exact at the quarter turns, so that neighbours share their edges."""
    quarter, rest = divmod(degrees, 90.0)
    if rest == 0:
        cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[int(quarter) % 4]
        return np.array([[cos, -sin], [sin, cos]], float)
    a = math.radians(degrees)
    return np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])


def _box(x: float, y: float, width: float, height: float, turned_deg: float) -> Points:
    corners = np.array([[-width, -height], [width, -height], [width, height], [-width, height]]) / 2
    return corners @ _turn(turned_deg).T + (x, y)
