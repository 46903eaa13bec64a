"""The record's end: what was written is never silently shorter, and a write that failed is never silently there."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from firmware.record.evidence.verify import verify
from firmware.record.journal import witness
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.table import CommandRefused, JournalError, Phase, apply
from firmware.table import events as ev
from firmware.table.errors import JournalFull, JournalUncertain

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

WAL = f"{FILE}-wal"


@pytest.fixture
def killed(tmp_path: Path, deal: Deal) -> Path:
    """A record as a kill leaves it: all its rows in the `-wal`."""
    running = tmp_path / "running"
    with Journal(running) as journal:
        for event in deal.until(Phase.SHOWDOWN):
            journal.append([event], "test")
        return Path(shutil.copytree(running, tmp_path / "killed"))


def fault(folder: Path) -> ev.RecordDamage | None:
    with Journal(folder) as journal:
        return journal.recover().record_fault


def test_a_record_as_a_kill_leaves_it_is_whole(killed: Path) -> None:
    assert fault(killed) is None
    assert verify(killed).ok


def test_rows_that_a_damaged_wal_loses_stop_play_until_somebody_has_read_it(killed: Path, deal: Deal) -> None:
    raw = bytearray((killed / WAL).read_bytes())
    raw[-2000] ^= 1  # in the last frame: SQLite rightly leaves it out
    (killed / WAL).write_bytes(raw)
    assert "The record ends at row 2, but row 3 had been written: 1 rows are missing." in map(
        str, (problem.what for problem in verify(killed).problems)
    )
    with Journal(killed) as journal:
        state = journal.recover()
        assert state.record_fault is not None
        assert (state.record_fault.what, state.record_fault.seq, state.record_fault.seen) == ("short", 2, 3)
        with pytest.raises(CommandRefused, match="until a floor person has read this"):
            apply(state, ev.PhaseAdvanced(Phase.SHOWDOWN))
        with pytest.raises(CommandRefused):
            apply(state, ev.ImagesDropped(1, (), "old"))
        journal.append([ev.RecordFaultRead("the power went")], "floor:Moreno")
        assert apply(journal.recover(), ev.PhaseAdvanced(Phase.SHOWDOWN)).phase is Phase.SHOWDOWN
    assert fault(killed) is None, "what was read is not asked again"
    found = verify(killed)
    assert found.ok
    assert [(one.seq, str(one.what)) for one in found.faults] == [
        (3, "The record ends at row 2, but row 3 had been written: 1 rows are missing.")
    ]
    assert found.verdict == "All of it holds. The record tells of faults of its own."


@pytest.mark.parametrize("lost", [(WAL,), (FILE, WAL), (witness.FILE,)])
def test_a_file_that_is_gone_is_no_fresh_box(killed: Path, lost: tuple[str, ...]) -> None:
    for name in lost:
        (killed / name).unlink()
    found = fault(killed)
    assert found is not None
    assert found.what == ("witness" if lost == (witness.FILE,) else "short")


def test_images_of_hands_that_no_row_tells_of_are_named(killed: Path) -> None:
    CaptureStore(killed).save("000002/frame.jpg", b"pixels")
    found = fault(killed)
    assert found is not None
    assert (found.what, found.captures) == ("captures", ("000002/frame.jpg",))


def test_a_torn_write_of_the_witness_leaves_the_one_before(tmp_path: Path) -> None:
    heads = [(number, f"{number:064x}") for number in range(1, 6)]
    with witness.Witness(tmp_path) as written:
        for head in heads:
            written.write(head)
    assert witness.read(tmp_path) == heads[-1]
    raw = bytearray((tmp_path / witness.FILE).read_bytes())
    raw[4096 + 20] ^= 1  # the slot of the odd turns, and the last was the fifth
    (tmp_path / witness.FILE).write_bytes(raw)
    assert witness.read(tmp_path) == heads[-2]
    with witness.Witness(tmp_path) as again:
        again.write((2, "ab" * 32))
    assert witness.read(tmp_path) == (2, "ab" * 32), "the last that was written, not the highest"


@pytest.mark.parametrize("name", [FILE, WAL])
@pytest.mark.parametrize("how", ["removed", "replaced", "cut"])
def test_nothing_is_acknowledged_on_a_file_that_is_not_the_named_one(
    tmp_path: Path, deal: Deal, name: str, how: str
) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
        path = tmp_path / name
        data = path.read_bytes()
        if how == "cut":
            path.write_bytes(data[: len(data) // 2])
        else:
            path.unlink()
            if how == "replaced":
                path.write_bytes(data)
        for _ in range(2):
            with pytest.raises(JournalError, match="removed, replaced or changed by something else"):
                journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")


def commits(db: sqlite3.Connection, text: str) -> bool:
    """Say whether a statement makes something durable: COMMIT, or a row by itself."""
    return text == "COMMIT" or (text.startswith("INSERT INTO journal") and not db.in_transaction)


class FailingCommit(sqlite3.Connection):
    """Commits, and then says that it failed, or fails and says so."""

    done = True

    def execute(self, text: str, values: Any = (), /) -> sqlite3.Cursor:
        if not commits(self, text):
            return super().execute(text, values)
        if self.done:
            super().execute(text, values)
        elif self.in_transaction:
            super().execute("ROLLBACK")
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        raise error


@contextmanager
def failing(journal: Journal, *, done: bool) -> Iterator[None]:
    journal._db.close()
    broken = sqlite3.connect(journal._path, isolation_level=None, factory=FailingCommit)
    broken.done = done
    journal._db = broken
    journal._files.forget()
    yield


@pytest.mark.parametrize("done", [True, False])
def test_a_commit_that_failed_is_answered_by_what_is_in_the_file(
    tmp_path: Path, deal: Deal, done: bool
) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
        with failing(journal, done=done):
            if done:
                assert journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test", command="a-touch-1") == 2
            else:
                with pytest.raises(JournalError, match="could not be written"):
                    journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test", command="a-touch-1")
        assert journal.commands() == ({"a-touch-1": 2} if done else {})
        assert not journal.is_uncertain
    assert JournalReader(tmp_path).head()[0] == 1 + done
    assert verify(tmp_path).ok


def test_where_nobody_can_say_nothing_more_is_acknowledged_until_somebody_can(
    tmp_path: Path, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
        with monkeypatch.context() as broken, failing(journal, done=True):

            def no_file(_: Journal) -> sqlite3.Connection:
                raise sqlite3.OperationalError("disk I/O error")

            broken.setattr(Journal, "_connect", no_file)
            for _ in range(2):
                with pytest.raises(JournalUncertain, match="not certain"):
                    journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
            with pytest.raises(JournalUncertain):
                journal.settle()
        assert journal.is_uncertain
        journal.settle()
        assert journal.recover().phase is Phase.SETTING, "it was there"
        assert journal.append([ev.PhaseAdvanced(Phase.SHOWDOWN)], "test") == 3
    assert verify(tmp_path).ok


class FullDisk(sqlite3.Connection):
    """Has room for a part of what a commit writes."""

    wal: Path
    other: Path | None = None

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        if not commits(self, sql):
            return super().execute(sql, *given)
        if self.in_transaction:
            super().execute("ROLLBACK")
        if self.other is not None:
            self.other.replace(self.wal)
        with self.wal.open("ab") as file:
            file.write(bytes(100))
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error


def fill(journal: Journal) -> FullDisk:
    full = sqlite3.connect(journal._path, isolation_level=None, factory=FullDisk)
    full.wal = journal._path.with_name(WAL)
    journal._db = full
    return full


def test_what_a_full_disk_had_room_for_is_nobody_elses_change(tmp_path: Path, deal: Deal) -> None:
    """On a disk that is full to the last byte the refused write itself makes the `-wal` longer."""
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
        roomy = journal._db
        with closing(fill(journal)):
            for _ in range(2):
                with pytest.raises(JournalFull, match="disk is full"):
                    journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
                with pytest.raises(JournalFull, match="disk is full"):
                    journal.keep("profile", b"a text")
        journal._db = roomy
        assert journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test") == 2
    assert verify(tmp_path).ok


@pytest.mark.parametrize("when", ["in the refused write", "after it"])
def test_a_full_disk_hides_no_change_by_others(tmp_path: Path, deal: Deal, when: str) -> None:
    with Journal(tmp_path / "data") as journal:
        journal.append([deal.opened()], "test")
        roomy, wal = journal._db, tmp_path / "data" / WAL
        with closing(fill(journal)) as full:
            if when == "after it":
                with pytest.raises(JournalFull):
                    journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
                with wal.open("ab") as file:
                    file.write(b"x")
            else:
                full.other = Path(shutil.copy(wal, tmp_path / "other"))
            for _ in range(2):
                with pytest.raises(JournalError, match="by something else"):
                    journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
        journal._db = roomy
        with pytest.raises(JournalError, match="by something else"):
            journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")


def test_a_journal_that_is_closed_twice_closes_no_file_of_others(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.close()
    with (tmp_path / "a").open("w") as a, (tmp_path / "b").open("w") as b, (tmp_path / "c").open("w") as c:
        journal.close()
        assert [os.fstat(file.fileno()).st_nlink for file in (a, b, c)] == [1, 1, 1]


def test_a_witness_that_cannot_be_read_is_said_and_the_rows_are_checked_all_the_same(killed: Path) -> None:
    (killed / witness.FILE).unlink()
    (killed / witness.FILE).mkdir()
    found = verify(killed)
    assert found.entries == 3
    [problem] = found.problems
    assert str(problem.what).endswith("cannot be read: nobody can say whether the record is whole.")


@pytest.mark.parametrize(
    ("at", "bit"), [(18, 6), (52, 1), (67, 0)], ids=["never written", "moved pages", "by itself"]
)
def test_a_bit_in_the_files_head_that_sqlite_would_believe_is_named_and_refused(
    killed: Path, at: int, bit: int
) -> None:
    with Journal(killed):
        pass
    assert verify(killed).ok
    raw = bytearray((killed / FILE).read_bytes())
    raw[at] ^= 1 << bit
    (killed / FILE).write_bytes(raw)
    assert "The head of the record's file is not as Feltwatch makes it" in str(verify(killed))
    with pytest.raises(JournalError, match="head of the record's file"):
        Journal(killed)
