"""The totals of reports and the drift of a table, against figures that were computed by hand."""

from __future__ import annotations

import pytest

from pit.follow.search import SearchFilter, search
from pit.follow.totals import (
    DAY_MS,
    MIN_CARDS,
    MIN_DAYS,
    Day,
    Span,
    UnusualFigure,
    days_of,
    outside,
    unusual,
)
from pit.follow.totals import by_dealer as of_dealers
from pit.follow.totals import by_game as of_games
from pit.follow.totals import by_table as of_tables
from pit.follow.totals import report_of as report
from pit.status.tables import enrol
from pit.store.database import Database

TODAY = 20_000
NOW_MS = TODAY * DAY_MS + 3 * 3_600_000


def table(database: Database, name: str) -> int:
    enrol(database, name, abs(hash(name)) % 2**63)
    return branch(database, name, 1)


def branch(database: Database, name: str, number: int, stem: int = 0) -> int:
    with database.transaction() as connection:
        row = connection.execute(
            "INSERT INTO record (table_id, genesis, branch, stem) SELECT table_id, name, %s, %s FROM gaming_table"
            " WHERE name = %s RETURNING record_id",
            (number, stem, name),
        ).fetchone()
    assert row is not None
    return int(row[0])


def down(database: Database, record: int, seq: int, dealer: str, began_ms: int, **sums: int) -> None:
    names = (
        *("hands", "voids", "misdeals", "fouls", "naturals", "reopened", "corrected", "cards", "unsure"),
        *("errors", "faults", "collection", "readings", "reading_ms"),
    )
    with database.transaction() as connection:
        connection.execute(
            f"INSERT INTO down_total (record_id, began_seq, dealer, down, began_ms, ended_ms, {', '.join(names)})"
            f" VALUES (%s, %s, %s, 1, %s, %s, {', '.join(['%s'] * len(names))})",
            (record, seq, dealer, began_ms, began_ms + 1_000, *(sums.get(name, 0) for name in names)),
        )


def test_a_table_is_compared_with_its_own_last_fourteen_days(database: Database) -> None:
    """A day of 1,000 cards: 2 to 4 asked, 1 read wrong, a reading takes 0.6 s. Today 6, 1 and 0.9 s."""
    record = table(database, "Table 1")
    for ago in range(1, 20):
        figures = {"hands": 20, "cards": 500, "errors": 0, "readings": 10, "reading_ms": 6_000}
        began = (TODAY - ago) * DAY_MS
        down(database, record, 1000 - 2 * ago, "Lin", began, unsure=1 + ago % 3, **figures)
        down(database, record, 1001 - 2 * ago, "Bo", began + 5, unsure=1, **{**figures, "errors": 1})
    today = {"hands": 20, "cards": 1000, "unsure": 6, "errors": 1, "readings": 20, "reading_ms": 18_000}
    down(database, record, 2000, "Lin", TODAY * DAY_MS, **today)
    days = days_of(database, NOW_MS)[record, "Table 1"]
    assert [day.day for day in days] == list(range(TODAY - 14, TODAY + 1))
    assert days[-1] == Day(TODAY, 20, 1000, 0.006, 0.001, 0.9)
    assert days[-2] == Day(TODAY - 1, 40, 1000, 0.003, 0.001, 0.6)
    assert unusual(database, NOW_MS) == {
        record: (
            UnusualFigure("unsure", "0.60 %", "0.20 % – 0.40 %"),
            UnusualFigure("reading", "0.9 s", "0.6 s – 0.6 s"),
        )
    }
    assert days_of(database, NOW_MS, "Table 2") == {}


@pytest.mark.parametrize(
    ("cards", "days"), [(MIN_CARDS - 1, MIN_DAYS), (MIN_CARDS, MIN_DAYS - 1), (0, MIN_DAYS)]
)
def test_too_few_cards_or_days_are_no_drift(cards: int, days: int) -> None:
    before = [Day(TODAY - ago, 9, 1000, 0.001, 0.0, 0.5) for ago in range(days, 0, -1)]
    today = Day(TODAY, 9, cards, 0.5 if cards else None, 0.5 if cards else None, 9.0)
    assert list(outside([*before, today], TODAY)) == []


def test_totals_by_table_dealer_and_game_are_the_sums_of_their_downs_and_hands(database: Database) -> None:
    first, before = table(database, "Table 1"), table(database, "Table 2")
    second = branch(database, "Table 2", 2, stem=50)
    began = NOW_MS - 10_000
    down(database, first, 1, "Lin", began, hands=10, fouls=2, cards=500, unsure=5, collection=7_000)
    down(database, first, 2, "Bo", began, hands=4, voids=1, cards=200, collection=2_800)
    down(database, second, 40, "Lin", began, hands=6, fouls=1, cards=300, unsure=1, collection=4_200)
    down(database, before, 40, "Lin", began, hands=5)  # set back in the middle of it
    down(database, first, 3, "Lin", NOW_MS - 9 * DAY_MS, hands=77)  # of another week
    with database.transaction() as connection:
        for number, (record, game, outcome) in enumerate(
            [(first, "a", "settled"), (first, "a", "void"), (second, "b", "settled"), (second, "b", "open")]
        ):
            connection.execute(
                "INSERT INTO hand VALUES (%s, %s, 1, 60, %s, %s, %s, %s, 'Lin', 1, 1, 0, 1, 0, 52, 2, 0, 0, 0, false,"
                " 0, 0, 0, '{}')",
                (record, number + 1, began, began, outcome, game),
            )
    span = Span(NOW_MS - DAY_MS, NOW_MS)

    def figures(groups: object) -> list[tuple[object, ...]]:
        return [
            (g.name, g.counts.hands, g.counts.voids, g.counts.fouls, g.counts.cards, g.counts.unsure)
            for g in groups  # type: ignore[attr-defined]
        ]

    assert figures(of_tables(database, span)) == [
        ("Table 1", 14, 1, 2, 700, 5),
        ("Table 2", 6, 0, 1, 300, 1),
    ]
    assert figures(of_dealers(database, span)) == [("Bo", 4, 1, 0, 200, 0), ("Lin", 16, 0, 3, 800, 6)]
    assert figures(of_games(database, span)) == [("a", 1, 1, 2, 104, 4), ("b", 1, 0, 1, 52, 2)]
    with database.transaction() as connection:  # another house's rules of the same name
        connection.execute("UPDATE hand SET game = 'f00dcafe99' WHERE profile = 'a' AND outcome = 'void'")
    assert figures(of_games(database, span)) == [
        ("a", 1, 0, 1, 52, 2),
        ("a f00dcafe", 0, 1, 1, 52, 2),
        ("b", 1, 0, 1, 52, 2),
    ]
    found = [search(database, SearchFilter(profile=name)) for name in ("a", "a f00dcafe", "a 00000000")]
    assert [len(hands) for hands in found] == [2, 1, 0]
    whole = report(database, span)
    assert (whole.total.hands, whole.total.collection) == (20, 14_000)
    assert [(at % 3_600_000, count) for at, count in whole.hours] == [(0, 2)]
    assert report(database, Span(span.since_ms, span.until_ms, "Table 2")).total.hands == 6
