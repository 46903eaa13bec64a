"""Judges whether the two suits of one colour can be distinguished in a picture.

Sharp edges do not prove it: a webcam sharpens lost detail, and clubs whose lobes had merged were as sharp as good
print. So two other things are used. One is the evidence: by how many nats an index prefers its suit to the other one of
its colour, in most cards of that colour. The other does not depend on the network's confidence: one deck has each card
once and thirteen of each suit. If the indices name a card twice, or far more cards of one suit than one deck would
show, then the suits of that colour are mixed up, however sure each index is. A card of such a colour is taken only if
its large signs (`signs.py`) clearly say the same as its index.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from vision.base.errors import N_
from vision.felt.quality import PictureVerdict
from vision.reading.cards import ALIKE, CARDS
from vision.reading.decode import CLEARLY_THERE, NamedCluster
from vision.reading.pips import DIFFERS

MIN_APART = 4.0
"""Nats by which four of five cards of a colour must name their suit, by index. On the decks that calibrate it was never
below 5.6 in the ordinary conditions, cards missing or not; on soft webcam print, where clubs were taken for spades,
it was never above 3.2."""

MIN_ALONE = 5.0
"""Nats by which each index of a card must name its suit, where few cards of its colour lie there: too few to say what
their print is worth. Of the clubs taken for spades in webcam pictures read loosely, one in nineteen reached it."""

CONFIRMED = 8.0
"""Nats by which a card's large signs must speak for its suit to take it in spite of doubts about its colour."""

RAREST_SPLIT = 1e-4
"""Probability below which a split between the two suits of a colour is not chance: one deck, dealt at random. In soft
webcam print 20 spades and 4 clubs were named on one table; wrong names stood out by 8.6 to 15.3 nats."""

_SUIT = 13  # cards of a suit in one deck
_MANY = 10  # the least number of clear cards of a colour for a verdict
_SHARE = 0.2  # the share of a colour's cards that may be less clear
_FEW = 3  # this many unclear cards are the picture's fault; fewer are those cards' own
_PAIR, _ZONES = 2, 2  # so many unclear cards spoil a zone, and so many zones at most are spoilt by themselves
_COLOURS = {"cs": "clubs and spades", "dh": "hearts and diamonds"}


def judge_suits(
    named: Sequence[NamedCluster], zones: Sequence[str] = (), *, dealt: bool = True
) -> tuple[PictureVerdict, list[bool]]:
    """Judge by the named cards whether suits can be distinguished; doubtful cards are ignored.

    Args:
        named: the cards of a picture.
        zones: the name of each one's zone, where they lie in zones: what spoils one or two of these, such as a drop on
            the lens, is not a verdict on the others.
        dealt: whether they come at random from one deck. A deck that is laid out to be counted may be in order, or have
            a card twice.

    Returns:
        The verdict, and for each card whether its suit may be taken without asking.
    """
    clear = [one for one in named if one.cluster.evidence > CLEARLY_THERE]
    nats = {suits: sorted(apart(one) for one in clear if one.card[1] in suits) for suits in _COLOURS}
    figures = {suits: _most(found) for suits, found in nats.items()}
    spoilt = {suits: _spoilt(named, zones, suits) if figures[suits] < MIN_APART else [] for suits in _COLOURS}
    for suits in _COLOURS:
        if spoilt[suits]:
            figures[suits] = MIN_ALONE
        colour = [one for one in clear if one.card[1] in suits and not one.second]
        if dealt and not is_one_deck(colour, suits):
            figures[suits] = 0.0
    doubtful = [colours for suits, colours in _COLOURS.items() if figures[suits] < MIN_APART]
    where = "" if doubtful else ", ".join(sorted({*spoilt["cs"], *spoilt["dh"]}))
    text = N_("Suits of one colour can be told apart.")
    if doubtful or where:
        pairs = " or ".join(doubtful or [pair for suits, pair in _COLOURS.items() if spoilt[suits]])
        text = f"{pairs} cannot be told apart in this picture: clean the lens, set the focus or hang the camera lower"
    taken = []
    for k, one in enumerate(named):
        suits = next(suits for suits in _COLOURS if one.card[1] in suits)
        known = len(nats[suits]) >= _MANY or apart(one) >= MIN_ALONE
        there = bool(spoilt[suits]) and zones[k] in spoilt[suits]
        taken.append((known and figures[suits] >= MIN_APART and not there) or is_confirmed(one))
    ok, least = not (doubtful or where), min([*figures.values(), *([0.0] if where else [])])
    return PictureVerdict("suits", ok, least, MIN_APART, "nats", text, where), taken


def _spoilt(named: Sequence[NamedCluster], zones: Sequence[str], suits: str) -> list[str]:
    """Return the zones whose cards of a colour are all unclear, if they are few and all others clear by themselves.

    Soft print is unclear everywhere: its few clear cards are chance, and the wrong ones among them too.
    """
    by_zone: dict[str, list[float]] = {}
    for one, zone in zip(named, zones, strict=False):
        if one.card[1] in suits and one.cluster.evidence > CLEARLY_THERE:
            by_zone.setdefault(zone, []).append(apart(one))
    bad = [zone for zone, nats in by_zone.items() if len(nats) >= _PAIR and max(nats) < MIN_APART]
    rest = [one for zone, nats in by_zone.items() if zone not in bad for one in nats]
    few = len(bad) <= _ZONES and len(rest) >= _MANY and "" not in bad
    return bad if few and min(rest) >= MIN_ALONE else []


