"""The pit takes what continues a record, once, and nothing else."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from firmware.uplink.wire import LATEST_MS, Head, Offer
from pit.door.take import REFUSED_S, take
from pit.errors import Fork
from pit.status import freshness
from pit.status.tables import Table, enrol
from pit.store.database import Database
from tests.examples import examples


@pytest.fixture
def table(database: Database) -> Table:
    return enrol(database, "Table 1", 0x1234)


@pytest.fixture(scope="session")
def rows(record: Path) -> list[Entry]:
    return JournalReader(record).events_since(0)


def offer(rows: list[Entry], sent: list[Entry], head: Entry | None = None) -> Offer:
    last = head or rows[-1]
    return Offer(rows[0].hash, Head(last.seq, last.hash), "0.2.0", {}, (), tuple(sent))


def stored(database: Database, branch: int = 1) -> list[Entry]:
    names = ", ".join(Entry._fields)
    with database.transaction() as connection:
        found = connection.execute(
            f"SELECT {names} FROM entry JOIN record USING (record_id) WHERE branch = %s ORDER BY seq",
            (branch,),
        )
        return [Entry(*row) for row in found]


def rewritten(rows: list[Entry], at: int, **changes: Any) -> list[Entry]:
    """The rows with one changed and every hash after it made to fit, as somebody with the disk can."""
    made: list[Entry] = []
    for row in rows:
        changed = row._replace(**changes) if row.seq == at else row
        changed = changed._replace(previous=made[-1].hash if made else "")
        made.append(changed._replace(hash=changed.sealed()))
    return made


def test_rows_come_back_as_they_were_sent(database: Database, table: Table, rows: list[Entry]) -> None:
    assert take(database, table, offer(rows, [])) == Head()
    assert take(database, table, offer(rows, rows[:40])) == (40, rows[39].hash)
    assert take(database, table, offer(rows, rows[40:])) == (rows[-1].seq, rows[-1].hash)
    assert stored(database) == rows


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.tuples(st.integers(0, 150), st.integers(0, 60)), min_size=1, max_size=12))
def test_any_order_of_repeated_overlapping_or_early_batches_stores_each_row_once(
    database: Database, rows: list[Entry], cuts: list[tuple[int, int]]
) -> None:
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO gaming_table (name, serial) VALUES (gen_random_uuid(), 'a' || gen_random_uuid())"
        )
        row = connection.execute(
            "SELECT table_id, name, serial FROM gaming_table ORDER BY 1 DESC LIMIT 1"
        ).fetchone()
        assert row is not None
    table = Table(*row)
    mine = rewritten(rows, 1, boot=table.name)  # a record of its own for each example
    have = 0
    for begin, size in cuts:
        sent = mine[begin : begin + size]
        fits = bool(sent) and begin <= have
        have = max(have, min(begin + size, len(mine))) if fits else have
        assert take(database, table, offer(mine, sent)).seq == have
    with database.transaction() as connection:
        count = connection.execute(
            "SELECT count(*), coalesce(max(seq), 0) FROM entry JOIN record USING (record_id) WHERE genesis = %s",
            (mine[0].hash,),
        ).fetchone()
    assert count == (have, have)


def test_a_rewritten_past_is_refused_whether_it_is_sent_again_or_only_gone_on_from(
    database: Database, table: Table, rows: list[Entry]
) -> None:
    take(database, table, offer(rows, rows[:60]))
    other = rewritten(rows, 30, actor="dealer:Eve")
    for sent in (other[20:40], other[:60], other[60:70], other[50:80]):
        with pytest.raises(Fork):
            take(database, table, offer(other, sent, other[69]))
    assert stored(database) == rows[:60]


def test_a_rewritten_record_is_found_by_its_heartbeat_though_it_sends_nothing(
    database: Database, table: Table, rows: list[Entry]
) -> None:
    take(database, table, offer(rows, rows))
    other = rewritten(rows, 30, actor="dealer:Eve")
    with pytest.raises(Fork, match=f"Row {len(rows)} is another"):
        take(database, table, offer(other, []))
    with database.transaction() as connection:
        assert connection.execute("SELECT fork_seq FROM head").fetchone() == (len(rows),)


def test_a_fork_stays_one_until_table_and_pit_agree_again(
    database: Database, owned: str, table: Table, rows: list[Entry]
) -> None:
    take(database, table, offer(rows, rows[:30]))
    other = rewritten(rows, 20, actor="dealer:Eve")
    for sent in (other[30:40], []):  # the heartbeat goes beyond what the pit has: nothing to compare
        with suppress(Fork):
            take(database, table, offer(other, sent))
        with database.transaction() as connection:
            assert connection.execute("SELECT fork_seq FROM head").fetchone() == (31,)
    later(owned, REFUSED_S + 1)
    take(database, table, offer(rows, [], rows[29]))
    with database.transaction() as connection:
        assert connection.execute("SELECT fork_seq, fork_at FROM head").fetchone() == (None, None)


def test_a_fork_stays_one_while_one_of_two_boxes_agrees_and_the_other_is_refused_again_and_again(
    database: Database, owned: str, table: Table, rows: list[Entry]
) -> None:
    take(database, table, offer(rows, rows[:30]))
    copied = rewritten(rows, 20, actor="dealer:Eve")
    for at in range(30, 36):
        with pytest.raises(Fork):
            take(database, table, offer(copied, copied[30:40]))
        later(owned, REFUSED_S - 1)
        assert take(database, table, offer(rows[: at + 1], rows[at : at + 1])).seq == at + 1
        with database.transaction() as connection:
            assert connection.execute("SELECT FROM head WHERE fork_seq IS NOT NULL").fetchone() is not None


@pytest.mark.parametrize("sent", [1, 20], ids=["a row", "many rows"])
def test_a_table_is_heard_of_as_of_when_it_looked_not_as_of_when_its_request_came(
    database: Database, owned: str, table: Table, rows: list[Entry], sent: int
) -> None:
    take(database, table, offer(rows[:30], rows[:30]))
    with psycopg.connect(owned) as connection:
        connection.execute("UPDATE head SET heard_at = now() - interval '1 minute'")
    at_ms = time.time_ns() // 1_000_000 - 18_000
    take(database, table, replace(offer(rows[: 30 + sent], rows[30 : 30 + sent]), at_ms=at_ms))
    assert heard_ms(database) == at_ms
    for older in (at_ms - 5_000, 1):
        take(database, table, replace(offer(rows[: 30 + sent], []), at_ms=older))
        assert heard_ms(database) == at_ms
    take(database, table, replace(offer(rows[: 30 + sent], []), at_ms=LATEST_MS))
    assert abs(heard_ms(database) - time.time_ns() // 1_000_000) < 5_000


def heard_ms(database: Database) -> int:
    with database.transaction() as connection:
        (found,) = freshness.read(connection).values()
    assert found.heard_ms is not None
    return found.heard_ms


def later(owned: str, seconds: float) -> None:
    """Let time pass since the last offer that was refused."""
    with psycopg.connect(owned) as connection:
        connection.execute("UPDATE head SET refused_at = refused_at - %s * interval '1 second'", (seconds,))


@pytest.mark.parametrize("name", ["payload", "actor", "hash", "previous", "command", "boot", "type", "clock"])
def test_a_row_with_one_changed_field_is_refused_and_put_into_quarantine_once(
    database: Database, table: Table, rows: list[Entry], name: str
) -> None:
    take(database, table, offer(rows, rows[:10]))
    bad = rows[12]._replace(**{name: "0" * 64})  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(Fork):
            take(database, table, offer(rows, [*rows[10:12], bad]))
    with database.transaction() as connection:
        kept = connection.execute("SELECT count(*), max(why) FROM quarantine").fetchone()
    assert kept is not None
    assert kept[0] == 1
    assert "Row 13" in kept[1]
    assert stored(database) == rows[:10]


def test_a_record_of_another_table_is_refused(database: Database, table: Table, rows: list[Entry]) -> None:
    take(database, table, offer(rows, rows[:10]))
    with pytest.raises(Fork, match="another table's"):
        take(database, enrol(database, "Table 2", 0x99), offer(rows, rows[:10]))


def test_a_restored_record_goes_on_as_a_branch_and_the_lost_rows_stay(
    database: Database, table: Table, rows: list[Entry]
) -> None:
    take(database, table, offer(rows, rows))
    restored = rows[:50]
    note = rows[50]._replace(
        type="record_restored", payload=f'{{"hash":"{rows[49].hash}","seq":50}}', command=""
    )
    restored += [note._replace(hash=note.sealed())]
    with pytest.raises(Fork):
        take(database, table, offer(restored, []))
    assert take(database, table, offer(restored, restored[50:])).seq == 51
    assert stored(database, 1) == rows
    assert stored(database, 2) == restored
    assert take(database, table, offer(restored, [])).seq == 51


def test_a_type_of_event_that_no_release_knows_is_stored(
    database: Database, table: Table, rows: list[Entry]
) -> None:
    later = rewritten(rows, 20, type="dealt_by_robot", payload='{"arm":1}')
    take(database, table, offer(later, later))
    assert stored(database) == later


def test_evidence_can_be_neither_changed_nor_removed_even_by_the_owner(
    database: Database, owned: str, table: Table, rows: list[Entry]
) -> None:
    take(database, table, offer(rows, rows[:5]))
    with pytest.raises(Fork):
        take(database, table, offer(rows, [rows[5]._replace(actor="x")]))
    with database.transaction() as connection:
        connection.execute("INSERT INTO content (hash, bytes) VALUES ('a', 'b')")
    for name in ("entry", "content", "quarantine"):
        for order in ("UPDATE {} SET taken_at = now()", "DELETE FROM {}", "TRUNCATE {}"):
            order = order.format(name).replace(
                "taken_at = now()", "hash = 'x'" if name == "content" else "taken_at = now()"
            )
            with (
                pytest.raises(psycopg.errors.RaiseException, match="append-only"),
                psycopg.connect(owned) as connection,
            ):
                connection.execute(order)
