from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firmware.record.evidence.verify import verify
from firmware.record.journal import journal as journal_module
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.table import INITIAL, JournalBusy, JournalError, Phase, apply, fold
from firmware.table import events as ev
from tests.waiting import DEADLINE, until

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

Clock = Callable[[], Timestamp]


@pytest.fixture
def written(tmp_path: Path, deal: Deal, ticking: Clock) -> Path:
    """A data folder with two hands, the second in review."""
    with Journal(tmp_path, ticking) as journal:
        CaptureStore(tmp_path).save(*deal.frame)
        for event in (*deal.until(Phase.ARCHIVED), deal.opened(2), *deal.until(Phase.REVIEW)[1:]):
            journal.append([event], "test")
    return tmp_path


def bend(data: Path, *statements: str) -> None:
    """Change the file as somebody would who has it in hand: triggers dropped first, and put back afterwards."""
    with sqlite3.connect(data / FILE) as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)
        for _, text in triggers:
            db.execute(text)
    db.close()


def problems(data: Path) -> list[int | None]:
    return [problem.seq for problem in verify(data).problems]


def test_what_was_written_is_read_back_in_order(written: Path, deal: Deal) -> None:
    entries = JournalReader(written).events_since(0)
    assert [entry.seq for entry in entries] == list(range(1, 13))
    assert [entry.event for entry in entries[:7]] == deal.until(Phase.ARCHIVED)
    assert [entry.hand for entry in entries] == [1] * 7 + [2] * 5
    assert {entry.actor for entry in entries} == {"test"}
    assert JournalReader(written).events_since(11) == entries[11:]
    assert JournalReader(written).events_since(0, limit=3) == entries[:3]


def test_one_hand_can_be_read_alone(written: Path) -> None:
    reader = JournalReader(written)
    assert {entry.hand for entry in reader.of_hand(1)} == {1}
    assert reader.of_hand(1) + reader.of_hand(2) == reader.events_since(0)
    assert reader.of_hand(3) == []


def test_recovery_starts_at_the_last_opened_hand_and_reaches_the_same_state(written: Path) -> None:
    reader = JournalReader(written)
    everything = reader.events_since(0)
    assert reader.since_last_opened()[0].event == everything[7].event
    state, seq = reader.recover()
    assert seq == everything[-1].seq
    assert state == fold(entry.event for entry in everything)
    with Journal(written) as journal:
        assert journal.recover() == state
        assert journal.seq == seq


def test_an_empty_or_absent_journal_is_the_initial_state(tmp_path: Path) -> None:
    reader = JournalReader(tmp_path / "not-there")
    assert reader.recover() == (INITIAL, 0)
    with Journal(tmp_path) as journal:
        assert journal.recover() == INITIAL
        assert JournalReader(tmp_path).recover() == (INITIAL, 0)


def test_a_step_of_several_events_is_written_whole_or_not_at_all(written: Path, deal: Deal) -> None:
    with Journal(written) as journal:
        before = journal.seq
        state = journal.recover()
        too_much = ev.DeviceFault("camera", "x" * 50_000)
        with _disk_full(journal), pytest.raises(JournalError, match="disk is full"):
            journal.append([ev.LookedAgain(), too_much], "test")
        assert JournalReader(written).events_since(before) == []
        assert journal.append([ev.LookedAgain(), deal.reading()], "test") == before + 2
        assert journal.recover() == fold([ev.LookedAgain(), deal.reading()], state)
    assert verify(written).ok


@contextmanager
def _disk_full(journal: Journal) -> Iterator[None]:
    """Let the file grow no further: SQLite then fails as it does on a full disk."""
    pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
    journal._db.execute(f"PRAGMA max_page_count = {pages}")
    yield
    journal._db.execute("PRAGMA max_page_count = 1000000")


def test_rows_can_neither_be_changed_nor_removed_nor_slipped_in(written: Path) -> None:
    with sqlite3.connect(written / FILE) as db:
        for statement in (
            "UPDATE journal SET actor = 'somebody'",
            "DELETE FROM journal WHERE seq = 3",
            "DELETE FROM journal",
            "INSERT OR REPLACE INTO journal SELECT * FROM journal WHERE seq = 2",
            "INSERT INTO journal SELECT 99, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type, payload,"
            " hash, hash FROM journal WHERE seq = 12",
            "INSERT INTO journal SELECT 13, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type, payload,"
            " 'x', hash FROM journal WHERE seq = 12",
            "INSERT OR REPLACE INTO content VALUES ('a', 'profile', x'00')",
            "UPDATE content SET bytes = x'01'",
            "DELETE FROM content",
        ):
            if "'a', 'profile'" in statement:
                db.execute(statement)  # the first of its hash
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(statement)
    db.close()
    assert len(JournalReader(written).events_since(0)) == 12


