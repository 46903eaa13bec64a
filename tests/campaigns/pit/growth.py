"""How the pit's database grows, and what gets slower by it: a million hands of 200 tables over twelve months.

    python -m tests.campaigns.pit.growth --hands 100000 --hands 1000000 --write docs/pit-growth.md

The rows are those of hands that the demo played, written again by SQL with other numbers; their hashes are not made
again, because PostgreSQL does not look at them.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
import psycopg

from pit.follow.follower import Follower
from pit.follow.news import Source
from pit.follow.projector import project_in
from pit.follow.search import SearchFilter, search
from pit.log.heads import new_heads
from pit.status.tables import list_tables
from pit.store.database import Database, migrate
from tests.campaigns.pit.many_hands import BEGAN_MS, HAND_MS, fill
from tests.pit.postgres import Postgres
from tests.pit.sent import FollowedTable

TABLES: Final = 200
MONTHS: Final = 12
LOOKS: Final = 15
AT_A_TIME: Final = 20_000
PLAYED: Final = 12
EXTRAPOLATED: Final = 10_000_000
_PART: Final = """
CREATE TABLE entry_grown_{0} PARTITION OF entry FOR VALUES FROM ('2020-{0:02}-01 00:00+00') TO ('{1}-01 00:00+00');
ALTER TABLE entry_grown_{0} ADD PRIMARY KEY (record_id, seq)
"""
_TEMPLATE: Final = """
CREATE TABLE template AS
SELECT e.*, dense_rank() OVER (ORDER BY e.hand) - 1 AS played,
    row_number() OVER (PARTITION BY e.hand ORDER BY e.seq) AS at
FROM entry e JOIN record USING (record_id) JOIN gaming_table USING (table_id) WHERE name = 'Played' AND e.hand > 0
"""
_ROWS: Final = """
INSERT INTO entry (record_id, seq, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type, payload, previous,
    hash, taken_at)
SELECT h.record_id, 20 * h.hand + t.at, h.hand, boot, monotonic_ns, h.opened_ms, clock, actor, command, type, payload,
    md5(h.record_id || '-' || h.hand || '-' || t.at) || md5('a' || h.record_id || t.at || h.hand),
    md5('b' || h.record_id || '-' || h.hand || '-' || t.at) || md5('c' || t.at || '-' || h.hand),
    timestamptz '2020-01-01 00:00+00' + h.hand * interval '364 days' / %(most)s
FROM hand h JOIN template t ON t.played = (h.hand + h.record_id) %% %(played)s
WHERE h.record_id <= %(tables)s AND h.hand > %(after)s AND h.hand <= %(until)s
"""
_FOLLOWED: Final = {"projection": "", "table_now": ", seq, 0, '{}'", "log_mark": ""}
"""What follows the records, as if it had followed all rows: its columns after the record and the row."""
_SIZES: Final = """
SELECT kind, sum(pg_table_size(oid)), sum(pg_indexes_size(oid)) FROM (
    SELECT oid, CASE WHEN relname LIKE 'entry%%' THEN 'rows' WHEN relname IN ('hand', 'hand_seat') THEN 'list of hands'
        END AS kind FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace) parts
WHERE kind IS NOT NULL GROUP BY kind ORDER BY kind DESC
"""


@contextmanager
def grown() -> Iterator[tuple[str, Path]]:
    """Start a PostgreSQL that waits for no disk, with a pit's schema."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-growth-"))
    folder.chmod(0o711)
    postgres = Postgres(folder, durable=False, max_wal_size="4GB", full_page_writes="off")
    postgres.start()
    try:
        url = postgres.make("pit")
        migrate(url)
        yield url, folder
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


def played(database: Database, folder: Path) -> FollowedTable:
    """Play some hands and send them: the rows that all others are made of."""
    order = ["demo", "--headless", "--hands", str(PLAYED), "--data", str(folder / "table"), "--json"]
    subprocess.run([sys.executable, "-m", "firmware.cli", *order], check=True, stdout=subprocess.DEVNULL)
    sent = FollowedTable(database, folder / "table", "Played")
    sent.send()
    return sent


def write_rows(url: str, hands: int, say: Callable[[str], None]) -> None:
    """Write the rows of all hands, `AT_A_TIME` hands in a transaction."""
    each = hands // TABLES
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_TEMPLATE.encode())
        step = max(1, AT_A_TIME // TABLES)
        for after in range(0, each, step):
            values = {"most": each, "played": PLAYED, "tables": TABLES, "after": after, "until": after + step}
            connection.execute(_ROWS.encode(), values)
            say(f"{min(each, after + step) * TABLES} of {hands} hands")
        connection.execute("DROP TABLE template")
        connection.execute(
            "UPDATE head SET seq = 20 * %s + 20, taken_at = now() WHERE record_id <= %s", (each, TABLES)
        )
        for name, rest in _FOLLOWED.items():
            connection.execute(f"DELETE FROM {name} WHERE record_id <= {TABLES}".encode())
            connection.execute(
                f"INSERT INTO {name} SELECT record_id, seq{rest} FROM head WHERE record_id <= {TABLES}".encode()
            )
        connection.execute("VACUUM ANALYZE")


def timed(do: Callable[[], object]) -> float:
    """Return the milliseconds that something takes, the median of some looks."""
    do()
    times = []
    for _ in range(LOOKS):
        began = time.perf_counter()
        do()
        times.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(times), 2)


