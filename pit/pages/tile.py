"""A table's tile on the floor page: which band, since when, in which words. Pure; texts are messages.

A table of which anything is not live or whole (`pit.status.freshness`) is never shown as dealing well: what
is shown of it may be old, and nobody here knows better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from firmware.messages import Message, Term, Text
from firmware.table.phase import BETWEEN_HANDS, Phase
from pit.follow.totals import Unusual
from pit.status.freshness import Freshness, Lack, Status, status_of
from pit.status.table_facts import Need, TableFacts
from pit.status.table_health import TableHealth

UNHEARD_MS: Final = 30_000
"""How long a table may be not heard of, or its process not answer, before somebody should come: it may start again."""
QUESTION_MS: Final = 30_000
"""How long a dealer may look at a question before somebody should come."""
GOING_MS: Final = 5 * 60_000
"""After so long "I go" is over, whether the need is or not."""
CLOSED_MS: Final = 10 * 60_000
"""A table without a dealer and without a hand for so long is closed."""
DOWN_SOON_MS: Final = 3 * 60_000
OWN: Final = "pit"
"""The table's check of how far the pit has heard: the pit knows that itself."""
OUT: Final = frozenset({"camera", "puck", "view"})
"""Devices without which the table cannot read."""
ASKED: Final = {
    "irregularity": Message("something irregular"),
    "button": Message("where the puck is"),
    "count": Message("a row with too few or too many cards"),
    "duplicate": Message("a card that was read twice"),
    "card": Message("one card"),
}
PHASES: Final[Mapping[str, Message]] = {
    Phase.IDLE: Message("Waiting for a hand"),
    Phase.DEALING: Message("Dealing"),
    Phase.SETTING: Message("Setting"),
    Phase.PLACING: Message("Placing"),
    Phase.SHOWDOWN: Message("Showdown"),
    Phase.READING: Message("Reading"),
    Phase.REVIEW: Message("Comparing"),
    Phase.SETTLED: Message("Paying"),
    Phase.ARCHIVED: Message("Between hands"),
    Phase.VOID: Message("Between hands"),
}


class Band(StrEnum):
    """Where a tile stands; in the order of the page."""

    NOW = "now"
    SOON = "soon"
    DEALING = "dealing"
    CLOSED = "closed"


class Tone(StrEnum):
    """A tile's colour and shape; the words say the same."""

    ALARM = "alarm"
    CALL = "call"
    SOON = "soon"
    SILENT = "silent"
    WELL = "well"
    CLOSED = "closed"


@dataclass(frozen=True)
class TableSignal:
    """What the pit knows of a table without reading its rows; times are the pit's UTC milliseconds."""

    name: str = ""
    fresh: Freshness = field(default_factory=Freshness)
    health: TableHealth = field(default_factory=TableHealth)
    fork_seq: int | None = None
    stuck: str = ""
    key: str = ""
    """The five words of a key with which it signs and which nobody has accepted."""
    bad_seq: int | None = None
    """The first row whose signature does not hold."""


@dataclass(frozen=True)
class FloorVisit:
    """Who said "I go", to which need, and when."""

    person: str
    need: str
    at_ms: int


@dataclass(frozen=True)
class Tile:
    """What one table's tile says. `since_ms`: the pit's time from which it counts; `figure` stands in its place."""

    band: Band
    tone: Tone
    title: Text
    since_ms: int | None = None
    figure: str = ""
    notes: tuple[Text, ...] = ()
    need: str = ""
    hand: int | None = None
    """The disputed hand that it leads to."""
    going: str = ""
    silent: bool = False
    """Whether anything of it is not live or whole."""
    last_ms: int | None = None
    """When the table's last row that is here was made."""

    @property
    def order(self) -> tuple[int, int]:
        """The place on the page: by band, then the longest wait first."""
        return (list(Band).index(self.band), self.since_ms if self.since_ms is not None else 1 << 62)


