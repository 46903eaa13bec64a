"""Renders the overhead camera's view: cards laid by hand on the felt, with a lens, in a card room's light.

It is independent of the reader, which is evaluated on its pictures. The same seed gives the same picture. It accepts
any deck's pictures, including photographs of real cards.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.base.errors import RenderError
from vision.felt.layout import Camera, TableLayout, Zone
from vision.felt.resample import project
from vision.reading.cards import CARDS
from vision.synthetic.deck import CORNER_MM, HEIGHT_MM, joker_picture
from vision.synthetic.decks import Deck, DrawnDeck
from vision.synthetic.drawing import Path
from vision.synthetic.printed_felt import cloth, felt_picture, mm_to_pixels
from vision.synthetic.props import THINGS, Thing, paint, pieces

FACE_DOWN = "back"
"""In the place of a card's code: the card lies face down."""

JOKER = "joker"
"""In the place of a card's code: the joker, face up."""

Hands = Mapping[str, Mapping[str, Sequence[str]]]
"""The codes of the cards from the player's left to right, by place and row."""

TABLE_BGR = (38, 46, 58)

_CARD = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


@dataclass(frozen=True)
class Conditions:
    """The variation of hands, camera and light. Ranges are uniform and symmetric.

    The defaults are an ordinary evening: cards laid with some care, a camera mounted by hand, two lamps.
    """

    shift_mm: float = 2.0
    """How far a card lies from its place, in either direction."""
    turn_deg: float = 3.0
    """How far a card is turned."""
    upside_down: float = 0.5
    """The share of cards that lie the other way up; a face reads the same."""
    overlapped: float = 0.1
    """The share of cards that lie partly on their left neighbour."""
    overlap_mm: float = 8.0
    """How far those lie on it, at most."""
    tilt_deg: float = 1.0
    """How far the camera leans, about each of its axes."""
    offset_mm: float = 8.0
    """How far the camera hangs from the felt's middle, and from its height."""
    light: float = 0.82
    """The mean level of light; at 1 white paper is just white. A camera set well leaves some room above it."""
    uneven: float = 0.12
    """How much brighter and darker than the mean the light gets over the picture."""
    shadow: float = 0.35
    """How dark the cards' own shadows are."""
    cast: float = 0.03
    """How far the colour channels drift apart."""
    glare: float = 0.0
    """How bright the lamps' reflections on the cards are; at 1 they wash out what lies below."""
    banding: float = 0.0
    """How much a flickering lamp darkens some of the picture's rows."""
    blur_px: float = 0.6
    """The lens's blur, standard deviation in pixels of the full-size picture."""
    noise: float = 2.0
    """The sensor's noise, standard deviation in grey levels."""
    jpeg: int | None = 92
    """The quality at which the picture is packed and unpacked; None: not at all."""


@dataclass(frozen=True, eq=False)
class LaidCard:
    """A card on the felt: its code (or ``FACE_DOWN``, ``JOKER``), its place, and its corners in the picture.

    ``corners`` are 4×2 pixels: the card's own top left corner first, then clockwise.
    """

    code: str
    place: str
    row: str
    corners: Points


@dataclass(frozen=True, eq=False)
class Scene:
    """A rendered picture and its ground truth.

    ``frame`` is height × width × 3, BGR; ``truth`` names the cards that lie face up, by place and row, from the
    player's left; ``homography`` maps felt millimetres to the frame's pixels.
    """

    frame: Image
    truth: dict[str, dict[str, list[str]]]
    cards: tuple[LaidCard, ...]
    homography: Matrix


