"""The table's socket: its threads live through every error, and the silent ones make room."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from firmware.runtime import socket_server
from firmware.runtime.socket_server import CommandSocket
from tests.waiting import DEADLINE, until

FEW = 3


class Commands:
    """Answers commands: "hold" once it is let go, "break" with an error, others at once."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.held = 0
        self.errors: list[BaseException] = []

    def submit(self, line: bytes) -> dict[str, Any]:
        if line == b"hold\n":
            self.held += 1
            assert self.let_go.wait(DEADLINE)
        if line == b"break\n":
            raise self.errors.pop()
        return {"ok": True}


@pytest.fixture
def commands() -> Commands:
    return Commands()


@pytest.fixture
def path(tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(socket_server, "MAX_CONNECTIONS", FEW)
    with closing(CommandSocket(tmp_path / "t.sock", commands.submit)) as opened:
        opened.start()
        yield tmp_path / "t.sock"
        commands.let_go.set()


def connected(path: Path, stack: ExitStack) -> socket.socket:
    line = stack.enter_context(socket.socket(socket.AF_UNIX))
    line.settimeout(DEADLINE)
    line.connect(str(path))
    return line


def answer(line: socket.socket, command: bytes = b"x\n") -> bytes:
    """Return what is answered; nothing if the connection is closed."""
    try:
        line.sendall(command)
        return line.recv(100)
    except ConnectionError:
        return b""


OK = b'{"ok":true}\n'


def test_an_error_costs_its_connection_and_no_thread(path: Path, commands: Commands) -> None:
    before = threading.active_count()
    for error in [MemoryError(), RuntimeError("ours"), OSError(errno.EIO, "disk")] * FEW:
        commands.errors = [error]
        with ExitStack() as stack:
            assert answer(connected(path, stack), b"break\n") == b""
    with ExitStack() as stack:
        assert [answer(connected(path, stack)) for _ in range(FEW)] == [OK] * FEW
    assert threading.active_count() == before


@pytest.mark.parametrize(
    "error",
    [
        OSError(number, os.strerror(number))
        for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ECONNABORTED)
    ]
    + [MemoryError()],
    ids=str,
)
def test_an_error_of_accept_costs_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    errors = [error] * 20
    accept = socket.socket.accept

    def fails(listening: socket.socket) -> Any:
        if errors:
            raise errors.pop()
        return accept(listening)

    monkeypatch.setattr(socket.socket, "accept", fails)
    with closing(CommandSocket(tmp_path / "t.sock", lambda _: {"ok": True})) as opened, ExitStack() as stack:
        opened.start()
        assert answer(connected(tmp_path / "t.sock", stack)) == OK
        assert errors == []


def test_who_has_been_silent_longest_makes_room_and_a_command_in_progress_does_not(
    path: Path, commands: Commands
) -> None:
    with ExitStack() as stack:
        works = connected(path, stack)
        works.sendall(b"hold\n")
        until(lambda: commands.held)
        first, second = connected(path, stack), connected(path, stack)
        assert answer(first) == OK
        assert answer(second) == OK
        third = connected(path, stack)
        assert answer(third) == OK
        assert answer(first) == b"", "it had been silent longest"
        assert answer(second) == OK
        commands.let_go.set()
        assert works.recv(100) == OK


def test_while_all_threads_work_a_further_connection_waits_for_its_turn(
    path: Path, commands: Commands
) -> None:
    with ExitStack() as stack:
        working = [connected(path, stack) for _ in range(FEW)]
        for line in working:
            line.sendall(b"hold\n")
        until(lambda: commands.held == FEW)
        waits = connected(path, stack)
        waits.sendall(b"x\n")
        commands.let_go.set()
        assert waits.recv(100) == OK
        assert OK in [line.recv(100) for line in working]


def test_a_silent_connection_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_server, "SILENT_TOO_LONG", 0.05)
    with ExitStack() as stack:
        assert connected(path, stack).recv(100) == b""


def test_close_returns_while_commands_are_in_progress_and_clients_are_silent(
    tmp_path: Path, commands: Commands
) -> None:
    opened = CommandSocket(tmp_path / "t.sock", commands.submit)
    opened.start()
    with ExitStack() as stack:
        works, silent = connected(tmp_path / "t.sock", stack), connected(tmp_path / "t.sock", stack)
        assert answer(silent) == OK
        works.sendall(b"hold\n")
        until(lambda: commands.held)
        opened.close()
        assert silent.recv(100) == b""
        assert not (tmp_path / "t.sock").exists()
        commands.let_go.set()
        assert works.recv(100) == OK, "what is in progress is answered"
        until(lambda: not [one for one in threading.enumerate() if one.name.startswith("socket-")])


def test_close_returns_without_a_start_and_twice(tmp_path: Path) -> None:
    opened = CommandSocket(tmp_path / "t.sock", lambda _: {})
    opened.close()
    opened.close()
