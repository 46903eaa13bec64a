"""Many hands of many tables in a real database, written by SQL: filters, pairs of filters and hands' pages.

python -m tests.campaigns.pit.many_hands --hands 1000000 --tables 200

The pages are those of hands that the demo played and that were sent to the same database.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import click

from dealer_ui.web.log_in import access
from pit.follow.search import SearchFilter, search
from pit.pages.app import create_app
from pit.store.database import Database, migrate
from tests.pit.postgres import Postgres
from tests.pit.sent import FollowedTable

PLAYED: Final = 12
"""Hands whose pages are opened."""
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


def filters() -> dict[str, SearchFilter]:
    """Return every filter and every pair of filters, and nothing at all."""
    found = {"nothing": SearchFilter()}
    for names in (*((name,) for name in ONE), *combinations(ONE, 2)):
        wanted = SearchFilter()
        for name in names:
            marks = wanted.marks | ONE[name].get("marks", frozenset())
            wanted = replace(wanted, **{**ONE[name], "marks": marks})
        found[" and ".join(names)] = wanted
    return found


def pages_ms(database: Database, folder: Path) -> list[float]:
    """Return the milliseconds of each page of a played record's hands, each opened three times: the median."""
    order = ["demo", "--headless", "--hands", str(PLAYED), "--data", str(folder / "table"), "--json"]
    subprocess.run([sys.executable, "-m", "firmware.cli", *order], check=True, stdout=subprocess.DEVNULL)
    sent = FollowedTable(database, folder / "table", "Played")
    sent.send()
    app = create_app(database, folder / "pit", "Pit", secure=False)
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO person (name, role, passphrase_id, verifier) VALUES ('A', 'auditor', 'x', '{}')"
        )
    client = app.test_client()
    client.environ_base |= {"REMOTE_ADDR": "192.0.2.10", "HTTP_ACCEPT": "text/html"}
    client.set_cookie(access(app).sessions.cookie, access(app).sessions.open("A", "x"))
    found = []
    for hand in (one.hand for one in search(database, SearchFilter(table="Played"))):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            answer = client.get(f"/record/{sent.record_id}/review/{hand}")
            times.append(1000 * (time.perf_counter() - start))
            assert answer.status_code == 200, answer.status
        found.append(statistics.median(times))
    return found


@click.command()
@click.option("--hands", default=1_000_000, show_default=True)
@click.option("--tables", default=200, show_default=True)
def main(hands: int, tables: int) -> None:
    """Time the first page of every filter and pair, and the pages of hands."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-search-"))
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
        with Database(url, connections=4) as database:
            times = pages_ms(database, folder)
            click.echo(
                f"{statistics.median(times):8.1f} ms  a hand's page; the slowest of {PLAYED} {max(times):.1f} ms"
            )
    finally:
        postgres.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
