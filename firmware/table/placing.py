"""Compares a reading of face-up cards with the record, and returns the differences as events. Pure.

Cards are matched with the record first by name, then by position; README.md lists the event for each difference. A
reading never changes a certain card: if it contradicts one, the dealer is asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from firmware.table import events as ev
from firmware.table.events import ROWS, Capture, CardReading, Event, IrregularityKind, Row, RowReading, Thing
from firmware.table.readings import NO_FACES
from firmware.table.state import Card, Seat, State
from firmware.table.streets import begun_streets, each_street, open_seats, streets_of

_SAME_SPOT: Final = 0.5
"""In heights of a card: how far a card's centre may move and still count as the same spot."""
_ASKS_FOR_THE_DEALER: Final = frozenset({"out_of_turn", "card_twice"})
"""Irregularities that a later reading cannot end; the dealer must."""


@dataclass
class _RecordedCard:
    """A recorded card, and what the reading shows in its place."""

    seat: int
    row: Row
    index: int
    card: Card
    seen: CardReading | None = None
    instead: _FoundCard | None = None
    """Another card that certainly lies on its spot."""

    @property
    def name(self) -> str | None:
        """Its name if it is certain."""
        return self.card.card if self.card.sure else None


@dataclass
class _FoundCard:
    """A card in the reading that the record does not have there."""

    look: RowReading
    card: CardReading
    explained: bool = False


@dataclass
class _Comparison:
    state: State
    frame: Capture | None
    things: Sequence[Thing]
    looks: Sequence[RowReading]
    recorded: list[_RecordedCard] = field(default_factory=list)
    found: list[_FoundCard] = field(default_factory=list)
    findings: list[ev.IrregularitySeen] = field(default_factory=list)


def compare(
    state: State, looks: Iterable[RowReading], things: Iterable[Thing] = (), frame: Capture | None = None
) -> tuple[Event, ...]:
    """Return the events for the differences between a reading of open seats and the record.

    Ignored are rows of closed seats, of seats that surrendered, and of a confirmed natural, whose cards may be hidden
    by the marker on it.
    """
    seats = {seat.seat: seat for seat in open_seats(state) if not seat.confirmed}
    this = _Comparison(
        state,
        frame,
        [thing for thing in things if thing.seat in seats],
        [look for look in looks if look.seat in seats],
    )
    for look in this.looks:
        _match(this, look, seats[look.seat])
    reread = [
        ev.CardReread(r.seat, r.row, r.index, r.seen, _look(this, r.seat, r.row).capture)
        for r in this.recorded
        if not r.card.sure and r.seen is not None and r.seen.sure
    ]
    _contradictions(this)
    placed = list(_placements(this))
    _face_down(this)
    return (*_end(this), *reread, *placed, *_new(this))


# ---- matching ----


def _match(this: _Comparison, look: RowReading, seat: Seat) -> None:
    mine = [_RecordedCard(seat.seat, look.row, k, card) for k, card in enumerate(seat.row(look.row))]
    free = list(look.cards)
    for certain in (True, False):
        for recorded in mine:
            if recorded.card.sure is certain and recorded.seen is None:
                names = (recorded.card.card, recorded.card.seen) if certain else (recorded.card.card,)
                _take(recorded, free, _nearest_of_name(recorded, free, names))
        if certain:
            for recorded in mine:
                if recorded.seen is None:
                    _take(recorded, free, _near(recorded, free))
    left = [_FoundCard(look, card) for card in free]
    for recorded in mine:
        at = next((f for f in left if f.card is recorded.seen), None)
        if at is not None:  # certainly another card on its spot: explained by `_contradictions`
            recorded.seen, recorded.instead = None, at
    spare = [f for f in left if not any(r.instead is f for r in mine)]
    for recorded in mine:  # a keyed card has no position: match it with a remaining card of its row
        if recorded.seen is None and recorded.instead is None and not recorded.card.corners and spare:
            other = spare.pop(0)
            if other.card.sure and recorded.card.sure:
                recorded.instead = other
            else:
                recorded.seen = other.card
                left.remove(other)
    this.recorded += mine
    this.found += left


def _take(recorded: _RecordedCard, free: list[CardReading], card: CardReading | None) -> None:
    """Match a recorded card with a card of the reading, which stays free if it contradicts the record."""
    if card is None:
        return
    recorded.seen = card
    if not _contradicts(recorded, card):
        free.remove(card)


def _contradicts(recorded: _RecordedCard, card: CardReading) -> bool:
    return recorded.card.sure and card.sure and card.card not in (recorded.card.card, recorded.card.seen)


def _nearest_of_name(
    recorded: _RecordedCard, free: Sequence[CardReading], names: tuple[str | None, ...]
) -> CardReading | None:
    """Return the nearest card with this name; for a name by which the camera misread the card, only on its spot."""
    own = [card for card in free if card.card is not None and card.card == names[0]]
    if own:
        return min(own, key=lambda card: _apart(recorded.card, card))
    alias = [card for card in free if card.card is not None and card.card in names[1:]]
    near = [card for card in alias if _apart(recorded.card, card) <= _SAME_SPOT or not recorded.card.corners]
    return near[0] if near else None


def _near(recorded: _RecordedCard, free: Sequence[CardReading]) -> CardReading | None:
    close = [card for card in free if _apart(recorded.card, card) <= _SAME_SPOT]
    return min(close, key=lambda card: _apart(recorded.card, card)) if close else None


def _apart(card: Card, other: CardReading) -> float:
    """Return the distance between two cards in heights of a card; infinity if it is unknown."""
    if len(card.corners) != 4 or len(other.corners) != 4:
        return math.inf
    height = math.dist(card.corners[0], card.corners[3])
    return math.dist(_middle(card.corners), _middle(other.corners)) / height if height else math.inf


