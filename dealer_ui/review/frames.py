"""Drawings over the stored frames of a past hand: what the camera saw. Pure.

All coordinates are the full frame's pixels, as in the events: the cards' corners, the zones, other things.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from dealer_ui.review.timeline import describe, spot, time_of
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.words import card_name, row_name
from dealer_ui.view.pictures import Corners, middle, svg_points, upright
from dealer_ui.view.screen import Crop
from firmware.record.hand_history import PastHand, Step, frame_of
from firmware.table import events as ev

MOVED: Final = 0.5
"""The share of a card's width that it may move between two frames and still lie where it lay."""


@dataclass(frozen=True)
class CardMark:
    """A card in a frame. `points` are its corners in SVG notation, `x`, `y` its middle."""

    number: int
    code: str
    sure: bool
    confidence: int
    """Percent."""
    seat: int
    row: str
    index: int
    where: str
    candidates: tuple[str, ...]
    points: str
    x: int
    y: int
    crop: Crop | None
    below: int
    """Its lower edge: its label stands there, not on the printed index."""
    final: str = ""
    """What the hand was settled with at this place, where that is another card."""


@dataclass(frozen=True)
class Area:
    """A zone, or a thing that was not read as a card. `x`, `y`: where its name stands, before a zone, on a thing."""

    name: str
    points: str
    x: int
    y: int