def render_table(
    hands: Hands,
    layout: TableLayout,
    deck: Deck | None = None,
    *,
    seed: int | np.random.Generator = 0,
    conditions: Conditions | None = None,
    scale: float = 1.0,
    things: Sequence[Thing] = (),
    felt: Callable[[TableLayout, float], Image] = felt_picture,
) -> Scene:
    """Render the layout camera's view of these cards, and of the things over and next to them.

    ``scale`` makes a smaller picture of the same view (0.5: half the pixels each way). Places, rows and cards may be
    missing; a short row is laid from its player's left. ``felt`` is another print of the layout, with its pixels per
    millimetre, instead of :func:`vision.synthetic.printed_felt.felt_picture`.

    Raises:
        RenderError: a place or row that the felt does not have, more cards than a row holds, or the natural's
            marker where the layout has none.
        UnknownCardError: a code is not that of a card.
    """
    deck = deck or DrawnDeck()
    conditions = conditions or Conditions()
    rng = np.random.default_rng(seed)
    _check(hands, layout, scale)
    to_px = camera_homography(layout, rng, conditions, scale)
    size = (round(layout.camera.width_px * scale), round(layout.camera.height_px * scale))
    frame = _empty_table(layout, to_px, size, felt)
    laid = []
    for zone in layout.zones:
        codes = list(hands.get(zone.place, {}).get(zone.row, ()))
        for code, corners_mm in zip(
            codes, _lay(zone, len(codes), layout, deck, rng, conditions), strict=True
        ):
            corners = project(to_px, corners_mm)
            _put(frame, _face(code, deck), corners, deck, conditions.shadow)
            laid.append(LaidCard(code, zone.place, zone.row, corners))
    for thing in things:
        _lay_thing(frame, thing, layout, deck, to_px, conditions.shadow)
    frame = _photograph(frame, rng, conditions, scale)
    truth = {
        place: {row: [c for c in codes if c in CARDS] for row, codes in rows.items()}
        for place, rows in hands.items()
    }
    return Scene(frame, truth, tuple(laid), to_px)


def _face(code: str, deck: Deck) -> Image:
    if code == JOKER:
        return joker_picture(6.0)
    return deck.back() if code == FACE_DOWN else deck.picture(code)


def _lay_thing(
    frame: Image, thing: Thing, layout: TableLayout, deck: Deck, to_px: Matrix, shadow: float
) -> None:
    if thing.what == "marker" and layout.natural_marker is None:
        raise RenderError("this felt's layout names no natural_marker to lay on it")
    if thing.what not in THINGS:
        corners = thing.placed(_CARD * (deck.width_mm, HEIGHT_MM))
        _put(frame, _face(thing.what, deck), project(to_px, corners), deck, shadow)
        return
    shapes = [(project(to_px, outline), bgr) for outline, bgr in pieces(thing, layout.natural_marker)]
    middle = np.array([[thing.x_mm, thing.y_mm], [thing.x_mm + 1, thing.y_mm]])
    px_per_mm = math.dist(*project(to_px, middle))
    paint(frame, shapes, shadow, max(1.0, (8 if thing.what == "hand" else 1.6) * px_per_mm))


def deal(
    rng: np.random.Generator, layout: TableLayout, places: Sequence[str] | None = None
) -> dict[str, dict[str, list[str]]]:
    """Deal full rows from one shuffled deck to the places (by default all)."""
    deck = [str(code) for code in rng.permutation(CARDS)]
    hands: dict[str, dict[str, list[str]]] = {}
    for zone in layout.zones:
        if places is None or zone.place in places:
            hands.setdefault(zone.place, {})[zone.row] = [deck.pop() for _ in range(zone.capacity)]
    return hands


def camera_homography(
    layout: TableLayout, rng: np.random.Generator, conditions: Conditions, scale: float = 1.0
) -> Matrix:
    """Place the camera over the felt's middle, slightly tilted: felt millimetres to pixels, 3×3."""
    camera: Camera = layout.camera
    width, height = camera.width_px * scale, camera.height_px * scale
    focal = width / 2 / math.tan(math.radians(camera.horizontal_fov_deg) / 2)
    inside = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
    tilt = np.radians(rng.uniform(-1, 1, 3) * conditions.tilt_deg)
    turn, _ = cv2.Rodrigues(tilt)
    off = rng.uniform(-1, 1, 3) * conditions.offset_mm
    # the camera looks down its z axis; a tilted one is moved back, so that the felt stays in view
    lean = camera.height_mm * np.tan(tilt)
    eye = np.array([layout.width_mm / 2 + lean[1], layout.height_mm / 2 - lean[0], -camera.height_mm]) + off
    outside = np.column_stack([turn[:, 0], turn[:, 1], -turn @ eye])
    homography = inside @ outside
    return np.asarray(homography / homography[2, 2])


def _check(hands: Hands, layout: TableLayout, scale: float) -> None:
    if not 0.02 <= scale <= 2:
        raise RenderError(f"scale must be between 0.02 and 2, not {scale:g}")
    capacity = {(zone.place, zone.row): zone.capacity for zone in layout.zones}
    for place, rows in hands.items():
        for row, codes in rows.items():
            most = capacity.get((place, row))
            if most is None:
                raise RenderError(f"this felt has no zone {place} {row}")
            if len(codes) > most:
                raise RenderError(f"{place} {row} holds {most} cards, not {len(codes)}")


