"""Counts a deck that is laid out in several rounds. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from firmware.rules import CARDS as DECK
from firmware.table.seen import Capture
from firmware.table.topics.camera import DeckChecked

CARDS: Final = tuple(card.code for card in DECK)


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
    frame: Capture | None = None


def tally(rounds: Iterable[Round], deck: str = "") -> DeckChecked:
    """Return the result of all rounds. `deck` is the hash of the enrolled deck with which they were read.

    A card counts as twice if two rounds show it with certainty, or if it is the best match of two cards in one round
    (the reader is then sure of neither). Such a card is neither missing nor unsure.
    """
    rounds = tuple(rounds)
    sure = Counter(card.card for one in rounds for card in one.cards if card.sure)
    claimed = [Counter(card.card for card in one.cards) for one in rounds]
    twice = {name for name, times in sure.items() if times > 1}
    twice |= {name for one in claimed for name, times in one.items() if times > 1}
    return DeckChecked(
        seen=len(sure.keys() | twice),
        missing=tuple(code for code in CARDS if code not in sure and code not in twice),
        twice=tuple(code for code in CARDS if code in twice),
        unsure=sum(not card.sure and card.card not in twice for one in rounds for card in one.cards),
        jokers=sum(one.jokers for one in rounds),
        backs=sum(one.backs for one in rounds),
        rounds=len(rounds),
        deck=deck,
        frames=tuple(one.frame for one in rounds if one.frame is not None),
    )
