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
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import cv2
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, with_config

from vision.base.arrays import Points
from vision.base.errors import LayoutError, VisionFileError

ROWS = ("front", "middle", "back")
"""From the table's centre to the player."""

MIN_MARKERS = 4
"""Fewer leave no spare: two hidden by a sleeve must not stop the table."""

MIN_NATURAL_MARKER_MM = 30.0
"""No sign on a card is one patch of colour as large as this."""


_CLOSED = ConfigDict(extra="forbid")
"""For every TOML table of the file: an unknown key is an error."""
_CAPITAL, _COLOUR = "^[A-Z]$", "^#[0-9a-fA-F]{6}$"
_MEANING = {_CAPITAL: "one capital letter", _COLOUR: "a colour as #rrggbb"}
_UNKNOWN, _TABLE = "is not known: mistyped?", "is not a table of keys"
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": _UNKNOWN,
    "unexpected_keyword_argument": _UNKNOWN,
    "model_type": _TABLE,
    "dataclass_type": _TABLE,
    "dict_type": _TABLE,
    "tuple_type": "is not a list",
    "string_type": "is not a text",
    "float_type": "is not a number",
    "finite_number": "is not a finite number",
    "int_type": "is not a whole number",
    "greater_than": "is not more than {gt:g}",
    "greater_than_equal": "is less than {ge:g}",
    "less_than": "is not less than {lt:g}",
    "literal_error": "is not {expected}",
    "string_too_short": "is empty",
    "string_pattern_mismatch": "is not {meaning}",
    "too_short": "has {actual_length}, and needs at least {min_length}",
}
"""What a person reads for each type of pydantic's errors."""

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Length = Annotated[_Number, Field(gt=0)]
_Width = Annotated[_Number, Field(ge=0)]
_Count = Annotated[int, Field(strict=True, gt=0)]


@with_config(_CLOSED)
@dataclass(frozen=True)
class CardSize:
    """A card's size and the gaps between laid cards, millimetres."""

    width_mm: _Length
    height_mm: _Length
    gap_mm: _Length
    row_gap_mm: _Length


SHEETS = (11, 12, 13, 14)
"""The markers of the four sheets that lie in place of a printed felt, clockwise from the far left one (`sheets.py`)."""


@with_config(_CLOSED)
@dataclass(frozen=True)
class Marker:
    """An ArUco marker's number, the centre of its black square, and how far it is turned."""

    id: Annotated[int, Field(strict=True, ge=0)]
    x_mm: _Number
    y_mm: _Number
    turned_deg: _Number = 0.0

    def to_felt(self, points_mm: Points) -> Points:
        """Map n×2 points around the upright marker's centre to felt millimetres."""
        return points_mm @ _turn(self.turned_deg).T + (self.x_mm, self.y_mm)

    def box_mm(self, side_mm: float) -> Points:
        """Return the corners of a square around the marker's centre, turned as it is: 4×2, felt millimetres."""
        return _box(self.x_mm, self.y_mm, side_mm, side_mm, self.turned_deg)


@with_config(_CLOSED)
@dataclass(frozen=True)
class Markers:
    """The felt's markers: their dictionary (an OpenCV name), black square, white border and places."""

    dictionary: str
    side_mm: _Length
    quiet_mm: _Width
    at: Annotated[tuple[Marker, ...], Field(min_length=MIN_MARKERS)]

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


