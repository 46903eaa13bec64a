"""The search over all tables: every filter and pair by its index, pages without gaps, no open hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pit.follow.search import SearchFilter, names, query, search
from pit.store.database import Database
from tests.campaigns.pit.many_hands import fill, filters
from tests.pit.postgres import Postgres

LARGE = frozenset({"hand", "hand_seat", "entry", "place", "down_total", "act"})


@pytest.fixture(scope="module")
def many(postgres: Postgres) -> Iterator[Database]:
    with Database(postgres.make("pit_many", "template_pit"), connections=2) as database:
        fill(database, 60_000, 20)
        yield database


def scanned(plan: Any) -> Iterator[str]:
    """Yield the large tables that a plan reads from end to end."""
    if plan["Node Type"] == "Seq Scan" and plan["Relation Name"] in LARGE:
        yield plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from scanned(part)


@pytest.mark.parametrize("name", filters())
def test_no_filter_and_no_pair_reads_a_whole_table(many: Database, name: str) -> None:
    text, values = query(filters()[name])
    with many.transaction() as connection:
        row = connection.execute(f"EXPLAIN (FORMAT JSON) {text}", values).fetchone()
    assert row is not None
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    assert list(scanned(plan[0]["Plan"])) == []


@pytest.mark.parametrize("name", ["nothing", "player", "table", "foul", "dealer", "game and foul"])
def test_pages_follow_each_other_without_a_gap_or_a_repetition(many: Database, name: str) -> None:
    wanted = filters()[name]
    whole = search(many, wanted, 120)
    paged = []
    before = None
    for _ in range(3):
        paged += search(many, SearchFilter(**{**vars(wanted), "before": before}), 40)
        before = paged[-1].key
    assert [one.key for one in paged] == [one.key for one in whole]
    assert [one.key for one in whole] == sorted((one.key for one in whole), reverse=True)


def test_a_hand_has_its_seats_in_order_and_an_open_one_is_not_listed(many: Database) -> None:
    first = search(many, SearchFilter(), 1)[0]
    assert [seat.seat for seat in first.seats] == [1, 2, 3, 4]
    with many.transaction() as connection:
        connection.execute(
            "UPDATE hand SET outcome = 'open' WHERE (record_id, hand) = (%s, %s)",
            (first.record_id, first.hand),
        )
    assert first.key not in {one.key for one in search(many, SearchFilter(), 50)}


def test_every_dealer_and_game_is_named_once(many: Database) -> None:
    assert len(names(many, "dealer")) == len(set(names(many, "dealer"))) == 300
    assert names(many, "profile") == ["california-classic", "california-face-up", "washington-1-unit"]
