"""The queries of every page read an index, however many years of hands, downs and acts lie behind them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from pit.channels.stepper import Stepper
from pit.channels.store import Name, move, put
from pit.follow.search import SearchFilter, disputes, last_hour, names, record_of, search
from pit.follow.totals import Span, by_dealer, by_game, by_table, days_of, downs_of, report_of, unusual
from pit.pages.floor import FloorLive
from pit.pages.people_page import _names, acts, people
from pit.status.tables import list_tables
from pit.store.database import Database
from tests.campaigns.pit.many_hands import BEGAN_MS, HAND_MS, fill
from tests.pit.postgres import Postgres
from tests.pit.test_search import scanned

DAY_MS = 86_400_000
YEARS = 3 * 365
HOUR = Span(BEGAN_MS + 900 * HAND_MS, BEGAN_MS + 930 * HAND_MS)
"""Of the hands: 30 of each table."""
LISTS: dict[str, Callable[[Database], object]] = {
    "downs of a week": lambda pit: downs_of(pit, _last(7), "", 500),
    "a dealer's downs of a month": lambda pit: downs_of(pit, _last(30), "dealer 3", 500),
    "totals of a week": lambda pit: by_dealer(pit, _last(7)),
    "a report of a week": lambda pit: report_of(pit, _last(7)),
    "totals of a week by table": lambda pit: by_table(pit, _last(7)),
    "totals of an hour by game": lambda pit: by_game(pit, HOUR),
    "the hands of an hour in a report": lambda pit: report_of(pit, HOUR),
    "drift of every table": lambda pit: unusual(pit, YEARS * DAY_MS),
    "drift of one table": lambda pit: days_of(pit, YEARS * DAY_MS, "Table 3"),
    "the sums over the floor": lambda pit: last_hour(pit, HOUR.until_ms),
    "the tiles of the floor": lambda pit: FloorLive(pit)._tiles(),
    "the queue of disputes": disputes,
    "the last hands of a table": lambda pit: search(pit, SearchFilter(table="Table 3"), 10),
    "every dealer": lambda pit: names(pit, "dealer"),
    "every game": lambda pit: names(pit, "profile"),
    "a record": lambda pit: record_of(pit, 3),
    "the tables": list_tables,
    "everybody who did something": _names,
    "who may log in": people,
    "the newest acts": lambda pit: acts(pit, "", 1 << 62, 101),
    "a turn of channels": lambda pit: _channels_turn(pit),
    "older acts of one person": lambda pit: acts(pit, "person 3", 30_000, 101),
}


def _channels_turn(pit: Database) -> None:
    with pit.transaction() as connection:
        connection.execute("UPDATE head SET heard_at = now()")
        connection.execute(
            "INSERT INTO offered_file (sha256, kind, name, version, size, offered_by)"
            " VALUES ('ab', 'release', 'feltwatch', '2.0', 1, 'test')"
        )
    put(pit, "Table 3", Name.FIRST, "test")
    move(pit, "ab", Name.FIRST, "test")
    Stepper(pit).turn()


def _last(days: int) -> Span:
    return Span((YEARS - days) * DAY_MS, YEARS * DAY_MS)


@pytest.fixture(scope="module")
def years(postgres: Postgres) -> Iterator[Database]:
    """Three years of 20 tables: 65,700 downs, and as many acts of 50 people."""
    with Database(postgres.make("pit_years", "template_pit"), connections=2) as database:
        fill(database, 20_000, 20)
        with database.transaction() as connection:
            sums = (
                "hands, voids, misdeals, fouls, naturals, reopened, corrected, cards, unsure, errors, faults"
            )
            connection.execute(
                "INSERT INTO down_total (record_id, began_seq, dealer, down, began_ms, ended_ms, collection, readings,"
                f" reading_ms, {sums}) SELECT record_id, n + 1, 'dealer ' || (n + record_id) %% 40, n,"
                " n * %(long)s::bigint, (n + 1) * %(long)s::bigint, 5, 5, 9,"
                f" {', '.join(['1'] * 11)} FROM record, generate_series(0, %(last)s) AS n",
                {"long": DAY_MS // 3, "last": YEARS * 3 - 1},
            )
            connection.execute(
                "INSERT INTO act (person, role, what, detail) SELECT 'person ' || n %% 50, 'floor', 'search', ''"
                " FROM generate_series(1, %s) AS n",
                (YEARS * 60,),
            )
            connection.execute("INSERT INTO place SELECT record_id, 'hand_opened', hand, first FROM hand")
            connection.execute("ANALYZE")
        yield database


@pytest.mark.parametrize("name", LISTS)
def test_no_list_of_years_is_read_from_end_to_end(
    years: Database, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, Any]] = []
    execute = psycopg.Connection.execute

    def noted(self: Any, query: Any, params: Any = None, **more: Any) -> Any:
        asked.append((query, params))
        return execute(self, query, params, **more)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Connection, "execute", noted)
        LISTS[name](years)
    with years.transaction() as connection:
        for query, values in filter(lambda one: one[0], asked):  # the pool looks with an empty one
            row = connection.execute(f"EXPLAIN (FORMAT JSON) {query}", values).fetchone()
            assert row is not None
            plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
            assert list(scanned(plan[0]["Plan"])) == [], query
