"""The house's own deck, drawn by code: one source for the page's SVG and the renderer's pixels.

Sizes are those of real cards: poker cards of 63.5 × 88.9 mm with corners of 3.2 mm radius; on an ordinary
index the rank is 8.8 mm high and the suit 6.6 mm (a Bicycle's: 8.4–9.2 and 6.2–7.1), on a jumbo index 16
and 9 mm.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vision.base.arrays import Image
from vision.base.errors import UnknownCardError
from vision.reading.cards import CARDS, RANKS, SUITS
from vision.synthetic.courts import FRAME_MM, GROUND, court_half, court_over
from vision.synthetic.drawing import SVG_UNITS_PER_MM, Drawing, Path, Shape
from vision.synthetic.glyphs import rank_paths, suit_path

WIDTH_MM = 63.5
HEIGHT_MM = 88.9
CORNER_MM = 3.2

BLACK = "#15151a"
RED = "#c8152d"
PAPER = "#ffffff"


@dataclass(frozen=True)
class Style:
    """How the deck looks: four colours make diamonds blue and clubs green; jumbo has a large index."""

    four_colour: bool = False
    jumbo: bool = False

    def colour(self, suit: str) -> str:
        """The suit's ink."""
        if self.four_colour and suit in "cd":
            return {"c": "#0b7a37", "d": "#1257b8"}[suit]
        return RED if suit in "dh" else BLACK


STANDARD = Style()


@dataclass(frozen=True)
class _Index:
    """The geometry of the corner index in mm.

    `x`: the middle of its column; `rank`, `suit`: their heights, with `gap` between them; `widest`: of the rank.
    """

    x: float
    top: float
    rank: float
    suit: float
    gap: float
    widest: float


_SMALL = _Index(x=6.1, top=4.3, rank=8.8, suit=6.6, gap=1.3, widest=7.6)
_JUMBO = _Index(x=8.9, top=4.0, rank=16.0, suit=9.0, gap=1.8, widest=13.4)

_BLANK = Shape(Path.rounded(0.1, 0.1, WIDTH_MM - 0.1, HEIGHT_MM - 0.1, CORNER_MM), PAPER, "#c9c5ba", 0.2)

_Places = tuple[tuple[float, float], ...]
"""Of pips, as (column, row): columns from -1 (left) to 1, rows from -1 (top) to 0 (middle)."""
_PAIR: _Places = (-1, -1), (1, -1)
_FOUR: _Places = *_PAIR, (-1, -1 / 3), (1, -1 / 3)
# The pips of the upper half, drawn in the lower half too.
_PIPS: dict[str, _Places] = dict.fromkeys("23", ((0, -1),)) | dict.fromkeys("4567", _PAIR)
_PIPS |= {"8": (*_PAIR, (0, -0.5)), "9": _FOUR, "T": (*_FOUR, (0, -2 / 3))}
# Pips that are drawn once: those of the middle row, and a seven's one in the upper half.
_LONE: dict[str, _Places] = dict.fromkeys("359", ((0, 0),)) | dict.fromkeys("68", ((-1, 0), (1, 0)))
_LONE |= {"7": ((-1, 0), (1, 0), (0, -0.5))}

_NAMES = "ace two three four five six seven eight nine ten jack queen king"
_RANK_NAMES = dict(zip("A23456789TJQK", _NAMES.split(), strict=True))
_SUIT_NAMES = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}


def card_svg(code: str, style: Style = STANDARD) -> str:
    """Draw a whole card as a standalone SVG document of less than 6 kB.

    Raises:
        UnknownCardError: ``code`` is none of the 52.

    >>> card_svg("Th")[:26]
    '<svg xmlns="http://www.w3.'
    """
    drawing, letters = _card(code, style), "4" * style.four_colour + "j" * style.jumbo
    return drawing.svg(f"c{code}{letters}", f"{_RANK_NAMES[code[0]]} of {_SUIT_NAMES[code[1]]}")


