"""From indices to cards: groups the indices of each card, and names the cards.

A card shows up to four indices and is one of 52; each of the 52 is on the table once. So the indices are clustered (one
cluster per physical card), and all clusters are named together by the cheapest assignment of cards to clusters. A
card's *margin* is the cost of naming it otherwise: by how much the cheapest assignment that gives it another name is
dearer than the cheapest of all. It is in nats. On photographs it separates right from wrong far better than the
network's own probabilities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vision.reading.assignment import NONE, assign, extra_costs
from vision.reading.cards import ALIKE, CARDS, RANKS, SUITS
from vision.reading.network import Floats, Indices, log_softmax
from vision.reading.pairs import Stance, best_first, exact_pairs, log_agreement

# A card is 63 × 88 mm and its index is about 6.5 mm from the side and 12.5 mm from the top: from one index to
# the card's other one it is 50 mm across and 63 mm down.
_PAIR_ANGLE = math.atan2(63, 50)
_PAIR_ANGLE_SLACK = 0.65  # radians: perspective and the network's own error
_PAIR_DISTANCE = (2.2, 7.5)  # in index heights, from jumbo (27 mm) to small indices (13 mm)
_PAIR_DISTANCE_USUAL = 4.4
_OPPOSITE = -0.55  # cosine below which two indices read in opposite directions
_SAME_CARD = 0.02  # probability that two indices name the same card, below which they are not paired
_MERGE_SAME_CARD = 0.25
_MERGE_DISTANCE = 6.5
_MERGE_ANGLE_SLACK = 1.0  # radians: larger than `_PAIR_ANGLE_SLACK`, as these two were not paired before
_CORNER = 1.2  # in index heights
_SAME_MIDDLE = 0.5  # in index heights: the most between the middles of two pairs of indices of one card

_SAME_INDEX = 0.45  # in index heights: how near two findings of one index lie

_WORST = 16.0  # nats: the highest cost of a label, so that one lost index cannot outweigh everything
_ABSENT = 0.2  # nats: the least cost of calling a cluster no card
# "Print": something printed that was taken for a card's index but is none.
_HINT = 2.0  # nats: the most by which a name stands out in print
_CLEAR_NAME = 6.0  # nats by which a name stands out; more adds no evidence of a card
_WHOLE_WEIGHS = 4.0  # nats: the most by which the whole card may count against a name's rank
_SUIT_WEIGHS = 4.0  # nats: the most by which the whole card may count against a name's suit
CLEARLY_THERE = 4.0  # nats of evidence above which a card is never ignored; nearly all print stays below 3


@dataclass(frozen=True)
class Cluster:
    """The indices of one physical card, and their joint evidence.

    Attributes:
        members: the row numbers of its indices.
        logp: 52 log-probabilities.
        presence: log-odds that there is a card at all.
        whole: 52 log-probabilities by what the whole card shows apart from its indices; all equal if it shows nothing.
    """

    members: tuple[int, ...]
    logp: Floats
    presence: float
    whole: Floats = field(default_factory=lambda: np.zeros(len(CARDS)))

    @cached_property
    def combined(self) -> Floats:
        """The combined evidence of the indices and the whole card; the whole card decides only close cases."""
        by_suit = self.whole.reshape(len(SUITS), len(RANKS))
        best = by_suit.max(axis=1, keepdims=True)
        whole = np.maximum(by_suit - best, -_WHOLE_WEIGHS) + np.maximum(best - best.max(), -_SUIT_WEIGHS)
        return log_softmax(self.logp + whole.ravel())

    @property
    def likeliest(self) -> str:
        """The likeliest card by this cluster's evidence alone."""
        return CARDS[int(self.combined.argmax())]

    @cached_property
    def stands_out(self) -> float:
        """By how many nats the likeliest name stands out, up to a limit."""
        second, first = np.partition(self.logp, -2)[-2:]
        return min(float(first - second), _CLEAR_NAME)

    @property
    def evidence(self) -> float:
        """The evidence for a card, in nats: its presence, and how far its name stands out. Print names none clearly."""
        return self.presence + self.stands_out


@dataclass(frozen=True)
class NamedCluster:
    """A cluster with its name: margin in nats, candidates in falling probability (the name first).

    `second`: this is not a card but the other index of one, whose clearer index got another name.
    """

    cluster: Cluster
    card: str
    margin: float
    candidates: tuple[str, ...]
    second: bool = False

    @property
    def denied(self) -> float:
        """By how many nats the whole card favours another card."""
        return float(self.cluster.whole.max() - self.cluster.whole[CARDS.index(self.card)])


