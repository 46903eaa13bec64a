"""Checks a whole journal: the file, the chain, the content, the images and the signed heads.

`verify` reads every row once. `replay` applies the events of all hands again, and settles each again: it
detects rows that were forged with right hashes, or that a release wrote wrong.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from firmware.messages import Message, Text
from firmware.record.evidence.anchors import Anchor
from firmware.record.evidence.chain import Chain, check_rows
from firmware.record.evidence.presence import Presence, presence_of
from firmware.record.evidence.signing import fingerprint
from firmware.record.journal import witness
from firmware.record.journal.captures import IMAGE_STATES, CaptureStore, captures_in, captures_in_json
from firmware.record.journal.end_mark import compare
from firmware.record.journal.file import as_journal_errors, could_not_be_read
from firmware.record.journal.reader import JournalReader
from firmware.record.journal.schema import strange_header, strangers
from firmware.rules import Profile
from firmware.table import events as ev
from firmware.table.entry import Entry, content_hash
from firmware.table.errors import CommandRefused, TableError, UnknownEvent
from firmware.table.event import apply
from firmware.table.events import canonical
from firmware.table.readings import Capture
from firmware.table.settling import rules_of, settlement
from firmware.table.state import INITIAL, State
from firmware.table.values import Opening

FIGURES: Final = ("paid", "points", "stacks")
"""What of a settlement is compared when a hand is settled again; its words may be another release's."""
MAX_MESSAGES: Final = 10
"""SQLite's messages about one file that are reported."""


@dataclass(frozen=True)
class Problem:
    """Something wrong in the record. `seq` is the journal row, None if it concerns no single row.

    `image`: the image that is not as it was stored, where that is all; `is_changed`: other bytes are in its place.
    """

    seq: int | None
    what: Text
    image: Capture | None = None
    is_changed: bool = False


def _problem(seq: int | None, what: str, /, **args: object) -> Problem:
    return Problem(seq, Message(what, **args))


@dataclass(frozen=True)
class Signer:
    """A key that signed heads of the record: its bytes in hex, how many heads, and the row of the last one."""

    key: str
    heads: int
    last: int

    @property
    def words(self) -> str:
        """The key's fingerprint in words."""
        return fingerprint(bytes.fromhex(self.key))