def signs_svg() -> str:
    """Draw the corner signs for small sizes, as an SVG sprite in the colour of the surrounding text.

    Its symbols are `rank-2` … `rank-A` and `suit-c` … `suit-s`, all of one height.
    """
    symbols = []
    for rank in RANKS:
        paths, width = rank_paths(rank)
        drawn = "".join(f'<path d="{path.placed(0, 0, _SIGN_SCALE).svg()}"/>' for path in paths)
        symbols.append(_symbol(f"rank-{rank}", width, drawn))
    for suit in SUITS:
        drawn = f'<path d="{suit_path(suit).placed(50 * _SIGN_SCALE, 50 * _SIGN_SCALE, _SIGN_SCALE).svg()}"/>'
        symbols.append(_symbol(f"suit-{suit}", 100, drawn))
    return f'<svg class="sprite" aria-hidden="true" focusable="false">{"".join(symbols)}</svg>'


_SIGN_SCALE = 0.1
"""Millimetres for one unit of `rank_paths` and `suit_path`: a sign is 100 units high there, and 10 mm here."""


def _symbol(name: str, width: float, drawn: str) -> str:
    box = f"0 0 {round(width * _SIGN_SCALE * SVG_UNITS_PER_MM)} {round(100 * _SIGN_SCALE * SVG_UNITS_PER_MM)}"
    return f'<symbol id="{name}" viewBox="{box}" fill-rule="evenodd">{drawn}</symbol>'


@lru_cache(maxsize=256)
def card_picture(code: str, px_per_mm: float, style: Style = STANDARD) -> Image:
    """Draw a whole card as pixels: (88.9 · px_per_mm) × (63.5 · px_per_mm) × 3, rounded, BGR; not writable.

    The picture is a rectangle, white outside the card's rounded corners: cut those off before placing the card on a
    background.

    Raises:
        UnknownCardError: ``code`` is none of the 52.
    """
    return _card(code, style).picture(px_per_mm)


@lru_cache(maxsize=4)
def joker_picture(px_per_mm: float) -> Image:
    """Draw the joker as pixels, as :func:`card_picture` does a face: no rank, no suit, a star in the corners."""
    return _joker().picture(px_per_mm)


@lru_cache(maxsize=16)
def back_picture(px_per_mm: float, colour: str = RED) -> Image:
    """Draw the back as pixels, as :func:`card_picture` does a face."""
    return _back(colour).picture(px_per_mm)


def _rank(rank: str, x: float, top: float, height: float, widest: float, colour: str) -> list[Shape]:
    """Draw a rank around the column ``x``; a wide one (the ten) is narrowed to fit."""
    paths, width = rank_paths(rank)
    scale = height / 100
    wide = min(1.0, widest / (width * scale))
    left = x - width * scale * wide / 2
    return [Shape(path.placed(left, top, scale, wide=wide), colour) for path in paths]


def _card(code: str, style: Style) -> Drawing:
    if code not in CARDS:
        raise UnknownCardError(
            f"there is no card {code!r}; cards are rank 23456789TJQKA and suit cdhs, as Th"
        )
    rank, suit = code[0], code[1]
    colour = style.colour(suit)
    index = _JUMBO if style.jumbo else _SMALL
    middle = (WIDTH_MM / 2, HEIGHT_MM / 2)
    half = _rank(rank, index.x, index.top, index.rank, index.widest, colour)
    suit_y = index.top + index.rank + index.gap + index.suit / 2
    half.append(Shape(suit_path(suit).placed(index.x, suit_y, index.suit / 100), colour))
    over: list[Shape] = []
    under = [_BLANK]
    if rank in "JQK":
        scale = 0.78 if style.jumbo else 1.0
        x, y = FRAME_MM
        under += _place([Shape(Path.rect(-x, -y, x, y), GROUND)], middle, scale)
        half += _place(court_half(rank, suit, colour), middle, scale)
        over += _place(court_over(suit), middle, scale)
    elif rank == "A":
        over += _ace(suit, colour, middle)
    else:
        pip, column, row = (10.0, 9.0, 27.5) if style.jumbo else (13.0, 12.6, 28.0)
        for places, shapes in ((_PIPS[rank], half), (_LONE.get(rank, ()), over)):
            path = Path(())
            for across, down in places:
                path += suit_path(suit).placed(middle[0] + across * column, middle[1] + down * row, pip / 100)
            if places:
                shapes.append(Shape(path, colour))
    return Drawing(WIDTH_MM, HEIGHT_MM, tuple(under), tuple(half), tuple(over))


