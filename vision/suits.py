"""Can the two suits of one colour be told apart in this picture?

How sharp its edges are does not say: a webcam sharpens what it has lost, and clubs whose lobes have run together were
as sharp as good print. So the print itself is asked: by how many nats an index names its suit before the other one of
its colour, in most cards of that colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vision.cards import CARDS
from vision.decode import CLEARLY_THERE, Named
from vision.verdicts import Verdict

MIN_APART = 4.0
"""Nats by which four of five cards of a colour must name their suit, by index. On the decks that calibrate it was never
below 5.6 in the ordinary conditions, cards missing or not; on soft webcam print, where clubs were taken for spades,
it was never above 3.2."""

MIN_ALONE = 5.0
"""Nats by which each index of a card in a loose photograph must name its suit: too few cards may lie there to say what
its print is worth. Of the webcam pictures' clubs taken for spades, one in nineteen reached it."""

_SHARE = 0.2  # of a colour's cards may be less clear
_FEW = 3  # so many unclear cards say something of a picture; fewer are those cards' own trouble
_ALIKE = {"c": "s", "s": "c", "d": "h", "h": "d"}
_COLOURS = (("clubs and spades", "cs"), ("hearts and diamonds", "dh"))


def told_apart(named: Sequence[Named]) -> tuple[Verdict, str]:
    """Judge whether suits can be told apart by what was named; print that is hardly a card has no say.

    Returns:
        The verdict, and the suits of which no card may be taken without asking.
    """
    figures = {suits: _apart([n for n in named if n.card[1] in suits]) for _, suits in _COLOURS}
    doubtful = [(words, suits) for words, suits in _COLOURS if figures[suits] < MIN_APART]
    text = "suits of one colour can be told apart"
    if doubtful:
        pairs = " or ".join(words for words, _ in doubtful)
        text = f"{pairs} cannot be told apart in this picture: clean the lens, set the focus or hang the camera lower"
    figure = min(figures.values())
    return Verdict("suits", not doubtful, figure, MIN_APART, "nats", text), "".join(s for _, s in doubtful)


def apart(named: Named) -> float:
    """Give the nats by which each of a card's indices names its suit before the other one of its colour."""
    other = named.card[0] + _ALIKE[named.card[1]]
    logp = named.cluster.logp
    return abs(float(logp[CARDS.index(named.card)] - logp[CARDS.index(other)])) / len(named.cluster.members)


def _apart(named: Sequence[Named]) -> float:
    """Give the nats by which most of these cards' indices name their suit; where they are few, more than enough."""
    nats = sorted(apart(one) for one in named if one.cluster.evidence > CLEARLY_THERE)
    less_clear = max(_FEW, math.ceil(_SHARE * len(nats)))
    return nats[less_clear - 1] if len(nats) >= less_clear else 2 * MIN_APART
