"""Jack, queen and king: our own figures, built of plain shapes.

A figure is half a card: it is painted twice, the second time upside down. Its coordinates are millimetres from the
card's centre, y down, inside a frame of 39 × 65 mm. A slanting sash hides the seam.
"""

from dataclasses import dataclass

from vision.synthetic.drawing import Path, Shape
from vision.synthetic.glyphs import suit_path

FRAME_MM = (19.5, 32.5)
"""Half the frame's width and height."""

INK = "#1a1a22"
SKIN = "#f7e3cf"
GOLD = "#f0b323"
RED = "#c8152d"
BLUE = "#234a9c"
WHITE = "#ffffff"
GROUND = "#fdf8ec"
LINE_MM = 0.28


@dataclass(frozen=True)
class _Colours:
    robe: str
    lining: str
    hair: str


_COLOURS = {
    "c": _Colours(BLUE, RED, "#5b3a21"),
    "d": _Colours(RED, BLUE, "#d98e2b"),
    "h": _Colours(RED, INK, "#e5b64d"),
    "s": _Colours(INK, BLUE, "#3a2c29"),
}


def court_half(rank: str, suit: str, pip_colour: str) -> list[Shape]:
    """Draw the half figure of a jack, queen or king (``rank`` J, Q or K), seam at y = 0."""
    colours = _COLOURS[suit]
    figure = {"J": _jack, "Q": _queen, "K": _king}[rank]
    pip = Shape(suit_path(suit).placed(-13.9, -25.6, 0.098), pip_colour)
    return [*figure(colours, suit), pip]


def court_over(suit: str) -> list[Shape]:
    """Draw what lies over both halves: the sash and the frame."""
    x, y = FRAME_MM
    signs = [(at, -at * 14 / 39) for at in (-17, -13, -9, -5, 5, 9, 13, 17)]
    return [
        _fill(f"M{-x},4.6 L{x},-9.4 L{x},-4.6 L{-x},9.4Z", GOLD),
        _line(f"M{-x},5.6 L{x},-8.4"),
        _line(f"M{-x},8.4 L{x},-5.6"),
        Shape.dots(signs, 0.7, INK),
        Shape(Path.ellipse(0, 0, 2.1), WHITE, INK, LINE_MM),
        Shape(suit_path(suit).placed(0, 0, 0.024), INK),
        Shape(Path.rect(-x, -y, x, y), None, INK, 0.4),
    ]


def _fill(text: str, colour: str) -> Shape:
    return Shape(Path.parse(text), colour, INK, LINE_MM)


def _line(text: str, width_mm: float = LINE_MM, colour: str = INK) -> Shape:
    return Shape(Path.parse(text), None, colour, width_mm)


def _dots(*places: tuple[float, float], r: float = 0.5, colour: str = INK) -> Shape:
    return Shape.dots(places, r, colour)


def _face() -> list[Shape]:
    return [
        _fill("M-2.2,-17 L2.2,-17 L3,-11 L-3,-11Z", SKIN),
        _fill("M-4.7,-25 C-5,-18 -3.4,-14.2 0,-14.2 C3.4,-14.2 5,-18 4.7,-25Z", SKIN),
        _line("M-3.5,-22.6 C-2.8,-23.3 -1.8,-23.3 -1.1,-22.7 M1.1,-22.7 C1.8,-23.3 2.8,-23.3 3.5,-22.6"),
        _dots((-2.2, -21.5), (2.2, -21.5), r=0.52),
        _line("M0.2,-22 L-0.7,-19 L0.5,-18.9", 0.22),
    ]


def _mouth() -> Shape:
    return _line("M-1.3,-16.9 C-0.5,-16.4 0.5,-16.4 1.3,-16.9", 0.5, RED)