@dataclass(frozen=True)
class Verification:
    """What was checked, and the problems in the order of rows; `head` is the last row's hash.

    `images` is how many images were compared, `dropped` how many of them were removed with a tombstone, `lost` how many
    a row says to have been lost with a restore. `anchors` is the number of signed heads in the record, `keys` the
    fingerprints of the keys that the record announced, `signers` those with a verified signature over a head.
    `say_unproven`: proof that is not there. `faults` are the faults that the record's own rows tell of, also those that
    a floor person has read.
    """

    entries: int
    hands: int
    head: str
    problems: tuple[Problem, ...]
    images: int = 0
    dropped: int = 0
    lost: int = 0
    anchors: int = 0
    keys: tuple[str, ...] = ()
    signers: tuple[Signer, ...] = ()
    unproven: tuple[Problem, ...] = ()
    faults: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether what is there has no problems. It says nothing of proof that is missing: `holds`."""
        return not self.problems

    @property
    def holds(self) -> bool:
        """Whether there are no problems, and each hand that ended is signed."""
        return not self.problems and not self.unproven

    @property
    def verdict(self) -> str:
        """One line for the first and the last of a report."""
        sentences = [] if self.problems or self.unproven else [Message("All of it holds.")]
        if self.problems:
            sentences.append(Message("This record does not hold."))
        if self.unproven:
            sentences.append(Message("NOT signed as a whole.") if self.anchors else Message("NOT signed."))
        if self.faults:
            sentences.append(Message("The record tells of faults of its own."))
        return " ".join(map(str, sentences))


def verify(
    data: Path,
    *,
    anchors: Sequence[Anchor] = (),
    images: bool = True,
    replayed: bool = True,
    settled: bool = False,
    is_open_here: bool = False,
    on_progress: Callable[[int, int], None] = lambda rows, of: None,
) -> Verification:
    """Check the whole record in a data folder.

    `anchors`: signed heads from elsewhere, such as paper slips; they reveal a record that was cut off or rewritten.
    `images`: also read every image. `replayed`: also run `replay`, if there are no other problems; `settled`: with
    settling. `is_open_here`: this process has the journal open, so the file header is not read. `on_progress` is
    called with the rows checked and their total. Raises JournalError if the record cannot be read at all.
    """
    reader = JournalReader(data, are_checked=False)
    with as_journal_errors(could_not_be_read(reader.path)):
        head = "" if is_open_here or not reader.path.exists() else strange_header(reader.path)
    strange = [Problem(None, head)] if head else []
    with reader.opened() as db, as_journal_errors(could_not_be_read(reader.path)):
        strange += problems_of_file(db, data) if db else no_journal(data)
        end = int(db.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0]) if db else 0
        chain = check_rows(db, 1, end, on_progress) if db else Chain()
    found = _messages_of(chain)
    of_images, dropped, lost = _images(data, chain, found) if images else ([], 0, 0)
    problems = [
        *strange,
        *_contents(reader, chain),
        *(Problem(*problem) for problem in chain.problems),
        *of_images,
        *_heads(found),
    ]
    problems += _slips(reader, end, found, anchors)
    if replayed and not problems:
        problems += replay(data, settled=settled)
    problems.sort(key=lambda problem: problem.seq or 0)
    return Verification(
        entries=end,
        hands=chain.hands,
        head=chain.hash,
        problems=tuple(dict.fromkeys(problems)),
        images=len(chain.images) if images else 0,
        dropped=dropped,
        lost=lost,
        anchors=len(found.signed),
        keys=tuple(fingerprint(bytes.fromhex(key)) for key in found.keys),
        signers=tuple(Signer(key, len(rows), rows[-1]) for key, rows in found.proven.items()),
        unproven=tuple(say_unproven(presence_of(chain.proof))),
        faults=tuple(found.faults),
    )


def say_unproven(there: Presence) -> Iterator[Problem]:
    """Yield what is said of hands that no signed head proves."""
    if there.is_none:
        yield _problem(
            None, "NOT signed: %(hands)s hands ended, and there is no signed head.", hands=there.ended
        )
        return
    for end, due in there.missing:
        yield _problem(
            end,
            "The row ends a hand and is NOT signed: no signed head follows it before row %(row)s.",
            row=due,
        )


def problems_of_file(db: sqlite3.Connection, data: Path, *, pages: bool = True) -> Iterator[Problem]:
    """Check what the row hashes do not cover: the file's schema, its pages, and whether its end is missing.

    `pages`: read every page, which takes time in proportion to the file's size. Raises sqlite3.Error.
    """
    for what in strangers(db):
        yield Problem(None, what)
    for what in unsound_pages(db) if pages else ():
        yield Problem(None, what)
    if stray := db.execute("SELECT seq FROM journal WHERE seq < 1 LIMIT 1").fetchone():
        yield _problem(stray[0], "No row has such a number: the row was put there.")
    try:
        fault = compare(db, data)
    except OSError as error:  # from the witness or the images; the rows can still be checked
        yield _problem(
            None,
            "%(path)s cannot be read: nobody can say whether the record is whole.",
            path=error.filename or data,
        )
    else:
        if fault is not None:
            yield Problem(fault.seen if fault.what == "rewritten" else None, fault.problem)


def no_journal(data: Path) -> Iterator[Problem]:
    """Say where a record without rows had some. Raises OSError."""
    seen = witness.read(data)
    if seen is not None and seen[0]:
        yield _problem(
            None, "The record's file holds no row, but row %(seen)s had been written.", seen=seen[0]
        )


def unsound_pages(db: sqlite3.Connection) -> Iterator[Message]:
    """Yield what SQLite finds wrong with a journal's pages, including rows that a search does not find."""
    for (what,) in db.execute(f"PRAGMA integrity_check({MAX_MESSAGES})"):
        if what != "ok":
            yield Message("The journal's file is damaged: %(what)s.", what=" ".join(str(what).split()))


class _RecordFacts(NamedTuple):
    """What the rows about the record itself say."""

    signed: list[tuple[int, str, ev.HeadSigned | None]]
    tombstones: set[tuple[str, str]]
    lost: set[tuple[str, str]]
    keys: dict[str, None]
    proven: dict[str, list[int]]
    faults: list[Problem]


def _messages_of(chain: Chain) -> _RecordFacts:
    found = _RecordFacts([], set(), set(), {}, {}, [])
    for seq, previous, kind, payload in chain.about:
        if kind == ev.ImagesDropped.type:
            found.tombstones.update(
                (image.name, image.sha256) for image in captures_in_json(payload.get("images"))
            )
        elif kind == ev.ImagesLost.type:
            found.lost.update((image.name, image.sha256) for image in captures_in_json(payload))
        elif kind == ev.KeyAnnounced.type:
            with suppress(ValueError):  # the row was changed and is reported already
                found.keys[bytes.fromhex(str(payload.get("key"))).hex()] = None
        elif kind == ev.RecordFault.type:
            found.faults.append(_fault(seq, payload))
        else:
            found.signed.append((seq, previous, _head(payload)))
    return found


def _images(data: Path, chain: Chain, found: _RecordFacts) -> tuple[list[Problem], int, int]:
    """Compare every image with its hash; return the problems, how many were dropped, and how many were lost."""
    store = CaptureStore(data)
    problems: list[Problem] = []
    dropped = lost = 0
    for image, seq in chain.images.items():
        state = store.check(image)
        if state == "ok":
            continue
        if state == "missing" and (image.name, image.sha256) in found.tombstones:
            dropped += 1
            continue
        if (image.name, image.sha256) in found.lost:
            lost += 1
            continue
        what = (
            Message("The capture %(name)s cannot be read: nobody can say whether it holds.", name=image.name)
            if state == "unreadable"
            else Message("The capture %(name)s is %(state)s.", name=image.name, state=IMAGE_STATES[state])
        )
        problems.append(Problem(seq, what, image, state == "changed"))
    return problems, dropped, lost