def tile(
    facts: TableFacts,
    heard: TableSignal,
    now_ms: int,
    going: FloorVisit | None = None,
    unusual: tuple[Unusual, ...] = (),
) -> Tile:
    """Return a table's tile at a time."""
    status = status_of(heard.fresh, now_ms)
    found = [*_now(facts, heard, status, now_ms), *_soon(facts, heard, unusual, now_ms)]
    made = replace(found[0] if found else _quiet(facts, now_ms), last_ms=heard.fresh.last_ms)
    if len(found) > 1:
        also = (Message("also: %(what)s", what=one.title) for one in found[1:3])
        worst = Tone.ALARM if any(one.tone is Tone.ALARM for one in found) else made.tone
        made = replace(made, tone=worst, notes=(*made.notes, *also))
    if going and made.need and going.need == made.need and now_ms - going.at_ms < GOING_MS:
        made = replace(made, going=going.person)
    if not status.is_well:
        said = {"silent": Lack.HEARD, "process": Lack.PROCESS, "fork": Lack.RECORD}.get(made.need)
        lacks = tuple(status.words(lack) for lack, _ in status.lacks if lack is not said)
        tone = Tone.SILENT if made.tone is Tone.WELL else made.tone
        made = replace(made, silent=True, tone=tone, notes=(*made.notes, *lacks))
    return made


def _now(facts: TableFacts, heard: TableSignal, status: Status, now_ms: int) -> Iterator[Tile]:
    """Yield what needs somebody now, the most urgent first. A call is new; a dispute may be open for hours."""
    offset = facts.offset_ms
    if heard.fork_seq is not None:
        yield Tile(
            Band.NOW,
            Tone.ALARM,
            Message("Record differs from what was sent before"),
            heard.fresh.fork_ms,
            notes=(Message("row %(row)s · tell surveillance", row=f"{heard.fork_seq:,}"),),
            need="fork",
        )
    if heard.bad_seq is not None:
        note = Message("row %(row)s · tell surveillance", row=f"{heard.bad_seq:,}")
        title: Text = Message("A signature in its record does not hold")
        yield Tile(Band.NOW, Tone.ALARM, title, notes=(note,), need="signature")
    if heard.key:
        note = Message("compare with the words on its slip: %(words)s", words=heard.key)
        title = Message("It signs with a key that nobody has accepted")
        yield Tile(Band.NOW, Tone.ALARM, title, notes=(note,), need=f"key:{heard.key}")
    gone_ms = heard.fresh.answered_ms
    if status.has(Lack.PROCESS) and gone_ms is not None and now_ms - gone_ms > UNHEARD_MS:
        title = Message("The table process does not answer")
        notes = (
            Message("nothing is recorded there; last hand %(hand)s", hand=f"{facts.hand:,}"),
            *_dealer(facts),
        )
        yield Tile(Band.NOW, Tone.ALARM, title, gone_ms, notes=notes, need="process")
    for need in facts.needs:
        if need.kind == "call":
            yield Tile(
                Band.NOW,
                Tone.CALL,
                Message("The dealer calls the floor"),
                need.since_ms + offset,
                notes=tuple(_where(facts)),
                need=need.key,
            )
    disputes = sorted((n for n in facts.needs if n.kind == "dispute"), key=lambda need: need.since_ms)
    for need in disputes:
        yield Tile(
            Band.NOW,
            Tone.ALARM,
            Message("Dispute: hand %(hand)s", hand=f"{need.hand:,}"),
            need.since_ms + offset,
            notes=tuple(_dispute_notes(need, facts)),
            need=need.key,
            hand=need.hand,
        )
    for need in facts.needs:
        if need.kind == "record":
            title = Message("The record is in doubt")
            yield Tile(Band.NOW, Tone.ALARM, title, need.since_ms + offset, notes=(need.text,), need=need.key)
        elif need.kind == "fault" and need.detail in OUT:
            title = (
                Message("The camera is out") if need.detail != "puck" else Message("The puck reader is out")
            )
            notes = (need.text, *_dealer(facts))
            yield Tile(Band.NOW, Tone.ALARM, title, need.since_ms + offset, notes=notes, need=need.key)
        elif need.kind == "natural":
            title = Message("Natural: seat %(seat)s waits for green", seat=need.seat or "?")
            yield Tile(
                Band.NOW, Tone.CALL, title, need.since_ms + offset, notes=tuple(_where(facts)), need=need.key
            )
        elif need.kind == "question" and now_ms - need.since_ms - offset > QUESTION_MS:
            yield Tile(
                Band.NOW,
                Tone.CALL,
                _asks(need),
                need.since_ms + offset,
                notes=tuple(_where(facts)),
                need=need.key,
            )
    yield from _checks(facts, heard, "bad", Band.NOW, Tone.ALARM)


def _asks(need: Need) -> Message:
    what = ASKED.get(need.detail, Message("a question"))
    if need.seat is None:
        return Message("Asks: %(what)s", what=what)
    if need.row:
        return Message("Asks: %(what)s, seat %(seat)s %(row)s", what=what, seat=need.seat, row=need.row)
    return Message("Asks: %(what)s, seat %(seat)s", what=what, seat=need.seat)


