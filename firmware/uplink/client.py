"""The connection to the pit: one, kept open, over TLS with this table's certificate."""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from firmware.messages import Message
from firmware.table.errors import TableError
from firmware.uplink.errors import ForkError, NotThere, PitBusy, PitRefusal, PitUnreachable
from firmware.uplink.settings import Settings
from firmware.uplink.wire import HIGHEST, LATEST_MS, Head, Offer, encode, is_hash

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ANSWER_WITHIN_S: Final = 20.0
"""Seconds to wait for the pit, for each read and write."""
MAX_ANSWER: Final = 64 << 10
"""Bytes of an answer to an offer, headers included, that are read; a pit that floods is left."""
MAX_FILE: Final = 16 << 20
"""Bytes of something that is fetched, headers included."""
MAX_DATA_REQUESTS: Final = 20
"""Data requests of one answer that are looked at."""
_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")
_MAX_REASON: Final = 300
"""Characters of the pit's reason that are kept."""


class _BoundedReader(io.RawIOBase):
    """What a socket receives: up to so many bytes, within so many seconds, however slowly or endlessly it comes."""

    def __init__(self, connection: socket.socket, most: int, within_s: float) -> None:
        self._socket, self._left = connection, most
        self._file = connection.makefile("rb", buffering=0)  # keeps the socket open until it is closed, too
        self._ends = time.monotonic() + within_s

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def close(self) -> None:
        """Let the socket go."""
        self._file.close()
        super().close()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Receive what there is. Raises PitUnreachable beyond the bounds, OSError."""
        left_s = self._ends - time.monotonic()
        if left_s <= 0 or self._left <= 0:
            raise PitUnreachable("The pit's answer does not end.")
        self._socket.settimeout(left_s)
        got = self._file.readinto(memoryview(buffer)[: self._left]) or 0
        self._left -= got
        return got


class _Response(http.client.HTTPResponse):
    """An answer that is bounded as a whole: status, headers, interim answers, body."""

    most = MAX_ANSWER

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_BoundedReader(sock, self.most, ANSWER_WITHIN_S))


class _File(_Response):
    most = MAX_FILE


class _Connection(http.client.HTTPSConnection):
    response_class: type[_Response] = _Response


class Answer:
    """The pit's answer to an offer: how far it has the record, what it asks for, and what is new in its log."""

    def __init__(self, value: dict[str, Any]) -> None:
        """Raises PitUnreachable for an answer that no pit gives."""
        match value:
            case {"have": [int(seq), str(digest)]} if 0 <= seq <= HIGHEST and (is_hash(digest) or not seq):
                self.have: Final = Head(seq, digest)
            case _:
                raise PitUnreachable("The pit gave an answer that this release does not understand.")
        proof = value.get("proof")
        self.proof: Final[dict[str, Any]] = proof if isinstance(proof, dict) else {}
        requests, now_ms = value.get("wishes"), value.get("now")
        self.now_ms: Final[int] = now_ms if type(now_ms) is int and 0 < now_ms <= LATEST_MS else 0
        """The pit's clock, UTC milliseconds; 0 where it says nothing."""
        self.files: Final[object] = value.get("files")
        """What it asks this table to fetch (`firmware.uplink.inbox.requests`); None where it says nothing."""
        self.data_requests: Final[list[dict[str, Any]]] = [
            request
            for request in (requests if isinstance(requests, list) else [])[:MAX_DATA_REQUESTS]
            if isinstance(request, dict) and is_hash(request.get("hash"))
        ]


