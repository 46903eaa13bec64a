"""The audit: settles every stored hand again, and reads every reading's picture again with the current reader.

The picture of a reading of the whole table is its frame; that of a card placed face up is its zone. A placed card that
was unsure was named by a user, so it makes no difference if it is sure now.

Each hand is independent of the others in the record, so there are as many processes as cores.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any, Final, Literal

from firmware.record.hand_history import HandStillOpen, PastHand, Step, load_hand
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import Entry, JournalReader
from firmware.rules import Profile
from firmware.runtime.reading.change_detector import of_places
from firmware.runtime.reading.setup_worker import model_of
from firmware.table import events as ev
from firmware.table.errors import CaptureError, CommandRefused, RowChanged, TableError
from firmware.table.readings import Capture
from firmware.table.settling import rules_of, settlement
from firmware.worker_pool import ignore_interrupts, worker_pool
from vision.base.arrays import Image
from vision.base.errors import VisionError
from vision.base.pictures import decode_picture
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens
from vision.reading.network import CardReader
from vision.reading.profile_files import profile_of_json
from vision.reading.table_reading import ReadCard, TableReading, read, read_zone

What = Literal["record", "rules", "settlement", "picture", "count", "card", "doubt", "sure_now"]
WORDS: Final[dict[What, str]] = {
    "record": "the hand cannot be followed",
    "rules": "its rules are not to be had",
    "settlement": "settled otherwise",
    "picture": "a picture cannot be used",
    "count": "another number of cards read",
    "card": "a card surely read as another",
    "doubt": "a card that was sure would be asked about now",
    "sure_now": "a card that was asked about is read surely now",
}
"""The kinds of differences, with their labels."""
BATCH: Final = 200
"""Maximum number of hands per batch of a process."""


@dataclass(frozen=True)
class Difference:
    """A difference: the hand, the row of the record, and a message."""

    hand: int
    row: int
    what: What
    words: str


@dataclass(frozen=True)
class Audit:
    """The result: the number of hands, settlements and pictures checked, and the differences.

    `dropped` are pictures deleted by the house's retention: not a difference, and nothing to read.
    """

    hands: int = 0
    settlements: int = 0
    pictures: int = 0
    dropped: int = 0
    differences: tuple[Difference, ...] = ()

    def __add__(self, other: Audit) -> Audit:
        return Audit(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def to_json(self) -> dict[str, Any]:
        """Return the same as JSON-able data."""
        return asdict(self)


def audit(
    data: Path,
    hands: Sequence[int] | None = None,
    *,
    pictures: bool = True,
    processes: int | None = None,
    on_progress: Callable[[int, int], None] = lambda hands, of: None,
) -> Audit:
    """Audit hands of the record in a data folder, by default all of them.

    `processes`: by default as many as there are cores; 1 uses only this one. `on_progress` receives the number of
    finished hands and the total. Raises JournalError.
    """
    reader = JournalReader(data)
    openings = reader.openings(limit=1)
    if hands is None:
        hands = range(1, openings[0].hand + 1) if openings else ()
    many = min(processes or len(os.sched_getaffinity(0)), max(1, len(hands)))
    size = max(1, min(BATCH, len(hands) // (4 * many)))
    batches = [hands[first : first + size] for first in range(0, len(hands), size)]
    found: list[Audit] = []
    finished = 0
    for batch, result in _results(data, batches, pictures, many):
        found.append(result)
        finished += len(batch)
        on_progress(finished, len(hands))
    whole = reduce(Audit.__add__, found, Audit())
    ordered = tuple(sorted(whole.differences, key=lambda one: (one.hand, one.row)))
    return replace(whole, differences=ordered)


def _results(
    data: Path, batches: Sequence[Sequence[int]], pictures: bool, many: int
) -> Iterator[tuple[Sequence[int], Audit]]:
    if many == 1:
        begin(data, pictures)
        yield from ((batch, audit_hands(batch)) for batch in batches)
        return
    with worker_pool(many, begin, (data, pictures)) as pool:
        with ignore_interrupts():
            waiting = {pool.submit(audit_hands, batch): batch for batch in batches}
        for one in as_completed(waiting):
            yield waiting[one], one.result()


# ---- in one process ----

_worker: _Worker | None = None


def begin(data: Path, pictures: bool) -> None:
    """Prepare this process."""
    global _worker
    _worker = _Worker(data, pictures)


def audit_hands(hands: Sequence[int]) -> Audit:
    """Audit some hands. Raises JournalError."""
    assert _worker is not None, "begin comes first"
    return reduce(Audit.__add__, (_worker.hand(hand) for hand in hands), Audit())


class _Worker:
    """Audits one hand after another."""

    def __init__(self, data: Path, pictures: bool) -> None:
        self._reader = JournalReader(data)
        self._store = CaptureStore(data)
        self._cards = CardReader(threads=1) if pictures else None
        self._content = lru_cache(maxsize=64)(self._reader.content)
        self._rules: dict[str, Profile] = {}

    def hand(self, number: int) -> Audit:
        """Audit one hand; skip one that is not in the record, or still on the table."""
        try:
            recalled = load_hand(self._reader, number)
        except HandStillOpen:
            return Audit()
        except CommandRefused as error:
            if not (rows := self._reader.of_hand(number)):
                return Audit()
            return Audit(1, differences=(Difference(number, rows[0].seq, "record", str(error)),))
        except RowChanged as error:
            return Audit(1, differences=(Difference(number, error.row, "record", str(error)),))
        settlements = [step for step in recalled.steps if step.entry.type == ev.HandSettled.type]
        result = Audit(1, len(settlements), differences=tuple(self._settle_again(recalled, settlements)))
        return result if self._cards is None else result + self._read_again(recalled)

    def _settle_again(self, recalled: PastHand, settlements: Iterable[Step]) -> Iterator[Difference]:
        for step in settlements:
            event, row = step.entry.event, step.entry.seq
            assert isinstance(event, ev.HandSettled)
            try:
                now = settlement(step.before, self._rules_of(recalled.opened))
            except CommandRefused as error:
                yield Difference(recalled.hand, row, "settlement", str(error))
            except TableError as error:
                yield Difference(recalled.hand, row, "rules", str(error))
            else:
                if "profile_hash" not in event.settlement:  # as earlier releases wrote it
                    del now["profile_hash"]
                if _without_words(now) != _without_words(event.settlement):
                    yield Difference(
                        recalled.hand, row, "settlement", _first_difference(event.settlement, now)
                    )

    def _rules_of(self, opened: ev.HandOpened) -> Profile:
        key = ev.canonical([opened.profile_hash, opened.options])
        if key not in self._rules:
            self._rules[key] = rules_of(opened, self._content(opened.profile_hash))
        return self._rules[key]

    def _read_again(self, recalled: PastHand) -> Audit:
        dropped = {
            image
            for row in recalled.marks
            if isinstance(e := row.event, ev.ImagesDropped)
            for image in e.images
        }
        whole = Audit()
        for capture, entries in _looks(recalled).items():
            row = entries[0].seq
            try:
                data = self._store.load(capture)
            except CaptureError as error:
                if capture in dropped and self._store.check(capture) == "missing":
                    whole += Audit(dropped=1)
                else:
                    whole += Audit(differences=(Difference(recalled.hand, row, "picture", str(error)),))
                continue
            try:
                found = tuple(self._differences(recalled, entries, _decode(capture, data)))
            except (VisionError, TableError) as error:
                words = f"It cannot be read any more: {error}"
                found = (Difference(recalled.hand, row, "picture", words),)
            whole += Audit(pictures=1, differences=found)
        return whole

    def _differences(
        self, recalled: PastHand, entries: Sequence[Entry], picture: Image
    ) -> Iterator[Difference]:
        """Compare the rows that refer to a picture with a new reading of it. Raises VisionError, TableError."""
        placed: tuple[ReadCard, ...] | None = None
        for entry in entries:
            match entry.event:
                case ev.ReadingTaken() as event:
                    yield from self._compare_reading(recalled, entry.seq, event, picture)
                case ev.CardPlaced() | ev.CardReread() as event if event.card.sure:
                    place = next((one.place for one in recalled.opened.seats if one.seat == event.seat), None)
                    if place is None:
                        words = f"a card was placed at seat {event.seat}, which the hand does not have"
                        yield Difference(recalled.hand, entry.seq, "record", words)
                        continue
                    if placed is None:
                        placed = self._zone(recalled.opened, place, event.row, picture)
                    if event.card.card not in {card.card for card in placed}:
                        now = ", ".join(_format_card(card.card, card.sure) for card in placed) or "nothing"
                        words = f"seat {event.seat}, {event.row}: {event.card.card} then, {now} now"
                        yield Difference(recalled.hand, entry.seq, "card", words)

    def _compare_reading(
        self, recalled: PastHand, row: int, event: ev.ReadingTaken, picture: Image
    ) -> Iterator[Difference]:
        reading = self._look(recalled.opened, event, picture)
        zones = {(zone.place, zone.row): zone.cards for zone in reading.zones}
        for then in event.rows:
            now = zones.get((then.place, then.row), ())
            where = f"seat {then.seat}, {then.row}"
            if len(now) != len(then.cards):
                words = f"{where}: {len(then.cards)} cards read then, {len(now)} now"
                yield Difference(recalled.hand, row, "count", words)
                continue
            for place, (was, card) in enumerate(zip(then.cards, now, strict=True), start=1):
                what: What | None = None
                if was.sure and card.sure:
                    what = "card" if was.card != card.card else None
                elif was.sure != card.sure:
                    what = "doubt" if was.sure else "sure_now"
                if what:
                    names = (
                        f"{_format_card(was.card, was.sure)} then, {_format_card(card.card, card.sure)} now"
                    )
                    yield Difference(recalled.hand, row, what, f"{where}, card {place}: {names}")

    def _look(self, opened: ev.HandOpened, event: ev.ReadingTaken, picture: Image) -> TableReading:
        layout, cards = self._layout(opened.layout_hash), self._reader_of(opened)
        lens = self._text(opened, "lens")
        places = tuple(dict.fromkeys(row.place for row in event.rows))
        return read(picture, of_places(layout, places), cards, lens=Lens.from_text(lens) if lens else None)

    def _zone(self, opened: ev.HandOpened, place: str, row: ev.Row, picture: Image) -> tuple[ReadCard, ...]:
        layout, cards = self._layout(opened.layout_hash), self._reader_of(opened)
        return read_zone(picture, layout.zone(place, row), layout, cards)

    def _reader_of(self, opened: ev.HandOpened) -> CardReader:
        """Return the card reader with the hand's deck."""
        assert self._cards is not None
        deck = self._text(opened, "deck")
        self._cards.deck = profile_of_json(deck, model_of(self._cards)) if deck else None
        return self._cards

    def _layout(self, digest: str) -> TableLayout:
        text = self._content(digest) if digest else None
        return TableLayout.parse(text.decode(errors="replace")) if text else TableLayout.load()

    def _text(self, opened: ev.HandOpened, what: str) -> str:
        known = opened.calibrations.get(what)
        text = self._content(known.hash) if known else None
        return text.decode(errors="replace") if text else ""