def _lay(
    zone: Zone, count: int, layout: TableLayout, deck: Deck, rng: np.random.Generator, conditions: Conditions
) -> list[Points]:
    """Lay a row with the errors of a hand: the corners of each card, felt millimetres, its own top left first."""
    box = _CARD * (deck.width_mm, HEIGHT_MM)
    middles = layout.slots_mm(zone)[:count]
    shifts = rng.uniform(-1, 1, (zone.capacity, 2)) * conditions.shift_mm
    turns = rng.uniform(-1, 1, zone.capacity) * conditions.turn_deg
    flips = rng.random(zone.capacity) < conditions.upside_down
    pulls = (rng.random(zone.capacity) < conditions.overlapped) * rng.random(zone.capacity)
    spare = layout.card.width_mm + layout.card.gap_mm - deck.width_mm
    laid: list[Points] = []
    for i, middle in enumerate(middles):
        at = middle + shifts[i]
        if i and pulls[i]:
            at[0] -= spare + pulls[i] * conditions.overlap_mm
        a = math.radians(turns[i] + 180 * flips[i])
        turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
        laid.append(zone.to_felt(box @ turn.T + at))
    return laid


def _empty_table(
    layout: TableLayout,
    to_px: Matrix,
    size: tuple[int, int],
    paint_felt: Callable[[TableLayout, float], Image],
) -> Image:
    frame = cloth((size[1], size[0]), TABLE_BGR)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * (layout.width_mm, layout.height_mm)
    density = math.sqrt(
        cv2.contourArea(project(to_px, corners).astype(np.float32)) / layout.width_mm / layout.height_mm
    )
    felt_density = round(max(density * 1.15, 0.5), 1)
    felt = paint_felt(layout, felt_density)
    warp = to_px @ np.linalg.inv(mm_to_pixels(felt_density))
    low, high = _bounds(project(to_px, corners), size)
    part = frame[low[1] : high[1], low[0] : high[0]]
    moved = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1]]) @ warp
    cv2.warpPerspective(
        felt, moved, (part.shape[1], part.shape[0]), part, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT
    )
    return frame


def _bounds(points: Points, size: tuple[int, int], margin: int = 1) -> tuple[Points, Points]:
    low = np.clip(np.floor(points.min(axis=0)).astype(int) - margin, 0, size)
    high = np.clip(np.ceil(points.max(axis=0)).astype(int) + margin + 1, 0, size)
    return low, high


def _put(frame: Image, picture: Image, corners: Points, deck: Deck, shadow: float) -> None:
    """Draw one card on the picture: shadow first, then the card within its rounded outline."""
    side = math.dist(corners[3], corners[0]) / HEIGHT_MM  # local pixels per millimetre
    height = max(8, round(HEIGHT_MM * side * 1.2))
    width = max(6, round(deck.width_mm * side * 1.2))
    if height < picture.shape[0]:
        picture = np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    height, width = picture.shape[:2]
    mask = _outline(width, height)
    source = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32) - 0.5
    spread = max(1.0, 1.4 * side)  # a card's edge is raised by a millimetre or two
    low, high = _bounds(corners, (frame.shape[1], frame.shape[0]), margin=math.ceil(3 * spread))
    part = frame[low[1] : high[1], low[0] : high[0]]
    if part.size == 0:
        return
    warp = cv2.getPerspectiveTransform(source, (corners - low).astype(np.float32))
    size = (part.shape[1], part.shape[0])
    inside = cv2.warpPerspective(mask, warp, size, flags=cv2.INTER_LINEAR)
    if shadow > 0:
        soft = cv2.GaussianBlur(inside, (0, 0), spread)
        dim = cv2.merge([cv2.convertScaleAbs(soft, alpha=-shadow, beta=255)] * 3)
        np.copyto(part, cv2.multiply(part, dim, scale=1 / 255))
    card = cv2.warpPerspective(picture, warp, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    weight = cv2.merge([inside] * 3)
    under = cv2.multiply(part, cv2.bitwise_not(weight), scale=1 / 255)
    np.copyto(part, cv2.add(under, cv2.multiply(card, weight, scale=1 / 255)))


@lru_cache(maxsize=64)
def _outline(width_px: int, height_px: int) -> Image:
    """Draw a card's rounded outline: 255 inside."""
    fine = 4
    mask = np.zeros((height_px * fine, width_px * fine), np.uint8)
    corner = CORNER_MM * height_px / HEIGHT_MM
    shape = Path.rounded(0, 0, width_px, height_px, corner).contours()[0] * fine - 0.5
    cv2.fillPoly(mask, [np.round(shape * 16).astype(np.int32)], 255, cv2.LINE_8, 4)
    return np.asarray(cv2.resize(mask, (width_px, height_px), interpolation=cv2.INTER_AREA), np.uint8)


def _photograph(frame: Image, rng: np.random.Generator, conditions: Conditions, scale: float) -> Image:
    """Light the table, then apply lens, sensor and compression to the picture."""
    height, width = frame.shape[:2]
    gain, glare = _light(rng, conditions, height / width)
    if gain is not None:
        full = cv2.resize(gain, (width, height), interpolation=cv2.INTER_LINEAR)
        frame = np.asarray(cv2.multiply(frame, full, scale=1 / 160), np.uint8)
    if glare is not None:
        frame = np.asarray(cv2.add(frame, cv2.resize(glare, (width, height))), np.uint8)
    if conditions.banding > 0:
        rows = np.sin(np.arange(height) / height * 2 * np.pi * rng.uniform(8, 14) + rng.uniform(0, 6))
        bands = np.round(255 * (1 - conditions.banding * (rows + 1) / 2)).astype(np.uint8)
        frame = np.asarray(
            cv2.multiply(frame, np.repeat(bands, width * 3).reshape(frame.shape), scale=1 / 255)
        )
    blur = conditions.blur_px * scale
    if blur > 0.2:
        frame = np.asarray(cv2.GaussianBlur(frame, (0, 0), blur), np.uint8)
    if conditions.noise > 0:
        _add_noise(frame, rng, conditions.noise)
    if conditions.jpeg is not None:
        _, packed = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, conditions.jpeg])
        frame = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
    return frame


