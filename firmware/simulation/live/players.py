"""The simulated players: a seeded deck, hands set as people set them, and some naturals, fouls and surrenders."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import Final

from firmware.rules import CARDS, LAID, SUITS, Card, Profile, Rows, foul
from firmware.table.events import ROWS, Row

BACKS_TRIED: Final = 40
FACE_DOWN: Final = "back"
"""Instead of a card's code: it lies face down (`vision.synthetic.render.FACE_DOWN`)."""


@dataclass(frozen=True)
class Habits:
    """How often players do something other than a normal comparison of rows."""

    natural_dealt: float = 0.08
    """The share of hands in which one seat is dealt a natural; by chance it would be one in 150."""
    declared: float = 0.9
    """The share of naturals that are noticed by their players."""
    falsely_declared: float = 0.02
    fouled: float = 0.04
    surrendered: float = 0.03
    """Shares of the hands at a seat."""


@dataclass(frozen=True)
class SetHand:
    """One seat's cards as the player sets them, and their declarations."""

    rows: Rows
    declares: bool = False
    surrenders: bool = False

    @property
    def shown(self) -> dict[str, list[str]]:
        """The cards that are turned up, by row: none if the player surrendered."""
        if self.surrenders:
            return {}
        return {row: [card.code for card in cards] for row, cards in zip(ROWS, self.rows, strict=True)}

    @property
    def truth(self) -> dict[str, str]:
        """The same as texts."""
        return {row: " ".join(cards) for row, cards in self.shown.items()}


Spot = tuple[Row, str]
"""A row and the card that is placed in it."""


def in_placing_order(hand: SetHand, rng: random.Random) -> tuple[SetHand, list[Spot]]:
    """Return a hand as it lies after it was placed card by card, and the order of its cards."""
    came: list[tuple[Row, Card]] = [
        (row, card) for row, cards in zip(ROWS, hand.rows, strict=True) for card in cards
    ]
    rng.shuffle(came)
    front, middle, back = (tuple(card for r, card in came if r == row) for row in ROWS)
    return replace(hand, rows=Rows(front, middle, back)), [(row, card.code) for row, card in came]


class Players:
    """Deals and sets hands under a profile; the same seed gives the same hands."""

    def __init__(
        self, seed: int, rules: Profile, backs_tried: int = BACKS_TRIED, habits: Habits | None = None
    ) -> None:
        """`backs_tried`: the number of back hands that a player tries; fewer are faster and worse."""
        self._habits = habits or Habits()
        self._rng = random.Random(seed)
        self._rules = rules
        self._backs_tried = backs_tried

    def deal(
        self, seats: Sequence[int], cards: Mapping[int, int] = MappingProxyType({})
    ) -> dict[int, SetHand]:
        """Shuffle, deal each seat thirteen cards, or as many as `cards` says, and have the players set thirteen."""
        rng = self._rng
        deck = list(CARDS)
        rng.shuffle(deck)
        dealt: dict[int, list[Card]] = {}
        if self._rules.naturals.kinds and rng.random() < self._habits.natural_dealt:
            lucky = rng.choice(list(seats))
            dealt[lucky] = _natural(rng)
            deck = [card for card in deck if card not in dealt[lucky]]
        for seat in seats:
            if seat not in dealt:
                dealt[seat], deck = deck[: cards.get(seat, LAID)], deck[cards.get(seat, LAID) :]
        return {seat: self._set(_keep(dealt[seat])) for seat in seats}

    def _set(self, cards: list[Card]) -> SetHand:
        rng, rules, habits = self._rng, self._rules, self._habits
        surrenders = bool(rules.surrender.points) and rng.random() < habits.surrendered
        rows = arrange(cards, rules, rng, self._backs_tried)
        if rng.random() < habits.fouled:
            rows = Rows(rows.front, rows.back, rows.middle)
        holds = rules.natural_ranking[rules.natural_finder.bits(*rows)] is not None
        share = habits.declared if holds else habits.falsely_declared
        declares = bool(rules.naturals.kinds) and rng.random() < share
        return SetHand(rows, declares=declares and not surrenders, surrenders=surrenders)


def _keep(cards: list[Card]) -> list[Card]:
    """Return the thirteen cards that a player keeps: those of the most frequent ranks and suits, then the highest."""
    ranks, suits = Counter(card.rank for card in cards), Counter(card.suit for card in cards)
    worth = {card: (ranks[card.rank] > 1 or suits[card.suit] > 4, card.rank) for card in cards}
    kept = sorted(cards, key=worth.__getitem__, reverse=True)[:LAID]
    return [card for card in cards if card in kept]


def arrange(
    cards: Sequence[Card], rules: Profile, rng: random.Random, backs_tried: int = BACKS_TRIED
) -> Rows:
    """Set thirteen cards well, but not perfectly: of the strongest backs, the best front and middle that fit."""
    scale = rules.scale
    backs = sorted(combinations(cards, 5), key=scale.five, reverse=True)[:backs_tried]
    best: tuple[int, Rows] | None = None
    for back in backs:
        for rows in _fronts_and_middles(cards, back):
            value = 2 * scale.three(rows.front) + scale.five(rows.middle) + scale.five(rows.back)
            value += rng.randrange(200)  # varies how the same hand is set
            if (best is None or value > best[0]) and foul(rows, rules) is None:
                best = (value, rows)
    if best is not None:
        return best[1]
    weakest = sorted(cards, key=lambda card: card.rank)
    return Rows(tuple(weakest[:3]), tuple(weakest[3:8]), tuple(weakest[8:]))


def _fronts_and_middles(cards: Sequence[Card], back: tuple[Card, ...]) -> Iterator[Rows]:
    rest = [card for card in cards if card not in back]
    for middle in combinations(rest, 5):
        yield Rows(tuple(card for card in rest if card not in middle), middle, back)


def _natural(rng: random.Random) -> list[Card]:
    """Return thirteen cards that are a natural in every game with naturals."""
    by_text = {card.code: card for card in CARDS}
    ranks = rng.sample("23456789TJQKA", 13)
    match rng.choice(("dragon", "six_pairs", "three_flushes")):
        case "dragon":
            codes = [rank + rng.choice(SUITS) for rank in ranks]
        case "six_pairs":
            codes = [rank + suit for rank in ranks[:6] for suit in rng.sample(SUITS, 2)]
            codes.append(ranks[6] + rng.choice(SUITS))
        case _:
            suits = rng.sample(SUITS, 3)
            sizes = zip(suits, (3, 5, 5), strict=True)
            codes = [rank + suit for suit, size in sizes for rank in rng.sample("23456789TJQKA", size)]
    return [by_text[code] for code in codes]


def truth_json(hands: Mapping[int, SetHand]) -> dict[str, dict[str, str]]:
    """Return the true cards, by seat and row."""
    return {str(seat): hand.truth for seat, hand in hands.items()}
