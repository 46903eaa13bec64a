"""Attacks through what is plugged in and through the table's socket."""

from __future__ import annotations

import os
import random
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from firmware.devices.puck import protocol as puck_line
from firmware.devices.puck.protocol import PuckLine, encode
from firmware.devices.puck.reading import Disks, PuckReading, PuckState
from firmware.record.journal.journal import Journal
from firmware.runtime import socket_server
from firmware.runtime.socket_server import CommandSocket
from firmware.table.errors import JournalBusy
from tests.firmware.devices.fuzz import DEALER, DISKS, PARSERS, SEATS
from tests.firmware.running_table import Table, say
from tests.waiting import DEADLINE

SEEN: Final = frozenset(SEATS)


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
def test_garbage_on_a_serial_port_names_no_wrong_seat_and_stops_nothing(
    parser: Callable[[random.Random], Iterator[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def send() -> None:
        sends = parser(random.Random(4242))
        for _ in range(1500):
            next(sends)

    send()
    # Without the judgement of what was heard, without the look at what a question or an answer is:
    monkeypatch.setattr(
        "firmware.devices.puck.reading.judge", lambda *_: PuckReading(PuckState.SEAT, 4, "", SEEN, 0.0)
    )
    monkeypatch.setattr("firmware.puck_reader.framing.Questions.feed", lambda *_: True)
    monkeypatch.setattr("firmware.puck_reader.pn532._tags_of", lambda _: ["1"])
    with pytest.raises(AssertionError):
        send()


def seat_named(disk: str, *, checksum: bytes = b"") -> int | None:
    """Which seat the line names once somebody says over and over that a disk lies at seat 3."""
    line = PuckLine(DISKS, SEATS)
    line.opened(0.0)
    line.feed(encode("HELLO", "puckd", "1", "00"), 0.0)
    for number in range(1, 40):
        seats = [f"{seat}:{disk if seat == 3 else ''}" for seat in SEATS]
        wire = encode("STATE", number, number * 10, *seats, "1f")
        line.feed(wire[:-6] + checksum + b"\r\n" if checksum else wire, number * 0.05)
    return line.reading(2.0).seat


def test_a_sentence_whose_checksum_does_not_hold_is_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seat_named(DEALER, checksum=b"0000") is None
    monkeypatch.setattr(puck_line, "checksum", lambda _: 0)
    assert seat_named(DEALER, checksum=b"0000") == 3


def test_a_disk_that_nobody_listed_is_no_button(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card of one's own with a chip in it, laid on the felt."""
    assert seat_named("DEADBEEF") is None
    monkeypatch.setattr(sys.modules[__name__], "DISKS", Disks(frozenset({"DEADBEEF"})))
    assert seat_named("DEADBEEF") == 3


# ---- the table's socket ----


def opens_for_another_user(path: Path) -> bool:
    """Try to open the socket as nobody: a process of its own, as a user is given up for good."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(str(path))
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_of_the_box_may_not_open_the_tables_socket() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.sock"
        Path(folder).chmod(0o755)
        taken = CommandSocket(path, lambda _: {"ok": True})
        taken.start()
        try:
            assert not opens_for_another_user(path)
            path.chmod(0o666)
            assert opens_for_another_user(path)
        finally:
            taken.close()


def test_a_second_process_cannot_take_the_tables_place(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the process that holds the journal opens the socket: a second table process gets neither."""
    with pytest.raises(JournalBusy):
        Journal(table.config.data)
    assert b'"ok":' in say(table.config.socket, '{"do": "health"}')[0]
    monkeypatch.setattr("fcntl.flock", lambda *_: None)
    with Journal(table.config.data) as second:
        assert second.head == table.journal.head, "two would write one record"


def test_a_line_without_end_and_nonsense_are_refused_and_the_table_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.sock"
    came: list[int] = []

    def submit(line: bytes) -> dict[str, object]:
        came.append(len(line))
        return {"ok": True}

    taken = CommandSocket(path, submit)
    taken.start()
    try:
        long = "x" * (socket_server.LONGEST_LINE + 10)
        assert b"too long" in say(path, long)[0]
        assert came == []
        monkeypatch.setattr(socket_server, "LONGEST_LINE", 1 << 24)
        assert b'"ok":true' in say(path, long)[0]
    finally:
        taken.close()


def crowd(path: Path, count: int) -> int:
    """Open connections one after another, each with a word, and keep them; return how many were answered."""
    answered = 0
    with ExitStack() as stack:
        for _ in range(count):
            line = stack.enter_context(socket.socket(socket.AF_UNIX))
            line.settimeout(DEADLINE)
            line.connect(str(path))
            with suppress(ConnectionError):  # refused: closed before it could be heard
                line.sendall(b"{}\n")
                answered += bool(line.recv(100))
    return answered


def test_a_crowd_on_the_tables_socket_starts_no_thread_and_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_server, "MAX_CONNECTIONS", 5)
    path = tmp_path / "t.sock"
    taken = CommandSocket(path, lambda _: {"ok": True})
    taken.start()
    try:
        before = threading.active_count()
        assert crowd(path, 20) == 20, "who has been silent longest makes room"
        assert threading.active_count() == before
    finally:
        taken.close()
