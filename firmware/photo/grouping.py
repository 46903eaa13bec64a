"""Finds rows of three and five, and hands of 3, 5 and 5, in where cards lie. Pure: no picture, no names.

Lengths are millimetres of the surface the cards lie on. Cards side by side and parallel make a chain; a chain is cut
into rows of three or five; a row of three with two rows of five behind it, parallel and about as far apart, makes a
hand. Every way to do so has a cost; where a second way is about as good, nobody knows which it is.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, permutations, product

PLAYERS = (2, 3, 4)
CARDS_EACH = 13
MAX_MISSING_CARDS = 2
"""Cards that may be missing from rows that are recognized all the same."""

_PARALLEL = math.radians(25)
_ALONG_MM, _ASIDE_MM = (12.0, 115.0), 34.0  # from a card's middle to the next one's in its row
_ASKEW_MM, _GAP_MM = 45.0, 200.0
_ROWS_APART_MM = (40.0, 175.0)
_USUAL_APART_MM = 95.0
_FRONT_ASIDE_MM, _BACK_ASIDE_MM = 165.0, 110.0
_UNEVEN_MM, _CUT = 25.0, 1.15
_SURELY = 2.0  # by how much a second way must cost more
_ODDEST = 7.0  # what a hand may cost, on average
_BETWEEN = 3.0  # the cost of a front that lies between the other two rows
_MISSING = 2.5
_MAX_WAYS = 4000


@dataclass(frozen=True)
class Place:
    """Where a card lies: its middle (mm) and its turn (radians; half a turn makes no difference)."""

    x: float
    y: float
    turn: float


Row = tuple[int, ...]
"""Numbers of places, in order along the row."""


@dataclass(frozen=True)
class Group:
    """One hand: its rows, and how many cards each lacks."""

    front: Row
    middle: Row
    back: Row

    @property
    def rows(self) -> tuple[Row, Row, Row]:
        """Front, middle and back."""
        return self.front, self.middle, self.back

    @property
    def missing(self) -> tuple[int, int, int]:
        """How many cards front, middle and back lack."""
        return 3 - len(self.front), 5 - len(self.middle), 5 - len(self.back)


@dataclass(frozen=True)
class Grouping:
    """One way to see hands in the places, and what it costs."""

    groups: tuple[Group, ...]
    cost: float = field(compare=False)


def groupings(places: Sequence[Place], given: Sequence[frozenset[int]] = ()) -> list[Grouping]:
    """Return the ways to see two to four hands, the likeliest first; a second one only where it may be the right one.

    `given` are rows that somebody named: sets of three or five places.
    """
    count = next((13 * n for n in PLAYERS if 0 <= 13 * n - len(places) <= MAX_MISSING_CARDS), 0)
    if not count:
        return []
    short = count - len(places)
    players = count // CARDS_EACH
    chains = _chains(places, given)
    ways = [list(_cuts(places, chain, short)) for chain in chains] + [
        [((tuple(row),), 0.0)] for row in map(sorted, given)
    ]
    if math.prod(map(len, ways)) > _MAX_WAYS:
        return []
    found: dict[frozenset[Group], Grouping] = {}
    for chosen in product(*ways):
        rows = [row for cut, _ in chosen for row in cut]
        if len(rows) != 3 * players:
            continue
        cut_cost = sum(cost for _, cost in chosen)
        for groups, cost in _hands(places, rows, players, short):
            total = cut_cost + cost + _MISSING * short
            key = frozenset(groups)
            if key not in found or total < found[key].cost:
                found[key] = Grouping(groups, total)
    order = sorted(found.values(), key=lambda one: one.cost)
    order = [one for one in order if one.cost <= (_ODDEST + (1000.0 if given else 0.0)) * players]
    return [one for one in order if one.cost < order[0].cost + _SURELY][:4]


def _apart(places: Sequence[Place], i: int, j: int) -> tuple[float, float, float]:
    """Return how far j lies from i along i's row and aside of it, and how much they are turned against each other."""
    a, b = places[i], places[j]
    turned = (b.turn - a.turn + math.pi / 2) % math.pi - math.pi / 2
    turn = a.turn + turned / 2
    x, y = b.x - a.x, b.y - a.y
    c, s = math.cos(turn), math.sin(turn)
    return x * c + y * s, y * c - x * s, abs(turned)


