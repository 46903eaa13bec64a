"""One function says whether a table is live and whole; what it says depends on every fact, and on nothing else."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from firmware.pulse import FRESH_S
from firmware.table import events as ev
from pit.follow.coverage import Coverage, Gap, coverage
from pit.follow.totals import Span
from pit.status import freshness
from pit.status.freshness import FOLLOWED_MS, SILENT_MS, Freshness, Lack, complete_ms, status_of
from pit.status.table_health import TableHealth
from pit.status.tables import Table, TableState, strike
from pit.store.database import Database
from tests.dealer_ui.conftest import felt, lay
from tests.dealer_ui.felt import Felt
from tests.pit.sent import FollowedTable

__all__ = ["felt", "lay"]
NOW = 1_795_470_425_000
WELL = Freshness(NOW - 2_000, 992, 992, 992, 0.4, NOW - 14_000)
FAULTS: dict[Lack, dict[str, Any]] = {
    Lack.RECORD: {"fork_ms": NOW - 40_000},
    Lack.HEARD: {"heard_ms": NOW - SILENT_MS - 1},
    Lack.PROCESS: {"table_s": FRESH_S + 0.1},
    Lack.PULSE: {"table_s": None},
    Lack.ROWS: {"table_seq": 993},
    Lack.FOLLOWED: {"followed": 991, "waits_ms": NOW - FOLLOWED_MS - 1, "waiting_ms": NOW - 20_000},
}


def test_a_table_is_well_only_with_every_fact() -> None:
    assert status_of(WELL, NOW).is_well
    for some in itertools.product([False, True], repeat=len(FAULTS)):
        lacking = [lack for lack, is_so in zip(FAULTS, some, strict=True) if is_so]
        if {Lack.PROCESS, Lack.PULSE} <= set(lacking):
            continue
        known = replace(WELL, **{name: value for lack in lacking for name, value in FAULTS[lack].items()})
        status = status_of(known, NOW)
        assert [lack for lack, _ in status.lacks] == lacking
        assert status.is_well is not any(some)
        assert len(status.sentences) == len(lacking)


def test_nothing_is_known_of_a_table_that_was_never_heard_of() -> None:
    status = status_of(Freshness(), NOW)
    assert [str(words) for words in status.sentences] == ["never heard of"]
    assert complete_ms(Freshness(), NOW) is None


def test_one_row_that_waits_for_some_seconds_is_behind_and_for_a_moment_it_is_not() -> None:
    one = replace(WELL, followed=991, waits_ms=NOW - FOLLOWED_MS, waiting_ms=NOW - 9_000)
    assert status_of(one, NOW).is_well
    assert status_of(one, NOW).behind == 1
    assert not status_of(one, NOW + 1).is_well
    assert complete_ms(one, NOW) == NOW - 9_000, (
        "a report lacks that row whether it has waited for long or not"
    )


def test_rows_that_come_after_an_outage_are_old_already_and_may_not_wait_at_all() -> None:
    came = replace(WELL, followed=400, waits_ms=NOW - 100, last_ms=NOW - 2_000)
    assert status_of(replace(came, waiting_ms=NOW - 2_000 - FOLLOWED_MS), NOW).is_well
    assert status_of(replace(came, waiting_ms=NOW - 2_001 - FOLLOWED_MS), NOW).has(Lack.FOLLOWED)
    ahead = replace(came, waiting_ms=NOW + 86_400_000)  # the table's clock was set back meanwhile
    assert status_of(ahead, NOW).is_well
    assert status_of(replace(ahead, waits_ms=NOW - FOLLOWED_MS - 1), NOW).has(Lack.FOLLOWED)


@pytest.mark.parametrize(
    ("known", "upto"),
    [
        (WELL, NOW - 2_000),
        (replace(WELL, heard_ms=NOW + 5_000), NOW),
        (replace(WELL, heard_ms=NOW - 66_000), NOW - 66_000),
        (replace(WELL, table_s=1_740.0), NOW - 2_000 - 1_740_000),
        (replace(WELL, table_s=None), NOW - 2_000),
        (replace(WELL, table_seq=1_000), NOW - 14_000),
        (replace(WELL, followed=359, waits_ms=NOW - 9_000, waiting_ms=NOW - 60_000), NOW - 60_000),
        (replace(WELL, followed=359), 0),
    ],
)
def test_reports_are_complete_up_to_the_first_thing_that_they_lack(known: Freshness, upto: int) -> None:
    assert complete_ms(known, NOW) == upto


def state(name: str, known: Freshness, struck_ms: int | None = None) -> TableState:
    struck = None if struck_ms is None else datetime.fromtimestamp(struck_ms / 1000, UTC)
    return TableState(Table(1, name, "1"), struck, "", None, None, TableHealth(), known)


def test_a_report_names_every_table_that_it_lacks_and_since_when() -> None:
    tables = [
        state("1", WELL),
        state("2", replace(WELL, heard_ms=NOW - 9_000)),
        state("3", replace(WELL, heard_ms=NOW - 66_000)),
        state("4", replace(WELL, table_s=100.0)),
        state("5", Freshness()),
        state("6", replace(WELL, table_s=None)),
        state("7", WELL, struck_ms=NOW - 5_000_000),
        state("8", WELL, struck_ms=NOW - 50_000_000),
        state("9", replace(WELL, fork_ms=NOW - 40_000)),
    ]
    span = Span(NOW - 10_000_000, NOW)
    found = coverage(tables, span, NOW)
    assert found == Coverage(
        NOW - 9_000,
        (
            Gap("3", NOW - 66_000),
            Gap("4", NOW - 102_000),
            Gap("5", None),
            Gap("7", NOW - 5_000_000, struck=True),
            Gap("9", NOW - 40_000),
        ),
        ("6",),
    )
    assert coverage(tables, replace(span, table="3"), NOW) == Coverage(None, (Gap("3", NOW - 66_000),))


# ---- the same from a real database ----


def known_of(database: Database) -> Freshness:
    with database.transaction() as connection:
        (found,) = freshness.read(connection).values()
    return found


def test_the_facts_of_a_table_are_read_from_the_database(database: Database, felt: Felt) -> None:
    sent = FollowedTable(database, felt.folder, health={"table_s": 0.5, "row": 1})
    sent.send()
    known = known_of(database)
    assert known.heard_ms is not None
    assert (known.seq, known.table_seq, known.followed, known.table_s) == (felt.seq, felt.seq, felt.seq, 0.5)
    assert status_of(known, known.heard_ms).is_well
    assert known.last_ms is not None
    assert known.waits_ms is None


def test_a_table_process_that_knows_of_more_rows_than_its_uplink_makes_the_table_behind(
    database: Database, felt: Felt
) -> None:
    FollowedTable(database, felt.folder, health={"table_s": 0.5, "row": felt.seq + 3}).send()
    known = known_of(database)
    assert [lack for lack, _ in status_of(known, known.heard_ms or 0).lacks] == [Lack.ROWS]


def test_rows_behind_a_locked_row_are_seen_as_not_followed(
    database: Database, owned: str, felt: Felt
) -> None:
    sent = FollowedTable(database, felt.folder, health={"table_s": 0.5, "row": 1})
    sent.send()
    before = felt.seq
    with psycopg.connect(owned) as holder:
        holder.execute("SELECT FROM table_now FOR UPDATE")
        felt.say(ev.FloorCalled())
        sent.send()
        known = known_of(database)
        assert (known.seq, known.followed) == (before + 1, before)
        assert known.waits_ms is not None
        late = known.waits_ms + FOLLOWED_MS + 1
        assert [lack for lack, _ in status_of(known, late).lacks] == [Lack.FOLLOWED]
        assert status_of(known, late).behind == 1
        holder.rollback()
    sent.follower.follow()
    assert known_of(database).followed == felt.seq


def test_a_table_that_was_struck_off_is_in_the_facts_too(database: Database, felt: Felt) -> None:
    sent = FollowedTable(database, felt.folder)
    sent.send()
    strike(database, sent.name)
    assert known_of(database).seq == felt.seq
