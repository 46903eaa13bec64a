"""A line between tables and the pit that goes wrong: below TLS with the bytes, above TLS with whole requests.

What is wrong can be changed at any time; it holds for what comes from then on.
"""

from __future__ import annotations

import contextlib
import random
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from cryptography import x509

from firmware.uplink.settings import CERTIFICATE as TABLE_CERTIFICATE
from firmware.uplink.settings import Settings, load
from pit.authority import CERTIFICATE, DOOR_CERTIFICATE, DOOR_KEY, Authority
from pit.status.tables import serial_text

CHUNK: Final = 16 << 10
_RESET: Final = struct.pack("ii", 1, 0)


class Cut(Exception):
    """The line is cut: both sides see a reset."""


def reset(one: socket.socket) -> None:
    """End a connection as a cut line does: at once, with a reset."""
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        one.close()


class _Listener(threading.Thread):
    """Takes connections, each in a thread of its own."""

    def __init__(self, to: str) -> None:
        super().__init__(name="proxy", daemon=True)
        host, port = to.rsplit(":", 1)
        self.to = host, int(port)
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    def run(self) -> None:
        while True:
            try:
                peer, _ = self._listening.accept()
            except OSError:
                return  # closed
            self.keep(peer)
            threading.Thread(target=self._served, args=(peer,), daemon=True).start()

    def keep(self, one: socket.socket) -> None:
        with self._lock:
            self._open.add(one)

    def let_go(self, one: socket.socket) -> None:
        with self._lock:
            self._open.discard(one)
        with contextlib.suppress(OSError):
            one.close()

    def _served(self, peer: socket.socket) -> None:
        with contextlib.suppress(OSError, Cut, ValueError):
            self.serve(peer)
        self.let_go(peer)

    def serve(self, peer: socket.socket) -> None:
        raise NotImplementedError

    def cut_all(self) -> None:
        """Reset every connection."""
        with self._lock:
            found = list(self._open)
        for one in found:
            reset(one)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut_all()


Way = Callable[[bytes, socket.socket], bool]
"""Hands a chunk on to where it goes; returns whether this direction goes on. Raises Cut."""


def straight(data: bytes, sink: socket.socket) -> bool:
    """Hand on all of it."""
    sink.sendall(data)
    return True


class ByteProxy(_Listener):
    """Below TLS: plain bytes, in both directions."""

    way: Way = staticmethod(straight)

    def serve(self, peer: socket.socket) -> None:
        with socket.create_connection(self.to, 10) as door:
            door.settimeout(None)
            self.keep(door)
            back = threading.Thread(target=self._pump, args=(door, peer), daemon=True)
            back.start()
            self._pump(peer, door)
            back.join()
            self.let_go(door)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(CHUNK):
                if not self.way(data, sink):
                    return
            with contextlib.suppress(OSError):
                sink.shutdown(socket.SHUT_WR)
        except (OSError, Cut):
            reset(source)
            reset(sink)


def delaying(rng: random.Random) -> Way:
    def way(data: bytes, sink: socket.socket) -> bool:
        time.sleep(rng.uniform(0.05, 1.5))
        return straight(data, sink)

    return way


def cutting(rng: random.Random) -> Way:
    def way(data: bytes, sink: socket.socket) -> bool:
        if rng.random() < 0.4:
            sink.sendall(data[: rng.randrange(len(data))])
            raise Cut
        return straight(data, sink)

    return way


def half_closing(rng: random.Random) -> Way:
    def way(data: bytes, sink: socket.socket) -> bool:
        if rng.random() < 0.4:
            sink.sendall(data[: rng.randrange(len(data))])
            sink.shutdown(socket.SHUT_WR)
            return False
        return straight(data, sink)

    return way


def trickling(rng: random.Random) -> Way:
    def way(data: bytes, sink: socket.socket) -> bool:
        for at in range(0, len(data), 64):
            time.sleep(rng.uniform(0.005, 0.05))
            sink.sendall(data[at : at + 64])
        return True

    return way