class Client:
    """Asks one of the pit's addresses after the other until one answers. Not for several threads."""

    def __init__(self, settings: Settings) -> None:
        """Raises UplinkError if the certificates cannot be used."""
        self._settings = settings
        self._context = settings.context()
        self._connection: _Connection | None = None
        self._next = 0

    def close(self) -> None:
        """End the connection; the next request opens another."""
        if self._connection:
            with suppress(OSError):
                self._connection.close()
        self._connection = None

    def open(self) -> None:
        """Connect if it is not connected: what is read after this is not old when it is sent. Raises PitUnreachable."""
        with self._reaching():
            connection = self._connected()
            if connection.sock is None:
                connection.connect()

    @property
    def is_open(self) -> bool:
        """Whether the next request goes over the connection of the last."""
        return self._connection is not None

    def offer(self, offer: Offer) -> Answer:
        """Send an offer. Raises PitUnreachable, PitRefusal, ForkError."""
        return self.post(encode(offer))

    def post(self, body: bytes) -> Answer:
        """Send an offer that is encoded. Raises PitUnreachable, PitRefusal, ForkError."""
        return Answer(self._json("POST", "/v1/rows", body))

    def put(self, kind: str, digest: str, data: bytes) -> None:
        """Send what was asked for. Raises PitUnreachable, PitRefusal."""
        self._json("PUT", f"/v1/{'images' if kind == 'image' else 'content'}/{digest}", data)

    def get(self, path: str) -> bytes:
        """Fetch bytes. Raises PitUnreachable, PitRefusal."""
        return self._ask("GET", path, b"")

    def find(self, path: str) -> bytes | None:
        """Fetch bytes; return None where there are none. Raises PitUnreachable, PitRefusal."""
        try:
            return self.get(path)
        except NotThere:
            return None

    def piece(self, path: str, first: int, end: int) -> tuple[bytes, int]:
        """Return a file's bytes from `first` to before `end`, and the file's size.

        Raises PitUnreachable, PitRefusal.
        """
        data, headers = self._exchange("GET", path, b"", {"Range": f"bytes={first}-{end - 1}"})
        found = _RANGE.fullmatch(headers.get("Content-Range", ""))
        if found is None or int(found[1]) != first or len(data) != int(found[2]) + 1 - first:
            self.close()
            raise PitUnreachable("The pit gave an answer that this release does not understand.")
        return data, int(found[3])

    def _json(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        try:
            value = json.loads(self._ask(method, path, body))
        except (ValueError, RecursionError) as error:
            self.close()
            raise PitUnreachable("The pit gave an answer that this release does not understand.") from error
        if not isinstance(value, dict):
            raise PitUnreachable("The pit gave an answer that this release does not understand.")
        return value

    def _ask(self, method: str, path: str, body: bytes) -> bytes:
        return self._exchange(method, path, body, {})[0]

    def _exchange(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[bytes, http.client.HTTPMessage]:
        with self._reaching():
            connection = self._connected()
            connection.response_class = _File if method == "GET" else _Response
            connection.request(method, path, body, {"Content-Type": "application/octet-stream", **headers})
            answer = connection.getresponse()
            data = answer.read(connection.response_class.most)
            if not answer.isclosed():
                raise PitUnreachable("The pit's answer does not end.")
            if connection.sock:
                connection.sock.settimeout(ANSWER_WITHIN_S)
            if answer.will_close:
                self.close()
        if answer.status in (http.HTTPStatus.OK, http.HTTPStatus.PARTIAL_CONTENT):
            return data, answer.headers
        why, fork = _reason(data)
        if answer.status == http.HTTPStatus.CONFLICT and fork is not None:
            raise ForkError(fork, why)
        if answer.status >= http.HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == 429:
            raise PitBusy("The pit says: later (%(why)s).", why=why)
        kind = NotThere if answer.status == http.HTTPStatus.NOT_FOUND else PitRefusal
        raise kind(Message("The pit refuses: %(why)s", why=why))

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Close the connection where the pit cannot be reached; the next one is to its next address."""
        try:
            yield
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            self._next += 1
            if isinstance(error, TableError):
                raise
            raise PitUnreachable(
                "The pit cannot be reached (%(why)s).",
                why=getattr(error, "strerror", None) or str(error) or type(error).__name__,
            ) from error

    def _connected(self) -> _Connection:
        if self._connection is None:
            host, port = self._settings.addresses[self._next % len(self._settings.addresses)]
            self._connection = _Connection(host, port, timeout=ANSWER_WITHIN_S, context=self._context)
        return self._connection


def _reason(data: bytes) -> tuple[str, int | None]:
    with suppress(ValueError, RecursionError):
        match json.loads(data):
            case {"error": str(why), "fork": int(seq)}:
                return why[:_MAX_REASON], seq
            case {"error": str(why)}:
                return why[:_MAX_REASON], None
    return "without a reason", None
