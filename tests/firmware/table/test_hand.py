"""What one hand remembers, asks and refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from firmware.table import Ask, CommandRefused, Phase, Question, State, apply, fold
from firmware.table import events as ev

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal


def test_no_card_is_known_before_the_reading(deal: Deal) -> None:
    for phase in (Phase.DEALING, Phase.SETTING, Phase.SHOWDOWN, Phase.READING):
        state = deal.at(phase)
        assert not any(cards for seat in state.seats for cards in seat.rows.values())


def test_a_hand_opens_with_all_that_a_restart_needs(deal: Deal) -> None:
    before = [
        *deal.until(Phase.ARCHIVED),
        ev.PuckSeen("seat", 2, "fine"),
        ev.DeviceFault("camera", "unplugged"),
    ]
    state = fold(before)
    opened = replace(deal.opened(2, button=2), puck=state.puck, faults=dict(state.faults))
    assert fold([*before, opened]) == fold([opened])


# ---- the puck ----


def test_the_button_follows_the_puck_only_until_the_cards_are_out(deal: Deal) -> None:
    dealing = deal.at(Phase.DEALING, ev.PuckSeen("seat", 2))
    assert dealing.button == 2
    setting = fold([ev.PhaseAdvanced(Phase.SETTING), ev.PuckSeen("seat", 1)], dealing)
    assert setting.button == 2
    assert setting.puck.seat == 1


@pytest.mark.parametrize("said", ["none", "unknown", "ambiguous", "apart", "fault"])
def test_a_puck_that_is_not_known_is_no_button_never_the_last_one(deal: Deal, said: ev.PuckState) -> None:
    assert deal.at(Phase.DEALING, ev.PuckSeen("seat", 2), ev.PuckSeen(said)).button is None


def test_a_restart_while_dealing_forgets_where_the_puck_was(deal: Deal) -> None:
    state = deal.at(Phase.DEALING, ev.DeviceFault("camera", "gone"), ev.TableStarted())
    assert state.button is None
    assert not state.faults


def test_a_keyed_button_stands_against_the_puck(deal: Deal) -> None:
    assert deal.at(Phase.DEALING, ev.ButtonKeyed(2), ev.PuckSeen("seat", 1)).button == 2


def test_a_missing_button_is_asked_and_holds_the_settlement(deal: Deal) -> None:
    events = [deal.opened(button=None), *deal.until(Phase.REVIEW)[1:]]
    state = fold(events)
    assert state.questions == (Question(Ask.BUTTON),)
    with pytest.raises(CommandRefused, match="open"):
        apply(state, deal.settled())
    assert apply(apply(state, ev.ButtonKeyed(1)), deal.settled()).phase is Phase.SETTLED


def test_a_button_keyed_after_the_settlement_takes_it_back(deal: Deal) -> None:
    state = deal.at(Phase.SETTLED, ev.ButtonKeyed(2))
    assert (state.phase, state.settlement, state.button) == (Phase.REVIEW, None, 2)


# ---- cards ----


def test_a_hand_with_an_unsure_card_waits_for_the_dealer(deal: Deal) -> None:
    state = fold(deal.until(Phase.REVIEW, unsure=((2, "back", 4),)))
    assert state.questions == (Question(Ask.CARD, 2, "back", 4, ("Kd", "2c")),)
    with pytest.raises(CommandRefused, match="open"):
        apply(state, deal.settled())
    answered = apply(state, ev.CardResolved(2, "back", 4, "Kd"))
    assert answered.questions == ()
    seat = answered.seat(2)
    assert seat is not None
    assert (seat.back[4].card, seat.back[4].by) == ("Kd", "dealer")


def test_an_answer_that_is_already_on_the_table_is_asked_at_both_spots(deal: Deal) -> None:
    state = fold([*deal.until(Phase.REVIEW, unsure=((2, "back", 4),)), ev.CardResolved(2, "back", 4, "Qs")])
    assert [(q.what, q.seat, q.row, q.index) for q in state.questions] == [
        (Ask.DUPLICATE, 1, "front", 0),
        (Ask.DUPLICATE, 2, "back", 4),
    ]


@pytest.mark.parametrize("cards", ["Qs Qd", "Qs Qd 4c 4d", ""])
def test_a_row_of_the_wrong_count_is_asked_as_a_whole(deal: Deal, cards: str) -> None:
    seat_1: dict[ev.Row, str] = {**deal.rows[1], "front": cards}
    state = fold([*deal.until(Phase.READING), replace(deal, rows={**deal.rows, 1: seat_1}).reading()])
    assert state.questions == (Question(Ask.COUNT, 1, "front", None, tuple(cards.split())),)
    keyed = apply(state, ev.RowKeyed(1, "front", ("Qs", "Qd", "4c")))
    assert keyed.questions == ()


def test_a_row_that_was_not_read_at_all_is_asked(deal: Deal) -> None:
    seat_2 = dict(deal.rows[2])
    del seat_2["middle"]
    state = fold([*deal.until(Phase.READING), replace(deal, rows={**deal.rows, 2: seat_2}).reading()])
    assert [(q.what, q.seat, q.row) for q in state.questions] == [(Ask.COUNT, 2, "middle")]


def test_a_failed_reading_asks_every_row_and_can_be_keyed(deal: Deal) -> None:
    state = deal.at(Phase.READING, ev.ReadingFailed("The camera does not answer."))
    assert state.reading_failure == "The camera does not answer."
    assert [q.what for q in state.questions] == [Ask.COUNT] * 6
    for seat, rows in deal.rows.items():
        for row, cards in rows.items():
            state = apply(state, ev.RowKeyed(seat, row, tuple(cards.split())))
    assert state.questions == ()


def test_a_seat_that_surrendered_is_asked_nothing(deal: Deal) -> None:
    state = fold(
        [
            *deal.until(Phase.SETTING),
            ev.PlayerSurrendered(1),
            ev.PhaseAdvanced(Phase.SHOWDOWN),
            ev.PhaseAdvanced(Phase.READING),
            replace(deal, rows={2: deal.rows[2]}).reading(),
        ]
    )
    assert state.questions == ()


def test_looking_again_drops_the_dealers_answers(deal: Deal) -> None:
    unsure: tuple[tuple[int, ev.Row, int], ...] = ((2, "back", 4),)
    state = fold(
        [
            *deal.until(Phase.REVIEW, unsure),
            ev.CardResolved(2, "back", 4, "Kd"),
            ev.LookedAgain(),
            deal.reading(unsure),
        ]
    )
    assert [q.what for q in state.questions] == [Ask.CARD]


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (ev.CardResolved(1, "front", 0, "2c"), "certain"),
        (ev.CardCorrected(1, "front", 0, "1x"), "no card"),
        (ev.CardCorrected(1, "front", 0, "Qs"), "already"),
        (ev.CardCorrected(1, "front", 3, "2c"), "none at 3"),
        (ev.CardCorrected(1, "front", -1, "2c"), "none at -1"),
        (ev.CardCorrected(3, "front", 0, "2c"), "Seat 3 does not play"),
        (ev.RowKeyed(1, "front", ("2c", "3c")), "3 cards, not 2"),
        (ev.RowKeyed(1, "front", ("2c", "3c", "??")), "no card"),
        (ev.ButtonKeyed(6), "no seat 6"),
        (ev.HandVoided("  "), "why"),
        (ev.PuckSeen("none", 2), "no seat"),
        (ev.PuckSeen("seat"), "no seat None"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(deal: Deal, event: ev.Event, why: str) -> None:
    state = deal.at(Phase.REVIEW)
    with pytest.raises(CommandRefused, match=why):
        apply(state, event)


def test_a_reading_of_a_seat_that_does_not_play_is_refused(deal: Deal) -> None:
    reading = replace(deal, rows={3: deal.rows[1]}).reading()
    with pytest.raises(CommandRefused, match="Seat 3"):
        apply(deal.at(Phase.READING), reading)


def test_a_correction_after_the_settlement_takes_it_back_and_its_marks(deal: Deal) -> None:
    state = deal.at(Phase.SETTLED, ev.PaymentMarked(2, 1))
    assert state.paid == {(2, 1)}
    corrected = apply(state, ev.CardCorrected(1, "front", 2, "4d", "4c"))
    assert (corrected.phase, corrected.settlement, corrected.paid) == (Phase.REVIEW, None, frozenset())
    assert apply(corrected, deal.settled()).settlements == 2


# ---- naturals ----


def test_a_declared_natural_waits_for_green(deal: Deal) -> None:
    state = deal.at(Phase.REVIEW, ev.NaturalDeclared(2))
    assert state.questions == (Question(Ask.NATURAL, 2),)
    with pytest.raises(CommandRefused, match="open"):
        apply(state, deal.settled())
    confirmed = apply(state, ev.NaturalConfirmed(2, "dragon", 3))
    assert apply(confirmed, deal.settled()).phase is Phase.SETTLED


def test_a_natural_is_not_confirmed_over_an_open_card(deal: Deal) -> None:
    state = fold([*deal.until(Phase.REVIEW, ((2, "back", 4),)), ev.NaturalDeclared(2)])
    with pytest.raises(CommandRefused, match="cards"):
        apply(state, ev.NaturalConfirmed(2, "dragon", 3))


def test_looking_again_keeps_a_confirmed_naturals_cards_under_the_marker(deal: Deal) -> None:
    only_first = replace(deal, rows={1: deal.rows[1]})
    state = deal.at(
        Phase.REVIEW,
        ev.NaturalDeclared(2),
        ev.NaturalConfirmed(2, "dragon", 3),
        ev.LookedAgain(),
        only_first.reading(),
    )
    assert state.questions == ()


def test_other_cards_ask_for_the_confirmation_again(deal: Deal) -> None:
    state = deal.at(Phase.REVIEW, ev.NaturalDeclared(2), ev.NaturalConfirmed(2, "dragon", 3))
    corrected = apply(state, ev.CardCorrected(2, "front", 0, "2c", "Kc"))
    assert Question(Ask.NATURAL, 2) in corrected.questions


def test_a_confirmation_can_be_undone_until_a_payment_is_marked(deal: Deal) -> None:
    settled = deal.at(
        Phase.REVIEW, ev.NaturalDeclared(2), ev.NaturalConfirmed(2, "dragon", 3), deal.settled()
    )
    undone = apply(settled, ev.NaturalUnconfirmed(2))
    assert (undone.phase, undone.settlement) == (Phase.REVIEW, None)
    assert undone.questions == (Question(Ask.NATURAL, 2),)
    with pytest.raises(CommandRefused, match="paid"):
        apply(apply(settled, ev.PaymentMarked(2, 1)), ev.NaturalUnconfirmed(2))


def test_nobody_both_declares_and_surrenders(deal: Deal) -> None:
    with pytest.raises(CommandRefused, match="surrendered"):
        deal.at(Phase.SETTING, ev.PlayerSurrendered(1), ev.NaturalDeclared(1))
    with pytest.raises(CommandRefused, match="declared"):
        deal.at(Phase.SETTING, ev.NaturalDeclared(1), ev.PlayerSurrendered(1))


# ---- the end ----


def _stacks(state: State) -> list[int | None]:
    return [state.stacks[player] for player in ("p1", "p2")]


def test_an_archived_hand_moves_the_stacks_and_a_void_one_does_not(deal: Deal) -> None:
    assert _stacks(deal.at(Phase.ARCHIVED)) == [10_100, 9_900]
    assert _stacks(deal.at(Phase.SETTLED, ev.HandVoided("wrong deck"))) == [10_000, 10_000]


def test_a_payment_mark_can_be_taken_back_and_needs_a_payment(deal: Deal) -> None:
    assert (
        deal.at(Phase.SETTLED, ev.PaymentMarked(2, 1), ev.PaymentMarked(2, 1, paid=False)).paid == frozenset()
    )
    with pytest.raises(CommandRefused, match="Nothing is to be paid"):
        deal.at(Phase.SETTLED, ev.PaymentMarked(1, 2))


def test_an_irregular_settlement_is_refused(deal: Deal) -> None:
    with pytest.raises(CommandRefused, match="irregular"):
        deal.at(Phase.REVIEW, ev.HandSettled({"pairs": [], "irregularities": [{"what": "duplicate"}]}))


def test_a_hand_number_is_used_once(deal: Deal) -> None:
    with pytest.raises(CommandRefused, match="cannot follow"):
        deal.at(Phase.ARCHIVED, deal.opened(1))


@pytest.mark.parametrize(
    ("seats", "why"),
    [
        ((ev.SeatOpened(1, "a", "A"),), "Two to four"),
        ((ev.SeatOpened(1, "a", "A"), ev.SeatOpened(1, "b", "B")), "One seat"),
        ((ev.SeatOpened(1, "a", "A"), ev.SeatOpened(2, "b", "A")), "One place"),
        ((ev.SeatOpened(1, "a", "A"), ev.SeatOpened(9, "b", "B")), "no seat 9"),
    ],
)
def test_seats_that_cannot_play_open_no_hand(deal: Deal, seats: tuple[ev.SeatOpened, ...], why: str) -> None:
    with pytest.raises(CommandRefused, match=why):
        fold([replace(deal.opened(), seats=seats)])
