"""Follow the journal and post its new rows. The pit's answer is the only cursor: no position is stored here.

The journal is opened read-only for each read, and the table process never waits for this process.
"""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from firmware.messages import Text
from firmware.record.evidence.anchors import Anchor
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.file import open_journal
from firmware.record.journal.reader import entries
from firmware.table.entry import Entry, content_hash
from firmware.table.errors import CaptureError, JournalError
from firmware.table.events import HeadSigned, RecordRestored
from firmware.uplink.client import Client
from firmware.uplink.errors import ForkError, PitBusy, PitRefusal, PitUnreachable
from firmware.uplink.health import answers
from firmware.uplink.inbox.fetching import Inbox
from firmware.uplink.pit_clock import PitClock
from firmware.uplink.wire import MAX_ROWS, Head, Offer, WitnessHolding, batch
from firmware.uplink.witness import State, Witness

log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 0.2
"""Seconds between two reads of the journal: all rows that were added since the last read go into one request."""
HEARTBEAT_S: Final = 10.0
"""Seconds between two requests without rows, while nothing changes."""
FIRST_BACK_OFF_S: Final = 0.2
LONGEST_BACK_OFF_S: Final = 30.0
FORKED_S: Final = 60.0
"""Seconds between two offers of a record that the pit does not take: a person has to look."""
MAX_RESTORES: Final = 5
"""Restores of a record that are offered to a pit that disagrees."""


@dataclass(frozen=True)
class UplinkStatus:
    """How much of this table's record the pit has, for people. `trouble` says why it does not have more.

    `at`: when the pit answered last, on the uplink's clock; 0 if it never did.
    """

    have: Head = field(default_factory=Head)
    behind: int = 0
    trouble: Text = ""
    at: float = 0.0


