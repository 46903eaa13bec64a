"""Beams in space: how far a frame bends, how fast it swings, what its joints carry. Linear, small bends; SI units.

Euler-Bernoulli beams of two nodes with twelve degrees of freedom (any textbook on the finite element method), lumped
masses. Compared with closed formulas in `tests/hardware/test_strength.py`. UNTESTED on hardware.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Point = tuple[float, float, float]

E_PA: Final = 70e9
"""Young's modulus of aluminium."""
G_PA: Final = 26e9
"""Its shear modulus."""
PIECES: Final = 6
"""Each beam is computed in so many pieces: the first frequencies are then right to 1 %."""
G_ACCELERATION: Final = 9.81


@dataclass(frozen=True)
class Section:
    """A profile: area (m²), moments of inertia of bending and twisting (m⁴), section modulus (m³), mass (kg/m)."""

    area: float
    bending: float
    twisting: float
    modulus: float
    mass: float


@dataclass
class Structure:
    """Nodes joined by beams, held by springs: metres, newtons, kilograms."""

    nodes: list[Point] = field(default_factory=list)
    beams: list[tuple[int, int, Section]] = field(default_factory=list)
    springs: dict[int, list[float]] = field(default_factory=dict)
    masses: dict[int, float] = field(default_factory=dict)

    def node(self, *at: float) -> int:
        """Return the number of the node at x, y, z (metres); a new one where there is none."""
        for number, known in enumerate(self.nodes):
            if math.dist(known, at) < 1e-6:
                return number
        x, y, z = at
        self.nodes.append((x, y, z))
        return len(self.nodes) - 1

    def beam(self, start: Point, end: Point, section: Section, via: tuple[Point, ...] = ()) -> None:
        """Lay a beam from start to end, with nodes also at the points `via` on it."""
        ends = sorted((start, end, *via), key=lambda p: math.dist(start, p))
        for near, far in itertools.pairwise(ends):
            steps = [
                tuple(a + (b - a) * i / PIECES for a, b in zip(near, far, strict=True))
                for i in range(PIECES + 1)
            ]
            numbers = [self.node(*step) for step in steps]
            for one, other in itertools.pairwise(numbers):
                self.beams.append((one, other, section))

    def hold(self, at: Point, move: tuple[float, float, float], turn: float = 0.0) -> None:
        """Hold a node by springs: N/m along x, y, z, and N·m/rad about each axis."""
        springs = self.springs.setdefault(self.node(*at), [0.0] * 6)
        for i, stiff in enumerate((*move, turn, turn, turn)):
            springs[i] += stiff

    def load(self, at: Point, kilograms: float) -> None:
        """Hang a mass on a node."""
        number = self.node(*at)
        self.masses[number] = self.masses.get(number, 0.0) + kilograms

    def _matrices(self) -> tuple[Matrix, Matrix]:
        count = 6 * len(self.nodes)
        stiff, mass = np.zeros((count, count)), np.zeros(count)
        for one, other, section in self.beams:
            turned, length = self._frame(one, other)
            local = turned.T @ _beam(section, length) @ turned
            at = [*range(6 * one, 6 * one + 6), *range(6 * other, 6 * other + 6)]
            stiff[np.ix_(at, at)] += local
            half = section.mass * length / 2
            for number in (one, other):
                mass[6 * number : 6 * number + 3] += half
                mass[6 * number + 3 : 6 * number + 6] += half * length**2 / 12
        for number, kilograms in self.masses.items():
            mass[6 * number : 6 * number + 3] += kilograms
        for number, springs in self.springs.items():
            for i, value in enumerate(springs):
                stiff[6 * number + i, 6 * number + i] += value
        return stiff, mass

    def _frame(self, one: int, other: int) -> tuple[Matrix, float]:
        start, end = np.array(self.nodes[one]), np.array(self.nodes[other])
        length = float(np.linalg.norm(end - start))
        along = (end - start) / length
        helper = np.array([0.0, 0.0, 1.0]) if abs(along[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
        side = np.cross(helper, along)
        side /= np.linalg.norm(side)
        turn = np.array([along, side, np.cross(along, side)])
        return np.kron(np.eye(4), turn), length

    def bend(self, forces: dict[Point, Point], *, weight: bool = True) -> Matrix:
        """Return how far each node moves (nodes × 6: metres, radians) under forces (N) and its own weight."""
        stiff, mass = self._matrices()
        load = np.zeros(len(mass))
        if weight:
            load[2::6] -= mass[2::6] * G_ACCELERATION
        for at, force in forces.items():
            number = self.node(*at)
            load[6 * number : 6 * number + 3] += force
        return np.asarray(np.linalg.solve(stiff, load).reshape(-1, 6))

    def moment(self, moved: Matrix, at: Point, section: Section | None = None) -> float:
        """Return the largest bending moment (N·m) that a beam (of this section) carries at this node."""
        number, most = self.node(*at), 0.0
        for one, other, kind in self.beams:
            if number not in (one, other) or (section is not None and kind is not section):
                continue
            turned, length = self._frame(one, other)
            forces = _beam(kind, length) @ turned @ np.concatenate([moved[one], moved[other]])
            end = forces[3:6] if number == one else forces[9:12]
            most = max(most, float(np.hypot(end[1], end[2])), float(abs(end[0])))
        return most

    def frequencies(self, count: int = 1) -> list[float]:
        """Return the lowest natural frequencies, hertz."""
        stiff, mass = self._matrices()
        root = 1 / np.sqrt(np.maximum(mass, 1e-9))
        values = np.linalg.eigvalsh(root[:, None] * stiff * root)
        return [float(math.sqrt(max(value, 0.0)) / (2 * math.pi)) for value in values[:count]]


def _beam(section: Section, length: float) -> Matrix:
    """The stiffness of a beam along its own x axis, 12 × 12."""
    axial, twist = E_PA * section.area / length, G_PA * section.twisting / length
    bending = E_PA * section.bending
    a, b, c, d = 12 * bending / length**3, 6 * bending / length**2, 4 * bending / length, 2 * bending / length
    k: Any = np.zeros((12, 12))
    for i, value in ((0, axial), (3, twist)):
        k[i, i] = k[i + 6, i + 6] = value
        k[i, i + 6] = k[i + 6, i] = -value
    for move, turn, sign in ((1, 5, 1), (2, 4, -1)):
        k[move, move] = k[move + 6, move + 6] = a
        k[move, move + 6] = k[move + 6, move] = -a
        k[turn, turn] = k[turn + 6, turn + 6] = c
        k[turn, turn + 6] = k[turn + 6, turn] = d
        for end in (turn, turn + 6):
            k[move, end] = k[end, move] = sign * b
            k[move + 6, end] = k[end, move + 6] = -sign * b
    return np.asarray(k)
