"""From what the reading process tells of places to what the record says of seats."""

from __future__ import annotations

from typing import Any

from firmware.app.reading_messages import ReadingDone, ReadingLost
from firmware.table import State
from firmware.table.events import Capture, CardReading, ReadingFailed, ReadingTaken, RowReading


def reading_taken(done: ReadingDone, state: State) -> ReadingTaken:
    """Return the event for a reading: its zones as the rows of the seats that play."""
    seats = {seat.place: seat.seat for seat in state.seats}
    reading = done.reading
    rows = tuple(
        RowReading(
            seats[zone["place"]],
            zone["row"],
            zone["place"],
            tuple(_card(card) for card in zone["cards"]),
            _capture(zone["capture"]),
        )
        for zone in reading["zones"]
        if zone["place"] in seats
    )
    return ReadingTaken(rows, _capture(reading["frame"]), reading["verdicts"], reading["ms"])


def reading_failed(lost: ReadingLost) -> ReadingFailed:
    """Return the event for a table that could not be read."""
    return ReadingFailed(lost.reason, _capture(lost.frame))


def _card(card: dict[str, Any]) -> CardReading:
    corners = tuple((float(x), float(y)) for x, y in card["corners"])
    return CardReading(
        card["card"], card["confidence"], card["sure"], tuple(card.get("candidates", ())), corners
    )


def _capture(fields: dict[str, Any] | None) -> Capture | None:
    return Capture(**fields) if fields else None
