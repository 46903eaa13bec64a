"""Locates cards on the felt: from indices to cards with a name, a place and a zone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import cv2
import numpy as np

from vision.base.arrays import Points
from vision.felt.layout import TableLayout, Zone
from vision.reading.cards import CARDS, RANKS, SUITS
from vision.reading.decode import CLEARLY_THERE, Cluster, NamedCluster, clusters, name
from vision.reading.network import Floats, Indices
from vision.reading.pairs import Stance, index_inset_mm, learnt_stance, lie_as_one

_REAL_CARD = (
    6.0  # nats of evidence: from here on an index inside another card's outline is a real card on top of it
)
_CONCENTRIC_MM = 15.0
_COURTS = "JQK"
_STRAY_MM = 12.0  # how far outside its zone a card's middle may lie
_HALF_WIDE, _AROUND_MM = 0.27, 1.5  # half an index's width in its heights, and the error of an estimate
_SAME_TURN = 0.85  # cosine: the network's largest error of a card's direction


@dataclass(frozen=True)
class CardPlace:
    """A card's place on the felt, in millimetres.

    `indices` is the extent of its indices from its corners, across and down; `seen` tells where these were seen.
    """

    middle: Points
    corners: Points
    indices: Points
    seen: bytes

    @classmethod
    def of(cls, indices: Indices, cluster: Cluster, layout: TableLayout, stance: Stance | None) -> CardPlace:
        """Compute the card's place from its indices: between two opposite ones, else from one."""
        width, height = layout.card.width_mm, layout.card.height_mm
        k = cluster.members[0]
        inset = index_inset_mm(indices.sizes[k])
        if stance is not None:
            inset = (np.array([width, height]) - (stance.across, stance.down)) / 2
        across, over = np.array([width, height]) - 2 * inset
        middle = None
        for first, m in permutations(cluster.members, 2):
            # two places so far apart give the card's rotation far better than the network does
            step, along = indices.places[m] - indices.places[first], indices.directions[first]
            turned = np.array([[across, over], [-over, across]]) @ step
            turned /= np.linalg.norm(turned) + 1e-9
            length_ratio = np.linalg.norm(step) / np.hypot(across, over)
            size_ratio = indices.sizes[m] / indices.sizes[first]
            if turned @ along > _SAME_TURN and 0.8 < length_ratio < 1.25 and 0.625 < size_ratio < 1.6:
                along, middle = turned, indices.places[first] + step / 2
                break
        else:
            along = indices.directions[k]
        down = np.array([-along[1], along[0]])
        if middle is None:
            middle = indices.places[k] + along * across / 2 + down * over / 2
        u, v = along * width / 2, down * height / 2
        corners = np.array([middle - u - v, middle + u - v, middle + u + v, middle - u + v])
        extent = inset + np.array([_HALF_WIDE, 0.5]) * indices.sizes[k] + _AROUND_MM
        return cls(middle, corners, extent, indices.places[list(cluster.members)].tobytes())


def cards_on(
    indices: Indices,
    layout: TableLayout,
    look: Callable[[Sequence[CardPlace], Sequence[str]], Floats] | None = None,
) -> list[tuple[NamedCluster, CardPlace]]:
    """Name all cards whose indices were seen on the felt, and locate each.

    `look` takes cards' places and what their indices name, and returns the log-probabilities of those cards (n × 52)
    from everything except their indices.
    """
    stance = learnt_stance(indices)
    found = clusters(indices, (layout.card.width_mm, layout.card.height_mm), stance)
    laid = [(cluster, CardPlace.of(indices, cluster, layout, stance)) for cluster in found]
    hosts = [(cluster, place) for cluster, place in laid if len(cluster.members) > 1]
    cards = {c.members: (c, place) for c, place in laid if not _is_print(indices, c, place, hosts)}
    if look is not None:
        clear = [(c, place) for c, place in cards.values() if c.evidence > CLEARLY_THERE]
        evidence = look([place for _, place in clear], [c.likeliest for c, _ in clear])
        for (c, place), one in zip(clear, evidence, strict=True):
            whole = _without_court_rank(one) if c.likeliest[0] in _COURTS else one
            cards[c.members] = replace(c, whole=whole), place
    named = name([cluster for cluster, _ in cards.values()], conflicts=True)
    if stance is not None:
        named = _one_name_each(indices, named, stance)
    return [(one, cards[one.cluster.members][1]) for one in named]


