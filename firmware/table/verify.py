"""Checks a journal from its first row to its last: the chain, the content, the images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from firmware.table.captures import CaptureStore, named_by
from firmware.table.effects import apply
from firmware.table.errors import NotNow, UnknownEvent
from firmware.table.events import HandOpened
from firmware.table.journal import Entry, JournalReader, content_hash
from firmware.table.state import INITIAL


@dataclass(frozen=True)
class Problem:
    """Something in the record that does not fit. `seq` is the journal row, None for what no row names."""

    seq: int | None
    what: str


@dataclass(frozen=True)
class Verification:
    """What was checked and what does not fit; `head` is the last row's hash, to be kept elsewhere."""

    entries: int
    hands: int
    head: str
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether everything fits."""
        return not self.problems


def verify(data: Path) -> Verification:
    """Check the whole record in a data folder. Raises JournalError if it cannot be read at all."""
    reader, store = JournalReader(data), CaptureStore(data)
    contents = reader.contents()
    problems = [
        Problem(None, f"The content {digest} was changed.")
        for digest, stored in contents.items()
        if content_hash(stored) != digest
    ]
    state, last, hands = INITIAL, None, 0
    for entry in _all(reader):
        problems += [Problem(entry.seq, what) for what in _chain(last, entry)]
        last = entry
        try:
            event = entry.event
            state = apply(state, event)
        except (UnknownEvent, NotNow) as error:
            problems.append(Problem(entry.seq, f"The event does not fit: {error}"))
            continue
        if isinstance(event, HandOpened):
            hands += 1
            problems += [
                Problem(entry.seq, f"The {name} that the hand was opened with is not stored.")
                for name, digest in (("profile", event.profile_hash), ("layout", event.layout_hash))
                if digest and digest not in contents
            ]
            problems += [
                Problem(entry.seq, f"The {what}'s calibration that the hand was opened with is not stored.")
                for what, made in event.calibrations.items()
                if made.hash not in contents
            ]
        for capture in named_by(event):
            if (found := store.check(capture)) != "ok":
                problems.append(Problem(entry.seq, f"The capture {capture.name} is {found}."))
    return Verification(last.seq if last else 0, hands, last.hash if last else "", tuple(problems))


def torn(data: Path, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a sentence for every image that these entries name and that is not there as it was stored."""
    store = CaptureStore(data)
    for entry in entries:
        for capture in named_by(entry.event):
            if (found := store.check(capture)) != "ok":
                yield f"The image {capture.name} of hand {entry.hand} is {found}."


def _all(reader: JournalReader) -> Iterator[Entry]:
    seq = 0
    while entries := reader.events_since(seq):
        yield from entries
        seq = entries[-1].seq


def _chain(last: Entry | None, entry: Entry) -> Iterator[str]:
    if entry.seq != (last.seq + 1 if last else 1):
        yield "Rows before this one are missing."
    if entry.previous != (last.hash if last else ""):
        yield "The row does not follow the one before it."
    if entry.hash != entry.sealed():
        yield "The row was changed."
