"""Rows by the month in which they were taken: making the next month's part, and moving an old one to another disk.

Nothing here removes a row. A month that is moved is copied and compared, then the copy takes its place.
"""

import re
from typing import Final, NamedTuple

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from pit.errors import PitError
from pit.store.database import Connection, Database

MAKE: Final = "SELECT make_entry_month(at) FROM unnest(ARRAY[now(), now() + interval '1 month']) AS at"
_MONTH: Final = re.compile(r"\d{4}-\d{2}")
_NO_PLACE: Final = (
    *(psycopg.errors.UndefinedObject, psycopg.errors.InsufficientPrivilege),
    psycopg.errors.InvalidParameterValue,
)
"""What a tablespace that is none, or is another's, raises."""
_PARTS: Final = """
SELECT c.oid::regclass::text, (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(c.oid) WHERE isleaf),
       coalesce(nullif(s.spcname, ''), 'pg_default'),
       (SELECT sum(greatest(p.reltuples, 0))::bigint FROM pg_partition_tree(c.oid) t JOIN pg_class p ON p.oid = t.relid
        WHERE isleaf)
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
WHERE i.inhparent = 'entry'::regclass ORDER BY 1
"""


class Month(NamedTuple):
    """The part of a month: bytes on disk, tablespace, rows as estimated."""

    name: str
    size: int
    tablespace: str
    rows: int


def make_months(connection: Connection) -> None:
    """Make the parts for rows of this month and the next, where they lack."""
    connection.execute(MAKE)


def list_months(connection: Connection) -> list[Month]:
    """Return the months that have a part, the oldest first."""
    parts = connection.execute(_PARTS)
    return [
        Month(name.removeprefix("entry_").replace("_", "-"), int(size or 0), *more)
        for name, size, *more in parts
    ]


def move(database: Database, month: str, tablespace: str) -> int:
    """Move a past month's rows to another tablespace; return how many. Tables go on, pages read on meanwhile.

    Raises PitError for a month that is not past or has no part, and where the tablespace cannot take it; DatabaseError.
    """
    if not _MONTH.fullmatch(month):
        raise PitError("A month is written as in 2026-11.")
    old = f"entry_{month.replace('-', '_')}"
    new = f"{old}_moved"
    with database.transaction() as connection:
        found = {one.name: one for one in list_months(connection)}
        if month not in found:
            raise PitError("There are no rows of %(month)s by themselves. feltwatch pit months", month=month)
        if found[month].tablespace == tablespace:
            return 0
        row = connection.execute("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')").fetchone()
        if row is None or month >= row[0]:
            raise PitError("%(month)s is not over: its rows still come.", month=month)
        try:
            return _move(connection, sql.Identifier(old), sql.Identifier(new), month, tablespace)
        except _NO_PLACE as error:
            raise PitError(
                "The tablespace %(name)s cannot be used (%(why)s). Make it first, as the book says.",
                name=tablespace,
                why=str(error).partition("\n")[0],
            ) from error


def _move(
    connection: Connection, old: sql.Identifier, new: sql.Identifier, month: str, tablespace: str
) -> int:
    connection.execute(
        "SELECT set_config('default_tablespace', %s, true), set_config('timezone', 'UTC', true)",
        (tablespace,),
    )
    bounds = connection.execute(
        "SELECT at::text, (at + interval '1 month')::text FROM (SELECT %s::timestamptz AS at) AS first",
        (f"{month}-01 00:00+00",),
    ).fetchone()
    assert bounds is not None
    first, end = map(sql.Literal, bounds)
    (owner,) = connection.execute(
        "SELECT rolname FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner WHERE pg_class.oid = 'entry'::regclass"
    ).fetchone() or ("",)

    def run(statement: str) -> psycopg.Cursor[TupleRow]:
        names = {"old": old, "new": new, "first": first, "end": end, "owner": sql.Identifier(owner)}
        return connection.execute(sql.SQL(statement).format(**names))

    run("LOCK TABLE {old} IN SHARE MODE")  # old rows of a table that is restored now wait
    run(
        "CREATE TABLE {new} (LIKE {old} INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING INDEXES,"
        " CONSTRAINT of_month CHECK (taken_at >= {first} AND taken_at < {end}))"
    )
    run("ALTER TABLE {new} OWNER TO {owner}")  # also where PostgreSQL's own user runs this
    run("INSERT INTO {new} SELECT * FROM {old} ORDER BY record_id, seq")
    sums = [
        run(f"SELECT count(*), bit_xor(hashtextextended(hash, seq)) FROM {{{one}}}").fetchone()
        for one in ("old", "new")
    ]
    if sums[0] != sums[1] or sums[0] is None:
        raise PitError("The copy differs from the rows. Nothing was changed.")
    # From here on readers wait, for milliseconds: the constraint saves looking at each row again.
    run("ALTER TABLE entry DETACH PARTITION {old}")
    run("DROP TABLE {old}")
    run("ALTER TABLE {new} RENAME TO {old}")
    run("ALTER TABLE entry ATTACH PARTITION {old} FOR VALUES FROM ({first}) TO ({end})")
    run("ALTER TABLE {old} DROP CONSTRAINT of_month")
    return int(sums[0][0])