def _fault(seq: int, payload: dict[str, Any]) -> Problem:
    try:
        event = ev.parse(ev.RecordFault.type, canonical(payload))
    except UnknownEvent:  # the row was changed and is reported already, or it is a later release's
        return Problem(seq, ev.RecordFault.title)
    assert isinstance(event, ev.RecordFault)
    return Problem(seq, event.problem)


def _head(payload: dict[str, Any]) -> ev.HeadSigned | None:
    try:
        event = ev.parse(ev.HeadSigned.type, canonical(payload))
    except UnknownEvent:
        return None
    assert isinstance(event, ev.HeadSigned)
    return event


def _contents(reader: JournalReader, chain: Chain) -> Iterator[Problem]:
    contents = reader.contents()
    for digest, stored in contents.items():
        if content_hash(stored) != digest:
            yield _problem(None, "The content %(digest)s was changed.", digest=digest)
    for digest, seq in chain.content.items():
        if digest not in contents:
            yield _problem(
                seq, "The content %(digest)s that the hand was opened with is not stored.", digest=digest
            )


def _heads(found: _RecordFacts) -> Iterator[Problem]:
    """Check the signed heads in the record: each must sign the row right before it."""
    for seq, previous, event in found.signed:
        if event is None or (event.seq, event.hash) != (seq - 1, previous):
            yield _problem(seq, "The signed head is not that of the row before it.")
        elif not Anchor.of(event).is_signed():
            yield _problem(seq, "The head's signature is not that of its key.")
        else:
            found.proven.setdefault(event.key, []).append(seq)
            if event.key not in found.keys:
                yield _problem(seq, "The head was signed with a key that the record never announced.")


def _slips(
    reader: JournalReader, end: int, found: _RecordFacts, anchors: Sequence[Anchor]
) -> Iterator[Problem]:
    for anchor in anchors:
        rows = reader.events_since(anchor.seq - 1, 1)
        if anchor.seq > end:
            yield _problem(
                end,
                "The record ends here, but row %(seq)s was anchored: its end was cut off.",
                seq=anchor.seq,
            )
        elif not rows or (rows[0].seq, rows[0].hash) != (anchor.seq, anchor.hash):
            yield _problem(anchor.seq, "The row is not the one that was anchored: the record was rewritten.")
        elif anchor.key not in found.keys:
            yield _problem(anchor.seq, "The row was anchored with a key that the record never announced.")


def replay(data: Path, *, settled: bool = False) -> Iterator[Problem]:
    """Apply all events again; `settled`: and settle every hand again from its cards and its profile.

    Yields the rows whose event the state does not allow, and those whose payments, points or stacks are others than
    follow. Raises JournalError.
    """
    reader = JournalReader(data, are_checked=False)
    state = INITIAL
    rules: dict[str, Profile] = {}
    for entry in _all(reader):
        try:
            event = entry.event
            if settled and isinstance(event, ev.HandSettled) and state.opened is not None:
                yield from _settle_again(reader, state, state.opened, event, entry.seq, rules)
            state = apply(state, event)
        except (UnknownEvent, CommandRefused) as error:
            yield _problem(entry.seq, "The event does not fit: %(error)s", error=error)


def _settle_again(
    reader: JournalReader,
    state: State,
    opened: Opening,
    event: ev.HandSettled,
    seq: int,
    rules: dict[str, Profile],
) -> Iterator[Problem]:
    key = canonical([opened.profile_hash, opened.options])
    try:
        if key not in rules:
            rules[key] = rules_of(opened, reader.content(opened.profile_hash))
        now = settlement(state, rules[key])
    except TableError as error:
        yield _problem(seq, "The hand cannot be settled again: %(error)s", error=error)
        return
    differ = [name for name in FIGURES if canonical(now.get(name)) != canonical(event.settlement.get(name))]
    if differ:
        yield _problem(
            seq, "The hand does not settle to what was recorded: %(what)s differ.", what=", ".join(differ)
        )


def find_torn_images(data: Path, entries: Iterable[Entry]) -> Iterator[Message]:
    """Yield a message for every image named by these entries that is not as it was stored."""
    store = CaptureStore(data)
    for entry in entries:
        for capture in captures_in(entry.event):
            if (found := store.check(capture)) != "ok":
                yield Message(
                    "The image %(name)s of hand %(hand)s is %(found)s.",
                    name=capture.name,
                    hand=entry.hand,
                    found=IMAGE_STATES[found],
                )


def _all(reader: JournalReader) -> Iterator[Entry]:
    seq = 0
    while entries := reader.events_since(seq):
        yield from entries
        seq = entries[-1].seq
