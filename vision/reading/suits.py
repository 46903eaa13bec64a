"""Judges whether the two suits of one colour can be distinguished in a picture.

Sharp edges do not prove it: a webcam sharpens lost detail, and clubs whose lobes had merged were as sharp as good
print. So the evidence is used: by how many nats an index prefers its suit to the other one of its colour, in most cards
of that colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vision.base.errors import N_
from vision.felt.quality import Verdict
from vision.reading.cards import CARDS
from vision.reading.decode import CLEARLY_THERE, NamedCluster

MIN_APART = 4.0
"""Nats by which four of five cards of a colour must name their suit, by index. On the decks that calibrate it was never
below 5.6 in the ordinary conditions, cards missing or not; on soft webcam print, where clubs were taken for spades,
it was never above 3.2."""

MIN_ALONE = 5.0
"""Nats by which each index of a card must name its suit, where few cards of its colour lie there: too few to say what
their print is worth. Of the clubs taken for spades in webcam pictures read loosely, one in nineteen reached it."""

_MANY = 10  # the least number of clear cards of a colour for a verdict
_SHARE = 0.2  # the share of a colour's cards that may be less clear
_FEW = 3  # this many unclear cards are the picture's fault; fewer are those cards' own
_ALIKE = {"c": "s", "s": "c", "d": "h", "h": "d"}
_COLOURS = {"cs": "clubs and spades", "dh": "hearts and diamonds"}


def judge_suits(named: Sequence[NamedCluster]) -> tuple[Verdict, list[bool]]:
    """Judge by the named cards whether suits can be distinguished; doubtful cards are ignored.

    Returns:
        The verdict, and for each card whether its suit may be taken without asking.
    """
    clear = [one for one in named if one.cluster.evidence > CLEARLY_THERE]
    nats = {suits: sorted(apart(one) for one in clear if one.card[1] in suits) for suits in _COLOURS}
    figures = {suits: _most(found) for suits, found in nats.items()}
    doubtful = [colours for suits, colours in _COLOURS.items() if figures[suits] < MIN_APART]
    text = N_("Suits of one colour can be told apart.")
    if doubtful:
        pairs = " or ".join(doubtful)
        text = f"{pairs} cannot be told apart in this picture: clean the lens, set the focus or hang the camera lower"
    taken = []
    for one in named:
        suits = next(suits for suits in _COLOURS if one.card[1] in suits)
        known = len(nats[suits]) >= _MANY or apart(one) >= MIN_ALONE
        taken.append(known and figures[suits] >= MIN_APART)
    return Verdict("suits", not doubtful, min(figures.values()), MIN_APART, "nats", text), taken


def apart(named: NamedCluster) -> float:
    """Return the nats by which each of a card's indices prefers its suit to the other one of its colour."""
    other = named.card[0] + _ALIKE[named.card[1]]
    logp = named.cluster.logp
    return abs(float(logp[CARDS.index(named.card)] - logp[CARDS.index(other)])) / len(named.cluster.members)


def _most(nats: list[float]) -> float:
    """Return the level that most cards reach, from their figures in order; with few cards there is more tolerance."""
    less_clear = max(_FEW, math.ceil(_SHARE * len(nats)))
    return nats[less_clear - 1] if len(nats) >= less_clear else 2 * MIN_APART
