"""Loads a past hand from the record: how it was played and later corrected, row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from firmware.record.journal.journal import Entry, JournalReader
from firmware.record.journal.row_index import ABOUT_TYPES, ENDS
from firmware.table.errors import CommandRefused, UnknownEvent
from firmware.table.event import apply
from firmware.table.events import (
    CardsCompared,
    HandArchived,
    HandOpened,
    HandReopened,
    HandSettled,
    IrregularitySeen,
    ReadingFailed,
    ReadingTaken,
)
from firmware.table.phase import Phase
from firmware.table.readings import Capture
from firmware.table.state import State


class HandStillOpen(CommandRefused):
    """The hand is still on the table."""


@dataclass(frozen=True)
class Step:
    """One row of the record, and the state before and after it."""

    entry: Entry
    before: State
    after: State


@dataclass(frozen=True)
class StepSequence:
    """The steps from a hand's opening or reopening to its end; `is_over` is False while it is in progress."""

    steps: tuple[Step, ...]
    is_over: bool

    @property
    def first(self) -> Step:
        """The step of the opening or reopening."""
        return self.steps[0]

    @property
    def end(self) -> State:
        """The hand's state when it was closed; the current state while it is in progress."""
        return self.steps[-1].before if self.is_over else self.steps[-1].after

    @property
    def settled(self) -> tuple[Step, ...]:
        """The steps that settled the hand: several if it was corrected before it was closed."""
        return tuple(step for step in self.steps if step.entry.type == HandSettled.type)

    @property
    def is_void(self) -> bool:
        """Whether it ended without a settlement."""
        return self.is_over and self.steps[-1].entry.type != HandArchived.type


@dataclass(frozen=True)
class PastHand:
    """A hand that was played. `corrections` are its reopenings, the oldest first.

    `marks` are the rows that mark it as disputed or reviewed, or record that its images were dropped.
    """

    hand: int
    opened: HandOpened
    play: StepSequence
    corrections: tuple[StepSequence, ...] = ()
    marks: tuple[Entry, ...] = ()

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All its steps, in order."""
        return tuple(step for chapter in (self.play, *self.corrections) for step in chapter.steps)

    @property
    def last(self) -> StepSequence:
        """The sequence whose result is valid now."""
        return next((c for c in reversed(self.corrections) if c.is_over), self.play)

    @property
    def settlement(self) -> Mapping[str, Any] | None:
        """The hand's current settlement; None if it was void."""
        return None if self.last.is_void else self.last.end.settlement

    @property
    def looks(self) -> tuple[Step, ...]:
        """The steps whose event has a full frame."""
        return tuple(step for step in self.steps if frame_of(step.entry) is not None)


_WITH_FRAME: Final = (ReadingTaken, ReadingFailed, IrregularitySeen, CardsCompared)


def frame_of(entry: Entry) -> Capture | None:
    """Return the full frame in a row's event; None without one."""
    event = entry.event
    return event.frame if isinstance(event, _WITH_FRAME) else None


def load_hand(reader: JournalReader, hand: int) -> PastHand:
    """Return a hand with all later corrections and marks.

    Raises CommandRefused for a hand that is not in the record, HandStillOpen for one on the table, JournalError.
    """
    rows = reader.of_hand(hand)
    if not rows:
        raise CommandRefused("Hand %(hand)s is not in the record.", hand=hand)
    play = chapter(rows, State())
    if not play.is_over and reader.of_hand(hand + 1) == []:
        raise HandStillOpen(
            "Hand %(hand)s is still on the table; it can be recalled once it is over.", hand=hand
        )
    opened = play.first.entry.event
    assert isinstance(opened, HandOpened)
    about = reader.about(hand)
    again = [
        chapter(reader.events_since(row.seq - 1), State(phase=Phase.ARCHIVED, hand=hand))
        for row in about
        if row.type == HandReopened.type
    ]
    marks = tuple(row for row in about if row.type != HandReopened.type)
    return PastHand(hand, opened, play, tuple(again), marks)


def chapter(rows: Sequence[Entry], state: State) -> StepSequence:
    """Return the steps from the first row to the one that ends the hand. Raises CommandRefused for an invalid row.

    If another hand was corrected at the same time, its rows are not steps of this one.
    """
    steps: list[Step] = []
    is_other = False
    for row in rows:
        try:
            after = apply(state, row.event)
        except UnknownEvent as error:
            raise CommandRefused(
                "Row %(row)s of the record cannot be read: %(why)s", row=row.seq, why=error
            ) from error
        except CommandRefused:
            if row.type in ABOUT_TYPES - {HandReopened.type}:
                continue  # about another hand, whose dispute began before these rows
            raise
        is_other = is_other or (after.waiting is not None and bool(steps))
        if is_other:
            is_other, state = after.waiting is not None, after
            continue
        steps.append(Step(row, state, after))
        if row.type in ENDS:
            return StepSequence(tuple(steps), is_over=True)
        state = after
    return StepSequence(tuple(steps), is_over=False)
