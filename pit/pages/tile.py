"""A table's tile on the floor page: which band, since when, in which words. Pure; texts are messages.

A table of which anything is not live or whole (`pit.status.freshness`) is never shown as dealing well: what
is shown of it may be old, and nobody here knows better.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Final

from firmware.messages import Message, Term, Text
from firmware.table.phase import BETWEEN_HANDS, Phase
from pit.follow.totals import UnusualFigure
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
    unusual: tuple[UnusualFigure, ...] = (),
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
        title_lack = {"silent": Lack.HEARD, "process": Lack.PROCESS, "fork": Lack.RECORD}.get(made.need)
        lacks = tuple(status.words(lack) for lack, _ in status.lacks if lack is not title_lack)
        tone = Tone.SILENT if made.tone is Tone.WELL else made.tone
        made = replace(made, silent=True, tone=tone, notes=(*made.notes, *lacks))
    return made


def _now(facts: TableFacts, heard: TableSignal, status: Status, now_ms: int) -> Iterator[Tile]:
    """Yield what needs somebody now, the most urgent first. A call is new; a dispute may be open for hours."""
    alarm, call = partial(Tile, Band.NOW, Tone.ALARM), partial(Tile, Band.NOW, Tone.CALL)
    if (row := heard.fork_seq) is not None:
        title = Message("Record differs from what was sent before")
        yield alarm(title, heard.fresh.fork_ms, notes=(_tell(row),), need="fork")
    if (row := heard.bad_seq) is not None:
        title = Message("A signature in its record does not hold")
        yield alarm(title, notes=(_tell(row),), need="signature")
    if heard.key:
        note = Message("compare with the words on its slip: %(words)s", words=heard.key)
        title = Message("It signs with a key that nobody has accepted")
        yield alarm(title, notes=(note,), need=f"key:{heard.key}")
    gone_ms = heard.fresh.answered_ms
    if status.has(Lack.PROCESS) and gone_ms is not None and now_ms - gone_ms > UNHEARD_MS:
        note = Message("nothing is recorded there; last hand %(hand)s", hand=f"{facts.hand:,}")
        title = Message("The table process does not answer")
        yield alarm(title, gone_ms, notes=(note, *_dealer(facts)), need="process")
    calls = [need for need in facts.needs if need.kind == "call"]
    disputes = sorted((n for n in facts.needs if n.kind == "dispute"), key=lambda need: need.since_ms)
    others = [need for need in facts.needs if need.kind not in ("call", "dispute")]
    where = tuple(_where(facts))
    for need in (*calls, *disputes, *others):
        since = need.since_ms + facts.offset_ms
        if need.kind == "call":
            yield call(Message("The dealer calls the floor"), since, notes=where, need=need.key)
        elif need.kind == "dispute":
            title, notes = (
                Message("Dispute: hand %(hand)s", hand=f"{need.hand:,}"),
                _dispute_notes(need, facts),
            )
            yield alarm(title, since, notes=tuple(notes), need=need.key, hand=need.hand)
        elif need.kind == "record":
            yield alarm(Message("The record is in doubt"), since, notes=(need.text,), need=need.key)
        elif need.kind == "fault" and need.detail in OUT:
            is_puck = need.detail == "puck"
            title = Message("The puck reader is out") if is_puck else Message("The camera is out")
            yield alarm(title, since, notes=(need.text, *_dealer(facts)), need=need.key)
        elif need.kind == "natural":
            title = Message("Natural: seat %(seat)s waits for green", seat=need.seat or "?")
            yield call(title, since, notes=where, need=need.key)
        elif need.kind == "question" and now_ms - since > QUESTION_MS:
            yield call(_asks(need), since, notes=where, need=need.key)
    yield from _checks(facts, heard, "bad", Band.NOW, Tone.ALARM)


def _tell(row: int) -> Message:
    return Message("row %(row)s · tell surveillance", row=f"{row:,}")


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


def _soon(
    facts: TableFacts, heard: TableSignal, unusual: tuple[UnusualFigure, ...], now_ms: int
) -> Iterator[Tile]:
    """Yield what somebody should see to soon."""
    soon, silent = partial(Tile, Band.SOON, Tone.SOON), partial(Tile, Band.SOON, Tone.SILENT)
    heard_ms = heard.fresh.heard_ms
    if heard_ms is None:
        yield silent(Message("Never heard of"), need="silent")
    elif now_ms - heard_ms > UNHEARD_MS:
        last = Message("it deals on by itself; last hand %(hand)s", hand=f"{facts.hand:,}")
        yield silent(Message("Not heard of"), heard_ms, notes=(last,), need="silent")
    if heard.stuck:
        yield soon(Message("The pit cannot read its rows"), notes=(heard.stuck,), need="stuck")
    if facts.down_ms is not None and facts.down_minutes:
        began = facts.down_ms + facts.offset_ms
        if now_ms - began > facts.down_minutes * 60_000 - DOWN_SOON_MS:
            yield soon(Message("Dealer's down ends"), began, notes=tuple(_dealer(facts)), need="down")
    for need in facts.needs:
        if need.kind == "fault" and need.detail not in OUT:
            title = Message("Device: %(device)s", device=Term(need.detail, context="device"))
            yield soon(title, need.since_ms + facts.offset_ms, notes=(need.text,), need=need.key)
    yield from _checks(facts, heard, "look", Band.SOON, Tone.SOON)
    for figure in unusual:
        note = Message("usual here: %(usual)s", usual=figure.usual)
        need_key = f"unusual:{figure.what}"
        yield soon(UNUSUAL[figure.what], figure=figure.today, notes=(note,), need=need_key)


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