def test_an_untouched_record_verifies(written: Path) -> None:
    found = verify(written)
    assert found.problems == ()
    assert (found.entries, found.hands) == (12, 2)
    assert found.head == JournalReader(written).events_since(11)[0].hash


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        ("UPDATE journal SET payload = replace(payload, 'Qs', 'Qh') WHERE seq = 5", 5),
        ("UPDATE journal SET actor = 'nobody' WHERE seq = 2", 2),
        ("UPDATE journal SET wall_ms = wall_ms + 1 WHERE seq = 7", 7),
        ("UPDATE journal SET hash = 'x' WHERE seq = 3", 3),
        ("DELETE FROM journal WHERE seq = 2", 3),
        ("DELETE FROM journal WHERE seq = 1", 2),
    ],
)
def test_any_change_shows(written: Path, statement: str, first: int) -> None:
    bend(written, statement)
    assert problems(written)[0] == first


def test_two_rows_that_changed_places_show(written: Path) -> None:
    bend(
        written,
        "UPDATE journal SET seq = 100 WHERE seq = 2",
        "UPDATE journal SET seq = 2 WHERE seq = 3",
        "UPDATE journal SET seq = 3 WHERE seq = 100",
    )
    assert problems(written)[0] == 2


def test_a_bent_hand_is_not_gone_on_with(written: Path) -> None:
    bend(written, "UPDATE journal SET payload = replace(payload, 'Qs', 'Qh') WHERE seq = 12")
    with Journal(written) as journal, pytest.raises(JournalError, match="Row 12 of the journal was changed"):
        journal.recover()
    with pytest.raises(JournalError, match="Row 12"):
        JournalReader(written).recover()


def test_content_is_kept_once_and_its_change_shows(written: Path, deal: Deal) -> None:
    with Journal(written) as journal:
        digest = journal.keep("profile", b"the rules")
        assert journal.keep("profile", b"the rules") == digest
    reader = JournalReader(written)
    assert reader.content(digest) == b"the rules"
    assert reader.content("unknown") is None
    bend(written, f"UPDATE content SET bytes = x'00' WHERE hash = '{digest}'")
    assert f"The content {digest} was changed." in [str(problem.what) for problem in verify(written).problems]


def test_a_changed_and_a_missing_image_are_told_apart(tmp_path: Path, deal: Deal) -> None:
    store = CaptureStore(tmp_path)
    with Journal(tmp_path) as journal:
        frame = store.save("000001/showdown.jpg", b"pixels")
        reading = ev.ReadingTaken(deal.reading().rows, frame)
        journal.append([*deal.until(Phase.READING), reading], "test")
    assert verify(tmp_path).ok
    store.path(frame.name).write_bytes(b"pixel5")
    assert [str(p.what) for p in verify(tmp_path).problems] == ["The capture 000001/showdown.jpg is changed."]
    store.path(frame.name).unlink()
    assert [str(p.what) for p in verify(tmp_path).problems] == ["The capture 000001/showdown.jpg is missing."]


def test_a_second_writer_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(JournalBusy, match=f"process {os.getpid()}.* stop it"):
        Journal(tmp_path)
    Journal(tmp_path).close()


def test_a_file_that_is_no_journal_is_said(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all, but long enough to be looked at" * 40)
    with pytest.raises(JournalError, match="head of the record's file"):
        Journal(tmp_path)
    with pytest.raises(JournalError, match="could not be read"):
        JournalReader(tmp_path).events_since(0)


def test_a_data_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(JournalError, match="cannot be opened"):
        Journal(tmp_path / "file" / "data")


def test_a_full_disk_writes_nothing_and_says_so(tmp_path: Path, deal: Deal) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
        with _disk_full(journal), pytest.raises(JournalError, match=r"disk is full.*no evidence is deleted"):
            journal.append([ev.DeviceFault("camera", "x" * 50_000)], "test")
        assert journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test") == 2
    assert verify(tmp_path).ok


def test_a_disk_so_full_that_nobody_can_read_is_said_to_be_full(
    tmp_path: Path, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")

    def no_room(*_: object, **__: object) -> sqlite3.Connection:
        error = sqlite3.OperationalError("disk I/O error")  # as a full tmpfs has it say
        error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
        raise error

    monkeypatch.setattr(sqlite3, "connect", no_room)
    with pytest.raises(JournalError, match="the disk is full"):
        JournalReader(tmp_path).head()


def test_a_clock_that_steps_back_breaks_no_order_and_is_written_down(tmp_path: Path, deal: Deal) -> None:
    walls = iter([1_700_000_000_000, 12_345, 12_346])
    clock = iter(Timestamp("boot", n, wall, "synchronised") for n, wall in enumerate(walls))
    with Journal(tmp_path, lambda: next(clock)) as journal:
        for event in deal.until(Phase.SHOWDOWN):
            journal.append([event], "test")
    assert [e.clock for e in JournalReader(tmp_path).events_since(0)] == [
        "synchronised",
        "stepped_back",
        "synchronised",
    ]
    assert verify(tmp_path).ok


def in_the_database(data: Path) -> int:
    """How many rows lie in the database itself, whatever its `-wal` holds."""
    with closing(sqlite3.connect(f"{(data / FILE).as_uri()}?immutable=1", uri=True)) as db:
        made = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'journal'").fetchone()
        return int(db.execute("SELECT count(*) FROM journal").fetchone()[0]) if made else 0


def test_rows_go_from_the_wal_into_the_database_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "COPY_BACK_AFTER", 5)
    with Journal(tmp_path) as journal:
        for number in range(1, 23):
            journal.append([ev.DeviceRecovered("puck")], "test")
            assert in_the_database(tmp_path) == number // 5 * 5
        with closing(sqlite3.connect(tmp_path / FILE)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM journal").fetchone()
            for _ in range(10):
                journal.append([ev.DeviceRecovered("puck")], "test")
            assert in_the_database(tmp_path) <= 22, (
                "no further than somebody still reads, and nobody waits for them"
            )
        for _ in range(5):
            journal.append([ev.DeviceRecovered("puck")], "test")
        assert in_the_database(tmp_path) == 35
    assert verify(tmp_path).ok


def test_a_file_that_was_changed_meanwhile_is_not_taken_for_ones_own_by_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.DeviceRecovered("puck")], "test")
        write_witness = Journal._write_witness

        def meddle(journal: Journal) -> None:
            write_witness(journal)
            with (tmp_path / FILE).open("ab") as file:
                file.write(bytes(100))

        monkeypatch.setattr(journal_module, "COPY_BACK_AFTER", 1)
        monkeypatch.setattr(Journal, "_write_witness", meddle)
        assert journal.append([ev.DeviceRecovered("puck")], "test") == 2, "it is durable"
        with pytest.raises(JournalError, match="changed by something else"):
            journal.append([ev.DeviceRecovered("puck")], "test")


