"""Random hands as the JSON objects that `feltwatch settle` takes; at will from a stacked deck."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

from firmware.rules import CARDS, Card, Hand, load_profile, parse_card
from tests.campaigns.rules.second_strength import ROWS
from tests.firmware.rules import random_settlements

ACTS: Final = ("player", "stack", "declares", "surrenders", "acted", "fantasyland")
STACKED: Final = (
    "2a 3a 4a 5a 6a 7a 8a 9a Ta Ja Qa Ka Aa",  # one suit
    "2a 3a 4a 5a 6a 7a 8a 9a Ta Ja Qa Ka Kb",  # twelve of a suit
    "2a 2b 3a 3b 4a 6b 7a 8a 9b Ja Qb Kb Aa",  # one color
    "2a 2b 3a 3b 4a 6b 7a 8a 9b Ja Qb Kb Ac",  # twelve of a color
    "2a 2b 3a 3b 3c 5a 5b 7a 7b 9a 9b Ka Kb",  # five pairs and three of a kind
    "8a 8b 5a 5b 5c 5d 9a 9b Qa Qb Ka Kb Kc",
    "6a 6b 7a 2a 2b 2c 2d 9c 9d Qa Qb Kc Kd",  # six pairs
    "Aa 2b 3c 4a 5b 6c 7d 8a 8b 9c Ta Jb Qc",  # three straights
    "Qa Kb Ac Aa 2b 3c 4d 5a Ta Jb Qc Kd Ab",
    "2a 5a 9a 2b 5b 7b 9b Kb 3c 6c 8c Tc Ac",  # three flushes
    "5c 6c 7c 2a 3a 4a 5a Aa 7b 8b 9b Tb Jb",  # straight flushes
    "Qa Qb 4c 3b 4b 5b 6b 7b Aa Ka Qa Ja Ta",
    "Aa Ab Ac Kb Qb Jb Tb 9b Ad Kd Qd Jd Td",  # three aces, and a royal flush in back
    "9a 9b 9c 4a 4b 4c 4d 2a Ka Kb Kc Kd 3a",  # four of a kind in middle and back
    "8a 8b 8c 5a 5b 5c 5d 3a Ta Tb Tc Td 2a",
    "2b 5b 7c 9c 9d Jc 4d 3b Qa Qb Qc Qd Ka",  # four of a kind and straight flushes in back, above a pair
    "3b 6b 8c Tc Td Kc 4d 2b 7a 7b 7c 7d Aa",
    "2b 5b 7c 9c 9d Jc 4d 3b Ka Qa Ja Ta 9a",
    "2b 5b 7c 9c 9d Jc 4d 3b Aa Ka Qa Ja Ta",
    "6a 6b Kc 8a 8b 8c 3a 3b Ta Tb Tc 4c 4d",  # full houses
    "2a 3b 7c Aa Ka Qa Ja 9a Ab Kb Qb Jb 9b",  # equal flushes
    "2a 3b 7c Aa 2b 3c 4d 5a Ab 2c 3d 4a 5b",  # equal straights
    "Ja Jb 7c 5a 6a 7a 8a 9a 5b 6b 7b 8b 9b",  # equal straight flushes
    "2a 4b 7c Aa Ka Qa Ja Ta Ab Kb Qb Jb Tb",  # equal royal flushes
    "Aa Ab Kc Ac Ad Kd 3a 2b 4a 4b 5a 5b 6c",  # a front equal to what the middle begins with
    "7a 5b 4c Aa Jb 9c 6d 3a Ab Jc 9d 6a 3b",  # equal high cards
    "9a 8b 6c Ta Tb 7c 5d 3a Tc Td 7a 5b 3c",  # equal pairs
    "Ka Jb 9c Aa Qb 8c 6d 4a Ka Kb 7c 5d 2a",  # a pair of kings in back
)
"""Thirteen cards in rows. Which suits a to d are is drawn; a and b are of one color, c and d of the other.

A deck is stacked with two that stand next to each other here.
"""


class StackedDeal(random.Random):
    """Random numbers that deal some seats a hand of `STACKED` instead of chance's."""

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        """Return so many different ones; a whole deck has stacked hands on top."""
        drawn = super().sample(population, k, counts=counts)
        if k != len(CARDS):
            return drawn
        at = self.randrange(1, len(STACKED))
        alike = STACKED[at - 1 : at + 1]
        for _ in range(self.choice((1, 2, 4))):
            top = self._stacked(self.choice(alike), drawn)
            drawn = [*top, *(card for card in drawn if card not in top)]
        return drawn

    def _stacked(self, words: str, deck: Sequence[Card]) -> list[Card]:
        """Return thirteen cards with these ranks and suits; where a card is gone or twice, another of the deck."""
        colors = [
            super(StackedDeal, self).sample(suits, 2) for suits in self.choice((("dh", "cs"), ("cs", "dh")))
        ]
        suits = dict(zip("abcd", [suit for color in colors for suit in color], strict=True))
        cards = []
        for word in words.split():
            card = parse_card(word[0] + suits[word[1]])
            cards.append(card if card not in cards else next(each for each in deck if each not in cards))
        return cards


def document(hand: Hand, name: str) -> dict[str, Any]:
    """Return a hand as the JSON object that `feltwatch settle` takes."""
    seats = []
    for seat in hand.seats:
        assert seat.rows
        cards = {row: " ".join(map(str, getattr(seat.rows, row))) for row in ROWS}
        acts = {
            key: getattr(seat, key)
            for key in ("player", "stack", "declares", "surrenders", "acted", "fantasyland")
        }
        seats.append({"seat": seat.seat} | cards | acts)
    return {"profile": name, "button": hand.button, "unit": hand.unit, "seats": seats}


def hands_of(name: str, seed: str, *, stacked: bool) -> Iterator[dict[str, Any]]:
    """Yield random hands under a profile."""
    profile = load_profile(name)
    deal = (StackedDeal if stacked else random.Random)(f"{seed} {name}")
    while True:
        yield document(random_settlements.hand(deal, profile), name)
