"""A face-up hand as it is placed, street by street, with the errors that people make on the felt."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from firmware.rules import CARDS
from firmware.simulation.live.players import FACE_DOWN, SetHand, Spot
from firmware.table import Question, State
from firmware.table.events import ROWS, Irregularity
from firmware.table.streets import cards_by

Rows = dict[str, list[str]]


@dataclass
class PlacedCards:
    """What lies on the felt, `felt`, and what should lie there by the players' `hands`.

    `orders`: the order in which the cards of each open seat come. `street`: the number of streets placed; every street
    after the first has `each` cards. `mischief`: the share of streets at which a card is moved, picked up, turned over
    or added by mistake; after that `bent` is true until the felt is put right. `waits`: how often the dealer has waited
    for the record since the last street.
    """

    hands: Mapping[int, SetHand]
    orders: Mapping[int, Sequence[Spot]]
    rng: random.Random
    mischief: float = 0.0
    each: int = 1
    street: int = 0
    waits: int = 0
    bent: bool = False
    felt: dict[int, Rows] = field(default_factory=dict)

    def should_lie(self) -> dict[int, Rows]:
        """Return the correct cards; a closed hand lies face down."""
        felt: dict[int, Rows] = {}
        for seat, hand in self.hands.items():
            if seat in self.orders:
                spots = self.orders[seat][: cards_by(self.street, self.each)]
                felt[seat] = {row: [card for r, card in spots if r == row] for row in ROWS}
            elif not hand.surrenders:
                felt[seat] = {row: [FACE_DOWN] * count for row, count in ROWS.items()}
        return felt

    def put_right(self) -> dict[int, Rows]:
        """Lay all cards correctly, and return them."""
        self.bent = False
        self.felt = self.should_lie()
        return self.felt

    def place(self, street: int) -> dict[int, Rows]:
        """Place a street, sometimes with an error, and return the cards that lie then."""
        self.street, self.waits = street, 0
        self.put_right()
        if self.mischief and self.rng.random() < self.mischief:
            self._bend()
        return self.felt

    def _bend(self) -> None:
        rows = self.felt[self.rng.choice(list(self.orders))]
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
                laid = {
                    card for of_seat in self.felt.values() for cards in of_seat.values() for card in cards
                }
                rows[row].append(self.rng.choice([card.code for card in CARDS if card.code not in laid]))

    def which_is_right(self, seen: Irregularity) -> str:
        """Return which one agrees with the correct cards, where record and table differ: "record" or "table"."""
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


def true_card(state: State, question: Question, truth: Sequence[str]) -> str:
    """Return the true card at a question's position, given the true cards of its row.

    If cards were seen one by one, the record may have them in another order. So the answer is never a card that the
    record already has elsewhere in the row.
    """
    assert question.seat is not None
    assert question.row is not None
    assert question.index is not None
    seat = state.seat(question.seat)
    cards = seat.row(question.row) if seat else ()
    named = [card.card for k, card in enumerate(cards) if card.sure and k != question.index]
    left = [card for card in truth if card not in named] or list(truth)
    likely = [card for card in question.cards if card in left]
    card = truth[question.index] if question.index < len(truth) else left[0]
    return card if card in left else (likely or left)[0]
