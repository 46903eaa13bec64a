"""Compares a new reading of the table with the cards on record: after the first reading, nobody may change them. Pure.

A row counts as changed only if it lies there whole and a card that is certain is none of the record's. A row that is
short is being collected; one that is unsure may be anything. Both are "not compared", never "the same".
"""

from collections.abc import Iterable

from firmware.table.readings import Row, RowReading
from firmware.table.state import Card, Seat, State
from firmware.table.values import ChangedRow, ComparedCards, UncomparedRow


def can_compare(state: State) -> bool:
    """Return whether there are cards on record that a camera can be asked about again."""
    return not (state.keyed or state.reopened) and any(_rows(state))


def compare_cards(state: State, readings: Iterable[RowReading], *, last: bool = False) -> ComparedCards:
    """Compare a new reading of the table with the record."""
    seen = {(reading.seat, reading.row): reading for reading in readings}
    same = 0
    changed: list[ChangedRow] = []
    unseen: list[UncomparedRow] = []
    for seat, row, cards in _rows(state):
        reading = seen.get((seat.seat, row))
        there = reading.cards if reading else ()
        names = {name for card in cards for name in _names(card)}
        sure = [card.card for card in there if card.sure and card.card]
        now = tuple(name for name in sure if name not in names)
        was = tuple(str(card.card) for card in cards if card.card and not _names(card) & set(sure))
        doubtful = sum(not card.sure for card in cards)
        if len(there) < len(cards):
            unseen.append(UncomparedRow(seat.seat, row, "gone"))
        elif len(now) > doubtful and reading is not None:
            changed.append(ChangedRow(seat.seat, row, was, now, reading.capture))
        elif was or len(there) > len(cards):
            unseen.append(UncomparedRow(seat.seat, row, "unsure"))
        else:
            same += 1
    return ComparedCards(last, same, tuple(changed), tuple(unseen))


def _rows(state: State) -> Iterable[tuple[Seat, Row, tuple[Card, ...]]]:
    for seat in state.seats:
        if not seat.surrenders:
            yield from ((seat, row, cards) for row, cards in seat.rows.items() if cards)


def _names(card: Card) -> set[str]:
    """Return the names by which the camera may call a card on record."""
    return {name for name in (card.card, card.seen) if name}
