"""Many hands of many tables in a real database, written by SQL, and every filter and pair of filters timed.

python -m tests.firmware.pit.many_hands --hands 1000000 --tables 200
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import click

from firmware.pit.database import Database, migrate
from firmware.pit.search import Wanted, search
from tests.firmware.pit.postgres import Postgres

BEGAN_MS: Final = 1_780_000_000_000
HAND_MS: Final = 120_000
_TABLES: Final = """
INSERT INTO gaming_table (name, serial) SELECT 'Table ' || n, n FROM generate_series(1, %(tables)s) n;
INSERT INTO record (table_id, genesis) SELECT table_id, serial FROM gaming_table ORDER BY table_id;
INSERT INTO head (record_id) SELECT record_id FROM record;
"""
_HANDS: Final = """
INSERT INTO hand SELECT 1 + (n - 1) %% %(tables)s, h, 14 * h - 13, 14 * h, %(began)s + h * %(hand_ms)s + n %% 977,
  %(began)s + h * %(hand_ms)s + 90000, CASE WHEN r < 0.01 THEN 'void' ELSE 'settled' END,
  CASE WHEN n %% 40 = 0 THEN 'california-classic' WHEN n %% 3 = 0 THEN 'california-face-up'
    ELSE 'washington-1-unit' END,
  'Dealer ' || (n / %(tables)s / 20 + n) %% 300, h / 30, 1, (r > 0.985)::int, (random() < 0.1)::int,
  (random() < 0.05)::int, 52, (random() < 0.05)::int, 0, 0, (r > 0.999)::int, r > 0.9998, 0, 2, 0, '{}'
FROM (SELECT n, 1 + (n - 1) / %(tables)s AS h, random() AS r FROM generate_series(1, %(hands)s) n) made
"""
_SEATS: Final = """
INSERT INTO hand_seat (record_id, hand, seat, player, points, foul, "natural", opened_ms)
SELECT record_id, hand, seat, 'Player ' || (record_id * 7 + seat * 13 + hand / 25) %% 3000, 0, false, NULL, opened_ms
FROM hand CROSS JOIN generate_series(1, 4) seat
"""
ONE: Final[dict[str, dict[str, Any]]] = {
    "player": {"player": "Player 77"},
    "dealer": {"dealer": "Dealer 7"},
    "table": {"table": "Table 5"},
    "game": {"profile": "california-classic"},
    "foul": {"marks": frozenset({"foul"})},
    "natural": {"marks": frozenset({"natural"})},
    "corrected": {"marks": frozenset({"corrected"})},
    "disputed": {"marks": frozenset({"disputed"})},
    "span": {"since_ms": BEGAN_MS + 40 * HAND_MS, "until_ms": BEGAN_MS + 90 * HAND_MS},
}


def fill(database: Database, hands: int, tables: int) -> None:
    """Write the hands, four seats each."""
    values = {"hands": hands, "tables": tables, "began": BEGAN_MS, "hand_ms": HAND_MS}
    with database.transaction() as connection:
        for statement in _TABLES.strip().split("\n"):
            connection.execute(statement, values if "%" in statement else None)
        connection.execute(_HANDS, values)
        connection.execute(_SEATS, {})
    with database.transaction() as connection:
        connection.execute("ANALYZE")


def filters() -> dict[str, Wanted]:
    """Return every filter and every pair of filters, and nothing at all."""
    found = {"nothing": Wanted()}
    for names in (*((name,) for name in ONE), *combinations(ONE, 2)):
        wanted = Wanted()
        for name in names:
            marks = wanted.marks | ONE[name].get("marks", frozenset())
            wanted = replace(wanted, **{**ONE[name], "marks": marks})
        found[" and ".join(names)] = wanted
    return found


@click.command()
@click.option("--hands", default=1_000_000, show_default=True)
@click.option("--tables", default=200, show_default=True)
def main(hands: int, tables: int) -> None:
    """Time the first page of every filter and pair."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-search-", dir="/tmp"))
    folder.chmod(0o711)
    postgres = Postgres(folder, durable=False)
    postgres.start()
    try:
        url = postgres.make("pit")
        migrate(url)
        with Database(url, connections=1) as database:
            began = time.monotonic()
            fill(database, hands, tables)
            click.echo(f"{hands} hands of {tables} tables written in {time.monotonic() - began:.0f} s")
            worst: list[tuple[float, str]] = []
            for name, wanted in filters().items():
                times = []
                for _ in range(5):
                    start = time.perf_counter()
                    found = search(database, wanted)
                    times.append(1000 * (time.perf_counter() - start))
                worst.append((statistics.median(times), f"{name} ({len(found)} hands)"))
            for ms, name in sorted(worst, reverse=True):
                click.echo(f"{ms:8.1f} ms  {name}")
    finally:
        postgres.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
