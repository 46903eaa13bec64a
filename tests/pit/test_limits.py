"""What one table can do to the others: nothing by long bodies, by names of records, or by setting its record back."""

from __future__ import annotations

import itertools
import json
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from firmware.table.entry import Entry
from firmware.uplink.wire import (
    MAX_FIRST_LINE,
    MAX_LINE,
    Head,
    Offer,
    WireError,
    decode,
    encode,
    length_once_inflated,
)
from pit.door import branches, take
from pit.door.routes import make_door
from pit.door.turns import LONG_BYTES, Turns
from pit.errors import Fork
from pit.log.state import tables as logged
from pit.pages.floor import FloorLive
from pit.status.tables import Table, enrol, list_tables, strike
from pit.store.database import Database
from pit.store.files import Files
from tests.pit.test_take import later
from tests.waiting import until

_BOOTS = itertools.count(1)


def rows_of(types: str, after: Entry | None = None, **fields: Any) -> list[Entry]:
    """A chain of rows, one for each letter, after a row; a record of its own without one."""
    boot = f"boot {next(_BOOTS)}"
    made: list[Entry] = [] if after is None else [after]
    for letter in types:
        previous, seq = (made[-1].hash, made[-1].seq + 1) if made else ("", 1)
        row = Entry(seq, 0, boot, seq, seq, "synchronised", "a", "", letter, "{}", previous, "")._replace(
            **fields
        )
        made.append(row._replace(hash=row.sealed()))
    return made[after is not None :]


def offer(record: list[Entry], sent: list[Entry], head: Head | None = None) -> Offer:
    return Offer(record[0].hash, head or Head(sent[-1].seq, sent[-1].hash), rows=tuple(sent))


def one(database: Database, query: str) -> Any:
    with database.transaction() as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
def table(database: Database) -> Table:
    return enrol(database, "Table 1", 0x1234)


# ---- long bodies ----


def test_a_short_body_that_inflates_to_many_things_costs_little_memory() -> None:
    many = b"[]," * (2 << 20)
    for body in (
        zlib.compress(b'{"record":"","head":[0,""],"a":[' + many[: 3 << 20] + b"1]}", 9),
        zlib.compress(b'{"record":"","head":[0,""]}\n[' + many[: 3 << 20] + b"1]", 9),
        zlib.compress(b'{"record":"","head":[0,""]}' + b"\n" * (3 << 20), 9),
    ):
        tracemalloc.start()
        with pytest.raises(WireError):
            decode(body)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 12 << 20


def test_the_longest_first_line_and_a_row_of_the_longest_line_are_read() -> None:
    health = {"text": "x" * 19_000}
    first = {"record": "a" * 64, "head": [1, "a" * 64], "health": health, "missing": ["b" * 64] * 20}
    first["holds"] = {"note": "\n" * 4_000, "witness": "w" * 500, "head": 1}
    line = json.dumps(first)
    assert len(line) < MAX_FIRST_LINE
    row = list(rows_of("a")[0])
    row[9] = "x" * (MAX_LINE - len(json.dumps(row)) + 2)
    text = json.dumps(row)
    assert len(text) == MAX_LINE
    assert len(decode(zlib.compress(f"{line}\n{text}".encode())).rows) == 1
    for long in (line + " " * MAX_FIRST_LINE, f"{line}\n{text} "):
        with pytest.raises(WireError, match="too long"):
            decode(zlib.compress(long.encode()))


