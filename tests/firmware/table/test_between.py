"""Between hands: who is dealt in, stacks, Fantasy Land, misdeals, and past hands that are reopened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from firmware.record.journal.journal import Journal, JournalReader
from firmware.record.reopening import end_of_hand
from firmware.rules import load_profile, settle_json
from firmware.table import INITIAL, CommandRefused, Phase, State, apply, fold
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide, step
from firmware.table.events import canonical
from firmware.table.house import House
from firmware.table.settling import hand_json
from firmware.table.topics.opening import open_hand
from tests.firmware.table.next_puck import puck_moved

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

RULES = load_profile("washington-1-unit")
FACE_UP = load_profile("california-face-up")


def house_of(count: int = 2, rules: Any = RULES, stack: int | None = 10_000) -> House:
    seats = tuple(ev.SeatOpened(n, f"p{n}", "ABCDA"[n - 1], stack) for n in range(1, count + 1))
    return House(rules, rules.name, "", 100, seats)


def do(state: State, house: House, do: str, record: Any = None, **fields: Any) -> State:
    command = parse_command(canonical({"do": do, **fields}))
    events = decide(state, command, house, house.rules, *([record] if record else []))
    return step(state, events, house.rules)[0]


def moved(state: State, house: House) -> State:
    """The puck is moved to where the next hand needs it."""
    return fold(puck_moved(state, house), state)


# ---- who is dealt in ----


def test_four_of_five_are_dealt_in_from_the_button_clockwise_and_each_has_a_place() -> None:
    state = fold([ev.PuckSeen("seat", 3)])
    seats = open_hand(state, house_of(5, FACE_UP)).seats
    assert [seat.seat for seat in seats] == [1, 3, 4, 5]
    assert sorted(seat.place for seat in seats) == ["A", "B", "C", "D"]
    assert all(seat.open for seat in seats)


def test_a_fifth_plays_when_another_passes_this_round_only() -> None:
    house = house_of(5, FACE_UP)
    state = do(fold([ev.PuckSeen("seat", 3)]), house, "pass_round", player="p4")
    state = do(state, house, "next")
    assert [seat.seat for seat in state.seats] == [1, 2, 3, 5]
    assert state.passes == frozenset()


def test_a_button_that_was_moved_to_another_seat_after_the_opening_deals_nobody_wrongly_in() -> None:
    house = house_of(5, FACE_UP)
    state = do(fold([ev.PuckSeen("seat", 3)]), house, "next")
    state = apply(state, ev.PuckSeen("seat", 4))
    with pytest.raises(CommandRefused, match="p2 must be dealt in and p3 not"):
        do(state, house, "next")
    again = do(do(state, house, "misdeal", reason="wrong seats"), house, "next")
    assert [seat.seat for seat in again.seats] == [1, 2, 4, 5]


def test_who_sits_out_keeps_stack_and_fantasyland() -> None:
    house = house_of(3, FACE_UP)
    state = replace(INITIAL, stacks={"p2": 7_000}, fantasyland={"p2": 13})
    state = do(do(state, house, "sit_out", player="p2"), house, "next")
    assert [seat.player for seat in state.seats] == ["p1", "p3"]
    assert state.stacks["p2"] == 7_000
    assert state.fantasyland == {"p2": 13}
    back = do(do(state, house, "misdeal", reason="exposed"), house, "sit_out", player="p2", on=False)
    seats = {seat.player: seat for seat in do(back, house, "next").seats}
    assert (seats["p2"].stack, seats["p2"].open, seats["p2"].fantasyland) == (7_000, False, True)
    assert seats["p1"].open


def test_too_few_chips_are_not_dealt_in_and_the_reason_is_said() -> None:
    house = house_of(2, FACE_UP)
    with pytest.raises(CommandRefused, match="p1 has too few chips"):
        do(replace(INITIAL, stacks={"p1": 100}), house, "next")


def test_two_players_may_play_two_hands_each_and_only_two() -> None:
    state = do(do(INITIAL, house_of(2), "two_hands"), house_of(2), "next")
    assert [(seat.seat, seat.player) for seat in state.seats] == [(1, "p1"), (2, "p2"), (3, "p1"), (4, "p2")]
    assert len({seat.place for seat in state.seats}) == 4
    three = do(do(INITIAL, house_of(3), "two_hands"), house_of(3), "next")
    assert [seat.player for seat in three.seats] == ["p1", "p2", "p3"]


@pytest.mark.parametrize(("two_hands", "expected"), [("player", {1, 3}), ("hand", {3})])
def test_of_two_hands_both_or_the_one_that_earned_it_is_in_fantasyland(
    two_hands: str, expected: set[int]
) -> None:
    house = house_of(2, FACE_UP.with_options({"fantasyland.two_hands": two_hands}))
    played = do(do(INITIAL, house, "two_hands"), house, "next")
    hands = [{"seat": seat.seat, "fantasyland_next": seat.seat == 3} for seat in played.seats]
    over = replace(played, phase=Phase.ARCHIVED, settlement={"hands": hands}, fantasyland={"p1": 13})
    assert {seat.seat for seat in open_hand(over, house).seats if seat.fantasyland} == expected


def test_a_player_comes_back_with_the_cards_that_they_earned_and_a_record_of_before_has_thirteen() -> None:
    house = house_of(3, FACE_UP.with_options({"limits.players": 3, "fantasyland.cards": 14}))
    state = do(replace(INITIAL, fantasyland={"p2": 16}), house, "next")
    assert {seat.player: seat.fantasyland_cards for seat in state.seats} == {"p1": 0, "p2": 16, "p3": 0}
    assert isinstance(state.opened, ev.HandOpened)
    assert fold([ev.parse("hand_opened", ev.payload(state.opened))]).fantasyland == {"p2": 16}
    old = json.loads(ev.payload(state.opened))
    del old["fantasyland_cards"]
    assert fold([ev.parse("hand_opened", json.dumps(old))]).fantasyland == {"p2": 13}
    ended = do(do(state, house, "misdeal", reason="exposed"), house, "next")
    assert ended.fantasyland == {"p2": 16}


def test_where_three_play_the_fourth_waits_and_nobody_plays_two_hands() -> None:
    house = house_of(4, FACE_UP.with_options({"limits.players": 3}))
    assert len(do(INITIAL, house, "next").seats) == 3
    with pytest.raises(CommandRefused, match="nobody plays two hands"):
        do(INITIAL, house, "two_hands")


def test_when_everybody_is_in_fantasyland_the_hand_is_set_like_a_closed_one() -> None:
    state = do(replace(INITIAL, fantasyland={"p1": 13, "p2": 13}), house_of(2, FACE_UP), "next")
    assert do(state, house_of(2, FACE_UP), "next").phase is Phase.SETTING
    with pytest.raises(CommandRefused, match="set face down"):
        apply(state, ev.PhaseAdvanced(Phase.PLACING))


# ---- stacks ----


def test_a_stack_is_counted_between_hands_with_a_reason(deal: Deal) -> None:
    house = house_of()
    state = do(deal.at(Phase.ARCHIVED), house, "count_stack", player="p1", stack=12_345, reason="counted")
    assert do(moved(state, house), house, "next").seats[0].stack == 12_345
    with pytest.raises(CommandRefused, match="setting"):
        do(deal.at(Phase.SETTING), house, "count_stack", player="p1", stack=1, reason="x")
    with pytest.raises(CommandRefused, match="no player"):
        do(state, house, "count_stack", player="Nobody", stack=1, reason="x")
    with pytest.raises(CommandRefused, match="Say why"):
        apply(state, ev.StackCounted("p1", 1, " "))


def test_a_misdeal_settles_nothing_and_the_button_stays(deal: Deal) -> None:
    house = house_of()
    state = do(deal.at(Phase.SETTING), house, "misdeal", reason="A card was exposed")
    assert (state.phase, state.misdealt, state.void_reason) == (Phase.VOID, True, "A card was exposed")
    assert state.stacks == {"p1": 10_000, "p2": 10_000}
    assert do(moved(state, house), house, "next").button == 1
    with pytest.raises(CommandRefused, match="review"):
        apply(deal.at(Phase.REVIEW), ev.HandMisdealt("too late"))


# ---- a hand keyed by the dealer ----


def test_a_hand_is_keyed_wholly_when_the_camera_is_dead_and_so_recorded(deal: Deal) -> None:
    house = house_of()
    state = do(deal.at(Phase.SETTING), house, "key_hand", reason="The camera is dead.")
    assert state.phase is Phase.SETTING
    state = do(state, house, "next")
    assert (state.phase, state.keyed) == (Phase.REVIEW, "The camera is dead.")
    for seat, rows in deal.rows.items():
        for row, cards in rows.items():
            state = do(state, house, "key_row", seat=seat, row=row, cards=cards)
    assert state.phase is Phase.SETTLED
    assert state.settlement == settle_json(hand_json(state))
    assert {card.by for seat in state.seats for cards in seat.rows.values() for card in cards} == {"dealer"}


def test_a_face_up_hand_is_keyed_as_it_grows(face_up: Deal) -> None:
    house = house_of(2, FACE_UP)
    state = do(face_up.at(Phase.PLACING), house, "key_hand", reason="The camera is dead.")
    state = do(state, house, "place_card", seat=1, row="back", card="Ah")
    state = do(state, house, "place_card", seat=1, row="back", card="10h")
    assert [(card.card, card.by) for card in state.seats[0].back] == [("Ah", "dealer"), ("Th", "dealer")]
    state = do(state, house, "next")
    assert state.phase is Phase.REVIEW
    assert len(state.questions) == 6


def test_looking_again_gives_a_keyed_hand_back_to_the_camera(deal: Deal) -> None:
    state = do(deal.at(Phase.READING), house_of(), "key_hand", reason="The camera is dead.")
    assert state.phase is Phase.REVIEW
    assert apply(state, ev.LookedAgain()).keyed == ""


# ---- reopened hands ----


@pytest.fixture
def disputed(deal: Deal, tmp_path: Path) -> Iterator[tuple[Journal, JournalReader, State]]:
    """Two hands were settled and archived: the same cards twice, the puck at seat 1."""
    journal, state = Journal(tmp_path), INITIAL
    for hand in (1, 2):
        events = [replace(deal.opened(hand), profile=RULES.name), *deal.until(Phase.REVIEW)[1:]]
        before = state
        state, followed = step(before, events, RULES)
        journal.append(events, "test", followed)
        state, _ = step(state, [ev.HandArchived()], RULES)
        journal.append([ev.HandArchived()], "test")
    yield journal, JournalReader(tmp_path), state
    journal.close()


def reopened(state: State, reader: JournalReader, hand: int) -> State:
    return do(state, house_of(), "reopen", lambda n: end_of_hand(reader, n), past=hand, reason="disputed")


def test_a_past_hand_settles_anew_beside_its_old_settlement_and_says_what_is_paid_back(
    disputed: tuple[Journal, JournalReader, State],
) -> None:
    _, reader, state = disputed
    again = reopened(state, reader, 1)
    assert (again.phase, again.hand, again.settlement) == (Phase.SETTLED, 1, again.previous_settlement)
    assert again.previous_settlement is not None
    assert again.previous_settlement["paid"] == {"1": 300, "2": -300}
    # seat 1's queens were queen and jack
    again = do(again, house_of(), "set_card", seat=1, row="front", index=1, card="Jc")
    assert again.phase is Phase.SETTLED
    before, now = again.previous_settlement, again.settlement
    assert before is not None
    assert now is not None
    assert now["paid"] != before["paid"]
    closed = do(again, house_of(), "next")
    assert (closed.phase, closed.hand, closed.reopened) == (Phase.ARCHIVED, 2, "")
    (back,) = closed.paybacks
    stacks = {player: stack or 0 for player, stack in state.stacks.items()}
    change = before["paid"]["1"] - now["paid"]["1"]
    assert (back.hand, back.payer, back.winner, back.amount) == (1, "p1", "p2", change)
    assert closed.stacks == state.stacks, "chips have not moved yet"
    paid = do(closed, house_of(), "mark_paid_back", number=1)
    assert paid.stacks == {"p1": stacks["p1"] - change, "p2": stacks["p2"] + change}
    assert do(paid, house_of(), "mark_paid_back", number=1, paid=False).stacks == state.stacks
    assert do(moved(paid, house_of()), house_of(), "next").paybacks == ()
    assert do(closed, house_of(), "next") == paid, "white marks it"
    assert do(moved(closed, house_of()), house_of(), "open_hand").paybacks == closed.paybacks


def test_a_correction_is_reopened_as_it_was_corrected(disputed: tuple[Journal, JournalReader, State]) -> None:
    journal, reader, state = disputed
    way = [("set_card", {"seat": 1, "row": "front", "index": 1, "card": "Jc"}), ("next", {})]
    again = reopened(state, reader, 1)
    journal.append(
        decide(
            state,
            parse_command('{"do":"reopen","past":1,"reason":"x"}'),
            house_of(),
            RULES,
            lambda n: end_of_hand(reader, n),
        ),
        "test",
    )
    for name, fields in way:
        events = decide(again, parse_command(canonical({"do": name, **fields})), house_of(), RULES)
        again, followed = step(again, events, RULES)
        journal.append(events, "test", followed)
    assert reader.recover()[0] == again
    second = reopened(again, reader, 1)
    assert second.previous_settlement is not None
    assert [card.card for card in second.seats[0].front] == ["Qs", "Jc", "4c"]
    assert do(second, house_of(), "next").paybacks == again.paybacks, "nothing changed, nothing is owed"


def test_voiding_a_reopened_hand_pays_everything_back(disputed: tuple[Journal, JournalReader, State]) -> None:
    _, reader, state = disputed
    closed = do(reopened(state, reader, 2), house_of(), "void", reason="marked deck")
    assert (closed.phase, closed.settlement) == (Phase.ARCHIVED, None)
    assert [(b.payer, b.winner, b.amount) for b in closed.paybacks] == [("p1", "p2", 300)]


@pytest.mark.parametrize(
    ("name", "fields", "why"),
    [
        ("look_again", {}, "no longer lie"),
        ("mark_paid", {"a": 2, "b": 1}, "close it"),
        ("reopen", {"past": 2, "reason": "x"}, "close it first"),
    ],
)
def test_what_a_reopened_hand_refuses(
    disputed: tuple[Journal, JournalReader, State], name: str, fields: dict[str, Any], why: str
) -> None:
    _, reader, state = disputed
    with pytest.raises(CommandRefused, match=why):
        do(reopened(state, reader, 1), house_of(), name, lambda n: end_of_hand(reader, n), **fields)


def test_only_a_settled_hand_of_the_record_is_reopened(
    disputed: tuple[Journal, JournalReader, State], deal: Deal
) -> None:
    _, reader, state = disputed
    with pytest.raises(CommandRefused, match="not in the record"):
        reopened(state, reader, 9)
    running = apply(state, deal.opened(3))
    again = reopened(running, reader, 1)
    assert again.waiting == running, "a hand that is being played waits"


def test_devices_and_people_of_now_stay_when_a_past_hand_is_closed(
    disputed: tuple[Journal, JournalReader, State],
) -> None:
    _, reader, state = disputed
    again = apply(reopened(state, reader, 1), ev.DeviceFault("camera", "unplugged"))
    assert do(again, house_of(), "next").faults == {"camera": "unplugged"}
