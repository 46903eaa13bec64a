"""The list of hands of all tables, page by page, and the queue of disputes. Hands that lie on a table are not in it.

Pages are keyed by the last hand shown, not counted: the thousandth page costs what the first does. Each filter has an
index that begins with it; a test reads the plans.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from firmware.record.archive_lines import SeatLine
from firmware.table.events import HandDisputed
from pit.store.database import Connection, Database, rows_by_name

PAGE: Final = 50
GAME_HASH: Final = 8
"""The letters of a game's hash that stand behind its name, where several games have that name."""
MARKS: Final = {
    "foul": "hand.fouls > 0",
    "natural": "hand.naturals > 0",
    "corrected": "(hand.corrections > 0 OR hand.reopened > 0)",
    "disputed": "hand.disputes > 0",
}
"""What a hand may be listed for, as the partial indexes have it."""
_COLUMNS: Final = (
    "record_id, hand, opened_ms, outcome, profile, dealer, down, fouls, naturals, corrections, reopened, disputes,"
    " disputed, images"
)
"""Columns of `listed_hand`, under the name `hand`."""
_LINE: Final = ", ".join(f"hand.{name}" for name in _COLUMNS.split(", "))


class Key(NamedTuple):
    """A hand's place in the list."""

    opened_ms: int
    record_id: int
    hand: int


@dataclass(frozen=True)
class SearchFilter:
    """A filter; all given values must match. UTC milliseconds, from `since_ms` to before `until_ms`."""

    player: str = ""
    dealer: str = ""
    table: str = ""
    profile: str = ""
    """A game's name, and with `by_game`'s hash behind it only the game of these rules."""
    marks: frozenset[str] = frozenset()
    since_ms: int | None = None
    until_ms: int | None = None
    before: Key | None = None


@dataclass(frozen=True)
class FoundHand:
    """One hand of the list."""

    table: str
    record_id: int
    hand: int
    opened_ms: int
    outcome: str
    profile: str
    dealer: str
    down: int
    fouls: int
    naturals: int
    corrections: int
    reopened: int
    disputes: int
    disputed: bool
    images: int
    seats: tuple[SeatLine, ...] = ()

    @property
    def key(self) -> Key:
        """Its place in the list."""
        return Key(self.opened_ms, self.record_id, self.hand)


def query(wanted: SearchFilter, limit: int = PAGE) -> tuple[str, list[Any]]:
    """Return the SQL of a page of the list, and its values."""
    by_player = bool(wanted.player)
    source = "s" if by_player else "hand"
    where, values = ["hand.outcome <> 'open'"], list[Any]()
    if by_player:
        where.append("s.player = %s")
        values.append(wanted.player)
    profile, _, game = wanted.profile.partition(" ")
    for text, value in (
        ("hand.dealer = %s", wanted.dealer),
        ("hand.profile = %s", profile),
        (f"left(hand.game, {GAME_HASH}) = %s", game),
    ):
        if value:
            where.append(text)
            values.append(value)
    where += [MARKS[mark] for mark in sorted(wanted.marks)]
    for text, number in ((">=", wanted.since_ms), ("<", wanted.until_ms)):
        if number is not None:
            where.append(f"{source}.opened_ms {text} %s")
            values.append(number)
    if wanted.before is not None:
        where.append(f"({source}.opened_ms, {source}.record_id, {source}.hand) < (%s, %s, %s)")
        values += wanted.before
    clause = " AND ".join(where)
    order = f"{source}.opened_ms DESC, {source}.record_id DESC, {source}.hand DESC LIMIT {limit:d}"
    hands = (
        "hand_seat s JOIN listed_hand hand ON (hand.record_id, hand.hand) = (s.record_id, s.hand)"
        if by_player
        else "listed_hand hand"
    )
    if wanted.table:  # record by record: each has its hands in order, and a table has few records
        inner = order.replace(f"{source}.record_id DESC, ", "")
        return (
            f'SELECT t.name AS "table", {_LINE} FROM gaming_table t JOIN record r USING (table_id) CROSS JOIN LATERAL'
            f" (SELECT {_LINE} FROM {hands} WHERE hand.record_id = r.record_id AND {clause}"
            f" ORDER BY {inner}) hand WHERE t.name = %s ORDER BY hand.opened_ms DESC, hand.record_id DESC,"
            f" hand.hand DESC LIMIT {limit:d}"
        ), [*values, wanted.table]
    return (
        f'SELECT t.name AS "table", {_LINE} FROM {hands} JOIN gaming_table t ON t.table_id = hand.table_id'
        f" WHERE {clause}"
        f" ORDER BY {order}"
    ), values


def search(database: Database, wanted: SearchFilter, limit: int = PAGE) -> list[FoundHand]:
    """Return a page of the list, the newest hand first. Raises DatabaseError."""
    with database.transaction() as connection:
        text, values = query(wanted, limit)
        return _with_seats(connection, [FoundHand(**row) for row in rows_by_name(connection, text, values)])


