"""The way to the table process, over a real Unix socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from firmware.adaptive_limit import AdaptiveLimit
from firmware.table_client import TableLink, TableUnreachable
from tests.waiting import DEADLINE


@contextmanager
def table_that_answers(path: Path, reply: bytes | None) -> Iterator[list[bytes]]:
    """A table that takes one line and sends these bytes; None: it hangs up without a word."""
    came: list[bytes] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen(1)

        def answer() -> None:
            link, _ = server.accept()
            with link, link.makefile("rb") as lines:
                came.append(lines.readline())
                if reply is not None:
                    link.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield came
        finally:
            thread.join(5)


def test_one_line_goes_out_and_one_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "table.sock"
    with table_that_answers(path, b'{"ok": true, "seq": 7}\n') as came:
        assert TableLink(path).send({"do": "next"}) == {"ok": True, "seq": 7}
    assert came == [b'{"do":"next"}\n']


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (None, "broke off"),
        (b'{"ok": tr', "broke off"),
        (b'["ok"]\n', "does not understand"),
        (b'{"ok": "yes"}\n', "does not understand"),
        (b"\xff\xfe\n", "broke off"),
    ],
)
def test_an_answer_that_is_none_is_said_so(tmp_path: Path, reply: bytes | None, said: str) -> None:
    path = tmp_path / "table.sock"
    with table_that_answers(path, reply), pytest.raises(TableUnreachable, match=said):
        TableLink(path).send({"do": "next"})


def test_a_table_that_hangs_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "table.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen(1)  # connects, and nobody ever answers
        with pytest.raises(TableUnreachable, match="in time"):
            TableLink(path, timeout=0.1).send({"do": "next"})


def test_every_answer_that_comes_too_late_gives_the_next_one_longer_up_to_the_ceiling(tmp_path: Path) -> None:
    path = tmp_path / "table.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen(8)  # connects, and nobody ever answers
        link = TableLink(path, limit=AdaptiveLimit(0.05, 0.3))
        limits = []
        for _ in range(5):
            limits.append(link.limit.seconds)
            with pytest.raises(TableUnreachable, match="in time"):
                link.send({"do": "next"})
    assert limits == [0.05, 0.1, 0.2, 0.3, 0.3]


def test_a_table_that_takes_longer_than_the_first_limit_is_waited_for_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "table.sock"
    link = TableLink(path, limit=AdaptiveLimit(0.05, DEADLINE))
    asked, answered = 0, {"ok": False}
    with slow_table(path, needs=lambda: link.limit.seconds < 0.4):
        while not answered["ok"]:
            asked += 1
            with suppress(TableUnreachable):
                answered = link.send({"do": "next"})
    assert asked >= 4  # 0.05, 0.1, 0.2, 0.4 s
    assert link.limit.figures().timeouts == asked - 1


@contextmanager
def slow_table(path: Path, needs: Callable[[], bool]) -> Iterator[None]:
    """Listen, and answer nobody whose limit is shorter than what this table `needs`."""
    kept: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection = server.accept()[0]
                kept.append(connection)
                connection.recv(1000)
                if not needs():
                    connection.sendall(b'{"ok": true}\n')

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen(8)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    for connection in kept:
        connection.close()


def test_no_table_is_said_so(tmp_path: Path) -> None:
    link = TableLink(tmp_path / "table.sock")
    assert link.heartbeat() is None
    assert not link.is_listening()
    with pytest.raises(TableUnreachable, match="not running"):
        link.send({"do": "next"})


def test_a_socket_that_a_dead_table_left_behind_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "table.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
    assert path.exists()
    assert TableLink(path).heartbeat() is None
    assert not TableLink(path).is_listening()


def test_an_unreachable_table_is_also_the_builtin_error_it_refines() -> None:
    assert issubclass(TableUnreachable, ConnectionError)
