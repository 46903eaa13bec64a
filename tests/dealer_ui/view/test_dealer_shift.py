"""Between hands: the players' list, the keypad's sums, the dealer's down, what each owes, the last exchange."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dealer_ui.view.build import view
from dealer_ui.view.dealer_shift import down
from dealer_ui.view.downs import DownClock, DownTime
from dealer_ui.view.last_exchange import LastExchange
from dealer_ui.view.live import Live
from dealer_ui.view.screen import Player, Screen
from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.journal import Journal, JournalReader
from firmware.rules import load_profile
from firmware.table import events as ev
from firmware.table.people import Role
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import Felt

MINUTE = 60 * 1_000_000_000


@pytest.fixture
def closed(felt: Felt) -> Felt:
    """Hand 1 is closed: Lin +$230, Moreno +$20, Okafor −$200, Tran −$50."""
    felt.to_archived()
    return felt


def shown(felt: Felt) -> Screen:
    return view(felt.seq, felt.state, felt.rules)


def of(felt: Felt, name: str) -> Player:
    return next(one for one in shown(felt).players if one.player == name)


def test_everybody_is_listed_by_seat_with_the_stack_after_the_hand(closed: Felt) -> None:
    screen = shown(closed)
    assert screen.mode == "between"
    assert [(one.player, one.seats, one.stack) for one in screen.players] == [
        ("Lin", (1,), "$1,230"),
        ("Moreno", (2,), "$1,020"),
        ("Okafor", (3,), "$800"),
        ("Tran", (4,), "$950"),
    ]
    assert [one.player for one in screen.players if one.button] == ["Moreno"]


def test_while_a_hand_is_open_nobody_is_listed(felt: Felt) -> None:
    felt.to_setting()
    assert shown(felt).players == ()
    assert shown(felt).mode == "felt"


def test_each_says_whether_they_are_dealt_in_next(closed: Felt) -> None:
    closed.do("sit_out", player="Okafor")
    closed.do("pass_round", player="Tran")
    assert of(closed, "Lin").standing == "plays · Fantasy Land"
    assert of(closed, "Moreno").standing == "plays"
    assert of(closed, "Okafor").standing == "sits out"
    assert of(closed, "Tran").standing == "passes the next hand"


def test_who_has_too_few_chips_reads_how_many_are_asked(lay: Lay) -> None:
    felt = lay(options={"deal.kind": "closed"})
    felt.to_archived()
    felt.do("count_stack", player="Tran", stack=4_499, reason="Counted")
    assert of(felt, "Tran").standing == "too few chips: $45 to be dealt in"


def test_chips_are_added_to_what_lies_there(closed: Felt) -> None:
    add, count = of(closed, "Okafor").amounts
    assert (add.label, add.base, count.label, count.base) == ("Add", 80_000, "Count", 0)
    closed.do(**add.command, amount=20_000)
    assert of(closed, "Okafor").stack == "$1,000"


def test_a_player_without_chips_buys_in_for_thirty_times_the_limit(closed: Felt) -> None:
    closed.do("count_stack", player="Okafor", stack=0, reason="Counted")
    buy_in = of(closed, "Okafor").amounts[0]
    assert (buy_in.label, buy_in.least) == ("Buy in", 30 * 500)


def test_the_houses_most_binds_an_add_on(lay: Lay) -> None:
    felt = lay(options={"deal.kind": "closed", "limits.min_points": 0, "limits.max_stack": 300})
    felt.to_archived()
    assert of(felt, "Okafor").amounts[0].most == 300 * 500


def test_who_leaves_takes_all_of_their_chips_and_the_seat_is_free(closed: Felt) -> None:
    leave = of(closed, "Tran").leaving
    assert leave is not None
    assert (leave.label, leave.hold) == ("Leaves with $950", True)
    closed.do(**leave.command)
    assert [one.player for one in shown(closed).players] == ["Lin", "Moreno", "Okafor"]
    assert [one.label for one in shown(closed).free] == ["Seat 4", "Seat 5"]


def test_a_name_is_keyed_for_a_free_seat_and_then_the_chips(closed: Felt) -> None:
    (free,) = shown(closed).free
    assert (free.label, free.into) == ("Seat 5", "player")
    assert free.then is not None
    assert (free.then.into, free.then.least) == ("stack", 30 * 500)
    closed.do(**free.command | {free.into: "Bo", free.then.into: 20_000})
    assert of(closed, "Bo").stack == "$200"
    assert shown(closed).free == ()
    assert {one.standing for one in shown(closed).players} == {
        "plays",
        "plays · Fantasy Land",
        "waits: four others play",
    }


def test_where_no_chips_are_counted_a_name_is_enough(lay: Lay) -> None:
    felt = lay(profile="washington-1-unit", options={}, stack=None, seats={1: "A", 2: "B"})
    seats = shown(felt).free
    assert [one.label for one in seats] == ["Seat 3", "Seat 4", "Seat 5"]
    assert seats[0].then is None
    felt.do(**seats[0].command, player="Bo")
    assert of(felt, "Bo").stack == "not counted"
    assert of(felt, "Bo").amounts[0].label == "Buy in"


def test_who_sits_alone_waits(closed: Felt) -> None:
    for player in ("Lin", "Okafor", "Tran"):
        closed.do("leave_seat", player=player)
    assert of(closed, "Moreno").standing == "waits for another player"


def test_a_fresh_table_shows_its_seats_before_the_first_hand(lay: Lay) -> None:
    screen = shown(lay())
    assert screen.mode == "between"
    first = screen.players[0]
    assert (first.player, first.seats, first.stack) == ("Lin", (1,), "$1,000")
    assert screen.unit == "$5"


def test_a_player_gets_another_name_and_another_seat(closed: Felt) -> None:
    lin = of(closed, "Lin")
    assert lin.naming is not None
    closed.do(**lin.naming.command, name="Lin Bo")
    (move,) = of(closed, "Lin Bo").moves
    closed.do(**move.command)
    assert (of(closed, "Lin Bo").seats, of(closed, "Lin Bo").stack) == ((5,), "$1,230")


def test_chips_without_a_seat_are_shown_and_nothing_is_offered(closed: Felt) -> None:
    closed.state = replace(closed.state, stacks={**closed.state.stacks, "Ghost": 500})
    ghost = of(closed, "Ghost")
    assert (ghost.seats, ghost.standing, ghost.amounts, ghost.naming) == ((), "has no seat", (), None)


def test_between_hands_the_next_hands_game_and_unit_are_shown(closed: Felt) -> None:
    closed.do("set_house", profile="washington-1-unit", unit=250, reason="another game")
    screen = Live(JournalReader(closed.folder), lambda: {"ok": True}).now().screen
    assert (screen.profile, screen.unit) == (load_profile("washington-1-unit").title, "$2.50")


def test_every_action_of_a_player_is_one_that_the_table_takes(closed: Felt) -> None:
    for sits in (False, True):
        if sits:
            closed.do("sit_out", player="Okafor")
        before = closed.state
        for one in shown(closed).players:
            assert one.leaving is not None
            for action in (*one.actions, *one.moves, one.leaving):
                closed.do(**action.command)
                closed.state = before
            for amount in one.amounts:
                keyed = max(100, amount.least) + (amount.base if amount.into == "stack" else 0)
                closed.do(**amount.command | {amount.into: keyed})
                closed.state = before


def test_a_sum_keyed_for_another_hand_is_refused(closed: Felt) -> None:
    add = of(closed, "Okafor").amounts[0]
    assert (add.command["hand"], add.command["phase"]) == (1, "archived")


# ---- the dealer ----


def people(felt: Felt) -> None:
    felt.say(ev.PersonListed("Reyes", Role.DEALER), ev.PersonListed("Chu", Role.DEALER))


def test_a_dealer_logs_on_and_another_takes_over(closed: Felt) -> None:
    people(closed)
    assert {action.label for action in shown(closed).log_ons} == {"Chu", "Reyes"}
    closed.do("log_on", person="Reyes")
    (over, leaves) = shown(closed).log_ons
    assert (over.label, leaves.label) == ("Chu", "Reyes leaves")
    closed.do(**over.command)
    assert closed.state.dealer == "Chu"


def test_the_collection_is_halved_for_who_joined_at_the_mark_or_later(closed: Felt) -> None:
    people(closed)
    closed.do("log_on", person="Reyes")
    told = down(closed.state, closed.rules, DownTime(25, {"Lin": 0, "Moreno": 19, "Okafor": 20, "Tran": 24}))
    assert told is not None
    assert told.clock == "25 of 40 min"
    assert dict(told.due) == {"Lin": "$10", "Moreno": "$10", "Okafor": "$5", "Tran": "$5"}
    assert told.rate.startswith("$10")


def test_a_down_that_is_over_says_by_how_much(closed: Felt) -> None:
    people(closed)
    closed.do("log_on", person="Reyes")
    told = down(closed.state, closed.rules, DownTime(41))
    assert told is not None
    assert told.over
    assert told.clock == "41 min: 1 minute over"


def test_without_a_dealer_no_clock_runs(closed: Felt) -> None:
    assert down(closed.state, closed.rules, DownTime(5)) is None


def test_a_game_without_a_collection_asks_for_none(lay: Lay) -> None:
    felt = lay(profile="washington-1-unit", options={"limits.min_points": 0})
    felt.to_archived()
    people(felt)
    felt.do("log_on", person="Reyes")
    told = down(felt.state, felt.rules, DownTime(5))
    assert told is not None
    assert (told.clock, told.due, told.rate) == ("5 min", (), "")


class Clocks:
    """A journal's clock that is set by hand."""

    def __init__(self) -> None:
        self.at = Timestamp("a", 0, 0, "synchronised")

    def __call__(self) -> Timestamp:
        return self.at

    def after(self, minutes: int, boot: str = "a") -> None:
        self.at = self.at._replace(boot=boot, monotonic_ns=minutes * MINUTE, wall_ms=minutes * 60_000)


