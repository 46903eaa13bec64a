"""Reads a settled table again: when it settles after questions, at each payment, and after the last one.

Only a change is recorded, with its pictures; and after the last payment what was compared, or why nothing was. It never
holds a press up: if the next hand is opened first, that is the reason.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from firmware.messages import Message, Text
from firmware.runtime.reading.messages import KnownCard, NothingNew, ReadingDone, ReadingLost, Watch
from firmware.runtime.reading.translate import reading_taken
from firmware.table import CommandRefused, Phase, State, fold
from firmware.table import events as ev
from firmware.table.card_comparison import can_compare, compare_cards

MAX_READINGS: Final = 3
"""Readings of the table after the last payment, after which its cards are "not compared"."""
OVERTAKEN: Final = Message("The hand was closed before the camera had looked again.")
UNPAID: Final = Message("The hand was closed before its payments were marked.")

Moment = tuple[int, int, frozenset[tuple[int, int]]]
"""A hand, its settlement, and the payments that are marked."""


class CardComparisons:
    """Compares the cards of one settled table with the record. On the table's own thread."""

    def __init__(self, ask: Callable[[list[str], Watch], int], write: Callable[[ev.Event], bool]) -> None:
        """`ask` requests a reading of these places and returns its number; `write` records an event."""
        self._ask = ask
        self._write = write
        self._number: int | None = None
        self._asked: Moment | None = None
        self._readings = 0

    def begin(self, state: State) -> None:
        """The table has just been read: if that settled it, nothing can have changed since."""
        if state.phase is Phase.SETTLED and not state.is_paid:
            self._asked = _moment(state)

    def request(self, state: State) -> None:
        """Request a reading of a settled table once for each of its moments."""
        if state.phase is not Phase.SETTLED or self._number is not None or "camera" in state.faults:
            return
        if not can_compare(state):
            return
        moment = _moment(state)
        if moment != self._asked:
            self._asked, self._readings = moment, 0
        elif not state.is_paid or state.compared or self._readings == 0:
            return
        places = [seat.place for seat in state.seats if not seat.surrenders]
        self._number = self._ask(places, Watch(_cards_without_news(state), fresh=True, changes=True))
        self._readings += 1

    def answered(self, answer: ReadingDone | ReadingLost | NothingNew, state: State) -> bool:
        """Record what a requested reading shows; return False for an answer to something else."""
        if answer.number != self._number:
            return False
        self._number = None
        if state.phase is not Phase.SETTLED or state.reopened or _hand(self._asked) != state.hand:
            return True  # it came too late; the record says so
        last = state.is_paid and not state.compared and self._asked == _moment(state)
        again = last and self._readings < MAX_READINGS
        if not isinstance(answer, ReadingDone):
            if last and not again:
                why: Text = answer.why if isinstance(answer, NothingNew) else answer.reason
                self._write(ev.CardsCompared(True, reason=Message("%(why)s.", why=why)))
            return True
        taken = reading_taken(answer, state)
        seen = compare_cards(state, taken.rows, last=last)
        if any(row.why == "unsure" for row in seen.not_compared) and again and not seen.changed:
            return True
        known = {row.finding for row in state.changed}
        if last or any(row.finding not in known for row in seen.changed):
            found = ev.CardsCompared(**vars(replace(seen, frame=taken.frame if seen.changed else None)))
            try:
                fold([found], state)
            except CommandRefused:
                return True
            self._write(found)
        return True

    def before(self, events: Sequence[ev.Event], state: State) -> tuple[ev.Event, ...]:
        """Return the events with the reason why there was no last comparison, if they close the hand without it."""
        closes = any(isinstance(event, ev.HandArchived) for event in events)
        if not closes or state.phase is not Phase.SETTLED or state.compared or not can_compare(state):
            return tuple(events)
        return ev.CardsCompared(True, reason=OVERTAKEN if state.is_paid else UNPAID), *events


def read_again(state: State, taken: ev.ReadingTaken) -> tuple[ev.Event, ...]:
    """Return the event for a second reading of closed seats that shows other cards than the one before."""
    closed = replace(state, seats=tuple(seat for seat in state.seats if not seat.open and not seat.confirmed))
    changed = compare_cards(closed, taken.rows).changed
    return (ev.CardsCompared(False, changed=changed, frame=taken.frame),) if changed else ()


def _moment(state: State) -> Moment:
    return state.hand, state.settlements, state.paid


def _hand(moment: Moment | None) -> int:
    return moment[0] if moment else 0


def _cards_without_news(state: State) -> dict[tuple[str, str], tuple[KnownCard, ...]]:
    """Return the cards that make no news in a zone: those on record, and those that were seen there in their place."""
    found = {(row.seat, row.row): row.now for row in state.changed}
    return {
        (seat.place, row): tuple(
            KnownCard(name, True)
            for name in (
                *(name for card in cards for name in (card.card, card.seen) if name),
                *found.get((seat.seat, row), ()),
            )
        )
        for seat in state.seats
        for row, cards in seat.rows.items()
    }
