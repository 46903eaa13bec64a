"""A face-up hand while it is placed, street by street, with the errors that people make on the felt."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from firmware.rules import CARDS
from firmware.simulation.evening.reader_model import FACE_DOWN
from firmware.simulation.live.players import SetHand, Spot
from firmware.table import State
from firmware.table.events import ROWS, Irregularity
from firmware.table.streets import cards_by, open_seats

MISCHIEF: Final = 0.015
"""The share of streets at which a card is moved, picked up, turned over or added by mistake."""

Rows = dict[str, list[str]]


@dataclass
class Placing:
    """The actual and the correct cards of a face-up table; `street` is the number of streets placed."""

    hands: Mapping[int, SetHand]
    orders: Mapping[int, Sequence[Spot]]
    places: Mapping[int, str]
    rng: random.Random
    street: int = 0
    waits: int = 0
    bent: bool = False
    felt: dict[str, Rows] = field(default_factory=dict)

    def should_lie(self) -> dict[int, Rows]:
        """Return the correct cards; a closed hand lies face down."""
        felt: dict[int, Rows] = {}
        for seat, hand in self.hands.items():
            if seat in self.orders:
                came = self.orders[seat][: cards_by(self.street)]
                felt[seat] = {row: [card for r, card in came if r == row] for row in ROWS}
            elif not hand.surrenders:
                felt[seat] = {row: [FACE_DOWN] * count for row, count in ROWS.items()}
        return felt

    def put_right(self) -> None:
        """Lay all cards correctly."""
        self.bent = False
        self.felt = {self.places[seat]: rows for seat, rows in self.should_lie().items()}

    def go_on(self) -> None:
        """Place the next street, sometimes with an error."""
        self.street += 1
        self.waits = 0
        self.put_right()
        if self.rng.random() < MISCHIEF:
            self._bend()

    def _bend(self) -> None:
        place = self.places[self.rng.choice(list(self.orders))]
        rows = self.felt[place]
        full = [row for row in ROWS if rows[row]]
        if not full:
            return
        self.bent = True
        row = self.rng.choice(full)
        match self.rng.randrange(4):
            case 0:  # a set card is moved to another row
                self.rng.choice([rows[other] for other in ROWS if other != row]).append(rows[row].pop(0))
            case 1:  # a set card is picked up
                rows[row].pop(0)
            case 2:  # a set card is turned over
                rows[row][0] = FACE_DOWN
            case _:  # a card of no player is laid there
                lying = {
                    card for of_place in self.felt.values() for cards in of_place.values() for card in cards
                }
                rows[row].append(self.rng.choice([card.code for card in CARDS if card.code not in lying]))

    def all_seen(self, state: State) -> bool:
        """Return whether the record has every card that was placed."""
        return all(seat.placed >= cards_by(self.street) for seat in open_seats(state))

    def stands(self, seen: Irregularity) -> str:
        """Return which side of an irregularity is right now that the felt is correct: the record or the table."""
        truth = self.should_lie()
        here = truth.get(seen.seat, {}).get(seen.row, [])
        if seen.what == "card_changed" and seen.seen is not None:
            return "table" if seen.seen.card in here and seen.card not in here else "record"
        if seen.what == "card_moved":
            there = truth.get(seen.to_seat or seen.seat, {}).get(seen.to_row or seen.row, [])
            return "table" if seen.card in there and seen.card not in here else "record"
        if seen.what == "card_missing":
            return "record" if seen.card is None or seen.card in here else "table"
        return "table" if seen.what == "out_of_turn" else "record"