def _dispute_notes(need: Need, facts: TableFacts) -> Iterator[Text]:
    if need.text:
        yield need.text
    yield from _dealer(facts)
    _, _, name = need.by.partition(":")
    if name:
        yield Message("marked by %(name)s", name=name)


def _soon(facts: TableFacts, heard: TableSignal, unusual: tuple[Unusual, ...], now_ms: int) -> Iterator[Tile]:
    """Yield what somebody should see to soon."""
    heard_ms = heard.fresh.heard_ms
    if heard_ms is None:
        yield Tile(Band.SOON, Tone.SILENT, Message("Never heard of"), need="silent")
    elif now_ms - heard_ms > UNHEARD_MS:
        last = Message("it deals on by itself; last hand %(hand)s", hand=f"{facts.hand:,}")
        yield Tile(Band.SOON, Tone.SILENT, Message("Not heard of"), heard_ms, notes=(last,), need="silent")
    if heard.stuck:
        yield Tile(
            Band.SOON, Tone.SOON, Message("The pit cannot read its rows"), notes=(heard.stuck,), need="stuck"
        )
    if facts.down_ms is not None and facts.down_minutes:
        began = facts.down_ms + facts.offset_ms
        if now_ms - began > facts.down_minutes * 60_000 - DOWN_SOON_MS:
            yield Tile(
                Band.SOON,
                Tone.SOON,
                Message("Dealer's down ends"),
                began,
                notes=tuple(_dealer(facts)),
                need="down",
            )
    for need in facts.needs:
        if need.kind == "fault" and need.detail not in OUT:
            title = Message("Device: %(device)s", device=Term(need.detail, context="device"))
            since = need.since_ms + facts.offset_ms
            yield Tile(Band.SOON, Tone.SOON, title, since, notes=(need.text,), need=need.key)
    yield from _checks(facts, heard, "look", Band.SOON, Tone.SOON)
    for figure in unusual:
        note = Message("usual here: %(usual)s", usual=figure.usual)
        yield Tile(
            Band.SOON,
            Tone.SOON,
            UNUSUAL[figure.what],
            figure=figure.today,
            notes=(note,),
            need=f"unusual:{figure.what}",
        )


def _checks(facts: TableFacts, heard: TableSignal, verdict: str, band: Band, tone: Tone) -> Iterator[Tile]:
    """Yield what the table's own health checks say. Of a device's fault the record says since when."""
    faulty = {need.detail for need in facts.needs if need.kind == "fault"}
    for one in heard.health.checks or ():
        if one.verdict == verdict and one.name not in faulty | {OWN}:
            yield Tile(band, tone, one.title, figure=one.figure, notes=(one.says,), need=f"check:{one.name}")


UNUSUAL: Final[Mapping[str, Message]] = {
    "unsure": Message("Asks more than usual"),
    "errors": Message("Corrected more than usual"),
    "reading": Message("Reads more slowly than usual"),
}


def is_closed(facts: TableFacts, now_ms: int) -> bool:
    """Return whether nobody deals at a table."""
    between = facts.phase in BETWEEN_HANDS and not facts.reopened
    since = facts.since_ms + facts.offset_ms
    return between and not facts.dealer and (not facts.since_ms or now_ms - since > CLOSED_MS)


def _quiet(facts: TableFacts, now_ms: int) -> Tile:
    """Return the tile of a table that needs nobody."""
    since = facts.since_ms + facts.offset_ms if facts.since_ms else None
    if is_closed(facts, now_ms):
        return Tile(Band.CLOSED, Tone.CLOSED, Message("Closed"))
    title = PHASES.get(facts.phase, Message("Dealing"))
    if facts.reopened:
        title = Message("Hand %(hand)s is reopened", hand=f"{facts.reopened:,}")
    places = max(facts.taken, facts.seats)  # a pit that was just updated has facts without the second
    seats = Message("%(taken)s of %(places)s seats", taken=facts.taken, places=places)
    return Tile(Band.DEALING, Tone.WELL, title, since, notes=(*_dealer(facts), seats))


def _where(facts: TableFacts) -> Iterator[Text]:
    yield Message("hand %(hand)s", hand=f"{facts.hand:,}")
    yield from _dealer(facts)


def _dealer(facts: TableFacts) -> Iterator[Text]:
    if facts.dealer:
        yield Message("%(name)s deals", name=facts.dealer)