def _robe(colours: _Colours) -> list[Shape]:
    """Draw shoulders, sleeves and a front panel down to the sash."""
    return [
        _fill(
            "M-19.5,6 L-19.5,-6.5 C-15,-11.5 -9,-12.6 -4,-13.2 L4,-13.2 C9,-12.6 15,-11.5 19.5,-6.5 L19.5,-8 "
            "L19.5,-8Z",
            colours.robe,
        ),
        _fill("M-6.5,-12.7 L-5,2 L6,-2 L6.5,-12.7 L0,-9Z", colours.lining),
        _fill("M-8.5,-12.6 L-5.9,-12.8 L-3.4,2 L-6.2,3Z", GOLD),
        _fill("M8.5,-12.6 L5.9,-12.8 L4.4,-1.5 L7,-2.5Z", GOLD),
        _dots((-6.9, -10), (-6.4, -7), (-5.9, -4), (-5.4, -1), (6.9, -10), (6.5, -7), (6.1, -4), r=0.45),
        _line("M-17.8,-8 C-14,-5 -12.6,-2 -12.4,4 M-15.6,-9.6 C-11.6,-6.6 -10,-3 -9.8,3", 0.7, GOLD),
        _line("M17.8,-8 C14,-7 12.6,-6 12,-4.6 M15.6,-9.7 C12,-8 10.2,-6 9.6,-3.6", 0.7, GOLD),
    ]


def _king(colours: _Colours, suit: str) -> list[Shape]:
    crown = "M-5.8,-24.6 L-7.6,-30.4 L-3.9,-27.6 L0,-31.8 L3.9,-27.6 L7.6,-30.4 L5.8,-24.6Z"
    beard = (
        "M-4.8,-20.5 C-6.4,-14 -4.6,-8.2 0,-6.4 C4.6,-8.2 6.4,-14 4.8,-20.5 C4,-18.4 2.6,-17.9 0,-18.1 "
        "C-2.6,-17.9 -4,-18.4 -4.8,-20.5Z"
    )
    curls = "M{0}4.6,-24.8 C{0}7.8,-24.4 {0}8.6,-21.4 {0}6.7,-19.6 C{0}8.4,-18 {0}7.2,-14.6 {0}4.4,-15.4Z"
    sword = [
        _fill("M13.1,-30.6 L14,-31.8 L14.9,-30.6 L14.9,-12 L13.1,-12Z", WHITE),
        _line("M14,-30 L14,-13", 0.22),
        _fill("M10.8,-12.6 L17.2,-12.6 L17.2,-11.2 L10.8,-11.2Z", GOLD),
        _fill("M13.2,-11.2 L14.8,-11.2 L14.8,-7 L13.2,-7Z", GOLD),
        _fill("M12,-10.6 C12,-11.6 16,-11.6 16,-10.6 C16.4,-9.4 16.2,-8.2 15.8,-7.6 L12.3,-7.6Z", SKIN),
    ]
    return [
        *_robe(colours),
        *(_fill(curls.format(side), colours.hair) for side in ("-", "")),
        *_face(),
        _fill(beard, colours.hair),
        _line(
            "M-2.4,-16 C-2.2,-12 -1.6,-10 -0.9,-8.6 M0,-15.6 L0,-8 M2.4,-16 C2.2,-12 1.6,-10 0.9,-8.6", 0.2
        ),
        _fill(
            "M0,-18.4 C-1.4,-19.4 -3.4,-18.6 -4.4,-16.9 C-2.6,-16.7 -1,-16.9 0,-17.6 C1,-16.9 2.6,-16.7 "
            "4.4,-16.9 C3.4,-18.6 1.4,-19.4 0,-18.4Z",
            colours.hair,
        ),
        _line("M-0.9,-16 L0.9,-16", 0.5, RED),
        _fill(crown, GOLD),
        _fill("M-6,-25.8 L6,-25.8 L5.7,-23.8 L-5.7,-23.8Z", colours.lining),
        _dots((-4, -24.8), (-1.4, -24.8), (1.4, -24.8), (4, -24.8), r=0.5, colour=WHITE),
        _dots((-7.6, -30.6), (0, -31.6), (7.6, -30.6), r=0.75, colour=RED),
        *sword,
    ]