def test_a_turn_is_taken_by_what_a_body_inflates_to(
    database: Database, table: Table, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    of = Turns.of

    def noted(turns: Turns, length: int) -> AbstractContextManager[None]:
        taken.append(length)
        return of(turns, length)

    monkeypatch.setattr(Turns, "of", noted)
    client = make_door(database, Files(tmp_path)).test_client()
    record = rows_of("a")
    long = rows_of("b", record[0], payload=json.dumps("x" * LONG_BYTES))
    body = encode(offer(record, record + long))
    assert len(body) < LONG_BYTES // 8
    answer = client.post("/v1/rows", data=body, headers={"X-Client-Serial": table.serial})
    assert answer.status_code == 200
    assert taken == [LONG_BYTES]
    assert length_once_inflated(b"nothing deflated", 10) == 0


def test_numbers_names_and_depths_that_no_table_sends_get_a_sentence(
    database: Database, table: Table, tmp_path: Any
) -> None:
    client = make_door(database, Files(tmp_path)).test_client()
    headers = {"X-Client-Serial": table.serial}
    name = "a" * 64
    for first in (
        {"record": name, "head": [True, name]},
        {"record": name, "head": [1, name], "holds": {"note": "", "witness": "", "head": True}},
    ):
        body = zlib.compress(json.dumps(first).encode())
        assert client.post("/v1/rows", data=body, headers=headers).status_code == 400
    body = zlib.compress(('{"record":"","head":[0,""],"health":' + '{"a":' * 900 + "1" + "}" * 901).encode())
    assert client.post("/v1/rows", data=body, headers=headers).status_code in (200, 400)
    for path, status in (
        ("/v1/record?record=%00", 400),
        ("/v1/record?record=x", 400),
        (f"/v1/record?after={10**30}", 200),
        ("/v1/files/%00", 404),
    ):
        assert client.get(path, headers=headers).status_code == status


# ---- records by name ----


def test_a_name_alone_opens_no_record_and_reserves_none(database: Database, table: Table) -> None:
    record = rows_of("abc")
    other = enrol(database, "Table 2", 0x99)
    assert take.take(database, other, offer(record, [], Head(3, record[2].hash))) == Head()
    assert take.take(database, other, offer(record, record[1:])) == Head()
    with pytest.raises(Fork, match="names the record"):
        take.take(database, other, offer(record, rows_of("x")))
    assert one(database, "SELECT count(*) FROM record") == 0
    assert take.take(database, table, offer(record, record)).seq == 3


def test_no_other_record_hides_a_fork(database: Database, owned: str, table: Table) -> None:
    record = rows_of("abcde")
    take.take(database, table, offer(record, record))

    def forks() -> list[object]:
        with Database(owned, connections=1) as as_owner:
            (tile,) = FloorLive(as_owner).now().tiles
        with database.transaction() as connection:
            (state,) = logged(connection)
        return [list_tables(database)[0].fork_seq, state.differs, tile.tile.band.name]

    with pytest.raises(Fork):
        take.take(database, table, offer(record, rows_of("xyz", record[2])))
    red = forks()
    assert red[0] == red[1] == 5
    invented = rows_of("a")
    take.take(database, table, offer(invented, [], Head(1, invented[0].hash)))
    assert forks() == red
    take.take(database, table, offer(invented, invented))
    assert forks() == red
    later(owned, take.REFUSED_S + 1)
    take.take(database, table, offer(record, [], Head(5, record[4].hash)))
    assert forks()[:2] == [None, None]


def test_a_table_that_was_restored_is_not_red_for_the_branch_that_it_left(
    database: Database, table: Table
) -> None:
    record = rows_of("abcdef")
    take.take(database, table, offer(record, record))
    take.take(database, table, offer(record, restored(record[2])))
    assert list_tables(database)[0].fork_seq is None


def test_striking_a_table_off_deals_with_its_forks(database: Database, table: Table) -> None:
    record = rows_of("abc")
    take.take(database, table, offer(record, record))
    with pytest.raises(Fork):
        take.take(database, table, offer(record, rows_of("x", record[1])))
    assert list_tables(database)[0].fork_seq == 3
    strike(database, table.name)
    assert list_tables(database)[0].fork_seq is None
    assert one(database, "SELECT count(*) FROM quarantine") == 1


@pytest.mark.parametrize(("limit", "most"), [("MAX_QUARANTINED_OFFERS", 3), ("MAX_QUARANTINED_BYTES", 250)])
def test_what_a_table_is_refused_within_a_day_fills_no_disk(
    database: Database, table: Table, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(take, limit, most)
    record = rows_of("abc")
    take.take(database, table, offer(record, record))
    for _ in range(10):
        with pytest.raises(Fork):
            take.take(database, table, offer(record, rows_of("x", record[1])))
    assert 1 <= one(database, "SELECT count(*) FROM quarantine") <= 3
    assert list_tables(database)[0].fork_seq == 3


def test_refused_rows_are_kept_once_while_the_tables_head_moves_on(database: Database, table: Table) -> None:
    record = rows_of("abc")
    take.take(database, table, offer(record, record))
    other = rows_of("xyz", record[1])
    for head in other:
        with pytest.raises(Fork):
            take.take(database, table, offer(record, other[:1], Head(head.seq, head.hash)))
    assert one(database, "SELECT count(*) FROM quarantine") == 1


# ---- setting back ----


def restored(after: Entry) -> list[Entry]:
    return rows_of("r", after, type="record_restored")


def test_a_record_that_is_set_back_too_often_within_a_day_waits_and_goes_on_later(
    database: Database, owned: str, table: Table
) -> None:
    record = rows_of("abcdef")
    take.take(database, table, offer(record, record))
    for _ in range(branches.MAX_BRANCHES):
        assert take.take(database, table, offer(record, restored(record[2]))).seq == 4
    last = restored(record[2])
    with pytest.raises(Fork, match="within a day"):
        take.take(database, table, offer(record, last))
    assert one(database, "SELECT count(*) FROM record") == 1 + branches.MAX_BRANCHES
    assert one(database, "SELECT count(*) FROM quarantine") == 1
    with Database(owned, connections=1) as as_owner, as_owner.transaction() as connection:
        connection.execute("UPDATE record SET opened_at = opened_at - interval '1 day'")
    assert take.take(database, table, offer(record, last)) == Head(4, last[0].hash)


def test_rows_that_come_while_a_branch_is_opened_are_not_stored_in_the_old_one(
    database: Database, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = rows_of("abcdefg")
    take.take(database, table, offer(record, record[:6]))
    opened: Callable[..., Any] = branches.open_branch
    found: list[Head] = []

    def row_seven() -> None:
        found.append(take.take(database, table, offer(record, record[6:])))

    late = threading.Thread(target=row_seven)
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

    def slow(*args: Any) -> Any:
        made = opened(*args)
        late.start()
        until(lambda: bool(one(database, waits)))
        return made

    monkeypatch.setattr(take, "open_branch", slow)
    branch = restored(record[3])
    take.take(database, table, offer(record, branch))
    late.join()
    assert found == [Head(5, branch[0].hash)]
    assert one(database, "SELECT max(seq) FROM entry") == 6