def _looks(recalled: PastHand) -> dict[Capture, list[Entry]]:
    """Return the rows of a hand that hold a reading, by its picture."""
    looks: dict[Capture, list[Entry]] = {}
    for step in recalled.steps:
        match step.entry.event:
            case ev.ReadingTaken(frame=Capture() as capture):
                looks.setdefault(capture, []).append(step.entry)
            case ev.CardPlaced(capture=Capture() as capture) | ev.CardReread(capture=Capture() as capture):
                looks.setdefault(capture, []).append(step.entry)
            case _:
                pass
    return looks


def _decode(capture: Capture, data: bytes) -> Image:
    picture = decode_picture(data)
    if picture is None:
        raise CaptureError("%(name)s is no picture.", name=capture.name)
    return picture


def _format_card(card: str | None, sure: bool) -> str:
    return f"{card or 'nothing'}{'' if sure else ' (not sure)'}"


_WORDS: Final = frozenset({"why", "text"})
"""The English explanations in a settlement. Another release may use other words for the same payment."""


def _without_words(part: Any) -> Any:
    """Return a settlement, or a part of it, without its explanations."""
    if isinstance(part, dict):
        return {name: _without_words(value) for name, value in part.items() if name not in _WORDS}
    return [_without_words(value) for value in part] if isinstance(part, (list, tuple)) else part


def _first_difference(then: dict[str, Any], now: dict[str, Any]) -> str:
    """Describe the first part of a settlement that differs, with both values."""
    before, after = then.get("paid", {}), now.get("paid", {})
    paid = [
        f"{seat}: {before.get(seat)} → {after[seat]}" for seat in after if before.get(seat) != after[seat]
    ]
    if paid:
        return f"paid by seat, in cents: {', '.join(paid)}"
    then, now = _without_words(then), _without_words(now)
    part = next(name for name in {**now, **then} if now.get(name, ...) != then.get(name, ...))
    return f"{part}: {_short(then.get(part))} → {_short(now.get(part))}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