def measure(url: str, sent: FollowedTable, hands: int) -> dict[str, Any]:
    """Return sizes in bytes a hand, and milliseconds."""
    with psycopg.connect(url, autocommit=True) as connection:
        sizes = {name: (int(table), int(index)) for name, table, index in connection.execute(_SIZES.encode())}
        row = connection.execute(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = 'entry'::regclass"
        ).fetchone()
    assert row is not None
    follower = Follower(sent.database)

    def look() -> None:
        with sent.database.transaction() as connection:
            source = Source(connection)
            follower.follow_in(source)
            project_in(source)

    def heads() -> None:
        with sent.database.transaction() as connection:
            new_heads(connection)

    def one_hand() -> None:
        with sent.database.transaction() as connection:
            connection.execute(
                "SELECT * FROM entry_finished WHERE record_id = 7 AND seq BETWEEN %s AND %s",
                (20 * (hands // TABLES // 2), 20 * (hands // TABLES // 2) + 20),
            ).fetchall()

    return {
        "hands": hands,
        "parts": row[0],
        "bytes_a_hand": {
            name: [round(table / hands), round(index / hands)] for name, (table, index) in sizes.items()
        },
        "ms": {
            "a look at all records with nothing new": timed(look),
            "a look for signed heads": timed(heads),
            "the rows of one hand": timed(one_hand),
            "the list of tables": timed(lambda: list_tables(sent.database)),
            "the newest hands": timed(lambda: search(sent.database, SearchFilter())),
            "the hands of one player": timed(lambda: search(sent.database, SearchFilter(player="Player 77"))),
            "the hands of one table in a span": timed(
                lambda: search(
                    sent.database,
                    SearchFilter(
                        table="Table 5", since_ms=BEGAN_MS + 40 * HAND_MS, until_ms=BEGAN_MS + 90 * HAND_MS
                    ),
                )
            ),
        },
    }


def report(found: list[dict[str, Any]]) -> str:
    """Return the page of the book."""
    day = datetime.now(UTC).date().isoformat()
    heads = (
        "| | "
        + " | ".join(f"{one['hands']:,} hands" for one in found)
        + f" | {EXTRAPOLATED:,}, extrapolated |"
    )
    lines = [
        "# How the pit grows",
        "",
        "Written by `python -m tests.campaigns.pit.growth --hands 100000 --hands 1000000 --write docs/pit-growth.md`",
        f"on {day}: {platform.machine()}, {os.cpu_count()} cores, shared, PostgreSQL 15 that waits for no disk,",
        f"{TABLES} tables, rows of {MONTHS} months. The rows are those of played hands. The last column is a straight",
        "line through the two measured points, not a measurement.",
        "",
        heads,
        "|---|" + "---:|" * (len(found) + 1),
    ]
    for name in found[0]["bytes_a_hand"]:
        for at, what in enumerate(("bytes a hand", "bytes a hand of indexes")):
            values = [one["bytes_a_hand"][name][at] for one in found]
            lines.append(_line(f"{name}: {what}", values, "{:,.0f}", found))
    total = [sum(map(sum, one["bytes_a_hand"].values())) * one["hands"] / 1e9 for one in found]
    lines.append(_line("all of it, GB", total, "{:,.1f}", found))
    lines += [
        _line(f"{name}, ms", [one["ms"][name] for one in found], "{:,.1f}", found) for name in found[0]["ms"]
    ]
    return "\n".join(lines) + "\n"


def _line(name: str, values: list[float], shape: str, found: list[dict[str, Any]]) -> str:
    (x0, y0), (x1, y1) = (found[0]["hands"], values[0]), (found[-1]["hands"], values[-1])
    slope = (y1 - y0) / (x1 - x0) if x1 != x0 else 0.0
    beyond = "" if "a hand" in name else shape.format(max(y1, y1 + slope * (EXTRAPOLATED - x1)))
    return f"| {name} | " + " | ".join([*map(shape.format, values), beyond]) + " |"


@click.command()
@click.option("--hands", "sizes", type=int, multiple=True, default=(100_000, 1_000_000), show_default=True)
@click.option("--write", "path", type=click.Path(path_type=Path, dir_okay=False), help="Write the page here.")
def main(sizes: tuple[int, ...], path: Path | None) -> None:
    """Fill a database with so many hands, several times, and measure it."""
    found = []
    for hands in sizes:
        with grown() as (url, folder):
            with psycopg.connect(url, autocommit=True) as connection:
                for month in range(1, MONTHS + 1):
                    ends = "2021-01" if month == MONTHS else f"2020-{month + 1:02}"
                    for statement in _PART.format(month, ends).split(";"):
                        connection.execute(statement.encode())
            with Database(url, connections=2) as database:
                fill(database, hands, TABLES)
                sent = played(database, folder)
                write_rows(url, hands, lambda text: click.echo(text, err=True))
                found.append(measure(url, sent, hands))
                click.echo(str(found[-1]))
    page = report(found)
    click.echo(page)
    if path is not None:
        path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
