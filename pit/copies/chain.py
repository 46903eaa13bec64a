"""A chain of houses: each publishes chosen columns without names, a head office subscribes to all of them.

PostgreSQL's logical replication does it. The head office's tables have the same names and columns, in a partition for
each house. No column holds a name of a player, a dealer or a profile, a card, a picture or the text of a row.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import psycopg
from psycopg import sql

from pit.errors import ChainError
from pit.store.database import LONG_JOB, Connection, first_line

PUBLICATION: Final = "feltwatch_chain"
_COUNTS: Final = ("fouls", "naturals", "cards", "unsure", "reopened")
COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "house": {"house": "uuid", "name": "text"},
    "record": {
        **{"house": "uuid", "record_id": "bigint", "table_id": "bigint", "opened_at": "timestamptz"},
        **{"genesis": "text", "branch": "int", "stem": "bigint"},
    },
    "head": {
        **{"house": "uuid", "record_id": "bigint", "seq": "bigint", "table_seq": "bigint"},
        **{"heard_at": "timestamptz", "release": "text", "fork_seq": "bigint"},
    },
    "hand": {
        **{
            "house": "uuid",
            "record_id": "bigint",
            "hand": "bigint",
            "opened_ms": "bigint",
            "ended_ms": "bigint",
        },
        **{"outcome": "text", "down": "bigint", "disputed": "boolean"},
        **dict.fromkeys(
            ("settled", "corrections", *_COUNTS, "irregularities", "disputes", "reviewed"), "int"
        ),
    },
    "down_total": {
        **{"house": "uuid", "record_id": "bigint", "began_seq": "bigint", "down": "bigint"},
        **dict.fromkeys(("began_ms", "ended_ms", "collection", "reading_ms"), "bigint"),
        **dict.fromkeys(
            ("hands", "voids", "misdeals", *_COUNTS, "corrected", "errors", "faults", "readings"), "int"
        ),
    },
    "epoch": {"house": "uuid", "epoch": "bigint", "origin": "text", "opened_at": "timestamptz"},
    "checkpoint": {"house": "uuid", "epoch": "bigint", "size": "bigint", "note": "text", "at": "timestamptz"},
}
"""What leaves a house: tables, their columns and types."""
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "house": ("house",),
    "record": ("house", "record_id"),
    "head": ("house", "record_id"),
    "hand": ("house", "record_id", "hand"),
    "down_total": ("house", "record_id", "began_seq"),
    "epoch": ("house", "epoch"),
    "checkpoint": ("house", "epoch", "size"),
}
"""What a row is known by at the head office."""


@dataclass(frozen=True)
class ChainHouse:
    """A house, as the head office has it."""

    house: str
    name: str
    is_followed: bool
    """Whether changes come from it now."""
    hands: int
    heard_at: datetime | None
    """When the house last heard of one of its tables."""


def publish(url: str, name: str, reader: str) -> str:
    """Publish the chosen columns under the house's name, as the tables' owner; return the house's number.

    `reader`: the role by which the head office comes; it may read these columns and nothing else. Twice is once. Raises
    ChainError.
    """
    who = sql.Identifier(reader)
    with _connect(url) as connection:
        row = connection.execute("UPDATE house SET name = %s RETURNING house::text", (name,)).fetchone()
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(who))
        tables = []
        for table, key in KEYS.items():
            index, columns = (
                sql.Identifier(f"{table}_of_house"),
                sql.SQL(", ").join(map(sql.Identifier, COLUMNS[table])),
            )
            named = sql.Identifier(table)
            connection.execute(
                sql.SQL("CREATE UNIQUE INDEX IF NOT EXISTS {} ON {} ({})").format(
                    index, named, sql.SQL(", ").join(map(sql.Identifier, key))
                )
            )
            connection.execute(sql.SQL("ALTER TABLE {} REPLICA IDENTITY USING INDEX {}").format(named, index))
            connection.execute(sql.SQL("GRANT SELECT ({}) ON {} TO {}").format(columns, named, who))
            tables.append(sql.SQL("{} ({})").format(named, columns))
        publication = sql.Identifier(PUBLICATION)
        if not connection.execute(
            "SELECT 1 FROM pg_publication WHERE pubname = %s", (PUBLICATION,)
        ).fetchone():
            connection.execute(sql.SQL("CREATE PUBLICATION {}").format(publication))
        connection.execute(
            sql.SQL("ALTER PUBLICATION {} SET TABLE {}").format(publication, sql.SQL(", ").join(tables))
        )
        level = connection.execute("SHOW wal_level").fetchone()
    assert row is not None
    assert level is not None
    if level[0] != "logical":
        raise ChainError(
            "It is published, but PostgreSQL's wal_level is %(level)s. Set it and restart PostgreSQL: "
            "ALTER SYSTEM SET wal_level = 'logical'",
            level=str(level[0]),
        )
    return str(row[0])


def withdraw(url: str, reader: str) -> None:
    """Publish nothing any more; the reader may read nothing. Raises ChainError.

    A head office that is to follow again afterwards begins again: `subscribe(again=True)`.
    """
    with _connect(url) as connection:
        connection.execute(sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(PUBLICATION)))
        for table in KEYS:
            named, index = sql.Identifier(table), sql.Identifier(f"{table}_of_house")
            connection.execute(sql.SQL("ALTER TABLE {} REPLICA IDENTITY DEFAULT").format(named))
            connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(index))
            connection.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(named, sql.Identifier(reader)))


def make_head_office(url: str) -> None:
    """Make the head office's tables. Twice is once. Raises ChainError."""
    with _connect(url) as connection:
        for table, columns in COLUMNS.items():
            described = sql.SQL(", ").join(
                sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind))
                for column, kind in columns.items()
            )
            key = sql.SQL(", ").join(map(sql.Identifier, KEYS[table]))
            connection.execute(
                sql.SQL(
                    "CREATE TABLE IF NOT EXISTS {} ({}, PRIMARY KEY ({})) PARTITION BY LIST (house)"
                ).format(sql.Identifier(table), described, key)
            )
            for column, kind in columns.items():  # of a head office that an earlier release made
                connection.execute(
                    sql.SQL("ALTER TABLE {} ADD COLUMN IF NOT EXISTS {} {}").format(
                        sql.Identifier(table), sql.Identifier(column), sql.SQL(kind)
                    )
                )


