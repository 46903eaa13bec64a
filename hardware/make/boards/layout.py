"""Where the parts of a board lie: `boards.toml`, read; each pad's place, and what lies too close or off the grid."""

import math
from dataclasses import dataclass
from typing import Any, Final

from hardware.make.boards.circuit import Circuit, Part
from hardware.make.boards.kinds import Box
from hardware.make.tables import DataTableError

GRID: Final = 1.27
Point = tuple[float, float]


def turn(point: Point, degrees: int) -> Point:
    """Turn a point round the origin, anticlockwise as one sees it; y down."""
    x, y = point
    for _ in range(degrees // 90):
        x, y = y, -x
    return x + 0.0, y + 0.0


@dataclass(frozen=True)
class Pad:
    """A pad: its part, number and net, its middle, half its size, and whether it has a hole."""

    ref: str
    number: str
    net: str
    at: Point
    half: Point
    drilled: bool

    def off(self, point: Point) -> float:
        """Return how far a point lies from its edge; 0 inside."""
        x, y = (
            max(0.0, abs(a - b) - (0 if self.drilled else h))
            for a, b, h in zip(point, self.at, self.half, strict=True)
        )
        far = math.hypot(x, y)
        return max(0.0, far - self.half[0]) if self.drilled else far


class Layout:
    """A board with its parts placed. Raises DataTableError."""

    def __init__(self, circuit: Circuit, table: dict[str, Any]) -> None:
        said = table[circuit.name]
        self.circuit, self.track = circuit, table["track"]
        self.size: Point = tuple(said["size_mm"])
        self.holes: list[Point] = [(x, y) for x, y in said["holes_mm"]]
        self.hole: float = said["hole_mm"]
        self.at: dict[str, tuple[Point, int]] = {
            ref: ((x, y), int(deg)) for ref, (x, y, deg) in said["at"].items()
        }
        refs = {part.ref for part in circuit.parts}
        if odd := refs ^ set(self.at):
            raise DataTableError(
                f"boards.toml: {circuit.name}: {', '.join(sorted(odd))}: no such part, or no place"
            )
        for ref, (point, _) in self.at.items():
            if any(abs(value / GRID - round(value / GRID)) > 1e-6 for value in point):
                raise DataTableError(f"boards.toml: {circuit.name}: {ref} lies off the steps of {GRID} mm")

    def put(self, part: Part, point: Point) -> Point:
        """Return where a point of a part comes to lie."""
        (x, y), degrees = self.at[part.ref]
        dx, dy = turn(point, degrees)
        return x + dx, y + dy

    def pads(self) -> list[Pad]:
        """Return every pad."""
        found = []
        for part in self.circuit.parts:
            kind, turned = part.kind, self.at[part.ref][1] % 180 == 90
            wide, high = kind.flat or (kind.pad, kind.pad)
            half = (high / 2, wide / 2) if turned else (wide / 2, high / 2)
            found += [
                Pad(part.ref, pin.number, part.nets[pin.number], self.put(part, pin.at), half, not kind.flat)
                for pin in kind.pins
            ]
        return found

    def outline(self, part: Part) -> Box:
        """Return a part's outline on the board."""
        x, y, right, low = part.kind.body
        (a, b), (c, d) = self.put(part, (x, y)), self.put(part, (right, low))
        return min(a, c), min(b, d), max(a, c), max(b, d)
