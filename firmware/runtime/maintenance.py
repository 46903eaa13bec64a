"""The table process's work on the record outside the hands: key, anchors, exports, index, retention of images.

Events are written on the table's own thread. Slow work (the index, a dispute file, finding images to delete) runs on
one worker thread that only reads the journal.
"""

import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from firmware.access.control import Sender
from firmware.messages import Message, Text
from firmware.record.archive import Archive
from firmware.record.dispute_file import export_path, write_dispute_file
from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.dispute_verifier import ENDS
from firmware.record.evidence.signed_note import NoteUnusable, doubt, read_note, write_note
from firmware.record.evidence.signing import DeviceKey, KeyUnusable
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import Clock
from firmware.record.journal.disk import make_folder
from firmware.record.journal.journal import TABLE, Journal
from firmware.record.retention import Deletion, Rule, leftovers, plan, remove
from firmware.record.stick_request import StickDesk
from firmware.runtime.config import KeepingConfig
from firmware.table import State, TableError
from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.topics.evidence import DropImages, ExportHand, ReadStick, RecordCommand, SignHead
from firmware.threads import Worker
from firmware.uplink.status_file import WITNESS
from firmware.uplink.witness import proofs_in

log = logging.getLogger(__name__)

KEPT_EXPORTS: Final = 20
SIGN_RETRY: Final = 5.0
"""Seconds until a head that could not be signed is tried again."""
_LAST: Final = (
    f"SELECT type FROM journal WHERE type IN ({', '.join('?' * (len(ENDS) + 1))}) ORDER BY seq DESC LIMIT 1"
)
INDEX_EVERY: Final = 1.0
INDEX_EVERY_IN_PLAY: Final = 15.0
"""Seconds between two updates of the index; a list need not show a hand in progress."""
INDEX_RETRY: Final = 60.0
KEEP_EVERY: Final = 24 * 3600.0
KEEP_FIRST: Final = 600.0
"""Seconds after the start, so that a box that is switched on every evening deletes its old images too."""

Pdf = Callable[[Path, int], bytes]
"""Data folder and hand number → the hand's printable page."""
Answer = dict[str, Any] | Future[dict[str, Any]]


class RecordTable(Protocol):
    """The part of the table process that is used here."""

    @property
    def state(self) -> State:
        """The state, as the journal has it."""

    def write(self, events: list[ev.Event], actor: str) -> int:
        """Record events durably. Raises CommandRefused, JournalError."""


