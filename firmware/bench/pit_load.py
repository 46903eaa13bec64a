"""Many tables' uplinks in one process: each with its own connection and record, sending at the times of a real table.

A hand's commits come at random times within the hand, so almost each is a request of its own: the worst case. In
between, a table that was silent for ten seconds sends its heartbeat, as `firmware.uplink.follow` does.
"""

from __future__ import annotations

import heapq
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, Protocol

import psycopg
from psycopg_pool import ConnectionPool

from firmware.bench.harness import median_and_p95
from firmware.bench.played_record import Commit, Record
from firmware.runtime.errors import AppError
from firmware.table.entry import COLUMNS
from firmware.uplink.client import Client
from firmware.uplink.errors import NotReached
from firmware.uplink.follow import HEARTBEAT_S
from firmware.uplink.settings import Settings
from firmware.uplink.wire import Head, Offer

WORKERS: Final = 32
"""Requests that are on their way at once, at most. How late a request began is reported."""
ENDS_WITHIN_S: Final = 0.2
"""Seconds between two looks at whether the load has ended."""
RELEASE: Final = "bench"


class Target(Protocol):
    """Where one table's rows go."""

    @property
    def record(self) -> Record:
        """The table's record."""

    def send(self, rows: Commit) -> None:
        """Send rows, or a heartbeat without any; return when they are durable."""

    def after(self) -> None:
        """Do what is to be done after an answer; it is not timed."""


class PitTarget:
    """A table's own connection to the pit, by the uplink's code."""

    def __init__(self, settings: Settings, record: Record, contents: dict[str, bytes]) -> None:
        self.record, self.client, self._contents = record, Client(settings), contents
        self._wishes: list[dict[str, Any]] = []
        self._missing: tuple[str, ...] = ()
        self.again = 0
        """Requests that were sent a second time."""

    def send(self, rows: Commit) -> None:
        """Offer the rows. Raises UplinkError, or AppError if the pit does not take them."""
        offer = Offer(self.record.genesis, self.record.head, RELEASE, missing=self._missing, rows=rows)
        try:
            answer = self.client.offer(offer)
        except NotReached:  # as an uplink does; here without a pause, and in the time that is measured
            self.again += 1
            answer = self.client.offer(offer)
        if answer.have != self.record.head:
            raise AppError(f"The pit has {answer.have.seq} rows of {self.record.head.seq}.")
        self._wishes, self._missing = answer.wishes, ()

    def after(self) -> None:
        """Send the texts that the pit asked for."""
        for wish in self._wishes:
            data = self._contents.get(wish["hash"])
            if data is None:
                self._missing = (*self._missing, wish["hash"])
            else:
                self.client.put(wish["kind"], wish["hash"], data)
        self._wishes = []


