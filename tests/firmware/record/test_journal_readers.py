"""The page reads the journal as another user of the same group, whatever the writer does or did."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import BOTH_WAYS, FILE, Journal, JournalReader
from firmware.record.journal.witness import FILE as WITNESS
from firmware.table import events as ev
from tests.waiting import DEADLINE

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

GROUP, STRANGER, NOBODY = 61234, 61235, 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

WRITER = """
import os, sys, time
from pathlib import Path
from firmware.table import events as ev
from firmware.record.journal.journal import Journal
os.umask(0o077)  # a hardened unit's
with Journal(Path(sys.argv[1])) as journal:
    journal.append([ev.parse("hand_opened", sys.argv[2])], "test")
    print("ready", flush=True)
    number = 0
    while number < int(sys.argv[3]):
        number += 1
        journal.append([ev.ButtonKeyed(1 + number % 5)], "test")
    print("done", flush=True)
    if sys.argv[4] == "stay":
        time.sleep(3600)
"""
READER = """
import os, sys
from pathlib import Path
from firmware.record.journal.journal import JournalReader  # while we may still read the program
group, user = int(sys.argv[2]), int(sys.argv[3])
if group:
    os.setgroups([]); os.setgid(group); os.setuid(user)
reader = JournalReader(Path(sys.argv[1]))
more, first, last = int(sys.argv[4]), None, 0
while first is None or last < first + more:  # until so many rows more were written than there were at first
    entries = reader.since_last_opened()
    assert len(entries) >= last, "a row that was read is gone"
    assert [e.seq for e in entries] == list(range(1, len(entries) + 1))
    assert all(b.previous == a.hash for a, b in zip(entries, entries[1:]))
    last = len(entries)
    first = last if first is None else first
print(last)
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder as the units make it: of the group, its bit set. pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        top.chmod(0o755)
        folder = top / "data"
        folder.mkdir()
        if os.geteuid() == 0:
            os.chown(folder, -1, GROUP)
        folder.chmod(0o2750)
        yield folder


def write(folder: Path, deal: Deal, rows: int, then: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), ev.payload(deal.opened()), str(rows), then],
        stdout=subprocess.PIPE,
        text=True,
    )


def read(folder: Path, more: int = 0, group: int = GROUP) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", READER, str(folder), str(group), str(NOBODY), str(more)],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


def rows(done: subprocess.CompletedProcess[str]) -> int:
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def end(writer: subprocess.Popen[str]) -> None:
    writer.kill()
    assert writer.wait(DEADLINE) == -signal.SIGKILL
    assert writer.stdout is not None
    writer.stdout.close()


def said(writer: subprocess.Popen[str], word: str) -> None:
    assert writer.stdout is not None
    assert writer.stdout.readline().strip() == word


@needs_root
@pytest.mark.slow
def test_another_user_reads_after_a_clean_stop(shared: Path, deal: Deal) -> None:
    with write(shared, deal, 20, "stop") as writer:
        assert writer.wait(DEADLINE) == 0
    assert not (shared / f"{FILE}-wal").exists()
    assert rows(read(shared)) == 21


@needs_root
@pytest.mark.slow
def test_another_user_reads_after_a_kill(shared: Path, deal: Deal) -> None:
    writer = write(shared, deal, 20, "stay")
    said(writer, "ready")
    said(writer, "done")
    end(writer)
    assert (shared / f"{FILE}-wal").stat().st_size > 0, "nothing was left to read from"
    assert rows(read(shared)) == 21
    (shared / f"{FILE}-shm").write_bytes(b"")  # what a power cut may leave of a file that is never synced
    assert rows(read(shared)) == 21


@needs_root
@pytest.mark.slow
def test_another_user_follows_a_writer_that_is_killed_and_started_again(shared: Path, deal: Deal) -> None:
    writer = write(shared, deal, 10**9, "stay")
    said(writer, "ready")
    try:
        seen = rows(read(shared, more=50))
        assert seen > 50
    finally:
        end(writer)
    with Journal(shared):  # started again: what a kill within a commit leaves is for a writer to mend
        pass
    assert rows(read(shared)) >= seen


@needs_root
@pytest.mark.slow
def test_a_stranger_reads_nothing_and_is_told_so(shared: Path, deal: Deal) -> None:
    with write(shared, deal, 1, "stop") as writer:
        assert writer.wait(DEADLINE) == 0
    refused = read(shared, group=STRANGER)
    assert refused.returncode != 0
    assert "JournalError" in refused.stderr
    assert "Permission denied" in refused.stderr


def test_the_record_is_the_groups_to_read_whatever_the_umask(tmp_path: Path, deal: Deal) -> None:
    before = os.umask(0o077)
    try:
        data = tmp_path / "data"
        with Journal(data) as journal:
            journal.append([deal.opened()], "test")
            CaptureStore(data).save("000001/showdown.jpg", b"pixels")
            modes = {
                path.name: stat.S_IMODE(path.stat().st_mode)
                for path in (data, *data.rglob("*"))
                if path.name != "journal.lock"
            }
    finally:
        os.umask(before)
    assert modes == {
        "data": 0o750,
        "captures": 0o750,
        "000001": 0o750,
        "showdown.jpg": 0o640,
        FILE: 0o640,
        f"{FILE}-wal": 0o640,
        f"{FILE}-shm": 0o640,
        WITNESS: 0o640,
    }


def test_recovery_looks_at_the_last_hand_only(
    tmp_path: Path, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What SQLite does to open a record and to recover it does not grow with the record."""
    connect, steps = sqlite3.connect, [0]

    def step() -> None:
        steps[0] += 10

    def counted(*arguments: Any, **named: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(*arguments, **named)
        db.set_progress_handler(step, 10)
        return db

    costs = []
    for rows in (BOTH_WAYS, 6 * BOTH_WAYS):
        folder = tmp_path / str(rows)
        with Journal(folder) as journal:
            journal.append([deal.opened(), *[ev.ButtonKeyed(1)] * rows, ev.HandVoided("a test")], "test")
            journal.append([deal.opened(2), ev.ButtonKeyed(1)], "test")
        steps[0] = 0
        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", counted)
            with Journal(folder) as journal:
                assert journal.recover().hand == 2
                assert journal.commands() == {}
        costs.append(steps[0])
    assert costs[0] > 1000
    assert abs(costs[1] - costs[0]) < costs[0] / 10
    assert costs[1] - costs[0] < BOTH_WAYS


def test_a_reader_never_holds_the_writer_up(tmp_path: Path, deal: Deal) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened(), *(ev.ButtonKeyed(1 + number % 5) for number in range(9))], "test")
        with JournalReader(tmp_path).opened() as reading:
            assert reading is not None
            rows = reading.execute("SELECT seq FROM journal ORDER BY seq")
            assert rows.fetchone() == (1,)  # in the middle of reading
            journal.append([ev.ButtonKeyed(1)], "test")
            assert journal.seq == 11
            assert [seq for (seq,) in rows] == list(range(2, 11)), "of the moment at which it began"
        assert JournalReader(tmp_path).head()[0] == 11