class RecordMaintenance:
    """Used on the table's thread; `close` ends its worker."""

    def __init__(
        self,
        data: Path,
        journal: Journal,
        key_folder: Path,
        keeping: KeepingConfig,
        wall: Clock,
        pdf: Pdf | None = None,
        stick: StickDesk | None = None,
        clock: Callable[[], float] = time.monotonic,
        witness: Path = Path("/") / WITNESS,
    ) -> None:
        """Read the device's key, or make it. Without a key hands go on, but nothing is signed and a fault is shown.

        Raises NoThread.
        """
        self._data, self._journal, self._wall, self._pdf, self._clock = data, journal, wall, pdf, clock
        self._stick = stick
        self._witness = witness
        self._rule = Rule(keeping.days, keeping.megabytes)
        self._archive = Archive(data)
        self._store = CaptureStore(data)
        self._worker = Worker("record")
        self._key: DeviceKey | None = None
        self._key_folder = key_folder
        self._trouble: Text = ""
        self._unnoted: Text = ""
        self._news: list[ev.Event] = []
        try:
            self._key = DeviceKey.open(key_folder)
            self._news = self._compared(self._key)
        except KeyUnusable as error:
            self._trouble = Message(
                "%(error)s Nothing can be signed: no dispute files, no anchors.", error=error
            )
            log.error("%s", self._trouble)
        self._indexing: Future[None] | None = None
        self._indexed, self._index_at = -1, float("-inf")
        self._planning: Future[list[Deletion]] | None = None
        self._drops: deque[Deletion] = deque()
        self._keep_at = clock() + KEEP_FIRST
        self._head_due = bool(self._news)
        self._sign_at = float("-inf")

    def _compared(self, key: DeviceKey) -> list[ev.Event]:
        """Compare the record with the head that this box signed last; return what the record is to say of it."""
        reader = self._archive.reader
        reason: Literal["missing", "unusable"]
        try:
            note, reason = read_note(self._key_folder, key.public), "missing"
        except NoteUnusable as error:
            log.error("%s", error)
            note, reason = None, "unusable"
        try:
            if note is not None:
                found = doubt(reader, note, key.public)
                if found is not None:
                    log.error("%s", found.problem)
                return [] if found is None else [found]
            if reason == "missing" and not reader.openings(limit=1):
                return []  # a new box: no hand was ever signed
        except TableError as error:
            return [ev.RecordFault("damaged", self._journal.seq, detail=error.sentence)]
        return [ev.NoteBegun(*self._journal.head, reason)]

    @property
    def faults(self) -> dict[str, Text]:
        """Faults by the name that is shown."""
        trouble = self._trouble or self._unnoted
        return {"key": trouble} if trouble else {}

    def begin(self, table: RecordTable) -> None:
        """Record how the record stands to what this box signed last, and its key. Raises JournalError."""
        if self._key is None:
            return
        if self._news:
            table.write(self._news, TABLE)
            self._news = []
        last = self._archive.reader.last_key()
        public = self._key.public.hex()
        if last is None or getattr(last.event, "key", "") != public:
            table.write([ev.KeyAnnounced(public)], TABLE)
        self._head_due = self._head_due or self._is_owed()

    def _is_owed(self) -> bool:
        """Return whether the last hand's end is not signed: the power went in between."""
        with self._archive.reader.opened() as db:
            if db is None:
                return False
            last = db.execute(_LAST, (*ENDS, ev.HeadSigned.type)).fetchone()
            return last is not None and last[0] != ev.HeadSigned.type

    def hand_ended(self) -> None:
        """Have the head signed with the next turn: nobody waits for it."""
        self._head_due = self._key is not None

    def turn(self, table: RecordTable) -> None:
        """Do the work that is due, a little at a time."""
        now = self._clock()
        if self._head_due and now >= self._sign_at:
            try:
                self._sign(table, TABLE)
                self._head_due = False
            except TableError as error:
                self._sign_at = now + SIGN_RETRY
                log.warning("the head was not signed; it is tried again: %s", error)
        self._index(table.state, now)
        if table.state.phase not in BETWEEN_HANDS:
            return
        if self._planning is None and self._rule.is_set and now >= self._keep_at:
            self._look_for_old_images(self._rule, by_itself=True)
        if self._planning is not None and self._planning.done():
            planning, self._planning = self._planning, None
            try:
                self._drops.extend(planning.result())
            except (TableError, OSError) as error:
                log.warning("old images could not be looked for; they stay: %s", error)
        if self._drops:
            self._drop(self._drops.popleft(), table)

    def close(self) -> None:
        """End the worker after the dispute file in progress. May be called twice."""
        self._worker.close()

    # ---- commands ----

    def handle(self, command: RecordCommand, table: RecordTable, sender: Sender) -> Answer:
        """Run a command that needs the key or the images. The answer for a dispute file comes later.

        Raises CommandRefused, JournalError.
        """
        match command:
            case SignHead():
                return self.signed(self._sign(table, sender.actor))
            case ExportHand():
                return self._export(command, table, sender)
            case ReadStick():
                self._need_stick().need_free()
                return {"ok": True, "stick": self._need_stick().ask(0)}
            case DropImages():
                rule = (
                    Rule(command.days, command.megabytes) if command.days or command.megabytes else self._rule
                )
                if not rule.is_set:
                    raise CommandRefused(
                        "The house keeps all images; say how many days or megabytes are kept."
                    )
                if self._planning is not None:
                    raise CommandRefused("Old images are being looked for already.")
                self._look_for_old_images(rule)
                return {"ok": True}

    def need_key(self) -> DeviceKey:
        """Return the device's key. Raises CommandRefused without one."""
        if self._key is None:
            raise CommandRefused(self._trouble)
        return self._key

    def signed(self, seq: int) -> dict[str, Any]:
        """Return the answer for the signed head in a row. Raises JournalError."""
        (row,) = self._archive.reader.events_since(seq - 1, 1)
        assert isinstance(row.event, ev.HeadSigned)
        anchor = Anchor.of(row.event)
        return {"ok": True, "seq": seq, "anchor": anchor.text, "key": anchor.fingerprint}

    def _sign(self, table: RecordTable, actor: str) -> int:
        seq, digest = self._journal.head
        event = sign_head(
            self.need_key(),
            seq=seq,
            digest=digest,
            hands=table.state.last_hand,
            wall_ms=self._wall().wall_ms,
            table=table.state.house.table,
        )
        row = table.write([event], actor)
        try:
            write_note(self._key_folder, Anchor.of(event))
            self._unnoted = ""
        except NoteUnusable as error:
            self._unnoted = error.sentence
            log.error("%s", error)
        return row

    def _export(self, command: ExportHand, table: RecordTable, sender: Sender) -> Future[dict[str, Any]]:
        key = self.need_key()
        if command.stick:
            self._need_stick().need_free()
        hand = self._archive.hand(command.past)  # refused before anything is signed
        about = hand.later[-1:] or hand.play[-1:]
        if not self._archive.reader.anchors(about[0].seq, 1):
            self._sign(table, sender.actor)
        name = table.state.house.table if command.stick else None
        return self._worker.submit(self._write_file, command.past, key, name)

    def _need_stick(self) -> StickDesk:
        if self._stick is None:
            raise CommandRefused("This table has no program for sticks.")
        return self._stick

    def _write_file(self, number: int, key: DeviceKey, stick: str | None) -> dict[str, Any]:
        """Make a hand's dispute file. `stick`: the table name under which it is copied to a USB stick."""
        out = export_path(self._data, number)
        pdf = self._pdf
        try:
            make_folder(out.parent)
            make_pdf = None if pdf is None else lambda hand: pdf(self._data, hand)
            proofs = partial(proofs_in, self._witness)
            write_dispute_file(self._archive, number, key, out, make_pdf, proofs)
            self._forget_old_exports(out.parent)
            copying = {} if stick is None else {"stick": self._need_stick().ask(number, stick)}
        except TableError as error:
            return error.sentence.refusal()
        except Exception:
            log.exception("the dispute file of hand %s met a fault of ours", number)
            return Message("The dispute file met an error of ours; look at the table's log.").refusal()
        return {"ok": True, "file": out.name, **copying}

    def _forget_old_exports(self, folder: Path) -> None:
        """Delete old dispute files. They are copies; the record holds their content."""
        files = sorted(folder.glob("hand-*.zip"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in files[KEPT_EXPORTS:]:
            path.unlink(missing_ok=True)

    # ---- periodic work ----

    def _index(self, state: State, now: float) -> None:
        if self._indexing is not None:
            if not self._indexing.done():
                return
            error, self._indexing = self._indexing.exception(), None
            if error is not None:
                log.warning("the archive's index: %s", error)
                self._indexed, self._index_at = -1, now + INDEX_RETRY
        if self._indexed != self._journal.seq and now >= self._index_at:
            quiet = state.phase in BETWEEN_HANDS or state.phase is Phase.SETTLED
            self._index_at = now + (INDEX_EVERY if quiet else INDEX_EVERY_IN_PLAY)
            self._indexed = self._journal.seq
            self._indexing = self._worker.submit(self._archive.refresh)

    def _look_for_old_images(self, rule: Rule, *, by_itself: bool = False) -> None:
        self._keep_at = self._clock() + KEEP_EVERY
        moment = self._wall()
        is_right = not (self._journal.clock_is_behind() or self._journal.clock_is_ahead())
        now_ms = moment.wall_ms if moment.clock == "synchronised" and is_right else None
        self._planning = self._worker.submit(self._plan, rule, now_ms, by_itself)

    def _plan(self, rule: Rule, now_ms: int | None, by_itself: bool) -> list[Deletion]:
        for images in leftovers(self._archive, self._store):
            remove(self._store, images)
        return list(plan(self._archive, rule, now_ms, by_itself=by_itself))

    def _drop(self, drop: Deletion, table: RecordTable) -> None:
        """Write the tombstone, then delete. The state refuses a hand that came under dispute meanwhile."""
        try:
            table.write([drop.tombstone], TABLE)
        except TableError as error:
            log.info("the images of hand %s stay: %s", drop.hand, error)
            return
        remove(self._store, drop.images)