def fuse(indices: Indices, weights: Floats | None = None) -> Indices:
    """Merge indices found at the same place (at several scales, in overlapping crops).

    `weights` is each one's weight (1 by default); with weights, directions are averaged too.
    """
    if not len(indices):
        return indices
    trust = indices.heat * (1.0 if weights is None else weights)
    order = np.argsort(-trust, kind="stable")
    free = np.ones(len(indices), bool)
    kept: list[int] = []
    logps: list[Floats] = []
    mean_directions: list[Floats] = []
    apart = np.hypot(*np.moveaxis(indices.places[None] - indices.places[:, None], 2, 0))
    ratio = indices.sizes[None] / indices.sizes[:, None]
    beside = apart < _SAME_INDEX * indices.sizes[:, None]
    alike = beside & (ratio < 1.9) & (ratio > 1 / 1.9)
    for i in order:
        if not free[i]:
            continue
        same = alike[i] & free
        free &= ~beside[i]
        share = trust[same] / trust[same].sum()
        kept.append(int(i))
        logps.append(share @ indices.logp[same])
        mean_directions.append(indices.directions[i] if weights is None else share @ indices.directions[same])
    directions = np.array(mean_directions) / (np.linalg.norm(mean_directions, axis=1, keepdims=True) + 1e-6)
    return replace(indices.take(np.array(kept)), logp=log_softmax(np.array(logps)), directions=directions)


def clusters(
    indices: Indices, card_mm: tuple[float, float] | None = None, stance: Stance | None = None
) -> list[Cluster]:
    """Cluster the indices of each physical card.

    If the indices are in millimetres and the card's width and height are known (`card_mm`), two indices whose relative
    position is exactly that of one card's (`stance`, if it was learnt from the table) are one card, unless they clearly
    name two.
    """
    groups = _pairs(indices) if card_mm is None else exact_pairs(indices, card_mm, stance)
    paired = {k for group in groups for k in group}
    groups += [(k,) for k in range(len(indices)) if k not in paired]
    found = sorted((_cluster(indices, g) for g in groups), key=lambda c: -c.presence)
    apart = np.linalg.norm(indices.places[:, None] - indices.places[None], axis=2)
    merged: list[Cluster] = []
    owner = np.full(len(indices), -1)
    for cluster in found:
        rows = list(cluster.members)
        beside = owner[apart[:, rows].min(axis=1) < _MERGE_DISTANCE * indices.sizes[rows].mean()]
        for k in sorted({*beside.tolist()} - {-1}):
            other = merged[k]
            if _one_card(indices, other, cluster):
                logp = log_softmax(other.logp + 0.7 * cluster.logp)
                merged[k] = Cluster(other.members + cluster.members, logp, other.presence)
                owner[rows] = k
                break
        else:
            owner[rows] = len(merged)
            merged.append(cluster)
    return merged


def _pairs(indices: Indices) -> list[tuple[int, ...]]:
    """Pair opposite indices that are placed like one card's two indices and name the same card, the best first."""
    n = len(indices)
    if n < 2:
        return []
    step = indices.places[None] - indices.places[:, None]
    size = np.sqrt(indices.sizes[None] * indices.sizes[:, None])
    distance = np.linalg.norm(step, axis=2) / size
    u = indices.directions
    along = np.einsum("ijk,ik->ij", step, u)
    down = np.einsum("ijk,ik->ij", step, np.stack([-u[:, 1], u[:, 0]], axis=1))
    turn = np.arctan2(down, along) - _PAIR_ANGLE
    turn = np.abs((turn + np.pi) % (2 * np.pi) - np.pi)
    bend = np.maximum(turn, turn.T)
    ratio = indices.sizes[None] / indices.sizes[:, None]
    fits = (u @ u.T < _OPPOSITE) & (bend < _PAIR_ANGLE_SLACK) & (ratio > 0.5) & (ratio < 2)
    fits &= (distance > _PAIR_DISTANCE[0]) & (distance < _PAIR_DISTANCE[1])
    scored = []
    for i, j in zip(*np.nonzero(np.triu(fits, 1)), strict=True):
        agreement = log_agreement(indices.logp[i], indices.logp[j])
        if agreement > math.log(_SAME_CARD):
            odd = bend[i, j] + abs(math.log(distance[i, j] / _PAIR_DISTANCE_USUAL))
            scored.append((1.5 * odd - agreement, int(i), int(j)))
    return best_first(scored)


def _cluster(indices: Indices, members: tuple[int, ...]) -> Cluster:
    rows = np.array(members)
    heat = indices.heat[rows]
    logp = np.minimum(1, 1.15 * heat) @ indices.logp[rows]
    presence = float((np.log(heat / (1 - heat + 1e-4)) + 1.2).sum())
    return Cluster(members, log_softmax(np.maximum(logp, -14.0 * len(members))), presence)