class Follower:
    """One table's uplink. `step` does what is due now and returns the seconds until the next step."""

    def __init__(
        self,
        data: Path,
        client: Client,
        *,
        release: str,
        health: Callable[[], dict[str, Any]] = dict,
        clock: Callable[[], float],
        rng: random.Random,
        witness: Witness | None = None,
        inbox: Inbox | None = None,
    ) -> None:
        """`data`: the table's data folder; `clock`: monotonic seconds; `rng` spreads tries that many tables make.

        `health` says what the table process's pulse says now (`firmware.uplink.health.table_health`).
        `witness`: checks and cosigns the pit's log; `inbox`: fetches what the pit asks for. Rows wait for neither.
        """
        self._path = data / "journal.sqlite"
        self._captures = CaptureStore(data)
        self._client = client
        self._release = release
        self._health = health
        self._clock = clock
        self._rng = rng
        self._have: Head | None = None
        self._spoke: float | None = None
        self._failures = 0
        self._missing: tuple[str, ...] = ()
        self._witness = witness
        self._witnessed: float | None = None
        self._inbox = inbox
        self._sent_progress: tuple[dict[str, Any], ...] = ()
        self._answers: bool | None = None
        self._pit_clock = PitClock()
        self.status = UplinkStatus()

    @property
    def witnessed(self) -> State:
        """What this table holds of the pit's log; nothing without a witness, too."""
        return self._witness.state if self._witness is not None else State()

    def step(self) -> float:
        """Send new rows, or a heartbeat if one is due. Never raises for an error that may end by itself."""
        try:
            return self._step()
        except ForkError as fork:
            return self._forked(fork)
        except PitRefusal as error:
            self._lost(error.sentence)
            return FORKED_S * self._rng.uniform(0.5, 1.0)
        except (PitUnreachable, JournalError) as error:
            # a new connection would cost a busy pit a handshake and a request more
            if isinstance(error, PitBusy):
                self.status = replace(self.status, trouble=error.sentence)
            else:
                self._lost(error.sentence)
            longest = min(LONGEST_BACK_OFF_S, FIRST_BACK_OFF_S * 2.0 ** min(self._failures, 10))
            self._failures += 1
            return longest * self._rng.uniform(0.5, 1.0)

    def _lost(self, why: Text) -> None:
        self._client.close()
        self._have = None  # the next connection begins with the pit's answer
        self.status = replace(self.status, trouble=why)

    def _step(self) -> float:
        self._client.open()
        looked = self._clock()
        health = self._health()  # before the record: the process knows of no row that is not there
        genesis, head, rows = self._look()
        due = self._spoke is None or self._clock() - self._spoke >= HEARTBEAT_S
        # the pit hears at once of a table process that is gone
        due = due or answers(health) is not self._answers
        progress = self._inbox.progress() if self._inbox is not None else ()
        if self._have is not None and not rows and not due and progress == self._sent_progress:
            if self._inbox is not None and self._inbox.step(self._client):
                return 0.0
            return LOOK_EVERY_S
        holds, at_ms = self._holds(), self._pit_clock.at_ms(looked)
        answer = self._client.offer(
            Offer(genesis, head, self._release, health, self._missing, rows, holds, progress, at_ms)
        )
        self._pit_clock.hear(answer.now_ms, looked, self._clock())
        self._answers = answers(health)
        self._sent_progress = progress
        self._missing = ()
        stuck = bool(rows) and answer.have == self._have
        self._on_answer(answer.have, head)
        if stuck:
            raise PitUnreachable("The pit takes these rows and does not go on.")
        if self._witness is not None and holds is not None:
            self._witnessed = self._clock()
            self._receive(self._witness, answer.proof)
        if self._inbox is not None:
            self._inbox.ask(answer.files)
        for request in answer.data_requests:
            self._fulfil(request)
        return 0.0 if answer.have.seq < head.seq else LOOK_EVERY_S

    def _holds(self) -> WitnessHolding | None:
        """Return what the witness holds if it is time to ask for what is new in the pit's log."""
        if self._witness is None or (
            self._witnessed is not None and self._clock() - self._witnessed < HEARTBEAT_S
        ):
            return None
        return self._witness.holds()

    def _receive(self, witness: Witness, proof: dict[str, Any]) -> None:
        try:
            witness.receive(proof, self._anchor_at)
        except OSError as error:
            log.warning("What this table witnesses cannot be kept: %s", error)

    def _anchor_at(self, seq: int) -> tuple[str, Anchor] | None:
        with open_journal(self._path, training=False) as db:
            if db is None:
                return None
            (genesis,) = db.execute("SELECT hash FROM journal WHERE seq = 1").fetchone()
            rows = entries(db, "WHERE seq = ? AND type = ?", (seq + 1, HeadSigned.type))
        event = rows[0].event if rows else None
        return (genesis, Anchor.of(event)) if isinstance(event, HeadSigned) else None

    def _on_answer(self, have: Head, head: Head) -> None:
        self._spoke, self._failures, self._have = self._clock(), 0, have
        self.status = UplinkStatus(have, max(0, head.seq - have.seq), at=self._spoke)

    def _look(self) -> tuple[str, Head, tuple[Entry, ...]]:
        """Return the record's name, its head, and the rows that the pit lacks; none before its first answer."""
        with open_journal(self._path, training=False) as db:
            if db is None:
                return "", Head(), ()
            last = db.execute("SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
            if last is None:
                return "", Head(), ()
            (genesis,) = db.execute("SELECT hash FROM journal WHERE seq = 1").fetchone()
            have = self._have.seq if self._have is not None else last[0]
            rows = entries(db, "WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", (have, last[0], MAX_ROWS))
        return genesis, Head(*last), batch(rows)

    def _forked(self, fork: ForkError) -> float:
        """After a restore at this table, show the pit where the record goes on; else wait for a person.

        A pit that was set back itself may know the row before an earlier restore only: they are offered newest first.
        """
        error: ForkError | PitRefusal | PitUnreachable = fork
        try:
            for restored in self._restored():
                genesis, head, _ = self._look()
                try:
                    have = self._client.offer(Offer(genesis, head, self._release, rows=restored)).have
                except ForkError as again:
                    error = again
                    continue
                if have.seq >= restored[0].seq:  # else the pit does not have the row before this restore
                    self._on_answer(have, head)
                    return 0.0
        except (PitRefusal, PitUnreachable) as other:
            error = other
        self._lost(error.sentence)
        return FORKED_S * self._rng.uniform(0.5, 1.0)

    def _restored(self) -> list[tuple[Entry, ...]]:
        """Return the rows from each of the last restores on, newest first, as many as one request takes."""
        with open_journal(self._path, training=False) as db:
            if db is None:
                return []
            restores = db.execute(
                "SELECT seq FROM journal WHERE type = ? ORDER BY seq DESC LIMIT ?",
                (RecordRestored.type, MAX_RESTORES),
            ).fetchall()
            after = "WHERE seq >= ? ORDER BY seq LIMIT ?"
            return [batch(entries(db, after, (*restored, MAX_ROWS))) for restored in restores]

    def _fulfil(self, request: dict[str, Any]) -> None:
        """Send what the pit asks for; note what this table does not have any more."""
        digest, kind, name = request["hash"], request.get("kind"), str(request.get("name", ""))
        data = self._content(digest) if kind == "content" else self._image(name)
        if data is None or content_hash(data) != digest:
            self._missing = (*self._missing, digest)
            return
        self._client.put(str(kind), digest, data)

    def _content(self, digest: str) -> bytes | None:
        with open_journal(self._path, training=False) as db:
            row = db and db.execute("SELECT bytes FROM content WHERE hash = ?", (digest,)).fetchone()
        return bytes(row[0]) if row else None

    def _image(self, name: str) -> bytes | None:
        try:
            return self._captures.read(name)
        except (CaptureError, OSError):
            return None