def test_a_reader_follows_a_writer_and_survives_its_end(tmp_path: Path, deal: Deal) -> None:
    reader = JournalReader(tmp_path)
    with Journal(tmp_path) as journal:
        journal.append([deal.opened()], "test")
        assert len(reader.events_since(0)) == 1
        journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
        assert len(reader.events_since(1)) == 1
    assert len(reader.events_since(0)) == 2  # the -wal file is gone
    with Journal(tmp_path) as journal:
        journal.append([ev.PhaseAdvanced(Phase.SHOWDOWN)], "test")
        assert len(reader.events_since(2)) == 1


NOBODY = 65534


def _entries_for_another_user(folder: Path) -> int:
    """Count the entries in a process that owns nothing of the folder (where we may become somebody else)."""
    with warnings.catch_warnings():  # no thread of ours is needed in the child
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os._exit(len(JournalReader(folder).events_since(0)))
        except BaseException:
            os._exit(255)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("left", ["stopped", "killed"])
def test_another_user_reads_the_journal_of_a_writer_that_was(written: Path, deal: Deal, left: str) -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = Path(name)
        with Journal(written) as journal:
            journal.append([ev.LookedAgain()], "test")
            if left == "killed":
                for file in written.glob(f"{FILE}*"):
                    shutil.copy(file, folder / file.name)
        if left == "stopped":
            shutil.copy(written / FILE, folder / FILE)
        assert (folder / f"{FILE}-wal").exists() == (left == "killed")
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        try:
            assert _entries_for_another_user(folder) == 13
        finally:
            folder.chmod(0o755)


WRITER = """
import sys
from pathlib import Path
from firmware.table import events as ev
from firmware.record.journal import journal as journal_module
from firmware.record.journal.journal import Journal
data, opened, acknowledged = sys.argv[1:]
with Journal(Path(data)) as journal, open(acknowledged, "w") as said:
    journal.append([ev.parse("hand_opened", opened)], "test")
    number = 0
    while True:  # until it is killed
        number += 1
        seat = 1 + number % 5
        seq = journal.append([ev.PuckSeen("seat", seat), ev.ButtonKeyed(seat)], "test")
        print(seq, file=said, flush=True)
"""


@pytest.mark.parametrize("round_", range(3))
@pytest.mark.slow
def test_a_writer_killed_in_the_middle_of_a_hand_loses_nothing_it_acknowledged(
    tmp_path: Path, deal: Deal, round_: int
) -> None:
    acknowledged = tmp_path / "acknowledged"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path), ev.payload(deal.opened()), str(acknowledged)]
    )

    def has_written() -> bool:
        assert writer.poll() is None, "the writer did not start"
        return acknowledged.exists() and acknowledged.stat().st_size > 20 + 100 * round_

    until(has_written)
    writer.kill()
    assert writer.wait(DEADLINE) == -signal.SIGKILL
    said = int(acknowledged.read_text().split("\n")[-2])
    found = verify(tmp_path)
    assert found.ok
    assert found.entries >= said
    assert found.entries % 2 == 1, "a step of two events was torn"
    with Journal(tmp_path) as journal:  # the dead writer's lock is gone with it
        state = journal.recover()
        assert state == fold(entry.event for entry in JournalReader(tmp_path).events_since(0))
        assert state.phase is Phase.DEALING
        journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
        assert apply(state, ev.PhaseAdvanced(Phase.SETTING)) == journal.recover()
    assert verify(tmp_path).ok
