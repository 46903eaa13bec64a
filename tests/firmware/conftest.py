"""Hands to test with: every state is reached by real events, never put together by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import pytest
from pydantic import JsonValue

from firmware.record.journal.clocks import Timestamp
from firmware.table import Phase, State, fold
from firmware.table import events as ev
from tests.firmware.running_table import cards, config, over_socket, start, table

__all__ = ["cards", "config", "over_socket", "start", "table"]

# Seat 1: pair, two pairs, flush. Seat 2: high card, pair, straight. Neither fouls; no natural.
ROWS: dict[int, dict[ev.Row, str]] = {
    1: {"front": "Qs Qd 4c", "middle": "9c 9d 5h 5c 2s", "back": "Ah Kh 8h 6h 3h"},
    2: {"front": "Kc Jd 7s", "middle": "8c 8d Tc 6s 2d", "back": "9s Ts Js Qh Kd"},
}
PIXELS = b"pixels"
FRAME = ev.Capture("000001/showdown.jpg", hashlib.sha256(PIXELS).hexdigest(), len(PIXELS))


def spot(seat: int, row: ev.Row, index: int) -> tuple[tuple[float, float], ...]:
    """Where a card lies in the picture: cards are 60 × 90 pixels, 70 apart."""
    x, y = 70.0 * index + 500 * seat, 100.0 * list(ev.ROWS).index(row)
    return ((x, y), (x + 60, y), (x + 60, y + 90), (x, y + 90))


def row_reading(seat: int, row: ev.Row, cards: str, unsure: tuple[int, ...] = ()) -> ev.RowReading:
    return ev.RowReading(
        seat,
        row,
        "ABCD"[seat - 1],
        tuple(
            ev.CardReading(
                card,
                0.4 if index in unsure else 0.99,
                index not in unsure,
                (card, "2c") if index in unsure else (),
                spot(seat, row, index),
            )
            for index, card in enumerate(cards.split())
        ),
    )


@dataclass(frozen=True)
class Deal:
    """Builds events of one hand of two seats; the `open` ones are placed face up."""

    rows: dict[int, dict[ev.Row, str]]
    open: frozenset[int] = frozenset()
    frame = (FRAME.name, PIXELS)

    def opened(self, hand: int = 1, button: int | None = 1) -> ev.HandOpened:
        seats = tuple(
            ev.SeatOpened(
                seat,
                f"p{seat}",
                "ABCD"[seat - 1],
                10_000,
                open=seat in self.open,
                fantasyland=bool(self.open) and seat not in self.open,
            )
            for seat in self.rows
        )
        puck = ev.Puck("seat", button) if button else ev.Puck()
        profile = "california-face-up" if self.open else "washington-1-unit"
        return ev.HandOpened(hand, profile, "", 100, seats, button, puck=puck, layout_hash="", model_hash="")

    def reading(self, unsure: tuple[tuple[int, ev.Row, int], ...] = ()) -> ev.ReadingTaken:
        rows = tuple(
            row_reading(seat, row, cards, tuple(i for s, r, i in unsure if (s, r) == (seat, row)))
            for seat, of_seat in self.rows.items()
            for row, cards in of_seat.items()
        )
        return ev.ReadingTaken(rows, FRAME)

    def looks(self, upto: int = 13) -> tuple[ev.RowReading, ...]:
        """What a look shows of the open seats once each has placed so many cards: back first, front last."""
        rows = []
        for seat in sorted(self.open):
            left = upto
            for row in ("back", "middle", "front"):
                cards = self.rows[seat][row].split()[:left]
                left -= len(cards)
                rows.append(row_reading(seat, row, " ".join(cards)))
        return tuple(rows)

    def placed(self, upto: int = 13) -> list[ev.Event]:
        """The cards that the open seats have placed by then."""
        return [ev.CardPlaced(look.seat, look.row, card) for look in self.looks(upto) for card in look.cards]

    def settled(self) -> ev.HandSettled:
        """A settlement in the shape the rules give it; what the rules make of the cards is tested elsewhere."""
        pair: dict[str, JsonValue] = {
            "a": 2,
            "b": 1,
            "points": -1,
            "owed": -100,
            "paid": -100,
            "short": 0,
            "lines": [],
        }
        return ev.HandSettled({"pairs": [pair], "stacks": {"p1": 10_100, "p2": 9_900}, "irregularities": []})

    def until(self, phase: Phase, unsure: tuple[tuple[int, ev.Row, int], ...] = ()) -> list[ev.Event]:
        """Return the events that lead from nothing to a phase."""
        way: dict[Phase, list[ev.Event]] = {
            Phase.IDLE: [],
            Phase.DEALING: [self.opened()],
            Phase.PLACING if self.open else Phase.SETTING: [
                ev.PhaseAdvanced(Phase.PLACING if self.open else Phase.SETTING)
            ],
            Phase.SHOWDOWN: [*self.placed(), ev.PhaseAdvanced(Phase.SHOWDOWN)],
            Phase.READING: [ev.PhaseAdvanced(Phase.READING)],
            Phase.REVIEW: [self.reading(unsure)],
            Phase.SETTLED: [self.settled()],
            Phase.ARCHIVED: [ev.HandArchived()],
        }
        if phase is Phase.VOID:
            return [*self.until(Phase.READING), ev.HandVoided("a test")]
        events: list[ev.Event] = []
        for reached, more in way.items():
            events += more
            if reached is phase:
                break
        return events

    def at(self, phase: Phase, *more: ev.Event) -> State:
        return fold([*self.until(phase), *more])


@pytest.fixture
def deal() -> Deal:
    return Deal(ROWS)


@pytest.fixture
def face_up() -> Deal:
    return Deal(ROWS, frozenset({1, 2}))


@pytest.fixture
def fantasyland() -> Deal:
    """Seat 1 places face up; seat 2 is in Fantasy Land."""
    return Deal(ROWS, frozenset({1}))


@pytest.fixture
def ticking() -> Callable[[], Timestamp]:
    """A clock that goes one second on at every look."""
    ticks = count()

    def clock() -> Timestamp:
        tick = next(ticks)
        return Timestamp("a-boot", tick * 1_000_000_000, 1_700_000_000_000 + tick * 1000, "synchronised")

    return clock
