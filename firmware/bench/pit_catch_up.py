"""Tables that come back after an outage: all that they have, as fast as the pit takes it, from another process."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Final, Self

from firmware.bench.played_record import Commit, Played, Record
from firmware.runtime.errors import AppError
from firmware.uplink.client import Client
from firmware.uplink.errors import NotReached
from firmware.uplink.follow import FIRST_BACK_OFF_S, LONGEST_BACK_OFF_S
from firmware.uplink.settings import Settings
from firmware.uplink.wire import Offer, batch, encode

READY_WITHIN_S: Final = 600.0


@dataclass(frozen=True)
class CaughtUp:
    """How it went."""

    seconds: float
    requests: int
    rows: int
    hands: int
    longest_ms: float
    later: int
    """Requests that the pit put off."""


class CatchUp:
    """Some tables with a record of many hands. What they will send is made before, so that they only send."""

    def __init__(self, source: Played, settings: Sequence[Settings], hands: int) -> None:
        self.tables, self.hands = len(settings), hands
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_send_all, args=(theirs, source, list(settings), hands))
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        """Wait until everything is prepared. Raises AppError."""
        self._receive()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.terminate()
        self._process.join()
        self._pipe.close()

    def start(self) -> None:
        """Let them send."""
        self._pipe.send("go")

    @property
    def is_done(self) -> bool:
        """Whether all have sent everything."""
        return self._pipe.poll()

    def result(self) -> CaughtUp:
        """Wait for the end. Raises AppError."""
        found: CaughtUp = self._receive()
        return found

    def _receive(self) -> Any:
        try:
            value = self._pipe.recv() if self._pipe.poll(READY_WITHIN_S) else "nothing came"
        except EOFError:
            value = "the sending process ended"
        if isinstance(value, str):
            raise AppError(f"Tables could not catch up: {value}")
        return value


def _send_all(pipe: Connection, source: Played, settings: list[Settings], hands: int) -> None:
    try:
        tables = [_Table(source, one, number, hands) for number, one in enumerate(settings)]
        pipe.send(True)
        pipe.recv()
        began = time.monotonic()
        threads = [threading.Thread(target=table.run) for table in tables]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for table in tables:
            if table.failure is not None:
                raise table.failure
        pipe.send(
            CaughtUp(
                time.monotonic() - began,
                sum(len(table.bodies) for table in tables),
                sum(table.rows for table in tables),
                hands * len(tables),
                max(table.longest_ms for table in tables),
                sum(table.later for table in tables),
            )
        )
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")


class _Table:
    def __init__(self, source: Played, settings: Settings, number: int, hands: int) -> None:
        self._client = Client(settings)
        record = Record(source, f"away-{number}", number)
        rows = [*record.opening(), *(row for _ in range(hands) for commit in record.hand() for row in commit)]
        self.rows = len(rows)
        self.bodies: list[bytes] = []
        while rows:
            some: Commit = batch(rows)
            self.bodies.append(encode(Offer(record.genesis, record.head, "bench", rows=some)))
            del rows[: len(some)]
        self.longest_ms = 0.0
        self.later = 0
        self.failure: Exception | None = None
        self._rng = random.Random(number)

    def run(self) -> None:
        try:
            for body in self.bodies:
                self._send(body)
        except Exception as error:
            self.failure = error

    def _send(self, body: bytes) -> None:
        wait = FIRST_BACK_OFF_S
        while True:
            began = time.monotonic()
            try:
                self._client.post(body)
            except NotReached:  # "later", as an uplink waits for it
                self.later += 1
                time.sleep(wait * self._rng.uniform(0.5, 1.0))
                wait = min(2 * wait, LONGEST_BACK_OFF_S)
            else:
                self.longest_ms = max(self.longest_ms, 1000 * (time.monotonic() - began))
                return
