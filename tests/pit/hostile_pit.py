"""A hostile pit for tests and benchmarks.

It accepts a table's connection, and sends no answer, an endless answer or an invalid answer.
"""

from __future__ import annotations

import itertools
import multiprocessing
import random
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, Self

from firmware.threads import start_thread
from pit.authority import CERTIFICATE, DOOR_CERTIFICATE, DOOR_KEY, Authority

_OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_BLOCK: Final = b"[" * (1 << 16)


def _endless_body(_: random.Random) -> Iterator[bytes]:
    yield _OK + b"Content-Length: 1000000000000\r\n\r\n"
    yield from itertools.repeat(_BLOCK)


def _endless_chunks(_: random.Random) -> Iterator[bytes]:
    yield _OK + b"Transfer-Encoding: chunked\r\n\r\n"
    yield from itertools.repeat(b"10000\r\n" + _BLOCK + b"\r\n")


def _one_endless_chunk(_: random.Random) -> Iterator[bytes]:
    yield _OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"
    yield from itertools.repeat(_BLOCK)


def _endless_headers(_: random.Random) -> Iterator[bytes]:
    yield _OK
    yield from itertools.repeat(b"X-More: " + b"x" * 60_000 + b"\r\n")


def _endless_continue(_: random.Random) -> Iterator[bytes]:
    yield from itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


def _no_http(rng: random.Random) -> Iterator[bytes]:
    yield from (rng.randbytes(1 << 16) for _ in itertools.count())


def _answer(body: bytes) -> Callable[[random.Random], Iterator[bytes]]:
    return lambda _: iter([_OK + b"Content-Length: %d\r\n\r\n" % len(body) + body])


_HASH: Final = b'"' + b"a" * 64 + b'"'
FLOODS: Final[Mapping[str, Callable[[random.Random], Iterator[bytes]]]] = {
    "a body without end": _endless_body,
    "chunks without end": _endless_chunks,
    "one chunk without end": _one_endless_chunk,
    "headers without end": _endless_headers,
    "interim answers without end": _endless_continue,
    "noise": _no_http,
    "deep JSON": _answer(b"[" * 50_000),
    "a number too high": _answer(b'{"have": [' + b"9" * 4000 + b", " + _HASH + b"]}"),
    "a number that no record has": _answer(b'{"have": [9223372036854775808, ' + _HASH + b"]}"),
    "a number below zero": _answer(b'{"have": [-1, ' + _HASH + b"]}"),
    "wishes that are no list": _answer(b'{"have": [0, ""], "wishes": 1}'),
    "half of a character": _answer(
        b'{"have": [0, ""], "wishes": [{"kind": "\\ud800", "name": "\\u0000", "hash": ' + _HASH + b"}]}"
    ),
    "thousands of wishes": _answer(
        b'{"have": [0, ""], "wishes": [' + b",".join([b'{"hash": ' + _HASH + b"}"] * 700) + b"]}"
    ),
}
"""Harmful answers, by name. None of them may harm a table."""


class HostilePit:
    """A server with the authority's door certificate that sends these floods in turn. A context manager.

    Without floods it accepts connections and never answers.
    """

    def __init__(self, authority: Authority, floods: tuple[str, ...] = ()) -> None:
        authority.door()
        self._floods = floods
        self._context = _context(authority.folder)
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=100)
        self._open: list[socket.socket] = []
        self.address: Final = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self.answers = 0
        """The number of answers begun."""

    def __enter__(self) -> Self:
        start_thread(self._accept, name="accept")
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self._open.append(connection)
                start_thread(self._serve, connection, name="serve")

    def _serve(self, plain: socket.socket) -> None:
        with suppress(OSError), plain, self._context.wrap_socket(plain, server_side=True) as secure:
            while self._floods:
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (more := secure.recv(65536)):
                        return
                    request += more
                self.answers += 1
                flood = self._floods[self.answers % len(self._floods)]
                for part in FLOODS[flood](random.Random(self.answers)):
                    secure.sendall(part)
            while secure.recv(65536):  # without floods: read, and never answer
                pass


def _context(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(folder / CERTIFICATE)
    context.load_cert_chain(folder / DOOR_CERTIFICATE, folder / DOOR_KEY)
    return context


@contextmanager
def hostile_process(authority: Path, floods: tuple[str, ...]) -> Iterator[str]:
    """Run a hostile pit in a separate process, and yield its address.

    In the table's process, its work would count as the table's.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_be_hostile, args=(theirs, authority, floods), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _be_hostile(pipe: Connection, authority: Path, floods: tuple[str, ...]) -> None:
    with HostilePit(Authority(authority), floods) as pit:
        pipe.send(pit.address)
        threading.Event().wait()