def _chains(places: Sequence[Place], given: Sequence[frozenset[int]]) -> list[Row]:
    """Return the longest runs of cards side by side."""
    taken = frozenset().union(*given)
    free = [k for k in range(len(places)) if k not in taken]
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for i in free:
        for j in free:
            along, aside, turned = _apart(places, i, j)
            if i == j or turned > _PARALLEL or abs(aside) > _ASIDE_MM:
                continue
            if _ALONG_MM[0] <= abs(along) <= _ALONG_MM[1]:
                side = 1 if along > 0 else -1
                far = abs(along) + 2 * abs(aside)
                best[i, side] = min(best.get((i, side), (math.inf, -1)), (far, j))
    links: dict[int, set[int]] = {k: set() for k in free}
    for (i, _), (_, j) in best.items():
        if any(best.get((j, side), (0, -1))[1] == i for side in (-1, 1)):
            links[i].add(j)
    chains, seen = [], set[int]()
    for start in sorted(free, key=lambda k: len(links[k])):
        chain, here = [], start
        while here not in seen:
            seen.add(here)
            chain.append(here)
            here = next((k for k in sorted(links[here]) if k not in seen), here)
        if chain:
            chains.append(tuple(chain))
    return _mended(places, chains)


def _mended(places: Sequence[Place], chains: list[Row]) -> list[Row]:
    """Put cards that lie askew into the gap where they lie, and join what a missing card parts."""
    whole = [chain for chain in chains if len(chain) > 1]
    for (alone,) in (chain for chain in chains if len(chain) == 1):
        for n, chain in enumerate(whole):
            gap = next(
                (k for k in range(1, len(chain)) if _between(places, chain[k - 1], chain[k], alone)), 0
            )
            if gap:
                whole[n] = (*chain[:gap], alone, *chain[gap:])
                break
        else:
            whole.append((alone,))
    for one, other in permutations(sorted(whole, key=len), 2):
        if one in whole and other in whole and len(one) + len(other) <= 5:
            for a, b in product((one, one[::-1]), (other, other[::-1])):
                along, aside, turned = _apart(places, a[-1], b[0])
                back = _apart(places, a[0], b[0])[0] if len(a) > 1 else along
                if (
                    abs(aside) < _ASIDE_MM
                    and abs(along) < _GAP_MM
                    and turned < _PARALLEL
                    and abs(back) >= abs(along)
                ):
                    whole = [chain for chain in whole if chain not in (one, other)] + [(*a, *b)]
                    break
    return whole


def _between(places: Sequence[Place], i: int, j: int, k: int) -> bool:
    """Return whether k lies between two neighbours of a row, whatever its turn."""
    a, b, c = places[i], places[j], places[k]
    x, y = b.x - a.x, b.y - a.y
    far = math.hypot(x, y)
    along = ((c.x - a.x) * x + (c.y - a.y) * y) / far
    aside = ((c.y - a.y) * x - (c.x - a.x) * y) / far
    return 0.2 * far < along < 0.8 * far and abs(aside) < _ASKEW_MM