def _middle(corners: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4


# ---- what differs ----


def _contradictions(this: _Comparison) -> None:
    """Find the irregularity for every recorded card that the reading does not show in its place."""
    for lost in (r for r in this.recorded if r.seen is None):
        elsewhere = next(
            (f for f in this.found if not f.explained and lost.name and f.card.card == lost.name), None
        )
        if elsewhere is not None and not _same_row(lost, elsewhere):
            elsewhere.explained = True
            lost.instead = None
            _find(this, "card_moved", lost, elsewhere)
    for lost in (r for r in this.recorded if r.seen is None):
        if any(f.what == "card_moved" and f.card == lost.name and lost.name for f in this.findings):
            continue
        if lost.instead is not None and not lost.instead.explained:
            lost.instead.explained = True
            _find(this, "card_changed", lost, lost.instead)
        elif not _under_the_marker(this, lost):
            _find(this, "card_missing", lost)


def _under_the_marker(this: _Comparison, lost: _RecordedCard) -> bool:
    """Return whether the marker of a declared natural may hide the card."""
    seat = this.state.seat(lost.seat)
    marked = any((t.seat, t.row, t.what) == (lost.seat, lost.row, "marker") for t in this.things)
    return marked and seat is not None and seat.declares


def _same_row(recorded: _RecordedCard, found: _FoundCard) -> bool:
    return (recorded.seat, recorded.row) == (found.look.seat, found.look.row)


def _find(
    this: _Comparison, what: IrregularityKind, recorded: _RecordedCard, found: _FoundCard | None = None
) -> None:
    fields: dict[str, Any] = {"seat": recorded.seat, "row": recorded.row}
    if found:
        fields |= {"seen": found.card}
    if found and what == "card_moved":
        fields |= {"to_seat": found.look.seat, "to_row": found.look.row}
    if what == "card_missing":
        things = [t.what for t in this.things if (t.seat, t.row) == (recorded.seat, recorded.row)]
        fields |= {"detail": ", ".join(dict.fromkeys(things))}
    look = found.look if found else _look(this, recorded.seat, recorded.row)
    _add(this, what, look, index=recorded.index, card=recorded.name, **fields)


def _add(this: _Comparison, what: IrregularityKind, look: RowReading, **fields: Any) -> None:
    """Add an irregularity of the row of this reading, if the fields name no other row."""
    fields = {"seat": look.seat, "row": look.row, **fields}
    this.findings.append(ev.IrregularitySeen(0, what, **fields, capture=look.capture, frame=this.frame))


def _look(this: _Comparison, seat: int, row: Row) -> RowReading:
    return next(look for look in this.looks if (look.seat, look.row) == (seat, row))


# ---- what is new ----


def _placements(this: _Comparison) -> Iterator[ev.CardPlaced]:
    """Yield the newly placed cards; find those without room in the row, on the table twice, or out of turn."""
    counts = {seat.seat: seat.placed for seat in open_seats(this.state)}
    rows = {
        (seat.seat, row): len(cards) for seat in open_seats(this.state) for row, cards in seat.rows.items()
    }
    known = {r.name for r in this.recorded if r.name}
    before = dict(counts)
    last: dict[int, tuple[Row, int, CardReading, Capture | None]] = {}
    for found in (f for f in this.found if not f.explained):
        look, card = found.look, found.card
        seat, row = look.seat, look.row
        if rows[seat, row] >= ROWS[row]:
            _add_card(this, "extra_card", look, None, card)
            continue
        if card.sure and card.card in known:
            _add_card(this, "card_twice", look, rows[seat, row], card)
        if card.sure and card.card:
            known.add(card.card)
        last[seat] = (row, rows[seat, row], card, look.capture)
        rows[seat, row] += 1
        counts[seat] += 1
        yield ev.CardPlaced(seat, row, card, look.capture)
    each = each_street(this.state)
    slowest = min((streets_of(count, each) for count in counts.values()), default=0)
    for seat, (row, index, card, _) in last.items():
        if begun_streets(counts[seat], each) > slowest + 1 and counts[seat] > before[seat]:
            _add_card(this, "out_of_turn", _look(this, seat, row), index, card)


def _add_card(
    this: _Comparison, what: IrregularityKind, look: RowReading, index: int | None, card: CardReading
) -> None:
    _add(this, what, look, index=index, card=card.card if card.sure else None, seen=card)


def _face_down(this: _Comparison) -> None:
    for thing in this.things:
        if thing.what in NO_FACES and any((k.seat, k.row) == (thing.seat, thing.row) for k in this.looks):
            _add(this, "face_down", _look(this, thing.seat, thing.row), detail=thing.what)


# ---- against what is known already ----


def _end(this: _Comparison) -> Iterator[ev.IrregularityEnded]:
    still = {finding.finding for finding in this.findings}
    looked = {(look.seat, look.row) for look in this.looks}
    for seen in this.state.irregularities:
        if seen.what in _ASKS_FOR_THE_DEALER or seen.finding in still or (seen.seat, seen.row) not in looked:
            continue
        yield ev.IrregularityEnded(seen.number)


def _new(this: _Comparison) -> Iterator[ev.IrregularitySeen]:
    known: set[tuple[Any, ...]] = {seen.finding for seen in this.state.irregularities} | set(
        this.state.dismissed
    )
    number = this.state.irregularities_seen
    for finding in this.findings:
        if finding.finding not in known:
            known.add(finding.finding)
            number += 1
            yield replace(finding, number=number)
