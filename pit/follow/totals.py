"""Totals for reports, from the downs as the tables' own report counts them; drift against a table's last days."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from firmware.record.shift_counts import Counts, Down, Report
from firmware.record.shift_report import HOUR_MS
from pit.follow.search import GAME_HASH
from pit.store.database import Database, rows_by_name

DAYS: Final = 14
MIN_DAYS: Final = 5
"""Days of its own that a table needs before anything is called unusual."""
MIN_CARDS: Final = 200
"""Cards in a day below which a share says nothing."""
_NAMES: Final = tuple(vars(Counts()))
_SUMS: Final = ", ".join(f"sum({name})::bigint AS {name}" for name in _NAMES)
DOWN: Final = f"dealer, down, began_ms, ended_ms, {', '.join(_NAMES)}"
"""The columns of a down."""
DAY_MS: Final = 86_400_000


@dataclass(frozen=True)
class Span:
    """From `since_ms` to before `until_ms`, UTC milliseconds; a table, or all."""

    since_ms: int
    until_ms: int
    table: str = ""


@dataclass(frozen=True)
class TableDown:
    """A dealer's down, at which table. `is_open`: it was the dealer's at the last row that the pit has."""

    table_id: int
    table: str
    is_open: bool
    down: Down


@dataclass(frozen=True)
class Group:
    """The totals of one table, dealer or game."""

    name: str
    counts: Counts


def counts_of(row: Mapping[str, Any]) -> Counts:
    """Return the counts in a row, by their names; one that is not in it is 0."""
    return Counts(**{name: int(row[name]) for name in _NAMES if name in row})


def down_of(row: Mapping[str, Any]) -> Down:
    """Return the down in a row with the columns `DOWN`."""
    return Down(row["dealer"], row["down"], row["began_ms"], row["ended_ms"], counts_of(row))


def report_of(database: Database, span: Span) -> Report:
    """Return the downs that began in a span as the tables' own report has them. Raises DatabaseError."""
    where, values = _where(span)
    with database.transaction() as connection:
        downs = [
            down_of(row)
            for row in rows_by_name(
                connection,
                f"SELECT {DOWN} FROM counted_down JOIN gaming_table USING (table_id) WHERE {where} ORDER BY began_ms",
                values,
            )
        ]
        hours = connection.execute(
            f"SELECT ended_ms / {HOUR_MS} * {HOUR_MS}, count(*) FROM counted_hand JOIN gaming_table USING (table_id)"
            " WHERE outcome = 'settled' AND opened_ms >= %s AND opened_ms < %s AND (%s = '' OR name = %s)"
            " GROUP BY 1 ORDER BY 1",
            (span.since_ms, span.until_ms, span.table, span.table),
        ).fetchall()
    kept = tuple(down for down in downs if down.dealer or any(vars(down.counts).values()))
    if not kept:
        return Report()
    began, ended = min(down.began_ms for down in kept), max(down.ended_ms for down in kept)
    return Report(began, ended, kept, (), tuple((int(hour), int(count)) for hour, count in hours))


def downs_of(database: Database, span: Span, dealer: str, most: int) -> list[TableDown]:
    """Return the newest downs of a dealer, or of all, the oldest of them first. Raises DatabaseError."""
    where, values = _where(span)
    with database.transaction() as connection:
        rows = rows_by_name(
            connection,
            f"SELECT table_id, name, coalesce(down_seq = began_seq, false) AS is_open, {DOWN}"
            " FROM counted_down JOIN gaming_table USING (table_id)"
            f" LEFT JOIN table_now USING (record_id) WHERE {where} AND dealer <> '' AND (%s = '' OR dealer = %s)"
            " ORDER BY began_ms DESC, record_id DESC LIMIT %s",
            [*values, dealer, dealer, most],
        )
    return [TableDown(row["table_id"], row["name"], row["is_open"], down_of(row)) for row in reversed(rows)]


def by_table(database: Database, span: Span) -> list[Group]:
    """Return the totals of each table. Raises DatabaseError."""
    return _group_by(database, span, "gaming_table.name")


def by_dealer(database: Database, span: Span) -> list[Group]:
    """Return the totals of each dealer, over all tables. Raises DatabaseError."""
    return _group_by(database, span, "dealer")


def _group_by(database: Database, span: Span, by: str) -> list[Group]:
    where, values = _where(span)
    with database.transaction() as connection:
        rows = rows_by_name(
            connection,
            f"SELECT {by} AS by, {_SUMS} FROM counted_down JOIN gaming_table USING (table_id) WHERE {where}"
            " GROUP BY 1 ORDER BY 1",
            values,
        )
    groups = (Group(row["by"], counts_of(row)) for row in rows)
    return [group for group in groups if any(vars(group.counts).values())]


