"""The check of the whole record at a start: at once where it is short, next to the table where it is long."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from firmware.messages import Message
from firmware.record.journal.file import as_journal_error
from firmware.record.journal.journal import FILE, Journal
from firmware.runtime import record_check
from firmware.runtime.record_check import RecordCheck
from firmware.runtime.table_process import TableProcess
from firmware.simulation.house import make_config
from firmware.table.errors import JournalDamaged
from firmware.table.events import Event, HandVoided, RecordFault
from tests.campaigns.appliance.fault_campaign import _table
from tests.firmware.record.test_dispute_file import record
from tests.waiting import until

PROFILE = "washington-1-unit"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    data = record(tmp_path / "data")
    with Journal(data) as journal:
        journal.append([HandVoided("a test")], "test")
    return data


def bend(data: Path) -> None:
    """Change a row that no start reads: only a check of all of them finds it."""
    with closing(sqlite3.connect(data / FILE)) as db, db:
        (guard,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'journal_no_update'").fetchone()
        db.execute("DROP TRIGGER journal_no_update")
        db.execute("UPDATE journal SET actor = 'nobody' WHERE seq = 4")
        db.execute(guard)


@contextmanager
def started(data: Path) -> Iterator[TableProcess]:
    with Journal(data) as journal:
        table = _table(make_config(data, PROFILE), journal)
        try:
            table.begin()
            yield table
        finally:
            table.end()


def test_a_bent_row_of_a_short_record_stops_play_at_the_start(data: Path) -> None:
    bend(data)
    with started(data) as table:
        assert table.state.record_fault is not None
        assert str(table.state.record_fault.detail) == "Row 4: The row was changed."


@pytest.mark.slow
@pytest.mark.parametrize("is_bent", [True, False])
def test_a_long_record_is_checked_beside_the_table(
    data: Path, monkeypatch: pytest.MonkeyPatch, is_bent: bool
) -> None:
    monkeypatch.setattr(record_check, "AT_ONCE", 0)
    if is_bent:
        bend(data)
    with started(data) as table:
        assert table.state.record_fault is None, "it takes commands at once"
        check = table._check
        assert check._process is not None

        def is_done() -> bool:
            table.turn()
            return check._process is None

        until(is_done)
        fault = table.state.record_fault
        assert (str(fault.detail) if fault else "") == ("Row 4: The row was changed." if is_bent else "")


@pytest.mark.slow
def test_a_check_that_breaks_off_is_said(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_check, "AT_ONCE", 0)
    told: list[Event] = []

    def attempt(events: list[Event], actor: str) -> bool:
        told.extend(events)
        return True

    with Journal(data) as journal:
        check = RecordCheck(data, journal)
        check.begin(attempt)
        assert check._process is not None
        check._process.kill()

        def is_told() -> bool:
            check.turn(attempt)
            return bool(told)

        until(is_told)
    (fault,) = told
    assert isinstance(fault, RecordFault)
    assert "the check broke off" in str(fault.detail)


@pytest.mark.slow
def test_a_check_whose_table_has_ended_ends_without_a_word(data: Path) -> None:
    spawned = multiprocessing.get_context("spawn")
    ours, there = spawned.Pipe(duplex=False)
    check = spawned.Process(target=record_check._check, args=(data, there))
    check.start()
    there.close()
    ours.close()
    check.join()
    assert check.exitcode == 0


def test_a_record_that_takes_no_row_is_not_started_on(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorname = "SQLITE_CORRUPT"

    def append(*_: object, **__: object) -> int:
        raise as_journal_error(error, Message("The journal could not be written"))

    monkeypatch.setattr(Journal, "append", append)
    with pytest.raises(JournalDamaged, match="restore a backup"), started(data):
        pass
