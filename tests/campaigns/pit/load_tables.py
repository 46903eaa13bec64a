"""Many tables' uplinks in one process: each with its own connection and record, sending at the times of a real table.

A hand's commits come at random times within the hand, so almost each is a request of its own: the worst case. In
between, a table that was silent for ten seconds sends its heartbeat, as `firmware.uplink.follow` does.
"""

from __future__ import annotations

import heapq
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import psycopg
from psycopg_pool import ConnectionPool

from firmware.runtime.errors import AppError
from firmware.table.entry import COLUMNS
from firmware.uplink.client import Client
from firmware.uplink.errors import PitUnreachable
from firmware.uplink.follow import HEARTBEAT_S
from firmware.uplink.settings import Settings
from firmware.uplink.wire import Offer
from tests.campaigns.pit.played_record import Commit, Record

WORKERS: Final = 32
"""Requests that are on their way at once, at most. How late a request began is reported."""
ENDS_WITHIN_S: Final = 0.2
"""Seconds between two looks at whether the load has ended."""


class PitTarget:
    """A table's own connection to the pit, by the uplink's code."""

    def __init__(self, settings: Settings, record: Record) -> None:
        self.record, self.client = record, Client(settings)
        self._missing: tuple[str, ...] = ()
        self.again = 0
        """Requests that were sent a second time."""

    def send(self, rows: Commit) -> None:
        """Offer the rows, or a heartbeat without any. Raises UplinkError, or AppError if the pit does not take them."""
        offer = Offer(self.record.genesis, self.record.head, "bench", missing=self._missing, rows=rows)
        try:
            answer = self.client.offer(offer)
        except PitUnreachable:  # as an uplink does; here without a pause, and in the time that is measured
            self.again += 1
            answer = self.client.offer(offer)
        if answer.have != self.record.head:
            raise AppError(f"The pit has {answer.have.seq} rows of {self.record.head.seq}.")
        self._missing = tuple(request["hash"] for request in answer.data_requests)


class DirectTarget:
    """The same rows straight into the same table of PostgreSQL: the floor under what the pit does."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection], number: int, record: Record) -> None:
        self.record, self._pool, self._number = record, pool, -1 - number

    def send(self, rows: Commit) -> None:
        """Store the rows, unchecked, and commit."""
        statement = f"COPY entry (record_id, {COLUMNS}) FROM STDIN"
        with self._pool.connection() as connection, connection.cursor().copy(statement) as copy:
            for row in rows:
                copy.write_row((self._number, *row))


@dataclass(frozen=True)
class Sample:
    """One request: when it was due, sent and answered, on the monotonic clock, and its sender's processor time."""

    due: float
    sent: float
    answered: float
    sender_s: float
    rows: int


class Load:
    """The tables of a house in play. `run` may be called again: the tables play on."""

    def __init__(
        self,
        targets: Sequence[PitTarget | DirectTarget],
        hands_an_hour: float,
        seed: int,
        *,
        heartbeats: bool = True,
    ) -> None:
        self._targets, self._seed, self._heartbeats = targets, seed, heartbeats
        self._hand_s = 3600 / hands_an_hour
        self._commits = [target.record.commits() for target in targets]
        self._locks = [threading.Lock() for _ in targets]
        self._samples: list[Sample] = []
        self._failures: list[Exception] = []

    def connect(self, first: int = 0, end: int | None = None) -> None:
        """Let these tables speak for the first time, and send what was written before their first hand."""

        def speak(target: PitTarget | DirectTarget) -> None:
            target.send(())
            target.send(target.record.opening())

        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(speak, self._targets[first:end]))

    def run(self, ended: Callable[[], bool]) -> list[Sample]:
        """Play until it has ended and return every request. Raises AppError if one failed."""
        now = time.monotonic()
        pool = ThreadPoolExecutor(WORKERS)
        for due, number, has_rows in heapq.merge(*(self._times(n, now) for n in range(len(self._targets)))):
            while not (over := ended() or bool(self._failures)) and (left := due - time.monotonic()) > 0:
                time.sleep(min(left, ENDS_WITHIN_S))
            if over:
                break
            pool.submit(self._request, due, number, has_rows)
        pool.shutdown(cancel_futures=True)
        if self._failures:
            raise AppError(f"A request failed: {self._failures[0]!r}")
        samples, self._samples = self._samples, []
        return samples

    def _times(self, number: int, now: float) -> Iterator[tuple[float, int, bool]]:
        """Yield when a table sends rows, and heartbeats where it is silent for long: when, its number, whether rows."""
        rng = random.Random(f"{self._seed} {number}")
        commits = round(self._targets[number].record.source.commits_a_hand)
        spoke, begins = now - rng.uniform(0, HEARTBEAT_S), now - rng.uniform(0, self._hand_s)
        while True:
            for due in sorted(begins + rng.uniform(0, self._hand_s) for _ in range(commits)):
                while self._heartbeats and due - spoke > HEARTBEAT_S:
                    spoke += HEARTBEAT_S
                    yield spoke, number, False
                if due >= now:  # else it was played before
                    spoke = due
                    yield due, number, True
            begins += self._hand_s

    def _request(self, due: float, number: int, has_rows: bool) -> None:
        try:
            with self._locks[number]:
                used = time.thread_time()
                rows = next(self._commits[number]) if has_rows else ()
                sent = time.monotonic()
                self._targets[number].send(rows)
                answered = time.monotonic()
            self._samples.append(Sample(due, sent, answered, time.thread_time() - used, len(rows)))
        except Exception as error:  # a thread's own error would be forgotten
            self._failures.append(error)