def _queen(colours: _Colours, suit: str) -> list[Shape]:
    hair = (
        "M0,-27.4 C-6,-27.6 -8,-23 -7.6,-18 C-7.4,-14.6 -9,-12.6 -8.6,-9.6 C-6.4,-9 -4.4,-10 -3.6,-12.6 "
        "L3.6,-12.6 C4.4,-10 6.4,-9 8.6,-9.6 C9,-12.6 7.4,-14.6 7.6,-18 C8,-23 6,-27.6 0,-27.4Z"
    )
    petals = [
        (14 + dx, -20.6 + dy) for dx, dy in ((0, -1.9), (1.8, -0.6), (1.1, 1.5), (-1.1, 1.5), (-1.8, -0.6))
    ]
    return [
        *_robe(colours),
        _fill(hair, colours.hair),
        *_face(),
        _mouth(),
        _dots((-3.1, -18.4), (3.1, -18.4), r=0.7, colour="#eeb9a4"),
        _fill(
            "M-4.8,-22 C-4.8,-25.6 -2.6,-26 0,-26 C2.6,-26 4.8,-25.6 4.8,-22 C3.8,-24 1.6,-24.6 0,-25 "
            "C-1.6,-24.6 -3.8,-24 -4.8,-22Z",
            colours.hair,
        ),
        _fill(
            "M-6.4,-26 C-5.6,-29 -4.6,-29.4 -3.4,-27.6 C-2.6,-31 -0.8,-32 0,-32 C0.8,-32 2.6,-31 3.4,-27.6 "
            "C4.6,-29.4 5.6,-29 6.4,-26 C3,-27 -3,-27 -6.4,-26Z",
            GOLD,
        ),
        _dots((-4.4, -27.4), (4.4, -27.4), r=0.5, colour=RED),
        _dots((0, -29), r=0.9, colour=colours.lining),
        _fill("M-4.2,-12.9 C-2,-10.6 2,-10.6 4.2,-12.9 L5.6,-12.6 C3,-8.6 -3,-8.6 -5.6,-12.6Z", GOLD),
        _dots((-3, -11.2), (-1, -10.5), (1, -10.5), (3, -11.2), r=0.4, colour=WHITE),
        _line("M14,-19 C14.4,-15 14,-12 13.6,-8", 0.6, "#2f7d3b"),
        _fill("M14.1,-14.6 C15.4,-16.6 17,-16.4 17.6,-16 C17,-14.4 15.6,-13.6 14.1,-14.6Z", "#2f7d3b"),
        *(Shape(Path.ellipse(x, y, 1.25), RED if suit in "cs" else GOLD, INK, 0.2) for x, y in petals),
        Shape(Path.ellipse(14, -20.6, 1.0), WHITE, INK, 0.2),
        _fill("M12,-10.6 C12.4,-11.8 15.2,-11.8 15.6,-10.6 C16,-9.2 15.4,-8 14.8,-7.4 L12.6,-7.4Z", SKIN),
    ]


def _jack(colours: _Colours, suit: str) -> list[Shape]:
    bob = (
        "M{0}4,-25 C{0}7.4,-25 {0}8,-20 {0}7.2,-15.4 C{0}6,-13.8 {0}4.4,-14.2 {0}3.4,-15.6 "
        "C{0}4.8,-18 {0}5,-21 {0}4,-25Z"
    )
    return [
        *_robe(colours),
        *_face(),
        _mouth(),
        *(_fill(bob.format(side), colours.hair) for side in ("-", "")),
        _fill(
            "M-6.9,-24 C-7.4,-28.6 -3,-29.6 0,-29.4 C4,-29.6 7.4,-28.4 6.9,-24 C3,-25.2 -3,-25.2 -6.9,-24Z",
            colours.lining if suit != "h" else BLUE,
        ),
        _fill("M-7.2,-25.2 C-3,-26.6 3,-26.6 7.2,-25.2 L6.9,-23.2 C3,-24.4 -3,-24.4 -6.9,-23.2Z", GOLD),
        _fill("M4.4,-26.2 C5,-30 8,-32 11,-31.4 C11.6,-29 9,-26 5.2,-25.6Z", WHITE),
        _line("M5,-26 C6.6,-28.4 8.4,-30 10.4,-31", 0.22),
        _fill("M-5,-13.2 L0,-8.6 L5,-13.2 L3,-13.6 L0,-11.4 L-3,-13.6Z", WHITE),
        _line("M14,-27 L14,-6.6", 0.9, "#7a4a21"),
        _fill("M14,-32 L15.8,-28.6 L14,-25.4 L12.2,-28.6Z", WHITE),
        _fill("M14,-26 C16.6,-26.4 17.6,-24.6 17.8,-22.4 C16.2,-23.2 15.2,-23 14,-22.6Z", GOLD),
        _fill("M14,-26 C11.4,-26.4 10.4,-24.6 10.2,-22.4 C11.8,-23.2 12.8,-23 14,-22.6Z", GOLD),
        _fill("M12,-11 C12.4,-12.2 15.6,-12.2 16,-11 C16.3,-9.6 16,-8.4 15.4,-7.6 L12.4,-7.6Z", SKIN),
    ]