@dataclass(frozen=True)
class FrameAnnotations:
    """One reading: its frame and what was read in it."""

    seq: int
    time: str
    words: str
    frame: str
    sha256: str
    cards: tuple[CardMark, ...]
    zones: tuple[Area, ...]
    things: tuple[Area, ...]
    found: str = ""
    """What an irregularity's look was stored for; it shows the one card that it is about."""
    reach: tuple[int, int, int, int] | None = None
    """The smallest box around all of them: left, top, right, bottom; None where nothing was read."""

    def window(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Return the part of a frame to show, the cards with some felt around them: left, top, width, height."""
        if self.reach is None:
            return 0, 0, width, height
        left, top, right, bottom = self.reach
        edge = max(right - left, bottom - top) // 14
        left, top = max(0, left - edge), max(0, top - edge)
        return left, top, min(width, right + edge) - left, min(height, bottom + edge) - top

    @property
    def letter(self) -> int:
        """The height of a label's letters, in pixels, so that the label fits its card."""
        widths = sorted(card.crop.width for card in self.cards if card.crop)
        return max(8, widths[len(widths) // 2] // 6) if widths else 40

    @property
    def unsure(self) -> int:
        """The number of unsure cards."""
        return sum(not card.sure for card in self.cards)


@dataclass(frozen=True)
class Change:
    """A difference between two frames: a sentence, and the places in the earlier and in the later one."""

    words: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class ReadingComparison:
    """Two consecutive readings, and what changed between them."""

    before: FrameAnnotations
    after: FrameAnnotations
    changes: tuple[Change, ...]


def frame_annotations(recalled: PastHand) -> tuple[FrameAnnotations, ...]:
    """Return every reading whose frame was stored, the oldest first."""
    return tuple(_look(step, recalled) for step in recalled.looks)


def compare_readings(seen: Sequence[FrameAnnotations]) -> tuple[ReadingComparison, ...]:
    """Return each reading with the one before it."""
    return tuple(ReadingComparison(a, b, tuple(_between(a, b))) for a, b in pairwise(seen))


def _between(before: FrameAnnotations, after: FrameAnnotations) -> Iterable[Change]:
    """Compare two readings; an irregularity's reading only by what it was stored for."""
    if before.found or after.found:
        for look in (before, after):
            if look.found:
                place = look.cards[0].points if look.cards else ""
                at_first, at_last = (place, "") if look is before else ("", place)
                yield Change(f"{look.time}: {look.found}", at_first, at_last)
        return
    yield from _changes(before.cards, after.cards)


def _look(step: Step, recalled: PastHand) -> FrameAnnotations:
    event, frame = step.entry.event, frame_of(step.entry)
    assert frame is not None
    return FrameAnnotations(
        step.entry.seq,
        time_of(step.entry.wall_ms),
        _words(event),
        frame.name,
        frame.sha256,
        tuple(_cards(event, recalled)),
        tuple(_zones(event)),
        tuple(_things(event)),
        row.text
        if isinstance(event, ev.IrregularitySeen | ev.CardsCompared)
        and (row := describe(step, recalled.hand))
        else "",
        _reach(event),
    )


def _reach(event: ev.Event) -> tuple[int, int, int, int] | None:
    spots: list[tuple[float, float]] = []
    if isinstance(event, ev.ReadingTaken):
        for reading in event.rows:
            spots += [*reading.outline, *(spot for card in reading.cards for spot in card.corners)]
    if not spots:
        return None
    across, down = [x for x, _y in spots], [y for _x, y in spots]
    return round(min(across)), round(min(down)), round(max(across)), round(max(down))


def _words(event: ev.Event) -> str:
    match event:
        case ev.IrregularitySeen():
            return _("An irregularity at seat %(seat)s", seat=event.seat)
        case ev.CardsCompared():
            return _("A later look: other cards than were read")
        case ev.ReadingFailed():
            return _("Nothing could be read")
        case _:
            return _("The reading of the hand")


def _cards(event: ev.Event, recalled: PastHand) -> Iterable[CardMark]:
    number = 0
    if isinstance(event, ev.ReadingTaken):
        for reading in event.rows:
            for index, card in enumerate(reading.cards):
                if len(card.corners) == 4:
                    yield _card_mark(number, reading.seat, reading.row, index, card, recalled)
                number += 1
    elif isinstance(event, ev.IrregularitySeen) and event.seen and len(event.seen.corners) == 4:
        row = event.to_row or event.row
        yield _card_mark(0, event.to_seat or event.seat, row, event.index or 0, event.seen, recalled)


def _card_mark(
    number: int, seat: int, row: ev.Row, index: int, card: ev.CardReading, recalled: PastHand
) -> CardMark:
    x, y = middle(card.corners)
    return CardMark(
        number,
        card.card or "",
        card.sure,
        round(100 * card.confidence),
        seat,
        row,
        index,
        spot(seat, row, index),
        card.candidates,
        svg_points(card.corners),
        round(x),
        round(y),
        upright(card.corners),
        round(max(y for _x, y in card.corners)),
        _final(recalled, seat, row, index, card.card or ""),
    )


def _final(recalled: PastHand, seat: int, row: ev.Row, index: int, read: str) -> str:
    """Return the card that counts at a place if the camera read another one there."""
    if recalled.last.is_void:
        return ""
    found = recalled.last.end.seat(seat)
    if found is None or found.open:
        return ""  # an open row is in the order of placing, not of the picture
    cards = found.row(row)
    code = (cards[index].card or "") if index < len(cards) else ""
    return code if code != read else ""


def _zones(event: ev.Event) -> Iterable[Area]:
    if isinstance(event, ev.ReadingTaken):
        for reading in event.rows:
            if len(reading.outline) == 4:
                name = _("%(seat)s · %(row)s", seat=reading.seat, row=row_name(reading.row))
                zone = _area(name, reading.outline)
                yield replace(zone, y=round(middle(reading.outline)[1]))


def _things(event: ev.Event) -> Iterable[Area]:
    if isinstance(event, ev.ReadingTaken):
        for thing in event.things:
            if len(thing.corners) == 4:
                yield _area(thing_name(thing.what), thing.corners)


def thing_name(what: str) -> str:
    """Name a thing that was not read as a card."""
    return {
        "back": _("face down"),
        "joker": _("joker"),
        "marker": _("marker"),
        "hand": _("a hand"),
    }.get(what, _("something strange"))


def _area(name: str, corners: Corners) -> Area:
    return Area(
        name, svg_points(corners), round(min(x for x, _y in corners)), round(min(y for _x, y in corners))
    )


# ---- what changed ----


def _changes(before: Sequence[CardMark], after: Sequence[CardMark]) -> Iterable[Change]:
    """Match two readings by the cards' names, the nearest pair first if a name occurs twice."""
    left = list(after)
    for card in before:
        same = [other for other in left if other.code == card.code]
        if not same:
            yield _describe_gone(card, left)
            continue
        now = min(same, key=lambda other: math.dist((card.x, card.y), (other.x, other.y)))
        left.remove(now)
        if (now.seat, now.row) != (card.seat, card.row):
            yield Change(
                _("%(card)s: from %(from_)s to %(to)s", card=_name(card), from_=card.where, to=now.where),
                card.points,
                now.points,
            )
        elif _far(card, now):
            yield Change(
                _("%(card)s: moved within %(where)s", card=_name(card), where=spot(card.seat, card.row)),
                card.points,
                now.points,
            )
        elif card.sure != now.sure:
            template = (
                _("%(card)s at %(where)s: now read surely")
                if now.sure
                else _("%(card)s at %(where)s: no longer read surely")
            )
            yield Change(template % {"card": _name(card), "where": card.where}, card.points, now.points)
    yield from (_new(card) for card in left if not _lay_there(card, before))


def _describe_gone(card: CardMark, after: list[CardMark]) -> Change:
    """Describe that a card is no longer seen, with the card now at its place."""
    there = next((other for other in after if not _far(card, other)), None)
    if there is None:
        return Change(
            _("%(card)s at %(where)s: no longer seen", card=_name(card), where=card.where), card.points
        )
    return Change(
        _("%(where)s: first %(card)s, then %(now)s", where=card.where, card=_name(card), now=_name(there)),
        card.points,
        there.points,
    )


def _new(card: CardMark) -> Change:
    return Change(_("%(card)s at %(where)s: newly seen", card=_name(card), where=card.where), "", card.points)


def _lay_there(card: CardMark, before: Sequence[CardMark]) -> bool:
    return any(not _far(card, other) for other in before)


def _far(card: CardMark, other: CardMark) -> bool:
    width = card.crop.width / 1.25 * 0.7 if card.crop else 40.0  # a poker card is 0.7 as wide as high
    return math.dist((card.x, card.y), (other.x, other.y)) > MOVED * width


def _name(card: CardMark) -> str:
    return card_name(card.code) if card.code else _("an unread card")
