"""Migrations are numbered, only add, and are never edited once they were released."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firmware.record.evidence.verify import verify
from firmware.record.journal import schema
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.record.journal.schema import FIRST, MIGRATIONS
from firmware.table import JournalError, Phase, fold
from firmware.table import events as ev

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

RELEASED = ("9f41060a21133686d72e260b87c583740ae88eff30a19007633b3d5cb124776a",)
"""SHA-256 of each migration. A new one is added below; a line that would have to change is a mistake."""


def test_no_migration_was_edited() -> None:
    assert tuple(hashlib.sha256(script.encode()).hexdigest() for script in MIGRATIONS) == RELEASED


def test_migrations_only_add() -> None:
    for script in MIGRATIONS[1:]:
        assert not re.search(r"\b(DROP|RENAME|DELETE|UPDATE\s+\w+\s+SET)\b", script, re.IGNORECASE)


def test_the_journal_has_no_index(tmp_path: Path) -> None:
    """What can be derived lies elsewhere: nothing in the file can disagree with its rows."""
    Journal(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE type = 'index'").fetchone() == (0,)
        plans = [
            db.execute(f"EXPLAIN QUERY PLAN {text}").fetchall()[0][3]
            for text in (
                "SELECT * FROM journal ORDER BY seq DESC",
                "SELECT * FROM journal WHERE seq = 1",
                "SELECT bytes FROM content WHERE hash = ''",
            )
        ]
    assert plans == [
        "SCAN journal",
        "SEARCH journal USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH content USING PRIMARY KEY (hash=?)",
    ]


def version(folder: Path) -> int:
    with closing(sqlite3.connect(folder / FILE)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def number(folder: Path, value: int) -> None:
    with closing(sqlite3.connect(folder / FILE)) as db:
        db.execute(f"PRAGMA user_version = {value}")


def knows(release: pytest.MonkeyPatch, *scripts: str, applied: int) -> None:
    """Have it be a release that knows these migrations after ours, and applies so many of all."""
    release.setattr(schema, "MIGRATIONS", (*MIGRATIONS, *scripts))
    release.setattr(schema, "APPLIED", applied)


def test_a_migration_that_is_stopped_leaves_the_one_before(
    tmp_path: Path, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
    with monkeypatch.context() as broken:
        knows(broken, "CREATE TABLE half (x) STRICT; CREATE TABLE no;", applied=2)
        with pytest.raises(JournalError, match="cannot be opened"):
            Journal(tmp_path)
    with Journal(tmp_path) as journal:
        assert journal.recover() == fold([deal.opened()])
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)


NEXT = """
    CREATE TABLE shifts (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TRIGGER shifts_no_delete BEFORE DELETE ON shifts
    BEGIN SELECT RAISE(ABORT, 'shifts are never removed'); END;
"""
"""A migration as the next release may bring it."""


def test_a_journal_that_the_next_release_migrated_is_gone_on_with_and_then_by_the_next_one_again(
    tmp_path: Path, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The box rolls a release back by itself: the release before knows the migration and does not apply it."""
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
    with monkeypatch.context() as before:
        knows(before, NEXT, applied=1)
        Journal(tmp_path).close()
        assert version(tmp_path) == FIRST
    with monkeypatch.context() as later:
        knows(later, NEXT, applied=2)
        Journal(tmp_path).close()
    assert version(tmp_path) == FIRST + 1

    with monkeypatch.context() as before:
        knows(before, NEXT, applied=1)
        with Journal(tmp_path) as journal:
            assert journal.recover() == fold([deal.opened()])
            journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
            head = journal.seq
        assert verify(tmp_path).ok
        state, seq = JournalReader(tmp_path).recover()
        assert (state.phase, seq) == (Phase.SETTING, head)
    assert version(tmp_path) == FIRST + 1, "or the next release would migrate it a second time"

    with monkeypatch.context() as later:
        knows(later, NEXT, applied=2)
        with Journal(tmp_path) as journal:
            assert journal.recover().phase is Phase.SETTING


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (1, "development version"),
        (FIRST - 1, "development version"),
        (FIRST + len(MIGRATIONS), "later release"),
        (99, "later"),
    ],
)
def test_a_journal_of_a_shape_that_this_release_does_not_know_is_refused(
    tmp_path: Path, deal: Deal, shape: int, said: str
) -> None:
    """Nobody here can judge what guards such a file: that it lacks ours would pass."""
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
    number(tmp_path, shape)
    for use in (lambda: Journal(tmp_path), lambda: JournalReader(tmp_path).head(), lambda: verify(tmp_path)):
        with pytest.raises(JournalError, match=said):
            use()


def test_a_journal_that_says_it_is_new_and_holds_rows_is_refused(tmp_path: Path, deal: Deal) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
    number(tmp_path, 0)
    with pytest.raises(JournalError, match="says that it is new, and holds something"):
        Journal(tmp_path)


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
