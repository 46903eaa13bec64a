"""The connection to the pit: one, kept open, over TLS with this table's certificate."""

from __future__ import annotations

import http.client
import json
import ssl
from contextlib import suppress
from typing import Any, Final

from firmware.messages import Message
from firmware.table.errors import TableError
from firmware.uplink.errors import Forked, NotReached, Refused
from firmware.uplink.settings import Settings
from firmware.uplink.wire import Head, Offer, encode

ANSWER_WITHIN_S: Final = 20.0
"""Seconds to wait for the pit, for each read and write."""
MOST_ANSWER: Final = 32 << 20
"""Bytes of an answer that are read; a pit that floods is left."""


class Answer:
    """The pit's answer to an offer: how far it has the record, and what it asks for."""

    def __init__(self, value: dict[str, Any]) -> None:
        """Raises NotReached for an answer that no pit gives."""
        match value:
            case {"have": [int(seq), str(digest)]}:
                self.have: Final = Head(seq, digest)
            case _:
                raise NotReached("The pit gave an answer that this release does not understand.")
        wishes = value.get("wishes", [])
        self.wishes: Final[list[dict[str, Any]]] = [
            wish for wish in wishes if isinstance(wish, dict) and isinstance(wish.get("hash"), str)
        ]


class Client:
    """Asks one of the pit's addresses after the other until one answers. Not for several threads."""

    def __init__(self, settings: Settings) -> None:
        """Raises UplinkError if the certificates cannot be used."""
        self._settings = settings
        self._context = settings.context()
        self._connection: http.client.HTTPSConnection | None = None
        self._next = 0

    def close(self) -> None:
        """End the connection; the next request opens another."""
        if self._connection:
            with suppress(OSError):
                self._connection.close()
        self._connection = None

    @property
    def is_open(self) -> bool:
        """Whether the next request goes over the connection of the last."""
        return self._connection is not None

    def offer(self, offer: Offer) -> Answer:
        """Send an offer. Raises NotReached, Refused, Forked."""
        return Answer(self._json("POST", "/v1/rows", encode(offer)))

    def put(self, kind: str, digest: str, data: bytes) -> None:
        """Send what was asked for. Raises NotReached, Refused."""
        self._json("PUT", f"/v1/{'images' if kind == 'image' else 'content'}/{digest}", data)

    def get(self, path: str) -> bytes:
        """Fetch bytes. Raises NotReached, Refused."""
        return self._ask("GET", path, b"")

    def _json(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        try:
            value = json.loads(self._ask(method, path, body))
        except (ValueError, RecursionError) as error:
            self.close()
            raise NotReached("The pit gave an answer that this release does not understand.") from error
        if not isinstance(value, dict):
            raise NotReached("The pit gave an answer that this release does not understand.")
        return value

    def _ask(self, method: str, path: str, body: bytes) -> bytes:
        try:
            connection = self._connected()
            connection.request(method, path, body, {"Content-Type": "application/octet-stream"})
            answer = connection.getresponse()
            data = answer.read(MOST_ANSWER)
            if not answer.isclosed():
                raise NotReached("The pit's answer does not end.")
            if answer.will_close:
                self.close()
        except (OSError, http.client.HTTPException, ssl.SSLError) as error:
            self.close()
            self._next += 1
            if isinstance(error, TableError):
                raise
            raise NotReached(
                "The pit cannot be reached (%(why)s).",
                why=getattr(error, "strerror", None) or str(error) or type(error).__name__,
            ) from error
        if answer.status == http.HTTPStatus.OK:
            return data
        why, fork = _reason(data)
        if answer.status == http.HTTPStatus.CONFLICT and fork is not None:
            raise Forked(fork, why)
        if answer.status >= http.HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == 429:
            raise NotReached("The pit says: later (%(why)s).", why=why)
        raise Refused(Message("The pit refuses: %(why)s", why=why))

    def _connected(self) -> http.client.HTTPSConnection:
        if self._connection is None:
            host, port = self._settings.addresses[self._next % len(self._settings.addresses)]
            self._connection = http.client.HTTPSConnection(
                host, port, timeout=ANSWER_WITHIN_S, context=self._context
            )
        return self._connection


def _reason(data: bytes) -> tuple[str, int | None]:
    with suppress(ValueError, RecursionError):
        match json.loads(data):
            case {"error": str(why), "fork": int(seq)}:
                return why, seq
            case {"error": str(why)}:
                return why, None
    return "without a reason", None