def opened(hand: int, *names: str) -> ev.HandOpened:
    seats = tuple(ev.SeatOpened(n, name, "ABCD"[n - 1]) for n, name in enumerate(names, start=1))
    return ev.HandOpened(hand, "p", "h", 500, seats, stacks=dict.fromkeys(names, 1000))


def test_the_downs_clock_reads_the_journal_and_who_joined_when(tmp_path: Path) -> None:
    clock = Clocks()
    with Journal(tmp_path, clock=clock) as journal:
        downs = DownClock(JournalReader(tmp_path), clock)
        assert downs.at(journal.seq) is None
        journal.append([opened(1, "Lin", "Tran"), ev.PersonListed("Reyes", Role.DEALER)], "t")
        clock.after(3)
        journal.append([ev.LoggedOn("Reyes", 1)], "t")
        clock.after(13)
        journal.append([ev.HandVoided("x"), opened(2, "Lin", "Tran", "Moreno")], "t")
        clock.after(28)
        assert downs.at(journal.seq) == DownTime(25, {"Lin": 0, "Tran": 0, "Moreno": 10})
        journal.append([ev.LoggedOff(), ev.LoggedOn("Reyes", 2)], "t")
        assert downs.at(journal.seq) == DownTime(0, {"Lin": 0, "Tran": 0, "Moreno": 0})
        journal.append([ev.HandVoided("x"), ev.PlayerRenamed("Lin", "Bo"), ev.PlayerLeft("Tran", 1000)], "t")
        assert downs.at(journal.seq) == DownTime(0, {"Bo": 0, "Moreno": 0})
        clock.after(30, boot="b")
        assert downs.at(journal.seq) == DownTime(2, {"Bo": 0, "Moreno": 0})