def _light(
    rng: np.random.Generator, conditions: Conditions, ratio: float
) -> tuple[Image | None, Image | None]:
    """Draw the lamps coarsely: the gain of each channel (160 is 1), and the glare to add; None if there is none."""
    width = 96
    x, y = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-ratio, ratio, round(width * ratio)))
    level = np.zeros_like(x)
    for _ in range(2):
        px, py = rng.uniform(-1.2, 1.2), rng.uniform(-0.8, 0.8)
        level += np.exp(-((x - px) ** 2 + (y - py) ** 2) / rng.uniform(0.5, 2.0))
    a, edge, depth = rng.uniform(0, 2 * np.pi), rng.uniform(-0.5, 0.5), rng.uniform(0, 1)
    # a person stands in the light
    level -= depth / (1 + np.exp(-(x * np.cos(a) + y * np.sin(a) - edge) * 12))
    level = 2 * (level - level.min()) / max(float(np.ptp(level)), 1e-6) - 1
    gains = 1 + rng.uniform(-1, 1, 3) * conditions.cast
    gain = conditions.light * (1 + conditions.uneven * level)[:, :, None] * gains
    spots = np.zeros_like(x)
    for _ in range(4):
        px, py, w = rng.uniform(-0.5, 0.5), rng.uniform(-0.45, 0.45), rng.uniform(0.02, 0.05)
        spots += np.exp(-(((x - px) / (2 * w)) ** 2 + ((y - py) / w) ** 2))
    plain = conditions.light == 1 and conditions.uneven == 0 and conditions.cast == 0
    light = None if plain else np.clip(np.round(gain * 160), 0, 255).astype(np.uint8)
    if conditions.glare <= 0:
        return light, None
    glare = np.clip(np.round(255 * conditions.glare * spots), 0, 255).astype(np.uint8)
    return light, np.repeat(glare[:, :, None], 3, axis=2)


_NOISE_TILE = 1024


@lru_cache(maxsize=8)
def _noise_tiles(sigma: float) -> tuple[Image, Image]:
    """Make one tile of noise, as the values to add and the values to subtract."""
    noise = np.random.default_rng(1).normal(0, sigma, (_NOISE_TILE, _NOISE_TILE, 3))
    noise = np.round(noise)
    return np.clip(noise, 0, 255).astype(np.uint8), np.clip(-noise, 0, 255).astype(np.uint8)


def _add_noise(frame: Image, rng: np.random.Generator, sigma: float) -> None:
    """Add noise in place, from one tile shifted for every part of the picture: fast, and without a visible pattern."""
    half = _NOISE_TILE // 2
    more, less = _noise_tiles(sigma)
    for top in range(0, frame.shape[0], half):
        for left in range(0, frame.shape[1], half):
            part = frame[top : top + half, left : left + half]
            y, x = (int(v) for v in rng.integers(0, half, 2))
            window = (slice(y, y + part.shape[0]), slice(x, x + part.shape[1]))
            np.copyto(part, cv2.subtract(cv2.add(part, more[window]), less[window]))
