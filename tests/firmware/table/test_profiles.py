"""Every packaged profile plays through, and settles what `feltwatch settle` settles on the dealt cards."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from firmware.rules import load_profile, profile_names, settle_json
from firmware.simulation.live.players import Players, SetHand, in_placing_order
from firmware.table import INITIAL, Phase, State
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide, step
from firmware.table.events import canonical
from firmware.table.house import House
from firmware.table.placing import compare
from firmware.table.streets import all_streets, cards_by, turn
from tests.firmware.rules.test_published_open_face import PUBLISHED
from tests.firmware.table.next_puck import puck_moved

SEATS = (1, 2, 3, 4)


class Table:
    """Plays hands by commands, and by looks at what was dealt."""

    def __init__(self, profile: str, seed: int) -> None:
        self.rng = random.Random(seed)
        self.rules = load_profile(profile)
        self.players = Players(seed, self.rules)
        self.name = profile
        self.numbers = SEATS[: self.rules.limits.players]
        seats = tuple(ev.SeatOpened(n, f"p{n}", "ABCD"[n - 1], 60_000) for n in self.numbers)
        self.house = House(self.rules, profile, "", 500, seats)
        self.state: State = INITIAL
        self.hands: dict[int, SetHand] = {}
        self.expected: dict[str, Any] | None = None

    def do(self, do: str, **fields: Any) -> None:
        command = parse_command(canonical({"do": do, **fields}))
        self.say(*decide(self.state, command, self.house, self.rules))

    def say(self, *events: ev.Event) -> None:
        self.state, _ = step(self.state, events, self.rules)

    def look(self, shown: Mapping[int, Mapping[str, list[str]]]) -> tuple[ev.RowReading, ...]:
        return tuple(
            ev.RowReading(
                seat,
                row,
                "ABCD"[seat - 1],
                tuple(ev.CardReading(c, 1.0, True, (c,)) for c in rows.get(row, ())),
            )
            for seat, rows in shown.items()
            for row in ev.ROWS
        )

    def hand(self, button: int) -> None:
        """Play a hand from the deal to the settlement."""
        self.say(*puck_moved(self.state, self.house))
        self.do("next")
        self.do("key_button", seat=button)
        seats = {seat.seat: seat for seat in self.state.seats}
        self.hands = self.players.deal(
            self.numbers, {n: seat.fantasyland_cards or 13 for n, seat in seats.items()}
        )
        self.do("next")
        if any(seat.open for seat in seats.values()):
            self.place()
        for number, hand in self.hands.items():
            if hand.declares:
                self.do("declare", seat=number)
            if hand.surrenders:
                self.do("surrender", seat=number)
        self.do("next")
        self.say(ev.PhaseAdvanced(Phase.READING))
        shown = self.look({n: hand.shown for n, hand in self.hands.items() if not hand.surrenders})
        self.say(*compare(self.state, shown), ev.ReadingTaken(shown))
        while self.state.phase is Phase.REVIEW:
            self.do("confirm")

    def place(self) -> None:
        open_seats = [seat.seat for seat in self.state.seats if seat.open]
        orders = {}
        for number in open_seats:
            self.hands[number], orders[number] = in_placing_order(self.hands[number], self.rng)
        each = self.rules.deal.street_cards
        for street in range(1, all_streets(each) + 1):
            for _ in open_seats:
                due = turn(self.state)
                assert due is not None
                placed = {
                    n: orders[n][: cards_by(street, each)] if n == due else orders[n][: _count(self.state, n)]
                    for n in open_seats
                }
                shown: dict[int, dict[str, list[str]]] = {
                    n: {row: [c for r, c in cards if r == row] for row in ev.ROWS}
                    for n, cards in placed.items()
                }
                self.say(*compare(self.state, self.look(shown)))
                assert not self.state.irregularities
        assert turn(self.state) is None

    def dealt(self, button: int, stacks: dict[str, int], fantasyland: dict[str, int]) -> dict[str, Any]:
        """Return the dealt hand as a person would write it for `feltwatch settle`."""
        seats = []
        for number, hand in self.hands.items():
            rows = {} if hand.surrenders else hand.truth
            seats.append(
                {
                    "seat": number,
                    "player": f"p{number}",
                    "stack": stacks[f"p{number}"],
                    "declares": hand.declares,
                    "surrenders": hand.surrenders,
                    "fantasyland": f"p{number}" in fantasyland,
                    "fantasyland_cards": fantasyland.get(f"p{number}"),
                    **rows,
                }
            )
        return {"profile": self.name, "unit": 500, "button": button, "seats": seats}


def _count(state: State, number: int) -> int:
    seat = state.seat(number)
    assert seat is not None
    return seat.placed


@pytest.mark.parametrize("profile", [*profile_names(), str(PUBLISHED / "progressive-pineapple.toml")])
def test_every_profile_plays_through_and_settles_the_dealt_cards(profile: str) -> None:
    face_up = load_profile(profile).deal.is_face_up
    table = Table(profile, seed=4 if profile.endswith(".toml") else 3)
    stacks, fantasyland = {f"p{n}": 60_000 for n in table.numbers}, dict[str, int]()
    closed_inside = 0
    for number in range(1, 5 if face_up else 3):
        button = table.numbers[number % len(table.numbers)]
        table.hand(button)
        assert table.state.phase is Phase.SETTLED
        expected = settle_json(table.dealt(button, stacks, fantasyland))
        assert table.state.settlement == expected
        closed_inside += sum(not seat.open for seat in table.state.seats) if face_up else 0
        stacks = expected["stacks"]
        fantasyland = {
            f"p{hand['seat']}": hand.get("fantasyland_cards", 13)
            for hand in expected["hands"]
            if hand["fantasyland_next"]
        }
        table.do("archive")
        assert table.state.fantasyland == fantasyland
        assert table.state.stacks == stacks
    assert closed_inside > 0 or not face_up, "choose a seed in which somebody reaches Fantasy Land"
