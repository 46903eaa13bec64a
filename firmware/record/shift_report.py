"""The shift report: totals over a stretch of the record, per dealer and down. Pure; one pass in linear time.

Every row counts for the down in which it was written: a hand for the down in which it was closed, a correction for the
down in which it was made. So the downs always add up to the total.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from firmware.record.archive_lines import cards_in
from firmware.record.journal.journal import Entry
from firmware.record.shift_counts import Counts, Down, Report
from firmware.rules import Profile
from firmware.rules.collection import fee_due, rates
from firmware.table import events as ev

RulesOf = Callable[[ev.HandOpened], Profile | None]
"""Returns the rules of a hand from its opening; None if their text is missing."""

HOUR_MS: Final = 3_600_000
Spot = tuple[int, ev.Row, int]
_TOLD: Final = frozenset(
    event.type
    for event in (
        *(ev.LoggedOn, ev.LoggedOff, ev.DeviceFault),
        *(ev.HandOpened, ev.HandReopened, ev.HandArchived, ev.HandVoided, ev.HandMisdealt),
        *(ev.HandWithdrawn, ev.HandSettled),
        *(ev.ReadingTaken, ev.CardPlaced, ev.CardCorrected, ev.RowKeyed),
    )
)
"""Types of the rows that are counted; the payloads of other rows are not read."""
LONG: Final = frozenset({ev.ReadingTaken.type, ev.CardPlaced.type, ev.HandSettled.type})
"""Types of the rows that are not parsed when they are counted: what they hold is needed later, and seldom."""


def report(
    entries: Iterable[Entry], rules_of: RulesOf, *, since_ms: int = 0, until_ms: int | None = None
) -> Report:
    """Return the report of the rows from `since_ms` to before `until_ms`; `entries` are rows of the record in order.

    Earlier rows are not counted; they show who deals and since when. Raises UnknownEvent.
    """
    fold = RunningReport(rules_of)
    for entry in entries:
        if until_ms is not None and entry.wall_ms >= until_ms:
            fold.quiet = True
            break
        fold.quiet = entry.wall_ms < since_ms
        fold.take(entry)
    return fold.report()


@dataclass
class OpenDown:
    """A down in progress. `joined` maps each player to the minute of the down in which they came."""

    dealer: str
    number: int
    began: Entry
    last_ms: int
    counts: Counter[str] = field(default_factory=Counter)
    joined: dict[str, int] = field(default_factory=dict)
    opened: ev.HandOpened | None = None
    counted: bool = False


class _SureCards:
    """The cards of a hand that the camera was sure of. Its readings are parsed when a person corrects a card."""

    def __init__(self, cards: dict[Spot, str] | None = None) -> None:
        self._cards = cards or {}
        self._unparsed: list[Entry] = []

    def read(self, entry: Entry) -> None:
        """Add a reading, or a card that was placed."""
        self._unparsed.append(entry)

    @property
    def cards(self) -> dict[Spot, str]:
        """The cards by their spots. Raises UnknownEvent."""
        while self._unparsed:
            for spot, card in _cards_read(self._unparsed.pop(0)):
                if card.sure and card.card:
                    self._cards[spot] = card.card
                else:
                    self._cards.pop(spot, None)
        return self._cards


def _cards_read(entry: Entry) -> Iterator[tuple[Spot, ev.CardReading]]:
    match entry.event:
        case ev.CardPlaced() as placed:
            yield (placed.seat, placed.row, -entry.seq), placed.card
        case ev.ReadingTaken() as taken:
            for reading in taken.rows:
                for index, card in enumerate(reading.cards):
                    yield (reading.seat, reading.row, index), card


class RunningReport:
    """Adds up rows, one after another; `quiet` rows are followed but not counted."""

    def __init__(self, rules_of: RulesOf) -> None:
        self.quiet = False
        self._rules_of = rules_of
        self.open_downs: list[OpenDown] = []
        self._faults: Counter[str] = Counter()
        self._hours: Counter[int] = Counter()
        self._span: list[int] = []
        self._sure = _SureCards()
        self._settled: Entry | None = None
        self._before: tuple[_SureCards, Entry | None] = _SureCards(), None
        self._suspended: tuple[_SureCards, Entry | None] | None = None

    def take(self, entry: Entry) -> None:
        """Add the next row."""
        if entry.type not in _TOLD:
            self._mark(entry, self._down(entry))
            return
        if entry.type in LONG:
            self._long(entry)
            return
        event = entry.event
        match event:
            case ev.LoggedOn():
                self._begin(entry, event.person, event.down)
            case ev.LoggedOff():
                self._begin(entry, "", 0)
            case ev.HandOpened():
                self._opened(entry, event)
        down = self._down(entry)
        self._mark(entry, down)
        self._count(entry, event, down)

    def resume(self, rows: Iterable[Entry], began: Entry, down: Down, joined: Mapping[str, int]) -> None:
        """Go on with a down that was stored: its first row, its totals, and the minute at which each player joined.

        `rows` are those since the last hand was opened; they are in the totals already.
        """
        self.quiet = True
        for row in rows:
            self.take(row)
        self.quiet = False
        opened = self.open_downs[-1].opened if self.open_downs else None
        counts = Counter(vars(down.counts))
        del counts["collection"]
        self.open_downs = [
            OpenDown(
                down.dealer, down.number, began, down.ended_ms, counts, dict(joined), opened, counted=True
            )
        ]

    @property
    def began(self) -> Entry | None:
        """The first row of the down in progress."""
        return self.open_downs[-1].began if self.open_downs else None

    @property
    def joined(self) -> Mapping[str, int]:
        """The minute of the down in progress at which each player joined."""
        return self.open_downs[-1].joined if self.open_downs else {}

    def downs(self) -> list[tuple[int, Down]]:
        """Return the down in progress and those that ended since `forget`, each with the number of its first row."""
        return [(down.began.seq, self.down(down)) for down in self.open_downs]

    def forget(self) -> None:
        """Forget the downs that are over."""
        del self.open_downs[:-1]

    def _mark(self, entry: Entry, down: OpenDown) -> None:
        if not self.quiet:
            self._span = [self._span[0] if self._span else entry.wall_ms, entry.wall_ms]
            down.counted = True
        down.last_ms = entry.wall_ms

    def _long(self, entry: Entry) -> None:
        """Add a row that takes long to parse, without that."""
        down = self._down(entry)
        self._mark(entry, down)
        if entry.type == ev.HandSettled.type:
            self._settled = entry
            return
        cards, unsure = cards_in(entry.payload)
        self._add(down, cards=cards, unsure=unsure)
        self._sure.read(entry)

    def _count(self, entry: Entry, event: ev.Event, down: OpenDown) -> None:
        match event:
            case ev.CardCorrected():
                self._add(down, corrected=1, errors=self._was_read(event))
            case ev.RowKeyed():
                self._row_keyed(down, event)
            case ev.HandWithdrawn():
                self._sure, self._settled = self._before
            case ev.HandReopened() if event.resumed:
                self._closed(entry, down, -1)  # it will be closed and counted again
            case ev.HandReopened():
                self._suspended = self._sure, self._settled
                self._sure = _SureCards(
                    {
                        (seat.seat, row, index): card
                        for seat in event.seats
                        for row, cards in seat.rows.items()
                        for index, card in enumerate(cards)
                    }
                )
                self._add(down, reopened=1)
            case ev.HandArchived() | ev.HandVoided() | ev.HandMisdealt() if self._suspended is not None:
                self._sure, self._settled = self._suspended
                self._suspended = None
            case ev.HandArchived():
                self._closed(entry, down)
            case ev.HandVoided():
                self._add(down, voids=1)
            case ev.HandMisdealt():
                self._add(down, misdeals=1)
            case ev.DeviceFault():
                self._add(down, faults=1)
                if not self.quiet:
                    self._faults[event.device] += 1

    def _add(self, down: OpenDown, **counts: int) -> None:
        if not self.quiet:
            down.counts.update(counts)

    # ---- downs ----

    def _begin(self, entry: Entry, dealer: str, number: int) -> None:
        players = self.open_downs[-1].opened if self.open_downs else None
        down = OpenDown(dealer, number, entry, entry.wall_ms)
        down.joined = dict.fromkeys(_players(players), 0) if players else {}
        self.open_downs.append(down)

    def _down(self, entry: Entry) -> OpenDown:
        if not self.open_downs:
            self._begin(entry, "", 0)
        return self.open_downs[-1]

    def _opened(self, entry: Entry, event: ev.HandOpened) -> None:
        """Begin a down if the opening names another dealer: a record may start in the middle of a down."""
        if not self.open_downs or (self.open_downs[-1].dealer, self.open_downs[-1].number) != (
            event.dealer,
            event.down,
        ):
            self._begin(entry, event.dealer, event.down)
        down = self.open_downs[-1]
        down.opened = event
        for player in _players(event):
            down.joined.setdefault(player, _minutes(down.began, entry))
        self._before = self._sure, self._settled
        self._sure, self._settled, self._suspended = _SureCards(), None, None

    def _collection(self, down: OpenDown) -> int:
        """Return what the players owe for a down, in cents; the page shows the same sum next to the dealer's clock."""
        if not (down.dealer and down.opened and down.counts["hands"]):
            return 0
        rules = self._rules_of(down.opened)
        found = rates(down.opened.unit, rules) if rules else ()
        if not found or rules is None:
            return 0
        return sum(fee_due(found[0], 60 * joined, rules) for joined in down.joined.values())

    # ---- cards ----

    def _was_read(self, event: ev.CardCorrected) -> int:
        """Return 1 if the camera had been sure of the corrected card, otherwise 0; each card counts once."""
        sure = self._sure.cards
        for spot, card in sure.items():
            if card == event.was and spot[:2] == (event.seat, event.row):
                del sure[spot]
                return 1
        return 0

    def _row_keyed(self, down: OpenDown, event: ev.RowKeyed) -> None:
        """Count as errors those sure cards of the row that were not keyed. A row never read is not corrected."""
        sure = self._sure.cards
        spots = [spot for spot in sure if spot[:2] == (event.seat, event.row)]
        wrong = [spot for spot in spots if sure[spot] not in event.cards]
        for spot in wrong:
            del sure[spot]
        self._add(down, corrected=1 if spots else 0, errors=len(wrong))

    # ---- hands ----

    def _closed(self, entry: Entry, down: OpenDown, times: int = 1) -> None:
        settlement = json.loads(self._settled.payload)["settlement"] if self._settled else {}
        hands = settlement.get("hands", ())
        fouls = sum(bool(hand.get("foul")) for hand in hands)
        naturals = sum(hand.get("natural") is not None for hand in hands)
        self._add(down, hands=times, fouls=times * fouls, naturals=times * naturals)
        if not self.quiet:
            self._hours[entry.wall_ms // HOUR_MS * HOUR_MS] += times

    def down(self, down: OpenDown) -> Down:
        """Return a down as it is now."""
        counts = Counts(**{**down.counts, "collection": self._collection(down)})
        return Down(down.dealer, down.number, down.began.wall_ms, down.last_ms, counts)

    def report(self) -> Report:
        """Return the report of the rows so far."""
        downs = tuple(
            self.down(down) for down in self.open_downs if down.counted and (down.counts or down.dealer)
        )
        began, ended = self._span or (None, None)
        return Report(
            began, ended, downs, tuple(sorted(self._faults.items())), tuple(sorted(self._hours.items()))
        )


def _players(event: ev.HandOpened) -> Iterator[str]:
    """Yield the players at the table who do not sit out."""
    names = dict.fromkeys((*event.stacks, *(seat.player for seat in event.seats)))
    return (name for name in names if name not in event.sits_out)


def _minutes(began: Entry, row: Entry) -> int:
    if began.boot == row.boot:
        return max(0, (row.monotonic_ns - began.monotonic_ns) // 60_000_000_000)
    return max(0, (row.wall_ms - began.wall_ms) // 60_000)