def _one_name_each(indices: Indices, named: list[NamedCluster], stance: Stance) -> list[NamedCluster]:
    """Make two names unsure whose indices lie as if they were the two of one card, and mark the less clear one.

    A neighbour often covers half of a card's second index, which then looks like another card's. Which of the two names
    is the card's, nobody knows.
    """
    alone = sorted((n for n in named if len(n.cluster.members) == 1), key=lambda n: -n.cluster.evidence)
    if len(alone) < 2:
        return named
    rows = np.array([n.cluster.members[0] for n in alone])
    one_card = lie_as_one(indices, rows, stance)
    changed: dict[tuple[int, ...], NamedCluster] = {}
    for clear, other in zip(*np.nonzero(np.triu(one_card)), strict=True):
        first, second = alone[clear].cluster.members, alone[other].cluster.members
        if first not in changed and second not in changed:
            changed[first] = replace(alone[clear], margin=0.0)
            changed[second] = replace(alone[other], margin=0.0, second=True)
    return [changed.get(n.cluster.members, n) for n in named]


def _without_court_rank(whole: Floats) -> Floats:
    """Reduce a court's evidence beyond its indices to its suit and the fact that it is a court.

    Its picture differs from deck to deck: if it is taken for a pip card, it gives no evidence of a rank.
    """
    by_suit = whole.reshape(len(SUITS), len(RANKS))
    suits = by_suit.max(axis=1, keepdims=True) - whole.max()
    ranks = by_suit.max(axis=0) * (CARDS[int(whole.argmax())][0] in _COURTS)
    return np.asarray(suits + ranks).ravel()


def _is_print(
    indices: Indices, cluster: Cluster, place: CardPlace, hosts: list[tuple[Cluster, CardPlace]]
) -> bool:
    """Return whether a cluster is print and not a card: wholly inside a card (its host) with both indices visible.

    A clearly named cluster is a card: neighbours overlap, and an outline computed from indices is accurate to a few
    millimetres only. A pair of indices is a card, too, unless it is the host's figure, symmetric about its centre.
    """
    if cluster.evidence >= _REAL_CARD:
        return False
    at = indices.places[list(cluster.members)].tolist()
    return any(
        host is not cluster
        and all(cv2.pointPolygonTest(under.corners.astype(np.float32), (x, y), False) > 0 for x, y in at)
        and (len(at) == 1 or float(np.hypot(*(under.middle - place.middle))) < _CONCENTRIC_MM)
        for host, under in hosts
    )


def homes(cards: Sequence[CardPlace], layout: TableLayout) -> list[Zone | None]:
    """Return for each card the zone of its centre, or else the nearest one within the tolerance."""
    middles = np.array([card.middle for card in cards]).reshape(-1, 2)
    scores = []
    for zone in layout.zones:
        half = np.array([zone.width_mm, zone.height_mm]) / 2
        outside = (np.abs(zone.from_felt(middles) - half) - half).clip(0).max(axis=1)
        # ties between touching zones go to the one whose centre is nearer
        far = np.hypot(*(middles - (zone.x_mm, zone.y_mm)).T)
        scores.append(np.where(outside <= _STRAY_MM, outside + 1e-3 * far, np.inf))
    best = np.argmin(scores, axis=0)
    return [layout.zones[k] if np.isfinite(scores[k][n]) else None for n, k in enumerate(best.tolist())]
