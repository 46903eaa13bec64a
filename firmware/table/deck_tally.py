"""Counts a deck that is laid out in several rounds, or all at once in the order of the spread. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from firmware.rules import CARDS as DECK
from firmware.table.checks import PLACES
from firmware.table.readings import ROWS, Capture
from firmware.table.topics.camera import DeckChecked

CARDS: Final = tuple(card.code for card in DECK)
RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"

Spread = dict[str, dict[str, list[str]]]


def spread() -> Spread:
    """Return where the 52 cards lie to be learnt, by place and row, from each player's left.

    >>> spread()["A"]["front"]
    ['2c', '3c', '4c']
    """
    laid: Spread = {}
    for place, suit in zip(PLACES, SUITS, strict=True):
        ranks = iter(RANKS)
        laid[place] = {row: [rank + suit for rank in islice(ranks, count)] for row, count in ROWS.items()}
    return laid


@dataclass(frozen=True)
class LaidCard:
    """A card of a round: its zone, its position in the row from the player's left, its name or likely names."""

    place: str
    row: str
    index: int
    card: str
    sure: bool
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Round:
    """The cards of one reading."""

    cards: tuple[LaidCard, ...]
    jokers: int = 0
    backs: int = 0
    strange: int = 0
    """Objects that may be or hide a card: cards outside the zones, hands and others."""
    deck: str = ""
    """The enrolled deck that read it, by hash; "" for the reader as it comes."""
    frame: Capture | None = None


def misread(one: Round) -> tuple[tuple[str, str], ...]:
    """Return the cards of a round that were surely read as another one than the spread has there: (seen, wanted)."""
    laid = spread()
    found = []
    for card in one.cards:
        wanted = laid.get(card.place, {}).get(card.row, [])[card.index : card.index + 1]
        if card.sure and wanted and wanted[0] != card.card:
            found.append((card.card, wanted[0]))
    return tuple(found)


def tally(rounds: Iterable[Round]) -> DeckChecked:
    """Return the result of all rounds; one deck has read them all.

    A card counts as twice if two rounds show it with certainty, or if it is the best match of two cards in one round
    (the reader is then sure of neither). Such a card is neither missing nor unsure.
    """
    rounds = tuple(rounds)
    sure = Counter(card.card for one in rounds for card in one.cards if card.sure)
    claimed = [Counter(card.card for card in one.cards) for one in rounds]
    twice = {name for name, times in sure.items() if times > 1}
    twice |= {name for one in claimed for name, times in one.items() if times > 1}
    counted = DeckChecked(
        seen=len(sure.keys() | twice),
        missing=tuple(code for code in CARDS if code not in sure and code not in twice),
        twice=tuple(code for code in CARDS if code in twice),
        unsure=sum(not card.sure and card.card not in twice for one in rounds for card in one.cards),
        jokers=sum(one.jokers for one in rounds),
        backs=sum(one.backs for one in rounds),
        rounds=len(rounds),
        deck=rounds[0].deck if rounds else "",
        frames=tuple(one.frame for one in rounds if one.frame is not None),
    )
    in_order = counted.whole and len(rounds) == 1 and not misread(rounds[0]) and _fills_the_spread(rounds[0])
    return replace(counted, in_order=in_order)


def _fills_the_spread(one: Round) -> bool:
    """Return whether each place of the spread holds one card of the round."""
    wanted = {
        (place, row, index)
        for place, rows in spread().items()
        for row, cards in rows.items()
        for index in range(len(cards))
    }
    return sorted((card.place, card.row, card.index) for card in one.cards) == sorted(wanted)
