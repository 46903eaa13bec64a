"""Any commands and any looks, in any order, in every profile: the table never breaks and never settles unasked."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from firmware.rules import CARDS, load_profile, profile_names, settle_json
from firmware.table import INITIAL, CommandRefused, Phase, State, apply, fold
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide, step
from firmware.table.events import canonical, parse, payload
from firmware.table.house import House, house_now
from firmware.table.phase import OPEN
from firmware.table.placing import compare
from firmware.table.settling import hand_json
from tests.examples import examples

pytestmark = pytest.mark.slow

DECK = [card.code for card in CARDS]
SEATS = st.integers(1, 3)
ROW = st.sampled_from(list(ev.ROWS))
CARD = st.sampled_from(DECK)
PLAYER = st.sampled_from(["p1", "p2", "p3", "p4"])
FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "next": {},
    "confirm": {},
    "look_again": {},
    "archive": {},
    "call_floor": {},
    "end_floor_call": {"answered": st.booleans()},
    "declare": {"seat": SEATS},
    "withdraw": {"seat": SEATS},
    "surrender": {"seat": SEATS},
    "withdraw_surrender": {"seat": SEATS},
    "undo_confirm": {"seat": SEATS},
    "key_button": {"seat": SEATS},
    "set_card": {"seat": SEATS, "row": ROW, "index": st.integers(0, 4), "card": CARD, "swap": st.booleans()},
    "place_card": {"seat": SEATS, "row": ROW, "card": CARD},
    "resolve": {"number": st.integers(1, 4), "stands": st.sampled_from(["record", "table"])},
    "key_hand": {"reason": st.just("dead")},
    "misdeal": {"reason": st.just("exposed")},
    "void": {"reason": st.just("exposed")},
    "reopen": {"past": st.integers(1, 2), "reason": st.just("disputed")},
    "mark_paid": {"a": SEATS, "b": SEATS, "paid": st.booleans()},
    "mark_paid_back": {"number": st.integers(1, 2), "paid": st.booleans()},
    "count_stack": {"player": st.just("p1"), "stack": st.integers(0, 9_000), "reason": st.just("counted")},
    "sit_out": {"player": st.sampled_from(["p1", "p3"]), "on": st.booleans()},
    "pass_round": {"player": st.just("p2"), "on": st.booleans()},
    "undo_close": {},
    "two_hands": {"on": st.booleans()},
    "set_house": {"unit": st.integers(1, 500), "reason": st.just("another limit")},
    "seat_player": {"seat": SEATS, "player": PLAYER, "stack": st.integers(0, 90_000)},
    "leave_seat": {"player": PLAYER},
    "rename_player": {"player": PLAYER, "name": PLAYER},
    "buy_in": {"player": PLAYER, "amount": st.integers(1, 90_000)},
    "add_on": {"player": PLAYER, "amount": st.integers(1, 90_000)},
}
ENDS = {"hand_archived", "hand_voided", "hand_misdealt", "hand_withdrawn"}


class TableMachine(RuleBasedStateMachine):
    """Commands as the page sends them, looks as the camera has them, devices that come and go."""

    @initialize(profile=st.sampled_from(profile_names()), deck=st.permutations(DECK))
    def open_table(self, profile: str, deck: list[str]) -> None:
        self.profile = load_profile(profile)
        seats = tuple(ev.SeatOpened(n, f"p{n}", "ABC"[n - 1], 50_000) for n in (1, 2, 3))
        self.configured = House(self.profile, profile, "", 100, seats)
        self.deck = deck
        self.state: State = apply(INITIAL, ev.TableStarted(house=self.configured.settings))
        self.since_opened: list[ev.Event] = []
        self.ended: dict[int, State] = {}
        self.is_over = False
        """Whether the hand opened last is over. The end of a past hand that was reopened beside it is not its end."""

    @property
    def house(self) -> House:
        return house_now(self.configured, self.state.house, lambda _: None)

    def say(self, *events: ev.Event) -> None:
        before = self.state
        try:
            self.state, followed = step(self.state, events, self.profile)
        except CommandRefused:
            return
        for event in (*events, *followed):
            assert parse(event.type, payload(event)) == event
            if isinstance(event, ev.HandOpened):
                self.since_opened, self.is_over = [], False
            self.since_opened.append(event)
            if event.type in ENDS and before.suspended_state is None:
                self.is_over = True
                if event.type == "hand_archived":
                    self.ended[before.hand] = before

    def past(self, hand: int) -> State:
        if hand not in self.ended:
            raise CommandRefused(f"Hand {hand} is not in the record.")
        return self.ended[hand]

    @rule(data=st.data(), name=st.sampled_from(list(FIELDS)))
    def command(self, data: st.DataObject, name: str) -> None:
        fields = {key: data.draw(values) for key, values in FIELDS[name].items()}
        try:
            events = decide(
                self.state,
                parse_command(canonical({"do": name, **fields})),
                self.house,
                self.profile,
                self.past,
            )
        except CommandRefused:
            return
        self.say(*events)

    @rule(far=st.integers(1, 8), upto=st.integers(0, 13), data=st.data())
    def play_on(self, far: int, upto: int, data: st.DataObject) -> None:
        """Do the next right thing several times: without it hardly any hand would get far."""
        for _ in range(far):
            match self.state.phase:
                case Phase.PLACING if upto < 13 and self.state.seats[0].placed < upto:
                    self.say(*compare(self.state, self.zones(upto)))
                    return
                case Phase.PLACING:
                    self.say(*compare(self.state, self.zones(13)))
                    self.white()
                case Phase.SHOWDOWN:
                    self.say(ev.PhaseAdvanced(Phase.READING))
                case Phase.READING:
                    rows = self.zones(13, data)
                    self.say(*compare(self.state, rows), ev.ReadingTaken(tuple(rows)))
                case Phase.REVIEW if self.state.button is None:
                    self.say(ev.ButtonKeyed(1))
                case Phase.REVIEW:
                    return
                case _:
                    self.white()

    def white(self) -> None:
        try:
            self.say(*decide(self.state, parse_command('{"do":"next"}'), self.house, self.profile, self.past))
        except CommandRefused:
            return

    def zones(self, upto: int, data: st.DataObject | None = None) -> list[ev.RowReading]:
        """What lies on the felt, each seat's cards dealt from the deck; with `data` now and then one seen wrongly."""
        rows = []
        for number, (seat, row) in enumerate(itertools.product((1, 2, 3), ev.ROWS)):
            size = ev.ROWS[row]
            start = 13 * (seat - 1) + {"front": 0, "middle": 3, "back": 8}[row]
            room = {"back": upto, "middle": upto - 5, "front": upto - 10}[row]
            cards = []
            for index, code in enumerate(self.deck[start : start + max(0, min(size, room))]):
                wrong = data is not None and data.draw(st.integers(0, 60)) == 0
                x, y = 70.0 * index, 100.0 * number
                name = data.draw(CARD) if wrong and data is not None else code
                sure = data is None or data.draw(st.integers(0, 60)) > 0
                corners = ((x, y), (x + 60, y), (x + 60, y + 90), (x, y + 90))
                cards.append(ev.CardReading(name, 0.9, sure, (name,), corners))
            rows.append(ev.RowReading(seat, row, "ABC"[seat - 1], tuple(cards)))
        playing = {seat.seat for seat in self.state.seats}
        return [row for row in rows if row.seat in playing]

    @precondition(lambda self: self.state.phase in (Phase.PLACING, Phase.READING))
    @rule(upto=st.integers(0, 13), whole=st.booleans(), data=st.data())
    def look(self, upto: int, whole: bool, data: st.DataObject) -> None:
        rows = self.zones(13 if whole or self.state.phase is Phase.READING else upto, data)
        events = compare(self.state, rows)
        if self.state.phase is Phase.READING:
            events = (*events, ev.ReadingTaken(tuple(rows)))
        self.say(*events)

    @precondition(lambda self: self.state.phase in (Phase.SHOWDOWN, Phase.READING))
    @rule(fails=st.booleans())
    def camera(self, fails: bool) -> None:
        if self.state.phase is Phase.SHOWDOWN:
            self.say(ev.PhaseAdvanced(Phase.READING))
        elif fails:
            self.say(ev.ReadingFailed("The camera is gone."))

    @rule(seat=st.none() | SEATS)
    def puck(self, seat: int | None) -> None:
        self.say(ev.PuckSeen("seat", seat) if seat else ev.PuckSeen("none"))

    @rule(gone=st.booleans())
    def device(self, gone: bool) -> None:
        self.say(ev.DeviceFault("camera", "unplugged") if gone else ev.DeviceRecovered("camera"))

    @rule(unit=st.integers(1, 500))
    def restart(self, unit: int) -> None:
        self.say(ev.TableStarted(house=replace(self.configured, unit=unit).settings))

    # ---- what always holds ----

    @invariant()
    def everybody_who_sits_has_a_seat_and_a_name_of_their_own(self) -> None:
        seats = self.state.house.seats
        assert len({seat.seat for seat in seats}) == len({seat.player for seat in seats}) == len(seats)
        assert self.state.fantasyland.keys() <= self.state.stacks.keys()
        assert all(stack is None or stack >= 0 for stack in self.state.stacks.values())

    @invariant()
    def a_restart_comes_to_the_same_state(self) -> None:
        opened = bool(self.since_opened) and isinstance(self.since_opened[0], ev.HandOpened)
        if opened:
            assert fold(self.since_opened) == self.state

    @invariant()
    def what_is_settled_is_what_settle_gives_and_nothing_is_open(self) -> None:
        if self.state.phase is Phase.SETTLED:
            assert self.state.questions == ()
            if not self.state.reopened:
                assert self.state.settlement == settle_json(hand_json(self.state))

    @invariant()
    def no_card_of_a_closed_seat_is_known_before_the_signal(self) -> None:
        if self.state.phase in (Phase.DEALING, Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN):
            assert not any(seat.placed for seat in self.state.seats if not seat.open)

    @invariant()
    def no_row_takes_a_card_twice_without_a_question(self) -> None:
        certain = [
            card.card
            for seat in self.state.seats
            if not seat.surrenders
            for cards in seat.rows.values()
            for card in cards
            if card.sure
        ]
        if len(set(certain)) < len(certain) and self.state.phase in (Phase.PLACING, Phase.REVIEW):
            assert self.state.questions

    @invariant()
    def no_hand_is_open_twice(self) -> None:
        if self.state.phase in OPEN and not self.state.reopened:
            assert not self.is_over


TestTableMachine = TableMachine.TestCase
TestTableMachine.settings = examples(120, stateful_step_count=30, suppress_health_check=list(HealthCheck))