@with_config(_CLOSED)
@dataclass(frozen=True)
class NaturalMarker:
    """The marker that the dealer lays on a confirmed natural: flat, of one colour that no card shows.

    ``shape`` is ``disk`` or ``plate`` (a rectangle); ``colour`` is ``#rrggbb`` as in white light.
    """

    shape: Literal["disk", "plate"]
    width_mm: Annotated[_Number, Field(ge=MIN_NATURAL_MARKER_MM)]
    height_mm: Annotated[_Number, Field(ge=MIN_NATURAL_MARKER_MM)]
    colour: Annotated[str, Field(pattern=_COLOUR)]

    @property
    def bgr(self) -> tuple[int, int, int]:
        """The colour in a picture: blue, green, red, 0 to 255."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return blue, green, red


@with_config(_CLOSED)
@dataclass(frozen=True)
class Camera:
    """The camera of the reference build, straight above the felt's middle."""

    name: Annotated[str, Field(min_length=1)]
    width_px: _Count
    height_px: _Count
    horizontal_fov_deg: Annotated[_Number, Field(ge=1, lt=180)]
    height_mm: _Length

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
            LayoutError: the file is not a valid layout.
        """
        try:
            packaged = importlib.resources.files("hardware") / "table.toml"
            source = packaged if path is None else Path(path)
            return cls.parse(source.read_text(encoding="utf-8"))
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
            values = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also a number of thousands of digits
            raise LayoutError(f"not a TOML file: {error}") from error
        try:
            file = _File.model_validate(values)
        except ValidationError as error:
            raise LayoutError(_fault(error)) from error
        layout = cls(
            width_mm=file.felt.width_mm,
            height_mm=file.felt.height_mm,
            card=file.card,
            markers=file.markers,
            zones=_zones(file),
            camera=file.camera,
            text=text,
            natural_marker=file.natural_marker,
        )
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


class _Part(BaseModel):
    """A table of the file that is used to make the layout, but is not part of it."""

    model_config = _CLOSED


class _Felt(_Part):
    width_mm: _Length
    height_mm: _Length


class _Rows(_Part):
    front: _Count
    middle: _Count
    back: _Count


class _Zones(_Part):
    margin_mm: _Width
    rows: _Rows


class _Place(_Part):
    x_mm: _Number
    y_mm: _Number
    turned_deg: _Number


class _File(_Part):
    felt: _Felt
    card: CardSize
    markers: Markers
    zones: _Zones
    places: Annotated[dict[Annotated[str, Field(pattern=_CAPITAL)], _Place], Field(min_length=1)]
    camera: Camera
    natural_marker: NaturalMarker | None = None


def _fault(error: ValidationError) -> str:
    """Return the first wrong key of a file and what is wrong with it."""
    first = error.errors()[0]
    facts = first.get("ctx", {})
    key = ".".join(str(part) for part in first["loc"] if part != "[key]")
    words = _WORDS.get(first["type"], first["msg"])
    return f"{key} {words.format(**facts, meaning=_MEANING.get(facts.get('pattern', '')))}"


def _zones(file: _File) -> tuple[Zone, ...]:
    zones, card, margin = [], file.card, file.zones.margin_mm
    step, height = card.height_mm + card.row_gap_mm, card.height_mm + 2 * margin
    for name, place in file.places.items():
        for i, row in enumerate(ROWS):
            x, y = _turn(place.turned_deg) @ (0.0, (i - 1) * step) + (place.x_mm, place.y_mm)
            cards: int = getattr(file.zones.rows, row)
            width = cards * card.width_mm + (cards - 1) * card.gap_mm + 2 * margin
            zones.append(Zone(name, row, float(x), float(y), width, height, place.turned_deg, cards))
    return tuple(zones)


def _check_markers(markers: Markers, natural: NaturalMarker | None) -> None:
    """Refuse markers that cannot be printed, or told apart."""
    name, ids = markers.dictionary, [marker.id for marker in markers.at]
    number = getattr(cv2.aruco, name, None) if name.startswith("DICT_") else None
    if not isinstance(number, int):
        raise LayoutError(f"markers.dictionary {name} is not one of OpenCV's, such as DICT_4X4_50")
    size = len(cv2.aruco.getPredefinedDictionary(number).bytesList)
    if len(set(ids)) < len(ids):
        raise LayoutError("markers.at names an id twice; every marker needs its own")
    if max(ids) >= size:
        raise LayoutError(f"marker {max(ids)} does not exist in {name}: its ids are 0 to {size - 1}")
    if natural and natural.shape == "disk" and natural.width_mm != natural.height_mm:
        raise LayoutError("natural_marker: a disk is as wide as it is high")


def _check(layout: TableLayout) -> None:
    """Refuse a felt on which things overlap, stick out, or lie the wrong way round."""
    _check_markers(layout.markers, layout.natural_marker)
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
