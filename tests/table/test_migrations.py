"""Migrations are numbered, only add, and are never edited once they were released."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firmware.table import JournalError, Phase, fold, schema
from firmware.table import events as ev
from firmware.table import journal as journal_module
from firmware.table.journal import FILE, Journal, JournalReader
from firmware.table.schema import MIGRATIONS
from firmware.table.verify import verify

if TYPE_CHECKING:
    from tests.table.conftest import Deal

RELEASED = (
    "b47d4a51f1cf6542eb5c158c24a819290852be844b4dbce2f8f5e1cee1b49e7a",
    "d7cf8f23315dc5a89b1496ce175b6a5aaa821d12c1bf8af48e4fe8351fe2af65",
    "736ba17fcbf255b5b4343783e6230aa241c68c7f61862f291a4e0c45816c475e",
    "1f58f8bf410e48ab145b2c7cb1c93d004e2f1cf95decf2ed0c49e67f4795f4c3",
    "1cf3417f3c5fbd6728153ed0377d74a117bde20c0c7cf57f64cfd32b1e354919",
)
"""SHA-256 of each migration. A new one is added below; a line that would have to change is a mistake."""


def test_no_migration_was_edited() -> None:
    assert tuple(hashlib.sha256(script.encode()).hexdigest() for script in MIGRATIONS) == RELEASED


def test_migrations_only_add() -> None:
    for script in MIGRATIONS[1:]:
        assert not re.search(r"\b(DROP|RENAME|DELETE|UPDATE\s+\w+\s+SET)\b", script, re.IGNORECASE)


@pytest.mark.parametrize("release", range(1, len(MIGRATIONS)))
def test_a_journal_of_every_earlier_release_is_gone_on_with(
    tmp_path: Path, deal: Deal, release: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(journal_module, "MIGRATIONS", MIGRATIONS[:release])
        with Journal(tmp_path) as journal:
            journal.append([deal.opened()], "test")
    with Journal(tmp_path) as journal:
        state = journal.recover()
        assert state == fold([deal.opened()])
        journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
    assert verify(tmp_path).ok
    assert JournalReader(tmp_path).last_log_on() is None
    with sqlite3.connect(tmp_path / FILE) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
    db.close()


def test_a_migration_that_is_stopped_leaves_the_one_before(
    tmp_path: Path, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(journal_module, "MIGRATIONS", MIGRATIONS[:1])
        with Journal(tmp_path) as journal:
            journal.append([deal.opened()], "test")
    with monkeypatch.context() as broken:
        broken.setattr(
            journal_module, "MIGRATIONS", (MIGRATIONS[0], "CREATE TABLE half (x) STRICT; CREATE TABLE no;")
        )
        with pytest.raises(JournalError, match="cannot be opened"):
            Journal(tmp_path)
    with Journal(tmp_path) as journal:
        assert journal.recover() == fold([deal.opened()])
    with sqlite3.connect(tmp_path / FILE) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
    db.close()


NEXT = """
    ALTER TABLE journal ADD COLUMN shift TEXT NOT NULL DEFAULT '';
    CREATE INDEX journal_shifts ON journal (shift) WHERE shift != '';
    CREATE TABLE shifts (name TEXT PRIMARY KEY) STRICT;
    CREATE TRIGGER shifts_no_delete BEFORE DELETE ON shifts
    BEGIN SELECT RAISE(ABORT, 'shifts are never removed'); END;
"""
"""A migration as the next release may bring it: it adds a column, an index, a table and a trigger."""


def test_a_journal_that_the_next_release_migrated_is_gone_on_with_and_then_by_the_next_one_again(
    tmp_path: Path, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version() -> int:
        with closing(sqlite3.connect(tmp_path / FILE)) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0])

    with monkeypatch.context() as later:
        later.setattr(journal_module, "MIGRATIONS", (*MIGRATIONS, NEXT))
        with Journal(tmp_path) as journal:
            journal.append([deal.opened()], "test")
    assert version() == len(MIGRATIONS) + 1

    with Journal(tmp_path) as journal:
        assert journal.recover() == fold([deal.opened()])
        journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
        head = journal.seq
    assert verify(tmp_path).ok
    state, seq = JournalReader(tmp_path).recover()
    assert (state.phase, seq) == (Phase.SETTING, head)
    assert version() == len(MIGRATIONS) + 1, "or the next release would migrate it a second time"

    with monkeypatch.context() as later:
        later.setattr(journal_module, "MIGRATIONS", (*MIGRATIONS, NEXT))
        with Journal(tmp_path) as journal:
            assert journal.recover().phase is Phase.SETTING


def test_an_event_of_a_later_release_is_refused_by_name(
    tmp_path: Path, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened(), ev.PhaseAdvanced(Phase.SETTING)], "test")
    monkeypatch.delitem(ev.BY_TYPE, ev.PhaseAdvanced.type)
    with (
        Journal(tmp_path) as journal,
        pytest.raises(JournalError, match="does not know the event 'phase_advanced'"),
    ):
        journal.recover()


def test_what_was_set_up_is_found_by_its_index_alone(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.TableStarted("x"), ev.StepSettled("language"), ev.LoggedOff()], "test")
        journal.append([ev.DeviceTried("disk", "pass", "disk_well", {}, {})], "technician:Ada")
    found = JournalReader(tmp_path).of_set_up()
    assert [(entry.type, entry.actor) for entry in found] == [
        ("step_settled", "test"),
        ("device_tried", "technician:Ada"),
    ]
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        plan = db.execute(
            f"EXPLAIN QUERY PLAN SELECT * FROM journal WHERE {schema.SET_UP_TYPES} ORDER BY seq"
        ).fetchall()
    assert any("journal_set_up" in row[3] for row in plan), plan
