"""What is offered is taken, what is refused is refused in the same words, and what is taken was offered."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from firmware.messages import Message
from firmware.rules import CARDS, profile_names
from firmware.table import CommandRefused, Phase, State
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide, step
from firmware.table.events import canonical
from firmware.table.offers import Offer, Offers, offers
from tests.examples import THOROUGH
from tests.firmware.table.test_machine import TableMachine

STEPS: Final = 120 if THOROUGH else 60
SEATS: Final = (1, 2, 3, 4)
PLAYERS: Final = ("p1", "p2", "p3")
WHOLE: Final[tuple[tuple[str, Mapping[str, tuple[Any, ...]]], ...]] = (
    *((do, {}) for do in ("next", "confirm", "look_again", "back_to_setting", "undo_close", "call_floor")),
    *((do, {"reason": ("so",)}) for do in ("key_hand", "misdeal", "void")),
    *((do, {"seat": SEATS}) for do in ("surrender", "withdraw_surrender", "undo_confirm", "key_button")),
    ("sit_out", {"player": PLAYERS, "on": (True, False)}),
    ("leave_seat", {"player": PLAYERS}),
    ("resolve", {"number": (1, 2), "stands": ("record", "table")}),
    ("mark_paid_back", {"number": (1, 2), "paid": (True, False)}),
    ("end_floor_call", {"answered": (True, False)}),
)
"""Commands that are offered wherever the table takes them, with values of their fields."""
ENDS: Final = frozenset({"void", "misdeal", "leave_seat", "archive"})
"""Offers that are taken seldom, so that hands get far."""


class Walk(TableMachine):
    """A table at which chance takes what is offered, and mostly what goes on."""

    def __init__(self, profile: str, seed: int) -> None:
        super().__init__()
        self.rng = random.Random(f"{profile} {seed}")
        deck = [card.code for card in CARDS]
        self.rng.shuffle(deck)
        self.open_table(profile, deck)

    @property
    def may(self) -> Offers:
        return offers(self.state, self.house, self.profile, self.past)

    def states(self, steps: int) -> Iterator[State]:
        for _ in range(steps):
            yield self.state
            if self.rng.random() < 0.7:
                self.go_on()
            elif self.rng.random() < 0.15:
                self.disturb()
            else:
                self.take()

    def go_on(self) -> None:
        match self.state.phase:
            case Phase.PLACING:
                self.see()
                self.white()
            case Phase.SHOWDOWN:
                self.say(ev.PhaseAdvanced(Phase.REVIEW if self.state.keyed else Phase.READING))
            case Phase.READING:
                self.see()
                self.say(ev.ReadingTaken(tuple(self.read())))
            case Phase.REVIEW if rows := {(q.seat, q.row) for q in self.state.questions if q.row}:
                for row in self.zones(13):
                    if (row.seat, row.row) in rows:
                        self.say(ev.RowKeyed(row.seat, row.row, tuple(card.card or "" for card in row.cards)))
            case Phase.REVIEW:
                self.take("confirm", "key_button", "resolve")
            case _:
                if (due := self.may.puck_due) is not None:
                    self.say(ev.PuckSeen("seat", due))
                self.white()

    def see(self) -> None:
        for row in self.zones(13):
            seat = self.state.seat(row.seat)
            assert seat is not None
            for card in row.cards[len(seat.row(row.row)) :]:
                self.say(ev.CardPlaced(row.seat, row.row, card))

    def read(self) -> Iterator[ev.RowReading]:
        """What lies there, now and then with a card too few."""
        for row in self.zones(13):
            short = self.rng.random() < 0.02
            yield ev.RowReading(row.seat, row.row, row.place, row.cards[short:])

    def disturb(self) -> None:
        seat = self.rng.choice(SEATS)
        moved = ev.Irregularity(self.state.irregularities_seen + 1, "card_missing", seat, "back", 0)
        self.say(
            self.rng.choice(
                (
                    ev.DeviceFault("camera", "unplugged"),
                    ev.DeviceRecovered("camera"),
                    ev.PuckSeen("seat", seat),
                    ev.PuckSeen("none"),
                    ev.IrregularitySeen(**vars(moved)),
                    ev.RecordFaultRead(),
                )
            )
        )

    def take(self, *names: str) -> None:
        may = self.may
        taken = [offer for offer in (may.of(*names) if names else may.all) if not offer.refused]
        taken = [offer for offer in taken if offer.command["do"] not in ENDS or self.rng.random() < 0.06]
        if taken:
            do = self.rng.choice(sorted({offer.command["do"] for offer in taken}))
            offer = self.rng.choice([offer for offer in taken if offer.command["do"] == do])
            self.state = self.after(offer)

    def after(self, offer: Offer) -> State:
        """The state after an offer was taken. Raises CommandRefused."""
        state = self.state
        for fields in ({**offer.command, **offer.asks}, *offer.also):
            command = parse_command(canonical(dict(fields)))
            before = state
            state, _ = step(state, decide(state, command, self.house, self.profile, self.past), self.profile)
            if before.hand and before.phase is Phase.SETTLED and state.phase is not Phase.SETTLED:
                self.ended[before.hand] = before
        return state

    def refusal(self, offer: Offer) -> Message | None:
        try:
            self.after(offer)
        except CommandRefused as error:
            return error.sentence
        return None

    def takes(self, fields: Mapping[str, Any]) -> bool:
        try:
            command = parse_command(canonical(dict(fields)))
            step(self.state, decide(self.state, command, self.house, self.profile, self.past), self.profile)
        except CommandRefused:
            return False
        return True


def key(offer: Offer) -> str:
    """What tells an offer from the others."""
    return canonical({**offer.command, "also": list(map(dict, offer.also))})


@pytest.mark.slow
@pytest.mark.parametrize("profile", profile_names())
def test_what_is_offered_is_what_the_table_takes(profile: str) -> None:
    walk, open_ones, phases = Walk(profile, 1), Counter[str](), set[Phase]()
    for state in walk.states(STEPS):
        may = walk.may
        phases.add(state.phase)
        for offer in may.all:
            assert walk.refusal(offer) == offer.refused, (state.phase, offer)
            open_ones[offer.command["do"]] += not offer.refused
        known = set(map(key, may.all))
        by_record = [o for o in offers(state, walk.house, walk.profile).all if key(o) not in known]
        assert {offer.command["do"] for offer in by_record} <= {"reopen", "undo_close"}
        for do, fields in WHOLE:
            for values in itertools.product(*fields.values()):
                given = dict(zip(fields, values, strict=True))
                if walk.takes({"do": do, **given}):
                    given.pop("reason", None)
                    assert may.of(do, **given), (state.phase, do, given)
    assert Phase.SETTLED in phases
    assert all(open_ones[do] for do in ("next", "void", "set_card"))
