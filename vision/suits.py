"""Can the two suits of one colour be told apart in this picture?

How sharp its edges are does not say: a webcam sharpens what it has lost, and clubs whose lobes have run together were
as sharp as good print. So the print itself is asked: by how many nats an index names its
suit before the other one of its colour, in most cards of that colour.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.cards import CARDS
from vision.decode import Named
from vision.verdicts import Verdict

MIN_APART = 4.0
"""Nats by which four of five cards of a colour must name their suit, by index. On the decks that calibrate it was never
below 5.6 in the ordinary conditions, cards missing or not; on soft webcam print, where clubs were taken for spades,
it was never above 3.2."""

_SHARE = 20  # per cent of a colour's cards that may be less clear
_ALIKE = {"c": "s", "s": "c", "d": "h", "h": "d"}
_COLOURS = (("clubs and spades", "cs"), ("hearts and diamonds", "dh"))


def told_apart(named: Sequence[Named]) -> tuple[Verdict, str]:
    """Judge whether suits can be told apart by what was named.

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


def _apart(named: Sequence[Named]) -> float:
    """Give the nats by which most of these cards' indices name their suit; where there are none, more than enough."""
    nats = [
        abs(n.cluster.logp[CARDS.index(n.card)] - n.cluster.logp[CARDS.index(n.card[0] + _ALIKE[n.card[1]])])
        / len(n.cluster.members)
        for n in named
        if n.cluster.presence > 0
    ]
    return float(np.percentile(nats, _SHARE)) if nats else 2 * MIN_APART
