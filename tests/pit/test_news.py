"""What the door hands on is followed as what is read from the database is."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from firmware.uplink.wire import Head, Offer
from pit.door.take import take_from
from pit.follow.follower import Follower
from pit.follow.news import MAX_ROWS, News, Source, after
from pit.follow.projector import project, project_in, reindex
from pit.store.database import Database
from tests.pit.sent import FollowedTable


def row(seq: int) -> Entry:
    return Entry(seq, 0, "", 0, 0, "", "", "", "", "{}", "", "")


def test_rows_are_followed_only_as_far_as_none_is_lacking() -> None:
    rows = [(row(seq), 7) for seq in (3, 4, 5, 7)]
    assert [one.seq for one, _ in after(rows, 3)] == [4, 5]
    assert after(rows, 1) == []
    assert after(rows, 7) == []


def test_of_too_many_rows_only_the_record_is_named() -> None:
    news = News()
    news.add(1, [row(seq) for seq in range(1, MAX_ROWS)], 7)
    news.add(2, [row(1), row(2)], 7)
    news.add(3, [], 7)
    taken = news.taken()
    assert {record: len(rows) for record, rows in taken.items()} == {1: MAX_ROWS - 1, 2: 0}
    assert news.taken() == {}


def stored(database: Database) -> dict[str, list[Any]]:
    with database.transaction() as connection:
        return {
            name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2, 3, 4").fetchall()
            for name in ("table_now", "place", "down_total", "hand", "hand_seat", "wish", "projection")
        }


@pytest.mark.parametrize("seed", range(4))
def test_projections_are_the_same_by_news_late_news_lost_news_and_without_any(
    database: Database, record: Path, seed: int
) -> None:
    rng = random.Random(seed)
    sent = FollowedTable(database, record)
    entries = list(JournalReader(record).events_since(0, 100_000))
    news, follower = News(), Follower(database)
    while entries:
        rows, entries = entries[: (some := rng.choice((1, 2, 3, 8, 40)))], entries[some:]
        head = Head(rows[-1].seq, rows[-1].hash)
        taken = take_from(
            database, sent.table.serial, Offer(sent.reader.events_since(0, 1)[0].hash, head, rows=tuple(rows))
        )
        assert taken.head == head
        match rng.choice(("handed on", "handed on", "handed on", "late", "lost", "with others")):
            case "late":
                news.add(taken.record_id, taken.rows, taken.at_ms)
                continue
            case "handed on":
                news.add(taken.record_id, taken.rows, taken.at_ms)
            case "with others":
                news.add(taken.record_id, [], taken.at_ms)
        handed = news.taken()
        with database.transaction() as connection:
            source = Source(connection, handed, only_known=rng.random() < 0.5)
            follower.follow_in(source)
            project_in(source)
    while follower.follow() + project(database):
        pass
    by_news = stored(database)
    assert by_news["hand"]
    follower.start_over()
    reindex(database)
    while follower.follow():
        pass
    assert stored(database) == by_news