def _cuts(places: Sequence[Place], chain: Row, short: int) -> Iterator[tuple[tuple[Row, ...], float]]:
    """Yield the ways to cut a chain into rows, with their costs."""
    steps = [math.hypot(places[j].x - places[i].x, places[j].y - places[i].y) for i, j in pairwise(chain)]
    sizes = sorted({size - less for size in (3, 5) for less in range(short + 1)} - {0, 1})

    def cut(start: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        if start == len(chain):
            yield ()
        for size in sizes:
            if start + size <= len(chain):
                yield from ((tuple(range(start, start + size)), *rest) for rest in cut(start + size))

    for rows in cut(0):
        cost = 0.0
        widest = [0.0]
        for row in rows:
            inner = [steps[k] for k in row[:-1]]
            widest.append(max(inner))
            if len(row) in (3, 5):
                cost += (max(inner) - min(inner)) / _UNEVEN_MM
        widest = widest[1:]
        for k, row in enumerate(rows[:-1]):
            cost += max(0.0, _CUT - steps[row[-1]] / max(widest[k], widest[k + 1])) * 10
        yield tuple(tuple(chain[k] for k in row) for row in rows), cost


def _hands(
    places: Sequence[Place], rows: Sequence[Row], players: int, short: int
) -> Iterator[tuple[tuple[Group, ...], float]]:
    """Yield the ways to make hands of all rows, with their costs."""
    fronts = [k for k, row in enumerate(rows) if len(row) <= 3]
    longs = [k for k, row in enumerate(rows) if len(row) >= 4 or (short >= 2 and len(row) == 3)]
    if len(fronts) < players or len(longs) < 2 * players:
        return
    choices: dict[int, list[tuple[float, int, int]]] = {}
    for f in fronts:
        costs = [
            (_cost(places, rows[f], rows[m], rows[b]), m, b)
            for m, b in permutations(longs, 2)
            if f not in (m, b)
        ]
        choices[f] = sorted(one for one in costs if math.isfinite(one[0]))

    def choose(left: frozenset[int], count: int) -> Iterator[tuple[tuple[Group, ...], float]]:
        if not left:
            yield (), 0.0
            return
        if not count:
            return
        for f in (min(left & set(fronts), default=-1),):
            if f < 0:
                return
            for cost, m, b in choices[f]:
                if m in left and b in left:
                    for rest, more in choose(left - {f, m, b}, count - 1):
                        yield (Group(rows[f], rows[m], rows[b]), *rest), cost + more

    yield from choose(frozenset(range(len(rows))), players)


def _line(places: Sequence[Place], row: Row) -> tuple[float, float, float]:
    """Return a row's middle and its turn."""
    x = sum(places[k].x for k in row) / len(row)
    y = sum(places[k].y for k in row) / len(row)
    first, last = places[row[0]], places[row[-1]]
    return x, y, math.atan2(last.y - first.y, last.x - first.x)


def _cost(places: Sequence[Place], front: Row, middle: Row, back: Row) -> float:
    """Return how odd these rows were as one hand; infinite if they are none."""
    (fx, fy, ft), (mx, my, mt), (bx, by, bt) = (_line(places, row) for row in (front, middle, back))
    against = [abs((a - b + math.pi / 2) % math.pi - math.pi / 2) for a, b in ((ft, mt), (mt, bt))]
    if max(against) > _PARALLEL:
        return math.inf
    turn = 0.5 * math.atan2(
        sum(math.sin(2 * t) for t in (ft, mt, bt)), sum(math.cos(2 * t) for t in (ft, mt, bt))
    )
    c, s = math.cos(turn), math.sin(turn)

    def apart(ax: float, ay: float, x: float, y: float) -> tuple[float, float]:
        return (y - ay) * c - (x - ax) * s, (x - ax) * c + (y - ay) * s

    first, aside = apart(fx, fy, mx, my)
    second, back_aside = apart(mx, my, bx, by)
    between = 0.0
    if first * second < 0:  # the front between the two, or a middle beyond the back
        third, _ = apart(fx, fy, bx, by)
        if first * third > 0:
            return math.inf
        between, second, back_aside = _BETWEEN, third, apart(fx, fy, bx, by)[1]
    low, high = _ROWS_APART_MM
    if not (low <= abs(first) <= high and low <= abs(second) <= high):
        return math.inf
    if abs(aside) > _FRONT_ASIDE_MM or abs(back_aside) > _BACK_ASIDE_MM:
        return math.inf
    far = sum((max(0.0, abs(d) - _USUAL_APART_MM) / 30) ** 2 for d in (first, second))
    uneven = (abs(abs(first) - abs(second)) / 25) ** 2 / 2
    return (
        far + uneven + (back_aside / 50) ** 2 + (aside / 110) ** 2 + sum(against) / math.radians(12) + between
    )