def _place(shapes: list[Shape], at: tuple[float, float], scale: float) -> list[Shape]:
    return [Shape(s.path.placed(*at, scale), s.fill, s.line, s.line_mm * scale) for s in shapes]


def _ace(suit: str, colour: str, middle: tuple[float, float]) -> list[Shape]:
    if suit != "s":
        return [Shape(suit_path(suit).placed(*middle, 0.2), colour)]
    # The ace of spades has the maker's ornament: here a spade in a spade in a ring of leaves.
    sizes = ((0.40, colour), (0.34, PAPER), (0.31, colour), (0.13, PAPER), (0.09, colour))
    return [Shape(suit_path(suit).placed(middle[0], middle[1] - size * 4, size), ink) for size, ink in sizes]


def _joker() -> Drawing:
    """Draw a cap of three points with bells over a face, twice, in the manner of the court cards."""
    x, y = WIDTH_MM / 2, HEIGHT_MM / 2
    cap = f"M{x - 13},{y - 11} L{x - 17},{y - 27} L{x - 6},{y - 19} L{x},{y - 31} L{x + 6},{y - 19} "
    cap += f"L{x + 17},{y - 27} L{x + 13},{y - 11}Z"
    bells = [(x - 17, y - 27), (x, y - 31), (x + 17, y - 27)]
    half = (
        Shape(_star(6.1, 9.0, 4.0), BLACK),
        Shape(Path.ellipse(x, y - 8, 8, 9), "#f7e3cf", BLACK, 0.3),
        Shape(Path.parse(cap), RED, BLACK, 0.3),
        Shape.dots(bells, 2.2, "#f0b323"),
    )
    over = (Shape(Path.rounded(x - 16, y - 4.5, x + 16, y + 4.5, 2), "#234a9c", BLACK, 0.3),)
    return Drawing(WIDTH_MM, HEIGHT_MM, (_BLANK,), half, over)


def _star(x: float, y: float, radius: float) -> Path:
    turns = np.arange(10) * np.pi / 5
    reach = radius * np.where(np.arange(10) % 2, 0.4, 1.0)
    return Path.polygon(np.column_stack([x + reach * np.sin(turns), y - reach * np.cos(turns)]))


def _back(colour: str) -> Drawing:
    """Draw a lattice in a frame with a rosette in the middle."""
    x0, y0, x1, y1 = 4.5, 4.5, WIDTH_MM - 4.5, HEIGHT_MM - 4.5
    middle = (WIDTH_MM / 2, HEIGHT_MM / 2)
    lattice = ""
    for offset in np.arange(x0 - (y1 - y0), x1 + 0.1, 4.2):
        # the 45° line through (offset, y0), cut to the frame; mirrored for the other direction
        low, high = max(0.0, x0 - offset), min(y1 - y0, x1 - offset)
        if high > low:
            for a, b in ((offset + low, offset + high), (x0 + x1 - offset - low, x0 + x1 - offset - high)):
                lattice += f"M{a:.2f},{y0 + low:.2f} L{b:.2f},{y0 + high:.2f}"
    shapes = [
        _BLANK,
        Shape(Path.rounded(x0, y0, x1, y1, 1.5), colour),
        Shape(Path.parse(lattice), None, PAPER, 0.45),
        Shape(Path.rounded(x0, y0, x1, y1, 1.5), None, colour, 1.4),
        Shape(Path.ellipse(*middle, 14), colour, PAPER, 0.9),
    ]
    for turned in (False, True):
        for suit, dx, dy in (("s", 0.0, -6.6), ("h", -6.6, 0.0)):
            at = (middle[0] - dx, middle[1] - dy) if turned else (middle[0] + dx, middle[1] + dy)
            shapes.append(Shape(suit_path(suit).placed(*at, 0.075, turned=turned), PAPER))
    shapes.append(Shape(Path.ellipse(*middle, 1.8), PAPER))
    return Drawing(WIDTH_MM, HEIGHT_MM, tuple(shapes))
