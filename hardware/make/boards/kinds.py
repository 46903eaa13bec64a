"""The kinds of parts on the boards: pins, how they are drawn, where their holes are. UNTESTED: nothing was fitted.

Holes lie on a grid of 1.27 mm, so that every track does. Sizes: DIN 0207 resistors, DO-15 diodes, DIP sockets and
plugs in steps of 2.54 mm are standard, the PTC's 5.1 mm from Bourns' MF-R sheet; the SOD-323's copper from KiCad's own
library.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Pin:
    """A pin: `side` is where the drawing has it, `electric` KiCad's word for what it does; `at` is its place."""

    number: str
    name: str
    side: str
    electric: str
    at: tuple[float, float]


@dataclass(frozen=True)
class Kind:
    """A kind: its name in KiCad, its pins; `pad` and `drill` in millimetres, `body` its outline, `words` its build."""

    name: str
    pins: tuple[Pin, ...]
    body: Box
    pad: float = 1.6
    drill: float = 0.8
    flat: tuple[float, float] | None = None
    """A surface-mounted pad's size, where there is no hole."""
    words: str = ""
    marks: bool = False
    """Whether its pins' names are printed on the board."""

    @property
    def symbol(self) -> str:
        """Its symbol's name, whose letters KiCad allows."""
        return self.name.replace(" ", "_").replace("'", "")

    @property
    def left(self) -> list[Pin]:
        """The pins at the left of its drawing."""
        return [pin for pin in self.pins if pin.side == "left"]

    @property
    def right(self) -> list[Pin]:
        """The pins at its right."""
        return [pin for pin in self.pins if pin.side == "right"]


PAIRS: Final = {
    "R": (10.16, (1.93, -1.2, 8.23, 1.2), 1.6, 0.8, "resistor DIN 0207, 1/4 W"),
    "C": (5.08, (-1.05, -1.25, 6.13, 1.25), 1.6, 0.8, "ceramic disc, 5 mm"),
    "PTC": (5.08, (-1.2, -1.6, 6.3, 1.6), 1.8, 1.0, "Bourns MF-R"),
    "DO15": (12.7, (2.55, -1.8, 10.15, 1.8), 2.2, 1.2, "DO-15; pin 1 is the band"),
}


@cache
def pair(name: str) -> Kind:
    """Return a kind with two pins: resistor, capacitor, PTC, diode, TVS."""
    if name == "TVS":  # its middle is its origin
        ends = [Pin("1", "A1", "left", "passive", (-1.05, 0)), Pin("2", "A2", "right", "passive", (1.05, 0))]
        return Kind(name, tuple(ends), (-1.6, -0.7, 1.6, 0.7), flat=(0.6, 0.45), words="SOD-323")
    far, body, pad, drill, words = PAIRS[name]
    named = ("K", "A") if name == "DO15" else ("1", "2")
    pins = Pin("1", named[0], "left", "passive", (0, 0)), Pin("2", named[1], "right", "passive", (far, 0))
    return Kind(name, pins, body, pad, drill, words=words)


def row(name: str, labels: Sequence[str], *, screws: bool = False, marks: bool = False) -> Kind:
    """Return pins in a row: a plug's, or a terminal strip's with screws."""
    step = 5.08 if screws else 2.54
    pins = [
        Pin(str(n), label, "left", "passive", (step * (n - 1), 0)) for n, label in enumerate(labels, start=1)
    ]
    end = step * (len(labels) - 1)
    body = (-2.5, -5.2, end + 2.5, 4.6) if screws else (-1.25, -1.25, end + 1.25, 1.25)
    words = "screw terminals, 5.08 mm" if screws else "pins or wires, 2.54 mm"
    pad, drill = (2.2, 1.3) if screws else (1.6, 1.0)
    return Kind(name, tuple(pins), body, pad, drill, words=words, marks=marks)


def chip(name: str, left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]]) -> Kind:
    """Return a DIP: names and electric words of its pins, in the order of their numbers; half of them on each side."""
    each = [*left, *right]
    half = len(each) // 2
    pins = [
        Pin(str(n), label, "left" if n <= half else "right", electric, dip(n, half, 7.62))
        for n, (label, electric) in enumerate(each, start=1)
    ]
    return Kind(
        name, tuple(pins), (1.2, -1.2, 6.42, 2.54 * half - 1.34), words=f"DIP-{len(each)}, in a socket"
    )


def dip(number: int, half: int, wide: float) -> tuple[float, float]:
    """Return where a pin lies whose numbers run down one side and up the other."""
    return (0, 2.54 * (number - 1)) if number <= half else (wide, 2.54 * (2 * half - number))


def pico(names: dict[int, str]) -> Kind:
    """Return the Raspberry Pi Pico in two rows of sockets; `names` are its GPs."""
    more = dict.fromkeys(range(3, 40, 5), "GND")
    more |= {30: "RUN", 33: "AGND", 35: "ADC_VREF", 36: "3V3_OUT", 37: "3V3_EN", 39: "VSYS", 40: "VBUS"}
    pins = []
    for number in range(1, 41):
        name = names.get(number) or more[number]
        feeds = "power_out" if name == "VBUS" else "passive"
        electric = "bidirectional" if number in names else feeds
        side = "left" if number <= 20 else "right"
        pins.append(Pin(str(number), name, side, electric, dip(number, 20, 17.78)))
    return Kind(
        "Pico",
        tuple(pins),
        (-1.6, -1.37, 19.4, 49.63),
        drill=1.0,
        words="two sockets 1 × 20, USB beside pin 1",
    )
