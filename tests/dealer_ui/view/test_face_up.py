"""The page while cards are placed: what is asked, what may be answered, what nobody is told."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest

from dealer_ui.text.fantasyland_words import aside_words, next_words
from dealer_ui.view.build import view
from dealer_ui.view.irregularities import irregularity_words, things_words
from firmware.table import Phase
from firmware.table import events as ev
from firmware.table.events import IrregularityKind

if TYPE_CHECKING:
    from dealer_ui.view.screen import Screen
    from tests.dealer_ui.felt import Felt


@pytest.fixture
def placing(felt: Felt) -> Felt:
    """A face-up hand: all seats have placed their backs."""
    felt.options = {"deal.kind": "face_up", "limits.min_points": 0}
    felt.rules = felt.rules.with_options(felt.options)
    felt.deal()
    assert felt.state.opened is not None
    felt.go_on()
    for seat in (1, 2, 3, 4):
        for card in felt.hands[seat][2].split():
            felt.say(ev.CardPlaced(seat, "back", ev.CardReading(card, 1.0, True)))
    return felt


def shown(felt: Felt) -> Screen:
    return view(felt.seq, felt.state, felt.rules)


def test_the_rows_grow_and_the_next_seat_is_named(placing: Felt) -> None:
    screen = shown(placing)
    assert screen.phase_title == "Street 2 of 9"
    assert screen.next_step.startswith("Seat 3 places one card")  # the puck is at seat 2
    back = next(row for row in screen.seats[0].rows if row.row == "back")
    assert [card.face for card in back.cards] == ["up"] * 5
    front = next(row for row in screen.seats[0].rows if row.row == "front")
    assert [card.face for card in front.cards] == ["empty"] * 3
    assert screen.actions == (), "white is refused until all cards are placed"


NAMED: dict[str, str] = {
    "card_moved": "card_moved",
    "card_missing": "card_moved",
    "card_changed": "card_moved",
    "card_twice": "card_twice",
    "extra_card": "wrong_number_of_cards",
    "face_down": "exposed_card",
    "out_of_turn": "misdeal",
}
"""Which of the house's texts an irregularity is shown with."""


@pytest.mark.parametrize("what", get_args(IrregularityKind))
def test_every_irregularity_is_said_with_the_houses_rule(placing: Felt, what: IrregularityKind) -> None:
    seen = ev.IrregularitySeen(
        1, what, 1, "back", 0, "2h", 2, "front", ev.CardReading("3h", 1.0, True), "back"
    )
    title, sentence, rule, record, table = irregularity_words(seen, placing.rules)
    assert title
    assert sentence.endswith(".")
    assert rule == getattr(placing.rules.irregularities, NAMED[what])
    named = placing.rules.with_options({f"irregularities.{NAMED[what]}": "The house says this of it."})
    assert irregularity_words(seen, named)[2] == "The house says this of it."
    assert bool(table) == (what not in ("extra_card", "face_down", "card_twice"))
    assert bool(record) == (what != "card_twice")


def test_an_irregularity_is_asked_and_each_answer_is_one_that_the_table_takes(placing: Felt) -> None:
    crop = ev.Capture("000001/a-back.jpg", "0" * 64, 9)
    placing.say(ev.IrregularitySeen(1, "card_missing", 1, "back", 0, "2h", capture=crop))
    screen = shown(placing)
    assert screen.mode == "need"
    (need,) = screen.needs
    assert need.rule == placing.rules.irregularities.card_moved
    assert [picture.capture for picture in need.pictures] == [crop.name]
    before = placing.state
    for action in need.actions:
        placing.state = before
        assert placing.do(**action.command).irregularities == ()


def test_everything_offered_while_placing_is_taken(placing: Felt) -> None:
    screen, before = shown(placing), placing.state
    offered = [*screen.actions, *(a for group in screen.more for a in group.actions)]
    offered += [action for seat in screen.seats for action in seat.actions]
    assert {action.command["do"] for action in offered} >= {
        "declare",
        "key_hand",
        "misdeal",
        "void",
        "key_button",
    }
    for action in offered:
        placing.state = before
        placing.do(**action.command)