def _with_seats(connection: Connection, found: list[FoundHand]) -> list[FoundHand]:
    keys = [(one.record_id, one.hand) for one in found]
    rows = rows_by_name(
        connection,
        'SELECT record_id, hand, seat, player, points, foul, "natural" FROM hand_seat'
        " JOIN unnest(%s::bigint[], %s::bigint[]) AS wanted(record_id, hand) USING (record_id, hand) ORDER BY seat",
        ([record for record, _ in keys], [hand for _, hand in keys]),
    )
    seats: dict[tuple[int, int], list[SeatLine]] = {}
    for row in rows:
        seats.setdefault((row.pop("record_id"), row.pop("hand")), []).append(SeatLine(**row))
    return [replace(one, seats=tuple(seats.get((one.record_id, one.hand), ()))) for one in found]


def names(database: Database, column: str) -> list[str]:
    """Return all dealers, or all profiles, by skipping through the index. Raises DatabaseError."""
    assert column in ("dealer", "profile")
    text = (
        f"WITH RECURSIVE each(name) AS ((SELECT {column} FROM hand WHERE outcome <> 'open' ORDER BY {column} LIMIT 1)"
        f" UNION ALL SELECT (SELECT {column} FROM hand WHERE outcome <> 'open' AND {column} > name"
        f" ORDER BY {column} LIMIT 1) FROM each WHERE name IS NOT NULL)"
        " SELECT name FROM each WHERE name <> '' ORDER BY name"
    )
    with database.transaction() as connection:
        return [name for (name,) in connection.execute(text)]


# ---- records and disputes ----


@dataclass(frozen=True)
class Record:
    """A record with its table; `last` is its last finished hand, `heard_ms` when its table was heard of."""

    record_id: int
    table_id: int
    table: str
    branch: int
    heard_ms: int
    last: int = 0


def record_of(database: Database, record_id: int) -> Record | None:
    """Return a record, None if there is none of this number. Raises DatabaseError."""
    with database.transaction() as connection:
        row = connection.execute(
            "SELECT record_id, table_id, name, branch, (extract(epoch FROM heard_at) * 1000)::bigint,"
            " coalesce((SELECT max(hand) FROM hand WHERE hand.record_id = record.record_id AND outcome <> 'open'), 0)"
            " FROM record JOIN gaming_table USING (table_id) JOIN head USING (record_id) WHERE record_id = %s",
            (record_id,),
        ).fetchone()
    return Record(*row) if row else None


LATE_MS: Final = 600_000
"""Milliseconds between a dispute and its arrival from which on the page says when it came."""


@dataclass(frozen=True)
class Dispute:
    """A hand under dispute, and what was said of it.

    `since_ms` is the table's time of it, never later than `came_ms`, when the pit took the row. Both are UTC.
    """

    found: FoundHand
    since_ms: int
    came_ms: int
    reason: str
    by: str

    @property
    def came_late(self) -> bool:
        """Whether the row came long after its time: the table was off, or dates it in the past."""
        return self.came_ms - self.since_ms > LATE_MS


def disputes(database: Database) -> list[Dispute]:
    """Return the open disputes of all tables, the oldest first. Raises DatabaseError."""
    with database.transaction() as connection:
        rows = rows_by_name(
            connection,
            f'SELECT t.name AS "table", {_LINE}, least(e.wall_ms, c.ms) AS since_ms, c.ms AS came_ms,'
            " e.payload, e.actor FROM listed_hand hand"
            " JOIN gaming_table t USING (table_id)"
            " CROSS JOIN LATERAL (SELECT seq FROM place WHERE place.record_id = hand.record_id AND type = %s"
            "  AND place.hand = hand.hand ORDER BY seq DESC LIMIT 1) p"
            " JOIN entry_disputed e ON e.record_id = hand.record_id AND e.seq = p.seq"
            " CROSS JOIN LATERAL (SELECT (1000 * extract(epoch FROM e.taken_at))::bigint AS ms) c"
            " WHERE hand.disputed ORDER BY least(e.wall_ms, c.ms)",
            (HandDisputed.type,),
        )
        details = [
            (row.pop("since_ms"), row.pop("came_ms"), _reason(row.pop("payload")), row.pop("actor"))
            for row in rows
        ]
        hands = _with_seats(connection, [FoundHand(**row) for row in rows])
    return [Dispute(hand, *one) for hand, one in zip(hands, details, strict=True)]


def _reason(payload: str) -> str:
    try:
        return str(json.loads(payload)["reason"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""  # one table's row keeps nobody's dispute from the queue


@dataclass(frozen=True)
class Hour:
    """The house's last hour: hands, cards read and asked of them, and the collection of the gaming day."""

    hands: int = 0
    cards: int = 0
    unsure: int = 0
    collection: int = 0
    disputes: int = field(default=0)


def last_hour(database: Database, now_ms: int) -> Hour:
    """Return the sums of the last hour; the collection is of the last twelve. Raises DatabaseError."""
    with database.transaction() as connection:
        row = connection.execute(
            "SELECT count(*), coalesce(sum(cards), 0), coalesce(sum(unsure), 0),"
            " (SELECT coalesce(sum(collection), 0) FROM counted_down WHERE began_ms > %s),"
            " (SELECT count(*) FROM listed_hand WHERE disputed)"
            " FROM counted_hand WHERE outcome <> 'open' AND opened_ms > %s",
            (now_ms - 12 * 3_600_000, now_ms - 3_600_000),
        ).fetchone()
    assert row is not None
    return Hour(*map(int, row))