# ---- the last exchange ----


def test_the_last_exchange_stays_one_touch_away_in_the_next_hand(closed: Felt) -> None:
    last = LastExchange(JournalReader(closed.folder))
    closed.go_on()
    past = last.of(closed.state)  # asked for the first time now, as after a restart
    assert past is not None
    screen = view(closed.seq, closed.state, closed.rules, past=past)
    assert screen.payments == ()
    assert screen.last_hand == 1
    assert [pay.amount for pay in screen.last] == ["$55", "$25", "$60", "$45", "$100", "$70"]


def test_the_hands_own_settlement_takes_the_place_of_the_last_one(closed: Felt) -> None:
    past = LastExchange(JournalReader(closed.folder)).of(closed.state)
    screen = view(closed.seq, closed.state, closed.rules, past=past)
    assert screen.last == ()
    assert len(screen.payments) == 6


def test_a_void_hand_has_no_exchange_and_the_one_before_is_remembered(closed: Felt) -> None:
    last = LastExchange(JournalReader(closed.folder))
    last.of(closed.state)
    closed.go_on()
    closed.do("void", reason="Misdeal")
    closed.go_on()
    past = last.of(closed.state)
    assert past is not None
    assert past.hand == 1


def test_a_settlement_that_was_taken_back_is_no_last_exchange(closed: Felt) -> None:
    last = LastExchange(JournalReader(closed.folder))
    closed.to_settled()
    now = last.of(closed.state)
    assert now is not None
    assert now.hand == 2
    closed.do("void", reason="Misdeal")
    for looks in (last, LastExchange(JournalReader(closed.folder))):
        past = looks.of(closed.state)
        assert past is not None
        assert past.hand == 1
    closed.go_on()
    past = LastExchange(JournalReader(closed.folder)).of(closed.state)
    assert past is not None
    assert past.hand == 1
