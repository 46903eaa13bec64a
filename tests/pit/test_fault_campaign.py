"""The fault campaign can fail: what is planted, it finds. And its short form, of the kinds that cost little."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from tests.campaigns.pit.fault_campaign import run_kind
from tests.campaigns.pit.fault_stage import LATEST_S, stage, stale_in
from tests.tools import NGINX, POSTGRESQL, needs

pytestmark = [
    pytest.mark.slow,
    needs(NGINX, POSTGRESQL),
]


@pytest.mark.parametrize("name", ["lost_answers", pytest.param("restarted", marks=pytest.mark.exhaustive)])
def test_a_round_loses_doubles_and_hides_nothing(name: str) -> None:
    found = run_kind(name, 1, long_every=0)
    assert found.rounds == 1
    assert found.rows > 20
    assert found.ok, found


def test_what_is_planted_is_found() -> None:
    """Rows lost, doubled and changed behind the pit's back, and a look that shows an old row as live."""
    with stage(1) as made:
        made.settle()
        found, wrong = made.difference()
        assert (found.ok, wrong) == (True, [])
        (table,) = made.tables
        look = made.watcher.last
        assert not stale_in(look, made.tables)
        with psycopg.connect(made.house.url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")  # no trigger holds what is planted
            (part,) = connection.execute(
                "SELECT DISTINCT tableoid::regclass::text FROM entry"
            ).fetchone() or ("",)
            connection.execute(f"ALTER TABLE {part} DROP CONSTRAINT {part}_pkey".encode())
            connection.execute("INSERT INTO entry SELECT * FROM entry WHERE seq = 6")
            connection.execute("DELETE FROM entry WHERE seq = 3")
            connection.execute("UPDATE entry SET actor = 'dealer:Eve' WHERE seq = 4")
            connection.execute("UPDATE down_total SET hands = hands + 1")
            connection.execute("UPDATE hand SET corrections = 7 WHERE hand = 1")
        found, wrong = made.difference()
        assert found.doubled == 1
        assert (found.lost, found.differing, found.differing_lists) == (2, 1, 1)
        assert len(wrong) == 1
        assert "totals of Table 1" in wrong[0]
        old = replace(look, shown={table.name: table.seq - 1}, began=table.written[-1][0] + LATEST_S + 1)
        assert stale_in(old, made.tables) == [
            f"Table 1 was shown as live with row {table.seq - 1} of {table.seq}"
        ]
        assert not stale_in(replace(old, live=frozenset()), made.tables)
        with (made.house.folder / "log").open("a") as log:
            log.write("The list of hands waits: this is an error of Feltwatch\n")
        assert len(made.faults_in_log()) == 1
