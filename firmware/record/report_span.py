"""Selects the stretch of the record for a shift report: a shift, a down, or a time span."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from firmware.record.journal.journal import Entry, JournalReader
from firmware.record.shift_counts import Report
from firmware.record.shift_report import HOUR_MS, report
from firmware.rules import Profile
from firmware.table.errors import CommandRefused, TableError
from firmware.table.events import HandOpened, canonical
from firmware.table.settling import rules_of

BREAK_MS: Final = 4 * HOUR_MS
"""After so long without an opened hand, the next hand begins a new shift."""
LONGEST_MS: Final = 24 * HOUR_MS
"""The longest shift, for a table that never pauses."""


@dataclass(frozen=True)
class Span:
    """A time span from `since_ms` to before `until_ms` (None: to the end of the record); UTC milliseconds."""

    since_ms: int = 0
    until_ms: int | None = None


def shift(reader: JournalReader) -> Span:
    """Return the last shift: from the first hand after the last break of `BREAK_MS`, at most `LONGEST_MS`.

    Raises JournalError.
    """
    return shift_before(reader, None) or Span()


def shift_before(reader: JournalReader, before_ms: int | None) -> Span | None:
    """Return the shift before the one that began at `before_ms` (None: the last shift); None if there is none.

    Raises JournalError.
    """
    first: Entry | None = None
    last_ms = 0
    for opening in _back(reader):
        if before_ms is not None and opening.wall_ms >= before_ms:
            continue
        last_ms = last_ms or opening.wall_ms
        if last_ms - opening.wall_ms > LONGEST_MS:
            break
        if first is not None and first.wall_ms - opening.wall_ms >= BREAK_MS:
            break
        first = opening
    return Span(first.wall_ms, before_ms) if first else None


def down_of(reader: JournalReader, number: int) -> Span:
    """Return the last down with this number. Raises CommandRefused if no hand was opened in it, JournalError."""
    after: Entry | None = None
    ends: int | None = None
    first: Entry | None = None
    for opening in _back(reader):
        if _opened_at(opening).down == number and _opened_at(opening).dealer:
            ends = ends or (after.wall_ms if after else None)
            first = opening
        elif first is not None:
            break
        else:
            after = opening
    if first is None:
        raise CommandRefused("No hand was opened in a down %(number)s.", number=number)
    return Span(first.wall_ms, ends)


def report_of_span(reader: JournalReader, span: Span) -> Report:
    """Return the report of a time span. Raises JournalError, UnknownEvent."""

    known: dict[str, Profile | None] = {}

    def rules(opened: HandOpened) -> Profile | None:
        key = canonical([opened.profile_hash, opened.options])
        if key not in known:
            try:
                known[key] = rules_of(opened, reader.content(opened.profile_hash))
            except TableError:
                known[key] = None  # so its collection is unknown
        return known[key]

    return report(_rows(reader, span), rules, since_ms=span.since_ms, until_ms=span.until_ms)


def _rows(reader: JournalReader, span: Span) -> Iterator[Entry]:
    """Yield the rows from the beginning of the down that was in progress when the span begins."""
    seq = _begins(reader, span.since_ms) - 1 if span.since_ms else 0
    while rows := reader.events_since(seq):
        yield from rows
        if span.until_ms is not None and rows[-1].wall_ms >= span.until_ms:
            return
        seq = rows[-1].seq


def _begins(reader: JournalReader, since_ms: int) -> int:
    inside: tuple[str, int] | None = None
    for opening in _back(reader):
        event = _opened_at(opening)
        if opening.wall_ms < since_ms:
            if inside is None or not event.dealer or (event.dealer, event.down) != inside:
                return opening.seq
        else:
            inside = (event.dealer, event.down)
    return 1


def _back(reader: JournalReader) -> Iterator[Entry]:
    """Yield the opening rows of hands, newest first."""
    before = 1 << 62
    while openings := reader.openings(before):
        yield from openings
        before = openings[-1].hand


def _opened_at(entry: Entry) -> HandOpened:
    event = entry.event
    assert isinstance(event, HandOpened)
    return event