def subscribe(url: str, house_url: str, *, again: bool = False) -> str:
    """Follow a house at the head office, as a superuser there; return the house's number. Raises ChainError.

    `house_url`: the house's database, as its reader; PostgreSQL keeps it. With `again`, what is there of the house is
    removed and copied again: after the house had to drop the changes that it kept for a head office that stayed away.
    """
    with _connect(house_url) as asked:
        row = asked.execute("SELECT house::text, name FROM house").fetchone()
    if row is None:
        raise ChainError("The database there is no house's.")
    number, name = str(row[0]), str(row[1])
    with _connect(url) as connection:
        connection.autocommit = True
        there = connection.execute(
            "SELECT 1 FROM pg_subscription WHERE subname = %s", (_slot(number),)
        ).fetchone()
        if there and not again:
            raise ChainError("%(name)s is followed already.", name=name or number)
        if there:
            _forget(connection, number)
        with _connect(house_url) as asked:
            _free_slot(asked, _slot(number))
        with connection.transaction():
            for table in COLUMNS:
                part = sql.Identifier(f"{table}_{number}")
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(part))
                connection.execute(
                    sql.SQL("CREATE TABLE {} PARTITION OF {} FOR VALUES IN ({})").format(
                        part, sql.Identifier(table), sql.Literal(number)
                    )
                )
        connection.execute(
            sql.SQL("CREATE SUBSCRIPTION {} CONNECTION {} PUBLICATION {}").format(
                sql.Identifier(_slot(number)), sql.Literal(house_url), sql.Identifier(PUBLICATION)
            )
        )
    return number


_LATER: Final = (
    "SELECT FROM record later WHERE later.house = r.house"
    " AND later.genesis = r.genesis AND later.branch > r.branch"
)
"""Another branch of the record `r`, which has its hands, too: a restored table's are counted once."""


def houses(url: str) -> list[ChainHouse]:
    """Return the houses that the head office follows. Raises ChainError."""
    with _connect(url) as connection:
        rows = connection.execute(
            "SELECT house::text, name,"
            " EXISTS (SELECT FROM pg_stat_subscription s WHERE s.subname = 'house_' || replace(house::text, '-', '')"
            "         AND s.relid IS NULL AND s.pid IS NOT NULL),"
            " (SELECT count(*) FROM hand JOIN record r USING (house, record_id) WHERE hand.house = house.house"
            f"  AND NOT EXISTS ({_LATER})),"
            " (SELECT max(heard_at) FROM head WHERE head.house = house.house) FROM house ORDER BY name, house"
        ).fetchall()
    return [ChainHouse(*row) for row in rows]


def _slot(number: str) -> str:
    """Return the name of a house's subscription, and of its slot there."""
    return f"house_{number.replace('-', '')}"


def _forget(connection: Connection, number: str) -> None:
    """Drop a subscription, whatever is left of its slot at the house."""
    named = sql.Identifier(_slot(number))
    connection.execute(sql.SQL("ALTER SUBSCRIPTION {} DISABLE").format(named))
    connection.execute(sql.SQL("ALTER SUBSCRIPTION {} SET (slot_name = NONE)").format(named))
    connection.execute(sql.SQL("DROP SUBSCRIPTION {}").format(named))


def _free_slot(asked: Connection, slot: str) -> None:
    """End what still uses a slot of a subscription that is gone, and drop the slot."""
    asked.autocommit = True
    asked.execute(
        "SELECT pg_terminate_backend(active_pid, 10000) FROM pg_replication_slots"
        " WHERE slot_name = %s AND active_pid IS NOT NULL",
        (slot,),
    )
    asked.execute(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", (slot,)
    )


@contextmanager
def _connect(url: str) -> Iterator[Connection]:
    try:
        with psycopg.connect(url, options=LONG_JOB.options) as connection:
            yield connection
    except psycopg.Error as error:
        raise ChainError("The database did not do it (%(why)s).", why=first_line(error)) from error