def is_confirmed(one: NamedCluster) -> bool:
    """Return whether a card's index and its large signs, each by itself, clearly name its suit.

    Such a card needs no verdict on the picture: that is of how small signs are seen.
    """
    return _preference(one, one.card[1] + ALIKE[one.card[1]]) >= MIN_ALONE and _shown(one) >= CONFIRMED


def is_one_deck(named: Sequence[NamedCluster], suits: str) -> bool:
    """Return whether cards of a colour can be of one deck, by what the indices of each say by themselves.

    Args:
        named: the cards of that colour that are clearly there.
        suits: its two suits, such as "cs".
    """
    read = [CARDS[int(one.cluster.logp.argmax())] for one in named]
    # Where indices name a card that another card is, only the assignment gave the other suit.
    if any(name == _twin(one) for one, name in zip(named, read, strict=True)):
        return False
    own = [name for name in read if name[1] in suits]
    first = sum(name[1] == suits[0] for name in own)
    return chance_of_split(first, len(own) - first) >= RAREST_SPLIT


def chance_of_split(first: int, second: int) -> float:
    """Return the probability that cards of a colour, dealt at random, are split as unevenly or more, 0 if impossible.

    >>> chance_of_split(5, 5), chance_of_split(14, 0), round(chance_of_split(12, 2), 5)
    (1.0, 0.0, 0.00021)
    """
    count, fewer = first + second, min(first, second)
    if max(first, second) > _SUIT:
        return 0.0
    if 2 * fewer == count:
        return 1.0
    ways = sum(math.comb(_SUIT, low) * math.comb(_SUIT, count - low) for low in range(fewer + 1))
    return 2 * ways / math.comb(2 * _SUIT, count)


def part_suits(named: Sequence[NamedCluster], taken: Sequence[bool]) -> list[NamedCluster]:
    """Name the cards of a doubtful colour by what parts them from each other; no card becomes sure by this.

    Soft print moves the indices of a whole colour toward one suit and leaves their order: clubs that are read as spades
    are the least clear spades. So the colour is cut into two suits where each group is the most alike in itself, and as
    numerous as one deck makes likely. Of two cards of a rank, each suit has one. A card whose large signs contradict
    keeps its name, and so does its twin.
    """
    names = list(named)
    for suits in _COLOURS:
        rows = [k for k, one in enumerate(named) if one.card[1] in suits and not one.second]
        if len(rows) < _MANY or all(taken[k] for k in rows):
            continue
        changed = [k for k, suit in _best_cut(named, rows, suits).items() if suit != named[k].card[1]]
        kept = {named[k].card[0] for k in changed if taken[k] or _shown(named[k]) > DIFFERS}
        for k in changed:
            if named[k].card[0] not in kept:
                names[k] = _rename(named[k])
    return names


def _rename(one: NamedCluster) -> NamedCluster:
    """Return a card with the other suit of its colour as its likeliest name, without a margin."""
    card = _twin(one)
    others = [name for name in one.candidates if name != card]
    return replace(one, card=card, margin=0.0, candidates=(card, *others[:2]))


def _twin(one: NamedCluster) -> str:
    return one.card[0] + ALIKE[one.card[1]]


def _shown(one: NamedCluster) -> float:
    """Return by how many nats a card's large signs favour its suit over the other one of its colour."""
    return float(one.cluster.whole[CARDS.index(one.card)] - one.cluster.whole[CARDS.index(_twin(one))])


def _preference(one: NamedCluster, suits: str) -> float:
    """Return by how many nats each of a card's indices shows the first of two suits rather than the second."""
    first, second = (one.cluster.logp[CARDS.index(one.card[0] + suit)] for suit in suits)
    return float(first - second) / len(one.cluster.members)


def _best_cut(named: Sequence[NamedCluster], rows: Sequence[int], suits: str) -> dict[int, str]:
    """Cut the cards of a colour, by their rows, into its two suits; where no cut is clearer, as they are named."""
    nats = {k: _preference(named[k], suits) for k in rows}

    def cost(cut: dict[int, str]) -> float:
        groups = [[nats[k] for k in rows if cut[k] == suit] for suit in suits]
        spread = sum(statistics.pvariance(group) * len(group) for group in groups if group)
        chance = chance_of_split(*map(len, groups))
        return len(rows) / 2 * math.log1p(spread / len(rows)) - math.log(chance) if chance else math.inf

    of_rank: dict[str, list[int]] = {}
    for k in sorted(rows, key=lambda k: -nats[k]):
        of_rank.setdefault(named[k].card[0], []).append(k)
    alone = [k for k in sorted(rows, key=lambda k: -nats[k]) if len(of_rank[named[k].card[0]]) == 1]
    pairs = {k: suits[n > 0] for twins in of_rank.values() if len(twins) > 1 for n, k in enumerate(twins)}
    cuts = (pairs | {k: suits[n >= cut] for n, k in enumerate(alone)} for cut in range(len(alone) + 1))
    return min(({k: named[k].card[1] for k in rows}, *cuts), key=cost)


def apart(named: NamedCluster) -> float:
    """Return the nats by which each of a card's indices prefers its suit to the other one of its colour."""
    return abs(_preference(named, named.card[1] + ALIKE[named.card[1]]))


def _most(nats: list[float]) -> float:
    """Return the level that most cards reach, from their figures in order; with few cards there is more tolerance."""
    less_clear = max(_FEW, math.ceil(_SHARE * len(nats)))
    return nats[less_clear - 1] if len(nats) >= less_clear else 2 * MIN_APART