def by_game(database: Database, span: Span) -> list[Group]:
    """Return the totals of each game, from its hands: faults and the collection belong to downs, not to games.

    Games of one name under different rules have each its own, with the beginning of the rules' hash in its name.
    """
    with database.transaction() as connection:
        rows = rows_by_name(
            connection,
            "SELECT profile, game, count(*) FILTER (WHERE outcome = 'settled') AS hands,"
            " count(*) FILTER (WHERE outcome = 'void') AS voids,"
            " count(*) FILTER (WHERE outcome = 'misdeal') AS misdeals,"
            " sum(fouls) AS fouls, sum(naturals) AS naturals, sum(reopened) AS reopened,"
            " sum(corrections) AS corrected, sum(cards) AS cards, sum(unsure) AS unsure"
            " FROM counted_hand JOIN gaming_table USING (table_id)"
            " WHERE outcome <> 'open' AND opened_ms >= %s AND opened_ms < %s AND (%s = '' OR name = %s)"
            " GROUP BY 1, 2 ORDER BY 1, 2",
            (span.since_ms, span.until_ms, span.table, span.table),
        )
    times = Counter(row["profile"] for row in rows)
    return [
        Group(
            f"{row['profile']} {row['game'][:GAME_HASH]}".strip()
            if times[row["profile"]] > 1
            else row["profile"],
            counts_of(row),
        )
        for row in rows
    ]


def _where(span: Span) -> tuple[str, list[Any]]:
    return (
        "began_ms >= %s AND began_ms < %s AND (%s = '' OR gaming_table.name = %s)",
        [span.since_ms, span.until_ms, span.table, span.table],
    )


# ---- drift ----


class Day(NamedTuple):
    """One table's figures of one day; `day` counts from 1970. Shares are of the cards read; `reading_s` is a mean."""

    day: int
    hands: int
    cards: int
    unsure: float | None
    errors: float | None
    reading_s: float | None


class UnusualFigure(NamedTuple):
    """A figure of today that is above all of the last days: which, today's, and the range of those."""

    what: str
    today: str
    usual: str


def days_of(database: Database, now_ms: int, table: str = "") -> Mapping[tuple[int, str], list[Day]]:
    """Return the last days of every table, or of one, by record and table name, the oldest day first."""
    with database.transaction() as connection:
        rows = connection.execute(
            f"SELECT record_id, gaming_table.name, began_ms / {DAY_MS}, sum(hands), sum(cards), sum(unsure),"
            " sum(errors), sum(readings), sum(reading_ms) FROM counted_down"
            " JOIN gaming_table USING (table_id) WHERE began_ms >= %s AND (%s = '' OR gaming_table.name = %s)"
            " GROUP BY 1, 2, 3 ORDER BY 1, 3",
            ((now_ms // DAY_MS - DAYS) * DAY_MS, table, table),
        ).fetchall()
    found: dict[tuple[int, str], list[Day]] = {}
    for record_id, name, day, *sums in rows:
        hands, cards, unsure, errors, readings, ms = map(int, sums)
        found.setdefault((record_id, name), []).append(
            Day(
                int(day),
                hands,
                cards,
                unsure / cards if cards else None,
                errors / cards if cards else None,
                ms / readings / 1000 if readings else None,
            )
        )
    return found


def unusual(database: Database, now_ms: int) -> Mapping[int, tuple[UnusualFigure, ...]]:
    """Return what is unusual today, by record. Raises DatabaseError."""
    today = now_ms // DAY_MS
    found = ((record, tuple(outside(days, today))) for (record, _), days in days_of(database, now_ms).items())
    return {record: figures for record, figures in found if figures}


def outside(days: list[Day], today: int) -> Iterator[UnusualFigure]:
    """Yield the figures of today that are above the range of the days before it. Pure."""
    now = next((day for day in days if day.day == today and day.cards >= MIN_CARDS), None)
    before = [day for day in days if today - DAYS <= day.day < today and day.cards >= MIN_CARDS]
    if now is None or len(before) < MIN_DAYS:
        return
    for what, index in (("unsure", 3), ("errors", 4), ("reading", 5)):
        value, usual = now[index], [float(seen) for day in before if (seen := day[index]) is not None]
        if value is not None and usual and value > max(usual):
            yield UnusualFigure(
                what, _figure(what, value), f"{_figure(what, min(usual))} – {_figure(what, max(usual))}"
            )


def _figure(what: str, value: float) -> str:
    return f"{value:.1f} s" if what == "reading" else f"{100 * value:.2f} %"
