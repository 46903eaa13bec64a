"""Finds a way for every net on two sides of copper: nets that want the same place pay more for it each time round.

The method is that of FPGA routers (PathFinder): every net is laid anew, as if alone, past places that grow dearer the
more nets want them, until no place is wanted twice. The grid is 1.27 mm: between two pins of a DIP one track passes.
"""

import heapq
import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from hardware.make.boards.layout import GRID, Layout, Pad, Point
from hardware.make.tables import DataTableError

Cell = tuple[int, int, int]
"""A place of the grid: column, row, side (0 the parts', 1 the other)."""
ROUNDS: Final = 150
VIA: Final = 6.0
ACROSS: Final = 1.6
"""What a step against a side's own direction costs: the parts' side runs up and down, the other across."""
EDGE_MM: Final = 1.2


@dataclass(frozen=True)
class Track:
    """A straight piece of a net on one side, or a via where it has no length."""

    net: str
    side: int
    ends: tuple[Point, Point]


class Router:
    """The grid of one board."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.pads = layout, layout.pads()
        self.columns, self.rows = (int(side / GRID) + 1 for side in layout.size)
        self.mine: dict[Cell, set[str]] = defaultdict(set)
        """Whose pads come too close to a track here; no other net may use it."""
        self.narrow: set[tuple[int, int]] = set()
        """Where no via fits: a pad is near."""
        self.ends: dict[Pad, list[Cell]] = {}
        self.shut: set[tuple[int, int]] = set()
        self.paths: dict[str, set[frozenset[Cell]]] = {}
        self.history: Counter[Cell] = Counter()
        self.users: dict[Cell, Counter[str]] = defaultdict(Counter)
        self._survey()

    def _survey(self) -> None:
        track = self.layout.track
        near, via = track["wide_mm"] / 2 + track["gap_mm"], track["via_mm"] / 2 + track["gap_mm"]
        for column in range(self.columns):
            for row in range(self.rows):
                point = (column * GRID, row * GRID)
                edge = min(*point, self.layout.size[0] - point[0], self.layout.size[1] - point[1])
                holes = [(point[0] - x) ** 2 + (point[1] - y) ** 2 for x, y in self.layout.holes]
                if edge < EDGE_MM or min(holes) < (self.layout.hole + 1.4) ** 2:
                    self.shut.add((column, row))
                for pad in self.pads:
                    if abs(pad.at[0] - point[0]) > 3 or abs(pad.at[1] - point[1]) > 3:
                        continue
                    off = pad.off(point)
                    sides = (0, 1) if pad.drilled else (0,)
                    if off < via:
                        self.narrow.add((column, row))
                    if off < near:
                        for side in sides:
                            self.mine[column, row, side].add(pad.net or f"{pad.ref} {pad.number}")
                    if off == 0:
                        self.ends.setdefault(pad, []).extend((column, row, side) for side in sides)

    def open(self, cell: Cell, net: str) -> bool:
        """Tell whether a net may run here at all."""
        column, row, _ = cell
        inside = 0 <= column < self.columns and 0 <= row < self.rows and (column, row) not in self.shut
        return inside and self.mine.get(cell, set()) <= {net}

    def price(self, cell: Cell, net: str, now: float) -> float:
        """Return what a place costs: more where others are, and were."""
        others = sum(1 for other in self.users[cell] if other != net)
        return (1 + self.history[cell]) * (1 + now * others)

    def _reach(self, tree: set[Cell], goals: set[Cell], net: str, now: float) -> list[Cell]:
        """Return the cheapest way from what a net has to one of these places."""
        queue = [(0.0, cell) for cell in sorted(tree)]
        cost, before = dict.fromkeys(tree, 0.0), dict[Cell, Cell]()
        while queue:
            paid, cell = heapq.heappop(queue)
            if cell in goals:
                way = [cell]
                while way[-1] in before:
                    way.append(before[way[-1]])
                return way
            if paid > cost[cell]:
                continue
            column, row, side = cell
            steps = [
                (column + 1, row, side),
                (column - 1, row, side),
                (column, row + 1, side),
                (column, row - 1, side),
            ]
            if (column, row) not in self.narrow:
                steps.append((column, row, 1 - side))
            for step in steps:
                if not self.open(step, net):
                    continue
                each = VIA if step[2] != side else ACROSS if (step[1] == row) == (side == 0) else 1.0
                total = paid + each * self.price(step, net, now)
                if total < cost.get(step, float("inf")):
                    cost[step], before[step] = total, cell
                    heapq.heappush(queue, (total, step))
        raise DataTableError(
            f"boards.toml: {self.layout.circuit.name}: no way for {net}: move its parts apart"
        )

    def _lay(self, net: str, pads: list[Pad], now: float) -> None:
        """Lay one net anew."""
        for old in self.paths.pop(net, set()):
            for cell in old:
                self.users[cell][net] -= 1
                if not self.users[cell][net]:
                    del self.users[cell][net]
        tree, pairs = set(self.ends[pads[0]]), set[frozenset[Cell]]()
        left = set(pads[1:])
        while left:
            goals = {
                cell: pad
                for pad in sorted(left, key=lambda pad: (pad.ref, pad.number))
                for cell in self.ends[pad]
            }
            way = self._reach(tree, set(goals), net, now)
            pairs |= {frozenset(pair) for pair in itertools.pairwise(way)}
            done = goals[way[0]]
            tree |= set(way) | set(self.ends[done])
            left.discard(done)
        self.paths[net] = pairs
        for cell in (cell for pair in pairs for cell in pair):
            self.users[cell][net] += 1

    def route(self) -> list[Track]:
        """Return all tracks. Raises DataTableError: there is no way."""
        nets: dict[str, list[Pad]] = {}
        for pad in self.pads:
            if pad.net:
                nets.setdefault(pad.net, []).append(pad)
        order = sorted((net for net in nets if len(nets[net]) > 1), key=lambda net: (len(nets[net]), net))
        for number in range(ROUNDS):
            for net in order:
                if number == 0 or any(len(self.users[cell]) > 1 for pair in self.paths[net] for cell in pair):
                    self._lay(net, nets[net], 0.5 + 0.7 * number)
            twice = [cell for cell, users in self.users.items() if len(users) > 1]
            if not twice:
                return [track for net in order for track in self._tracks(net)]
            self.history.update(twice)
        raise DataTableError(f"boards.toml: {self.layout.circuit.name}: too narrow: move its parts apart")

    def _tracks(self, net: str) -> list[Track]:
        """Join the steps of a net to straight tracks; end each at its pad's middle."""
        steps: dict[tuple[int, int, int], set[int]] = defaultdict(set)
        tracks = []
        for first, last in sorted(tuple(sorted(pair)) for pair in self.paths[net]):
            (x, y, side), (right, _, other) = first, last
            if side != other:
                tracks.append(Track(net, 0, ((x * GRID, y * GRID), (x * GRID, y * GRID))))
            elif right != x:
                steps[0, y, side].add(x)
            else:
                steps[1, x, side].add(y)
        for (upright, line, side), starts in sorted(steps.items()):
            for start in sorted(starts):
                if start - 1 not in starts:
                    end = start + 1
                    while end in starts:
                        end += 1
                    ends = ((start, line), (end, line)) if not upright else ((line, start), (line, end))
                    a, b = ((x * GRID, y * GRID) for x, y in ends)
                    tracks.append(Track(net, side, (a, b)))
        touched = {cell for pair in self.paths[net] for cell in pair}
        for pad, cells in self.ends.items():
            if pad.net != net or pad.drilled:
                continue
            for column, row, side in touched & set(cells):
                tracks.append(Track(net, side, ((column * GRID, row * GRID), pad.at)))
        return tracks