def _one_card(indices: Indices, a: Cluster, b: Cluster) -> bool:
    """Return whether two near clusters are one card whose indices were not paired (perspective, a third index).

    The name alone does not decide: in a fan, a misread neighbour would be absorbed. Some index of one must read
    opposite to some index of the other. Two single indices must each have the other to the right and below. If one of
    the clusters has both indices of a card, a third index must be in one of its free corners, and two more indices must
    have the same middle.
    """
    if log_agreement(a.logp, b.logp) < math.log(_MERGE_SAME_CARD):
        return False
    i, j = np.array(a.members), np.array(b.members)
    if len(i) > 1 and len(j) > 1:
        off = indices.places[i].mean(axis=0) - indices.places[j].mean(axis=0)
        return bool(np.hypot(*off) < _SAME_MIDDLE * indices.sizes[j].mean())
    if (indices.directions[i] @ indices.directions[j].T).min() > -0.3:
        return False
    if len(i) == len(j) == 1:
        return _stands_below(indices, int(i[0]), int(j[0])) and _stands_below(indices, int(j[0]), int(i[0]))
    whole, third = (i, j[0]) if len(i) > 1 else (j, i[0])
    return _in_a_corner(indices, whole, int(third))


def _stands_below(indices: Indices, one: int, other: int) -> bool:
    """Return whether an index is about where another one's card has its second index: to the right and below."""
    step, u = indices.places[other] - indices.places[one], indices.directions[one]
    turn = math.atan2(float(step @ np.array([-u[1], u[0]])), float(step @ u)) - _PAIR_ANGLE
    return abs((turn + math.pi) % (2 * math.pi) - math.pi) < _MERGE_ANGLE_SLACK


def _in_a_corner(indices: Indices, whole: NDArray[np.intp], third: int) -> bool:
    """Return whether an index is in one of the two free corners of a card with two opposite indices."""
    first, second = whole[:2]
    along = indices.directions[first]
    step = indices.places[second] - indices.places[first]
    beside = indices.places[first] + along * (step @ along)
    corners = np.array([beside, indices.places[second] - (beside - indices.places[first])])
    off = np.linalg.norm(corners - indices.places[third], axis=1).min()
    return bool(off < _CORNER * indices.sizes[third])


def name(found: list[Cluster], *, conflicts: bool = False) -> list[NamedCluster]:
    """Name all clusters together, each card at most once; clusters that are probably no card are left out.

    A clear cluster may find its card taken, and get no name or its next best one. Then two places claim one card, and a
    person must look: the margin is 0, unless each of the 52 cards has a place. With `conflicts`, the cluster left over
    is named too. Without, it is dropped: in a heap, the misread half of an index is likelier than a second card of that
    name.
    """
    if not found:
        return []
    cost = np.minimum(-np.array([c.combined for c in found]), _WORST)
    price = [c.presence if conflicts else c.presence + max(0.0, c.stands_out - _HINT) for c in found]
    absent = np.maximum(_ABSENT, price)
    columns = assign(cost, absent)
    extra = iter(extra_costs(cost, absent, columns))
    named, claimed = [], []
    for cluster, column in zip(found, columns.tolist(), strict=True):
        if column != NONE:
            others = next(extra)
            others[column] = np.inf
            candidates = (column, *others.argsort(kind="stable")[:2].tolist())
            # That the whole card shows the same suit makes no name surer: it can only deny.
            twin = CARDS.index(CARDS[column][0] + ALIKE[CARDS[column][1]])
            shown = (cluster.combined - cluster.logp)[[column, twin]]
            margin = max(0.0, min(float(others.min()), float(others[twin] - max(0.0, shown[0] - shown[1]))))
            named.append(NamedCluster(cluster, CARDS[column], margin, tuple(CARDS[k] for k in candidates)))
        elif cluster.evidence > CLEARLY_THERE:
            best_three = tuple(CARDS[k] for k in np.argsort(-cluster.logp)[:3])
            claimed.append(NamedCluster(cluster, best_three[0], 0.0, best_three))
    doubtful = {claim.card for claim in claimed}
    if not is_whole_deck(named + claimed):  # in a whole deck there is no conflict
        pushed = [n for n in named if n.cluster.likeliest != n.card]
        clear = {n.cluster.likeliest for n in pushed if n.cluster.stands_out > _HINT}
        doubtful |= {n.card for n in pushed} | clear
    named = [replace(n, margin=0.0) if n.card in doubtful else n for n in named]
    return named + claimed if conflicts else named


def is_whole_deck(named: list[NamedCluster]) -> bool:
    """Return whether each of the 52 cards is named, and none twice.

    Only then does a wrong name have to displace the right card.
    """
    return len(named) == len(CARDS) == len({one.card for one in named})