class DirectTarget:
    """The same rows straight into the same table of PostgreSQL: the floor under what the pit does."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection], number: int, record: Record) -> None:
        self.record, self._pool, self._number = record, pool, -1 - number

    def send(self, rows: Commit) -> None:
        """Store the rows and commit."""
        with self._pool.connection() as connection:
            write_rows(connection, self._number, rows)

    def after(self) -> None:
        """There is nothing more to do."""


def write_rows(connection: psycopg.Connection, record_id: int, rows: Commit) -> None:
    """Store rows of a record in the pit's table, unchecked."""
    with connection.cursor().copy(f"COPY entry (record_id, {COLUMNS}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row((record_id, *row))


@dataclass(frozen=True)
class Sample:
    """One request: when it was due, sent and answered, on the monotonic clock."""

    due: float
    sent: float
    answered: float
    rows: int
    head: Head
    genesis: str


@dataclass
class _Table:
    target: Target
    commits: Iterator[Commit]
    times: deque[float]
    """When the commits of the hand on the table are due."""
    spoke: float


class Load:
    """The tables of a house in play. `run` may be called again: the tables play on."""

    def __init__(
        self,
        targets: Sequence[Target],
        hands_an_hour: float,
        seed: int,
        *,
        heartbeats: bool = True,
        answered: Callable[[Sample], None] = lambda sample: None,
    ) -> None:
        """`answered` receives each request with rows, in the sender's thread."""
        self._rng = random.Random(seed)
        self._hand_s = 3600 / hands_an_hour
        self._silence_s = HEARTBEAT_S if heartbeats else float("inf")
        self._answered = answered
        self._tables = [_Table(target, target.record.commits(), deque(), 0.0) for target in targets]
        self._due: list[tuple[float, int]] = []
        self._news = threading.Condition()
        self._ended: Callable[[], bool] = bool
        self._samples: list[Sample] = []
        self.failures: list[str] = []
        self.sender_s = 0.0
        """Processor time of the senders."""

    def connect(self, first: int = 0, end: int | None = None) -> None:
        """Let these tables speak for the first time, and send what was written before their first hand.

        Raises AppError.
        """
        left = deque(self._tables[first:end])

        def each() -> None:
            while left:
                try:
                    table = left.popleft()
                except IndexError:
                    return
                table.target.send(())
                if rows := table.target.record.opening():
                    table.target.send(rows)

        self._in_threads(each)

    def run(self, ended: Callable[[], bool]) -> list[Sample]:
        """Play until it has ended and return every request. Raises AppError if one failed."""
        now = time.monotonic()
        self._ended = ended
        for number, table in enumerate(self._tables):
            table.spoke = now - self._rng.uniform(0, HEARTBEAT_S)
            table.times.clear()
            self._plan(table, now - self._rng.uniform(0, self._hand_s))
            while table.times[0] < now:  # played before
                table.times.popleft()
                if not table.times:
                    self._plan(table, now)
            self._due.append((self._next(table), number))
        heapq.heapify(self._due)
        self._in_threads(self._work)
        self._due.clear()
        samples, self._samples = self._samples, []
        return samples

    def _plan(self, table: _Table, begins: float) -> None:
        """Choose when the commits of the next hand are due; there are about twelve."""
        table.times.extend(sorted(begins + self._rng.uniform(0, self._hand_s) for _ in range(self._commits)))

    @property
    def _commits(self) -> int:
        hands = self._tables[0].target.record.source.hands
        return round(sum(map(len, hands)) / len(hands))

    def _next(self, table: _Table) -> float:
        return min(table.times[0], table.spoke + self._silence_s)

    def _in_threads(self, work: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                work()
            except Exception as error:  # a thread's own error would be printed and forgotten
                self.failures.append(f"{type(error).__name__}: {error}")
            finally:
                with self._news:
                    self.sender_s += time.thread_time()

        threads = [threading.Thread(target=guarded, daemon=True) for _ in range(WORKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise AppError(f"{len(self.failures)} requests failed: {self.failures[0]}")

    def _work(self) -> None:
        while (one := self._take()) is not None:
            due, number = one
            table = self._tables[number]
            rows: Commit = ()
            if table.times[0] <= due:
                planned = table.times.popleft()
                rows = next(table.commits)
                if not table.times:
                    self._plan(table, planned)
            sent = time.monotonic()
            table.target.send(rows)
            table.spoke = time.monotonic()
            record = table.target.record
            sample = Sample(due, sent, table.spoke, len(rows), record.head, record.genesis)
            if rows:
                self._answered(sample)
            table.target.after()
            with self._news:
                self._samples.append(sample)
                heapq.heappush(self._due, (self._next(table), number))
                self._news.notify()

    def _take(self) -> tuple[float, int] | None:
        """Wait for the next table that is due; return None at the end."""
        with self._news:
            while not (self.failures or self._ended()):
                now, wait = time.monotonic(), ENDS_WITHIN_S
                if self._due:
                    if self._due[0][0] <= now:
                        return heapq.heappop(self._due)
                    wait = min(wait, self._due[0][0] - now)
                self._news.wait(wait)
        return None


class FloorView:
    """Polls how far every table was heard, as the floor page does, and sees when a row is there."""

    EVERY_S: Final = 0.1

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection = psycopg.connect(url, autocommit=True)
        self._pending: deque[Sample] = deque()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.poll_ms: list[float] = []
        self.seen_ms: list[float] = []
        """From sending a row to its being seen."""

    def __enter__(self) -> FloorView:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._connection.close()

    def expect(self, sample: Sample) -> None:
        """Note a request whose rows are to be seen."""
        self._pending.append(sample)

    def poll(self) -> dict[str, int]:
        """Return the last row of every record."""
        began = time.perf_counter()
        rows = self._connection.execute("SELECT genesis, seq FROM head JOIN record USING (record_id)")
        heads: dict[str, int] = dict(rows.fetchall())
        self.poll_ms.append(1000 * (time.perf_counter() - began))
        return heads

    def is_followed(self) -> bool:
        """Return whether the list of hands is complete."""
        query = "SELECT FROM head JOIN projection USING (record_id) WHERE projection.seq < head.seq LIMIT 1"
        with psycopg.connect(self._url) as connection:
            return connection.execute(query).fetchone() is None

    def _run(self) -> None:
        while not self._end.wait(self.EVERY_S):
            heads = self.poll()
            now = time.monotonic()
            for _ in range(len(self._pending)):
                sample = self._pending.popleft()
                if heads.get(sample.genesis, 0) >= sample.head.seq:
                    self.seen_ms.append(1000 * (now - sample.sent))
                else:
                    self._pending.append(sample)


def direct_targets(stack: ExitStack, url: str, records: Sequence[Record]) -> list[Target]:
    """Return targets that write straight into the database."""
    pool: ConnectionPool[psycopg.Connection] = stack.enter_context(
        ConnectionPool(url, min_size=1, max_size=8, open=True)
    )
    return [DirectTarget(pool, number, record) for number, record in enumerate(records)]


def quantiles(ms: Sequence[float]) -> dict[str, float]:
    """Return median, 95 %, 99 % and the longest."""
    if not ms:
        return {}
    median, p95 = median_and_p95(ms)
    p99 = sorted(ms)[max(0, -(-99 * len(ms) // 100) - 1)]
    figures = {"median": median, "p95": p95, "p99": p99, "longest": max(ms)}
    return {name: round(value, 1) for name, value in figures.items()}
