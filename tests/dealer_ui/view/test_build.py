"""What the screen shows of a hand's life."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dealer_ui.view.build import view
from dealer_ui.view.screen import Screen, Seat
from dealer_ui.view.table_answer import TableAnswer
from firmware.rules import load_profile
from firmware.table import INITIAL, Phase
from firmware.table import events as ev
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import SIX_PAIRS_DEALT, Felt
from tests.dealer_ui.past import corrected, reopen


def shown(felt: Felt, *, answering: bool = True) -> Screen:
    return view(felt.seq, felt.state, felt.rules, table=TableAnswer(answering))


def at(screen: Screen, seat: int) -> Seat:
    return next(one for one in screen.seats if one.seat == seat)


def commands(seat: Seat) -> set[str]:
    return {action.command["do"] for action in seat.actions}


# ---- before rows are compared ----


def test_an_empty_table_says_what_it_waits_for_and_offers_to_open_a_hand() -> None:
    screen = view(0, INITIAL, load_profile("traditional"))
    assert screen.phase_title == "Waiting for a hand"
    assert [action.command for action in screen.actions] == [{"do": "next", "hand": 0, "phase": "idle"}]
    assert [seat.seat for seat in screen.seats] == [None] * 4
    assert screen.hand is None


def play_face_up(felt: Felt) -> Felt:
    """Deal the next hands face up, as the profile has it."""
    felt.rules = felt.rules.with_options({"deal.kind": "face_up"})
    return felt


@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_says_in_words_where_the_hand_is_and_what_comes_next(phase: Phase, felt: Felt) -> None:
    way: dict[Phase, Callable[[], object]] = {
        Phase.IDLE: lambda: None,
        Phase.DEALING: felt.deal,
        Phase.SETTING: felt.to_setting,
        Phase.PLACING: lambda: (play_face_up(felt), felt.deal(), felt.do("next")),
        Phase.SHOWDOWN: lambda: (felt.to_setting(), felt.do("next")),
        Phase.READING: lambda: (felt.to_setting(), felt.to_reading()),
        Phase.REVIEW: lambda: (felt.to_setting(), felt.to_reading(), felt.read({(1, "back", 0): ("2h",)})),
        Phase.SETTLED: felt.to_settled,
        Phase.ARCHIVED: lambda: (felt.to_settled(), felt.say(ev.HandArchived())),
        Phase.VOID: lambda: (felt.deal(), felt.do("void", reason="Misdeal")),
    }
    way[phase]()
    screen = shown(felt)
    assert screen.phase == felt.state.phase == phase
    assert screen.phase_title
    assert screen.next_step or screen.payment


def test_seats_lie_where_their_places_are_on_the_felt(lay: Lay) -> None:
    felt = lay(seats={2: "C", 5: "A"})
    felt.deal()
    screen = shown(felt)
    assert [seat.place for seat in screen.seats] == ["A", "B", "C", "D"]
    assert [seat.seat for seat in screen.seats] == [5, None, 2, None]


def test_no_face_is_shown_before_the_reading(felt: Felt) -> None:
    steps: list[Callable[[], object]] = [felt.deal, felt.go_on, felt.go_on, felt.look]
    for step in steps:
        step()
        screen = shown(felt)
        faces = {card.face for seat in screen.seats for row in seat.rows for card in row.cards}
        assert len(faces) == 1
        assert faces <= {"empty", "back", "unseen"}
        assert not screen.used


def test_a_seat_may_declare_while_players_set_and_take_it_back(felt: Felt) -> None:
    felt.to_setting()
    assert commands(at(shown(felt), 1)) == {"declare"}  # this game offers no surrender
    felt.do("declare", seat=1)
    seat = at(shown(felt), 1)
    assert commands(seat) == {"withdraw"}
    assert [flag.text for flag in seat.flags] == ["Natural declared"]


def test_surrender_is_offered_where_the_profile_offers_it(lay: Lay) -> None:
    felt = lay(profile="washington-1-unit")
    felt.to_setting()
    assert commands(at(shown(felt), 3)) == {"declare", "surrender"}
    felt.do("surrender", seat=3)
    assert commands(at(shown(felt), 3)) == {"withdraw_surrender"}


def test_a_game_without_naturals_offers_no_declaration(lay: Lay) -> None:
    felt = lay(profile="traditional")
    felt.to_setting()
    assert commands(at(shown(felt), 1)) == set()


def test_an_undeclared_natural_is_not_named_before_rows_are_compared(felt: Felt) -> None:
    felt.hands = dict(SIX_PAIRS_DEALT)
    felt.to_setting()
    felt.to_reading()
    felt.read({(4, "back", 0): ("Qs", "Ks")})
    screen = shown(felt)
    assert screen.phase == "review"
    assert "natural" not in json.dumps([seat.flags for seat in screen.seats], default=vars).lower()
    assert "pairs" not in json.dumps(screen.to_json()["needs"])
    assert all(row.category == "" for seat in screen.seats for row in seat.rows)


# ---- the settlement ----


def test_the_settled_hand_of_the_sketch_is_shown_as_it_was_drawn(felt: Felt) -> None:
    felt.to_settled()
    felt.pay()
    screen = shown(felt)
    totals = {seat.seat: (seat.points, seat.total, seat.trend) for seat in screen.seats}
    assert totals == {
        1: ("+46", "+$230", "up"),
        2: ("+4", "+$20", "up"),
        3: ("−40", "−$200", "down"),
        4: ("−10", "−$50", "down"),
    }
    assert screen.payment is not None
    assert (screen.payment.payer, screen.payment.winner, screen.payment.amount) == (4, 2, "$25")
    assert {seat.seat: seat.role for seat in screen.seats} == {1: "", 2: "collects", 3: "", 4: "pays"}
    assert at(screen, 2).button
    assert [pay.label for pay in screen.payments] == ["3 ▸ 2", "4 ▸ 2", "2 ▸ 1", "3 ▸ 4", "3 ▸ 1", "4 ▸ 1"]
    assert [pay.state for pay in screen.payments] == ["paid", "now", "later", "later", "later", "later"]
    assert [flag.text for flag in at(screen, 1).flags] == ["Fantasy Land next hand"]
    assert [flag.text for flag in at(screen, 3).flags] == ["FOUL · middle above back"]


def test_rows_say_their_category_their_bonus_and_who_won_in_this_payment(felt: Felt) -> None:
    felt.to_settled()
    felt.pay()
    rows = {row.row: row for row in at(shown(felt), 2).rows}
    assert (rows["back"].category, rows["back"].detail, rows["back"].bonus) == ("Straight", "nine high", 2)
    assert {row.outcome for row in rows.values()} == {"won"}
    assert {row.outcome for row in at(shown(felt), 4).rows} == {"lost"}
    assert {row.outcome for row in at(shown(felt), 1).rows} == {""}, "seat 1 has no part in this payment"


def test_against_a_foul_no_row_is_called_won(felt: Felt) -> None:
    felt.to_settled()
    assert {row.outcome for row in at(shown(felt), 2).rows} == {""}


def test_cards_can_be_corrected_until_a_payment_is_marked(felt: Felt) -> None:
    felt.to_settled()
    card = at(shown(felt), 1).rows[0].cards[2]
    assert card.pad is not None
    place: dict[str, Any] = {"do": "set_card", "seat": 1, "row": "front", "index": 2, "hand": 1}
    assert card.pad.command == {**place, "swap": True}
    felt.do(**place, card="7h")  # the table takes it; the seven of hearts is now there twice
    assert felt.state.phase is Phase.REVIEW
    assert ("7h", 2, False) in shown(felt).used, "it is asked which it is: they do not change places"
    felt.do("set_card", seat=2, row="back", index=2, card="7c")
    felt.pay()
    assert all(card.pad is None for seat in shown(felt).seats for row in seat.rows for card in row.cards)


def test_two_cards_that_changed_places_are_told_marked_and_taken_back(felt: Felt) -> None:
    felt.to_settled()
    pad = at(shown(felt), 1).rows[0].cards[2].pad
    assert pad is not None
    assert ("Kc", 4, True) in shown(felt).used
    felt.do(**pad.command, card="Kc")
    screen = shown(felt)
    assert (
        "Changed places: seat 1, front, card 3 is the king of clubs; seat 4, back, card 5 is the seven of clubs."
        in screen.notices
    )
    marked = [card.code for seat in screen.seats for row in seat.rows for card in row.cards if card.swapped]
    assert sorted(marked) == ["7c", "Kc"]
    undo = next(action for action in screen.actions if action.label == "Undo")
    felt.do(**undo.command)
    assert not any("Changed places" in notice for notice in shown(felt).notices)


def test_when_all_is_paid_the_next_hand_is_offered(felt: Felt) -> None:
    felt.to_settled()
    while shown(felt).payment is not None:
        felt.do(**shown(felt).actions[-1].command)
    screen = shown(felt)
    assert screen.phase_title == "All paid"
    assert screen.actions[-1].command == {"do": "next", "phase": "settled", "hand": 1}
    assert len(felt.state.paid) == 6


def test_a_hand_is_closed_with_open_payments_by_a_held_button_that_names_them_and_with_none_by_a_touch(
    felt: Felt,
) -> None:
    felt.to_settled()

    def closing() -> tuple[str, bool]:
        (found,) = [
            (group.title, action.hold)
            for group in shown(felt).more
            for action in group.actions
            if action.command.get("do") == "archive"
        ]
        return found

    title, is_held = closing()
    assert title.startswith("Close the hand: still to be paid 3\N{NO-BREAK SPACE}▸")
    assert is_held
    felt.pay_all()
    assert closing() == ("Before the next hand", False)


def test_where_no_next_hand_can_be_dealt_white_closes_the_paid_one_and_the_page_says_why(lay: Lay) -> None:
    options = {"deal.kind": "closed", "limits.min_points": 10}
    felt = lay(seats={1: "A", 2: "B"}, stack=10_000, options=options)
    felt.to_settled()
    felt.pay_all()
    assert "Moreno has too few chips" in shown(felt).notices[0]
    assert shown(felt).actions[-1].label == "Close the hand"
    felt.do(**shown(felt).actions[-1].command)
    assert felt.state.phase is Phase.ARCHIVED
    assert "Moreno has too few chips" in shown(felt).notices[0]
    assert (shown(felt).actions[-1].label, shown(felt).actions[-1].tone) == ("Open a hand", "wait")
    felt.do("count_stack", player="Moreno", stack=10_000, reason="chips bought")
    assert shown(felt).notices == ()


def test_every_offered_action_is_one_that_the_table_takes(felt: Felt) -> None:
    """Walk through a hand and try each button of each screen on the state that it was shown for."""
    tried: set[str] = set()

    def try_all() -> None:
        screen, state = shown(felt), felt.state
        offered = [*screen.actions, *(a for group in screen.more for a in group.actions)]
        offered += [action for seat in screen.seats for action in seat.actions]
        offered += [action for need in screen.needs for action in (*need.actions, *need.choices)]
        offered += [action for need in screen.needs for _, action in need.candidates]
        for action in offered:
            felt.do(**action.command)  # raises CommandRefused if the page offers what the table refuses
            tried.add(action.command["do"])
            felt.state = state

    felt.hands = dict(SIX_PAIRS_DEALT)
    try_all()
    felt.deal(button=None)
    try_all()
    felt.do("next")
    try_all()
    felt.do("declare", seat=1)
    try_all()
    felt.to_reading()
    try_all()
    felt.read({(4, "back", 0): ("Qs", "Ks")})
    try_all()
    felt.do("key_button", seat=2)
    try_all()
    felt.do("set_card", seat=4, row="back", index=0, card="Qs")
    try_all()
    felt.do("confirm", seat=1)
    try_all()
    felt.pay()
    try_all()
    assert tried == {
        "next",
        "void",
        "key_button",
        "declare",
        "withdraw",
        "look_again",
        "set_card",
        "confirm",
        "undo_confirm",
        "mark_paid",
        "misdeal",
        "key_hand",
        "archive",
        "back_to_setting",
    }


def test_who_keeps_fantasy_land_is_to_announce_it(felt: Felt) -> None:
    felt.to_settled()
    assert [flag.text for flag in at(shown(felt), 1).flags] == ["Fantasy Land next hand"]
    felt.state = replace(
        felt.state, seats=tuple(replace(seat, fantasyland=True) for seat in felt.state.seats)
    )
    assert [flag.text for flag in at(shown(felt), 1).flags] == ["Keeps Fantasy Land: announce"]


def test_a_natural_that_a_foul_voids_is_said_beside_the_foul(felt: Felt) -> None:
    front, middle, back = SIX_PAIRS_DEALT[1]
    felt.to_natural(hands={**SIX_PAIRS_DEALT, 1: (front, back, middle)})
    felt.do("confirm", seat=1)
    assert [flag.text for flag in at(shown(felt), 1).flags] == ["FOUL", "Natural void"]


# ---- what is worth a sound ----


def test_each_foul_is_a_cue_once_the_hand_is_settled(felt: Felt) -> None:
    felt.to_setting()
    felt.to_reading()
    assert shown(felt).cues == ()
    felt.read()
    assert shown(felt).cues == ("foul-1-3",)
    felt.pay()
    assert shown(felt).cues == ("foul-1-3",), "the same one: nothing new is heard"


def test_a_fault_and_a_table_that_does_not_answer_are_cues(felt: Felt) -> None:
    felt.say(ev.DeviceFault("camera", "The camera gives no picture."))
    assert shown(felt).cues == ("fault-camera",)
    assert shown(felt, answering=False).cues == ("fault-table",)


def test_an_undeclared_natural_is_no_cue(felt: Felt) -> None:
    felt.to_natural(3)
    assert shown(felt).cues == ("natural-1-3",), "the declared one only, though seat 1 holds six pairs"


# ---- what is wrong ----


def test_a_device_that_dropped_out_is_named_with_its_sentence(felt: Felt) -> None:
    felt.say(ev.DeviceFault("camera", "The camera gives no picture. Check its cable."))
    screen = shown(felt)
    assert {device.name: device.ok for device in screen.devices} == {
        "camera": False,
        "puck": True,
        "push-buttons": True,
    }
    assert screen.needs == ()
    assert screen.alert is not None
    assert (screen.alert.title, screen.alert.others) == ("The camera sees nothing", ())


def test_a_fault_that_the_hand_does_not_need_is_a_line_in_a_dealers_words(felt: Felt) -> None:
    felt.to_settled()
    felt.say(ev.DeviceFault("camera", "The camera gives no picture: /dev/video0 errno 19."))
    felt.say(ev.DeviceFault("view", "Placed cards are not seen: a hand moves. Let the table lie still."))
    screen = shown(felt)
    assert (screen.needs, screen.notices) == ((), ())
    assert screen.alert is not None
    assert screen.alert.title == "Hands off the table"
    assert [other.title for other in screen.alert.others] == ["The camera sees nothing"]
    assert "errno" not in repr(screen.alert)


def test_a_dead_camera_offers_to_key_the_hand_and_the_rows_follow_one_another(felt: Felt) -> None:
    felt.to_setting()
    felt.say(ev.DeviceFault("camera", "The camera gives no picture. Check its cable."))
    assert shown(felt).needs == (), "play goes on"
    felt.do("next")
    (need,) = shown(felt).needs
    felt.do(**need.actions[0].command)
    while shown(felt).needs:
        first = shown(felt).needs[0]
        assert first.follow
        (pad,) = first.pads
        row = felt.hands[pad.command["seat"]][("front", "middle", "back").index(pad.command["row"])]
        felt.do(**pad.command, cards=row)
    assert felt.state.phase is Phase.SETTLED


def test_without_the_table_process_nothing_is_offered_and_no_device_is_called_well(felt: Felt) -> None:
    felt.to_settled()
    screen = shown(felt, answering=False)
    assert screen.actions == () == screen.more
    assert all(not seat.actions for seat in screen.seats)
    assert all(device.ok is not True for device in screen.devices)
    assert screen.payment is not None, "the record is still shown"


def test_a_puck_that_moved_after_the_cards_were_out_is_told_and_not_used(felt: Felt) -> None:
    felt.to_setting(button=2)
    felt.say(ev.PuckSeen("seat", 3))
    screen = shown(felt)
    assert at(screen, 2).button
    assert any("lies at seat 3" in notice and "seat 2 counts" in notice for notice in screen.notices)


def test_a_puck_on_its_way_to_the_next_hand_is_not_told_beside_the_payments(felt: Felt) -> None:
    felt.to_settled()
    felt.say(ev.PuckSeen("seat", 1 if felt.state.button != 1 else 2))
    assert shown(felt).notices == ()


@pytest.mark.parametrize("device", ["puck", "buttons"])
def test_a_dead_device_that_the_page_stands_in_for_leaves_the_showdown_its_place(
    felt: Felt, device: str
) -> None:
    felt.to_setting()
    felt.say(ev.DeviceFault(device, "The cable is out."))
    for phase in ("setting", "showdown"):
        screen = shown(felt)
        assert (screen.phase, screen.needs) == (phase, ())
        assert screen.alert is not None
        felt.say(ev.PhaseAdvanced(Phase.SHOWDOWN if phase == "setting" else Phase.READING))


def test_a_dead_puck_is_said_once_with_where_the_seat_is_keyed(felt: Felt) -> None:
    felt.deal(button=None)
    felt.say(ev.DeviceFault("puck", "The cable is out."))
    screen = shown(felt)
    assert (screen.notices, screen.needs) == ((), ())
    assert screen.alert is not None
    assert screen.alert.todo == "Play on: key the puck's seat."
    felt.do("key_button", seat=3)
    alert = shown(felt).alert
    assert alert is not None
    assert "the puck is at seat 3" in alert.todo


def test_a_foul_is_said_without_the_declaration_that_was_not_borne_out(felt: Felt) -> None:
    felt.to_setting()
    felt.do("declare", seat=3)
    felt.to_reading()
    felt.read()
    felt.do("confirm", seat=3)
    assert [flag.kind for flag in at(shown(felt), 3).flags] == ["foul"]


def test_a_hand_that_is_not_being_paid_names_no_payment_as_due(felt: Felt) -> None:
    felt.to_settled()
    felt.pay()
    felt.do("archive")
    closed = shown(felt)
    assert closed.payment is None
    assert {pay.state for pay in closed.payments} <= {"paid", "later", "nothing"}
    assert closed.transferred is None
    reopen(felt)
    again = shown(felt)
    assert again.phase == "settled"
    assert again.payment is None
    assert again.transfers == ()
    assert "Correct it, then close it" in again.next_step


def test_no_chips_are_named_of_a_corrected_hand_but_what_is_paid_back(felt: Felt) -> None:
    corrected(felt)
    screen = shown(felt)
    assert screen.phase == "archived"
    assert screen.refund is not None
    assert not any("back to" in notice for notice in screen.notices), "it has the large place"
    assert screen.transfers == ()


def test_devices_being_tried_are_told_where_the_buttons_would_be_pressed(felt: Felt) -> None:
    felt.say(ev.TrialBegun())
    assert any("being tried" in notice for notice in shown(felt).notices)
    felt.say(ev.TrialEnded())
    assert not any("being tried" in notice for notice in shown(felt).notices)


def test_a_payment_that_the_stakes_cut_off_says_what_is_short(lay: Lay) -> None:
    felt = lay(stack=3000)
    felt.to_settled()
    shorts = [pay.short for pay in shown(felt).payments if pay.short]
    assert shorts
    assert all("short of the" in short for short in shorts)


def test_the_view_is_plain_json(felt: Felt) -> None:
    felt.to_settled()
    assert json.loads(json.dumps(shown(felt).to_json()))["phase"] == "settled"


# ---- why a hand ends without a settlement ----


def reasons(screen: Screen) -> list[tuple[str, str]]:
    actions = [action for group in screen.more for action in group.actions]
    return [(a.command["do"], a.command["reason"]) for a in actions if "reason" in a.command and a.hold]


def test_a_reason_for_ending_a_hand_stands_once_and_its_group_says_what_it_does(felt: Felt) -> None:
    felt.to_setting()
    setting = reasons(shown(felt))
    assert ("misdeal", "Exposed card") in setting
    assert ("void", "Damaged or marked card") in setting
    said = [reason for _, reason in setting]
    assert len(said) == len(set(said))
    titles = [group.title for group in shown(felt).more]
    assert any("the puck stays, the cards are dealt again" in title for title in titles)
    assert any("nothing is settled, nobody pays" in title for title in titles)
    felt.to_reading()
    felt.read()
    late = reasons(shown(felt))
    assert ("void", "Exposed card") in late, "too late for a misdeal"
    assert not [reason for do, reason in late if do == "misdeal"]
