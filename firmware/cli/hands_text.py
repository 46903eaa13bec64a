"""Hands of the archive as text and JSON."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from firmware.record.archive import Hand, Image
from firmware.record.archive_lines import HandLine
from firmware.record.journal.journal import Entry
from firmware.rules import Currency
from firmware.rules.profiles.document import option_name
from firmware.rules.recorded_settlement import read_settlement
from firmware.table import events as ev

_BRIEF: Final = 110
"""Characters of a row's payload in the text output; --json has all of it."""


def when(wall_ms: int) -> str:
    """Return a row's time in this machine's time zone.

    >>> when(86_400_000)[:7]
    '1970-01'
    """
    return datetime.fromtimestamp(wall_ms / 1000).astimezone().isoformat(" ", "seconds")


def line_text(line: HandLine, *, is_on_table: bool = False) -> str:
    """Return one hand of the list as text. `is_on_table`: it was reopened, and is not closed again."""
    reopened = f"reopened {line.reopened}×" if line.reopened else ""
    seats = "  ".join(_seat(seat.player, seat.points, seat.foul, seat.natural) for seat in line.seats)
    marks = [
        "RECORD CHANGED" if line.changed else "",
        "" if line.outcome == "settled" else line.outcome,
        f"{line.corrections} corrected" if line.corrections else "",
        "reopened on the table now" if is_on_table else reopened,
        "UNDER DISPUTE" if line.disputed else "was disputed" if line.disputes else "",
        "reviewed" if line.reviewed else "",
        f"{line.lost} pictures lost" if line.lost else "",
    ]
    dealer = f"  {line.dealer}" if line.dealer else ""
    flags = ", ".join(filter(None, marks))
    marked = f"  [{flags}]" if flags else ""
    return f"{line.hand:>7}  {when(line.opened_ms)[:19]}  {line.profile}{dealer}  {seats}{marked}"


def _seat(player: str, points: int | None, foul: bool, natural: str | None) -> str:
    marks = " foul" if foul else f" {natural}" if natural else ""
    return f"{player} {points:+d}{marks}" if points is not None else player


def line_json(line: HandLine) -> dict[str, Any]:
    """Return one hand of the list as JSON data; the fields are those of `HandLine`."""
    fields = {name: value for name, value in vars(line).items() if name not in ("seats", "names")}
    return fields | {"seats": [vars(seat) for seat in line.seats]}


def hand_text(hand: Hand, images: list[Image]) -> Iterator[str]:
    """Yield a hand's timeline, its images, and every settlement that was shown."""
    opened = hand.opened
    seats = ", ".join(f"seat {seat.seat} {seat.player}" for seat in opened.seats)
    table = f" at table {opened.house.table}" if opened.house.table else ""
    yield f"Hand {hand.hand}{table}: {opened.profile}, {opened.house.currency.say(opened.unit)} a point; {seats}"
    if hand.disputed:
        yield "This hand is UNDER DISPUTE."
    yield ""
    for row in (*hand.play, *hand.later):
        yield f"{row.seq:>9}  {when(row.wall_ms)[:19]}  {row.actor:<16}  {row.type:<20}  {_brief(row)}"
    if images:
        yield ""
    for image in images:
        yield f"image {image.capture.name}  row {image.row}  {image.capture.size} bytes  {image.state}"
    for row in hand.settlements:
        event = row.event
        assert isinstance(event, ev.HandSettled)
        yield ""
        yield f"As settled and shown at {when(row.wall_ms)[:19]} (row {row.seq}):"
        yield from settlement_lines(event.settlement, opened.house.currency)


def _brief(row: Entry) -> str:
    event = row.event
    if isinstance(event, ev.ReadingTaken):
        rows = [f"{r.seat} {r.row}: {' '.join(c.card or '??' for c in r.cards)}" for r in event.rows]
        return "; ".join(rows)
    if isinstance(event, ev.HandOpened | ev.HandSettled | ev.HandReopened):
        return ""
    text = "" if row.payload == "{}" else row.payload
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


def settlement_lines(settlement: Mapping[str, Any], currency: Currency) -> Iterator[str]:
    """Yield the payments with their reasons, each point with its clause."""
    found = read_settlement(settlement)
    for pair in found.pairs:
        payer, winner = pair.payer_winner
        paid = f"seat {payer} pays seat {winner} {currency.say(pair.paid)}" if pair.paid else "nothing"
        yield f"  seats {pair.a} and {pair.b}: {paid}"
        for line in pair.lines:
            yield f"    {line.points:+d}  {line.message}  ({option_name(line.clause)})"
    stacks = ", ".join(f"{player} {currency.say(cents)}" for player, cents in found.stacks.items())
    if stacks:
        yield f"  stacks then: {stacks}"


def hand_json(hand: Hand, images: list[Image]) -> dict[str, Any]:
    """Return a hand with its rows as chained, its images and the settlements that were shown."""
    return {
        "hand": hand.hand,
        "disputed": hand.disputed,
        "rows": [_row(row) for row in hand.rows],
        "later": [_row(row) for row in hand.later],
        "images": [
            {
                "name": i.capture.name,
                "sha256": i.capture.sha256,
                "size": i.capture.size,
                "row": i.row,
                "state": i.state,
            }
            for i in images
        ],
        "settlements": [
            {"row": row.seq, "wall_ms": row.wall_ms} | json.loads(row.payload) for row in hand.settlements
        ],
    }


def _row(row: Entry) -> dict[str, Any]:
    return row._asdict() | {"payload": json.loads(row.payload)}