def hanging(until: threading.Event, *, is_lost: bool) -> Way:
    """Hand on nothing until then; `is_lost`: what was held is never handed on, and the connection stays open."""

    def way(data: bytes, sink: socket.socket) -> bool:
        until.wait()
        return not is_lost and straight(data, sink)

    return way


Forward = Callable[[bytes], bytes]
"""Sends a request to the pit, over this table's connection; returns the answer."""


class Exchange(Protocol):
    """Deals with one request; returns the answer for the table. Raises Cut."""

    def __call__(self, serial: str, request: bytes, forward: Forward) -> bytes: ...


def honest(serial: str, request: bytes, forward: Forward) -> bytes:
    """Hand on the request, and the answer."""
    return forward(request)


class RequestProxy(_Listener):
    """Above TLS: with the door's certificate towards tables, with each table's own towards the pit."""

    exchange: Exchange = staticmethod(honest)

    def __init__(self, to: str, authority: Authority, enrolments: Path) -> None:
        """`enrolments`: where the folders lie that the authority has made for its tables."""
        super().__init__(to)
        self._enrolments = enrolments
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.verify_mode = ssl.CERT_REQUIRED
        folder = authority.folder
        self._context.load_verify_locations(folder / CERTIFICATE)
        self._context.load_cert_chain(folder / DOOR_CERTIFICATE, folder / DOOR_KEY)

    def serve(self, peer: socket.socket) -> None:
        peer.settimeout(60)
        with self._context.wrap_socket(peer, server_side=True) as table:
            self.keep(table)
            shown = table.getpeercert() or {}
            serial = serial_text(str(shown["serialNumber"]))
            settings = self._settings(serial)
            with socket.create_connection(self.to, 60) as line, settings.context().wrap_socket(line) as door:
                into, back = table.makefile("rb"), door.makefile("rb")

                def forward(request: bytes) -> bytes:
                    door.sendall(request)
                    return message(back)

                try:
                    while request := message(into):
                        table.sendall(self.exchange(serial, request, forward))
                except Cut:
                    reset(table)
                finally:
                    self.let_go(table)

    def _settings(self, serial: str) -> Settings:
        for certificate in self._enrolments.glob(f"*/{TABLE_CERTIFICATE}"):
            own = x509.load_pem_x509_certificate(certificate.read_bytes())
            if serial_text(own.serial_number) == serial and (found := load(certificate.parent)):
                return found
        raise ValueError(f"no enrolment has the certificate {serial}")


def message(file: object) -> bytes:
    """Read a whole request or answer with its body; b"" at the end. Raises OSError, ValueError."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line: bytes = file.readline()  # type: ignore[attr-defined]
        if not line:
            return b""
        head += line
    length = next(
        (
            int(line.split(b":", 1)[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    body: bytes = file.read(length)  # type: ignore[attr-defined]
    return head + body


def repeating(rng: random.Random) -> Exchange:
    """Send each request two or three times; the table gets any of the answers."""

    def exchange(serial: str, request: bytes, forward: Forward) -> bytes:
        return rng.choice([forward(request) for _ in range(rng.choice((2, 3)))])

    return exchange


def repeating_older(rng: random.Random) -> Exchange:
    """Send an older request of the same table before or after each; the table gets the answer to its own."""
    kept: dict[str, list[bytes]] = {}

    def exchange(serial: str, request: bytes, forward: Forward) -> bytes:
        known = kept.setdefault(serial, [])
        if known and rng.random() < 0.5:
            forward(rng.choice(known))
        answer = forward(request)
        if known and rng.random() < 0.5:
            forward(rng.choice(known))
        if request.startswith(b"POST /v1/rows"):
            known.append(request)
            del known[:-20]
        return answer

    return exchange


def losing_answers(rng: random.Random) -> Exchange:
    """The pit has answered, and the table does not hear it."""

    def exchange(serial: str, request: bytes, forward: Forward) -> bytes:
        answer = forward(request)
        if rng.random() < 0.6:
            raise Cut
        return answer

    return exchange