def test_a_settlement_without_the_look_after_the_signal_says_why_there_was_none(placing: Felt) -> None:
    """Placed cards are on record and settle; that nobody saw them lie there still is not left unsaid."""
    for seat in (1, 2, 3, 4):
        for row, cards in zip(("front", "middle"), placing.hands[seat], strict=False):
            for card in cards.split():
                placing.say(ev.CardPlaced(seat, row, ev.CardReading(card, 1.0, True)))  # type: ignore[arg-type]
    placing.to_reading()
    why = "The table did not lie still: something moves over the table. Look again."
    placing.say(ev.ReadingFailed(why))
    assert placing.state.phase is Phase.SETTLED
    assert shown(placing).notices == (why,)
    placing.do("look_again")
    placing.say(ev.ReadingTaken(()))
    assert placing.state.phase is Phase.SETTLED
    assert shown(placing).notices == ()


def test_a_closed_seat_shows_backs_until_the_signal(felt: Felt) -> None:
    felt.options = {"deal.kind": "face_up", "limits.min_points": 0}
    felt.rules = felt.rules.with_options(felt.options)
    felt.deal()
    felt.state = replace(
        felt.state,
        seats=tuple(replace(s, open=s.seat != 4, fantasyland=s.seat == 4) for s in felt.state.seats),
    )
    felt.go_on()
    assert felt.state.phase is Phase.PLACING
    screen = shown(felt)
    lucky = next(seat for seat in screen.seats if seat.seat == 4)
    assert {card.face for row in lucky.rows for card in row.cards} == {"back"}
    assert [flag.text for flag in lucky.flags] == ["Fantasy Land"]


def test_fantasy_land_of_more_cards_is_said_wherever_cards_are_dealt_counted_or_announced(felt: Felt) -> None:
    felt.options = {"deal.kind": "pineapple", "limits.players": 3, "limits.min_points": 0}
    felt.rules = felt.rules.with_options(felt.options)
    felt.deal()
    assert felt.state.opened is not None
    lucky = felt.state.seats[-1].seat
    felt.state = replace(
        felt.state,
        opened=replace(felt.state.opened, street_cards=2),
        seats=tuple(
            replace(
                s, open=s.seat != lucky, fantasyland=s.seat == lucky, fantasyland_cards=15 * (s.seat == lucky)
            )
            for s in felt.state.seats
        ),
    )
    assert f"Face down: 15 to seat {lucky}. Of more than 13 cards, 13 are laid" in shown(felt).next_step
    felt.go_on()
    screen = shown(felt)
    assert screen.phase_title == "Street 1 of 5"
    flags = next(seat.flags for seat in screen.seats if seat.seat == lucky)
    assert [flag.text for flag in flags] == ["Fantasy Land: 15 cards"]
    assert aside_words(lucky, 15) == (
        f"Seat {lucky} was dealt 15 cards and lays 13: the others (2) lie aside, face down."
    )
    assert [next_words(cards, kept=cards == 14) for cards in (14, 17)] == [
        "Keeps Fantasy Land, 14 cards: announce",
        "Fantasy Land next hand: 17 cards",
    ]


def test_between_hands_everything_offered_is_taken(felt: Felt) -> None:
    felt.to_archived()
    screen, before = shown(felt), felt.state
    offered = [action for group in screen.more for action in group.actions]
    offered += [action for one in screen.players for action in one.actions]
    assert {action.command["do"] for action in offered} >= {"reopen", "sit_out", "pass_round"}
    for action in offered:
        if action.command["do"] != "reopen":  # needs the record: tests/firmware/runtime
            felt.state = before
            felt.do(**action.command)
    assert json.dumps(screen.to_json())


def test_what_lies_on_a_card_is_said() -> None:
    assert things_words(()) == ""
    assert things_words(("joker", "hand")) == "There also lies a joker and a hand."


def test_while_a_face_up_hand_is_dealt_nobody_is_told_to_deal_cards_face_down(felt: Felt) -> None:
    felt.options = {"deal.kind": "face_up", "limits.min_points": 0}
    felt.rules = felt.rules.with_options(felt.options)
    felt.deal()
    assert (
        shown(felt).next_step
        == "Cards are placed face up, street by street. White push-button: placing begins."
    )
