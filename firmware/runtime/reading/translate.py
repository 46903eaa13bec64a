"""Translates readings of places, from the reading process, into the record's seats."""

from collections.abc import Iterable
from typing import Any, Final

from firmware.runtime.reading.messages import KnownCard, ReadingDone, ReadingLost
from firmware.table import State
from firmware.table.events import (
    Capture,
    CardReading,
    ReadingFailed,
    ReadingTaken,
    RowReading,
    ShownRow,
    Thing,
)
from firmware.table.streets import open_seats

LEFT_OVER: Final = 10
"""Minimum number of the last hand's cards from which it is clear that they still lie there."""


def reading_taken(done: ReadingDone, state: State) -> ReadingTaken:
    """Return the event for a reading, with its zones as the rows of the seats in play."""
    seats = {seat.place: seat.seat for seat in state.seats}
    reading = done.reading
    rows = tuple(
        RowReading(
            seats[zone["place"]],
            zone["row"],
            zone["place"],
            tuple(_card(card) for card in zone["cards"]),
            _capture(zone["capture"]),
            tuple((float(x), float(y)) for x, y in zone.get("outline", ())),
        )
        for zone in reading["zones"]
        if zone["place"] in seats
    )
    things = tuple(
        Thing(other["what"], seats[place], row, _corners(other))
        for other in reading.get("others", ())
        for place, row in other.get("zones", ())
        if place in seats
    )
    return ReadingTaken(rows, _capture(reading["frame"]), reading["verdicts"], reading["ms"], things)


def rows_to_show(done: ReadingDone, state: State) -> tuple[ShownRow, ...]:
    """Return what a reading saw in the rows of the seats in play."""
    return tuple(
        ShownRow(
            row.seat, row.row, tuple(card.card if card.sure and card.card else "??" for card in row.cards)
        )
        for row in reading_taken(done, state).rows
        if row.cards
    )


def cards_on_record(state: State) -> dict[tuple[str, str], tuple[KnownCard, ...]]:
    """Return the open seats' cards on record, by place and row, with the camera's names."""
    return {
        (seat.place, row): tuple(KnownCard(card.seen or card.card, card.sure) for card in cards)
        for seat in open_seats(state)
        for row, cards in seat.rows.items()
    }


def lie_as_before(rows: Iterable[RowReading], before: Iterable[RowReading]) -> bool:
    """Return whether these are the cards of another reading, in the same positions.

    More than half of the cards must be in the same zones, of those read. For two deals from a shuffled deck it is a
    twelfth.
    """
    rows = tuple(rows)
    looked = {(row.place, row.row) for row in rows}
    now, then = _where(rows), _where(row for row in before if (row.place, row.row) in looked)
    return len(then) >= LEFT_OVER and len(now & then) * 2 > len(then)


def _where(rows: Iterable[RowReading]) -> frozenset[tuple[str, str, str]]:
    return frozenset((row.place, row.row, card.card) for row in rows for card in row.cards if card.card)


def reading_failed(lost: ReadingLost) -> ReadingFailed:
    """Return the event for a table that could not be read."""
    return ReadingFailed(lost.reason, _capture(lost.frame))


def _card(card: dict[str, Any]) -> CardReading:
    return CardReading(
        card["card"], card["confidence"], card["sure"], tuple(card.get("candidates", ())), _corners(card)
    )


def _corners(answer: dict[str, Any]) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in answer["corners"])


def _capture(fields: dict[str, Any] | None) -> Capture | None:
    return Capture(**fields) if fields else None
