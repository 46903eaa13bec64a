"""Looks at a face-up table against its record: what is placed, what contradicts it, what the dealer's answer does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from firmware.rules import load_profile
from firmware.table import Ask, CommandRefused, Phase, State, apply, fold
from firmware.table import events as ev
from firmware.table.decide import step
from firmware.table.placing import compare
from firmware.table.streets import dead_seats, not_complete, street, turn
from tests.firmware.conftest import Deal as DealOf
from tests.firmware.conftest import row_reading, spot

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

RULES = load_profile("california-face-up")
FRAME = ev.Capture("000001/watch.jpg", "0" * 64, 5)


def at(deal: Deal, upto: int = 5) -> State:
    """Return a hand in which each open seat has placed so many cards."""
    return fold([*deal.until(Phase.PLACING), *deal.placed(upto)])


def look(state: State, *changed: ev.RowReading) -> list[ev.RowReading]:
    """Return a look that shows what is on record, but for these rows."""
    rows = {(row.seat, row.row): row for row in changed}
    seen = []
    for seat in state.seats:
        for row, cards in seat.rows.items():
            as_is = tuple(
                ev.CardReading(c.card, 0.99, c.sure, (c.card,) if c.card else (), c.corners) for c in cards
            )
            if seat.open:
                seen.append(rows.get((seat.seat, row), ev.RowReading(seat.seat, row, seat.place, as_is)))
    return seen


def zone(seat: int, row: ev.Row, cards: str, at: Sequence[int] = ()) -> ev.RowReading:
    """Return a row as seen, its cards on these spots (in order without)."""
    read = row_reading(seat, row, cards)
    spots = at or range(len(read.cards))
    return replace(
        read,
        cards=tuple(replace(c, corners=spot(seat, row, k)) for c, k in zip(read.cards, spots, strict=True)),
    )


def whats(events: Sequence[ev.Event]) -> list[str]:
    return [e.what if isinstance(e, ev.IrregularitySeen) else e.type for e in events]


def seen(state: State, *changed: ev.RowReading, things: Sequence[ev.Thing] = ()) -> State:
    """Bring a look into the record."""
    return step(state, compare(state, look(state, *changed), things, FRAME), RULES)[0]


# Seat 1's back on record after five cards: Ah Kh 8h 6h 3h; its middle and front are empty.


def test_a_look_at_what_is_on_record_says_nothing(face_up: Deal) -> None:
    state = at(face_up, 9)
    assert compare(state, look(state)) == ()


def test_each_new_card_is_an_event_with_its_picture(face_up: Deal) -> None:
    state = at(face_up)
    crop = ev.Capture("000001/a-front.jpg", "0" * 64, 9)
    events = compare(state, look(state, replace(zone(1, "front", "Qs"), capture=crop)))
    assert events == (ev.CardPlaced(1, "front", zone(1, "front", "Qs").cards[0], crop),)
    after = fold(events, state)
    assert [card.card for card in after.seats[0].front] == ["Qs"]
    assert after.seats[0].captures["front"] == crop


def test_the_same_cards_in_another_order_or_unsure_for_once_are_nothing(face_up: Deal) -> None:
    state = at(face_up)
    turned = zone(1, "back", "3h 6h 8h Kh Ah")
    doubtful = replace(turned, cards=tuple(replace(card, sure=False) for card in turned.cards))
    assert compare(state, look(state, turned)) == compare(state, look(state, doubtful)) == ()


def test_an_unsure_card_is_asked_and_a_later_surer_look_answers(face_up: Deal) -> None:
    unsure = replace(
        zone(1, "front", "Qs"),
        cards=(replace(zone(1, "front", "Qs").cards[0], sure=False, candidates=("Qs", "Ks")),),
    )
    state = seen(at(face_up), unsure)
    assert [(q.what, q.row, q.index, q.cards) for q in state.questions] == [
        (Ask.CARD, "front", 0, ("Qs", "Ks"))
    ]
    surer = seen(state, zone(1, "front", "Ks"))
    assert surer.questions == ()
    assert surer.seats[0].front[0].card == "Ks"
    said = apply(state, ev.CardResolved(1, "front", 0, "Qs"))
    assert compare(said, look(said, unsure)) == ()


def test_what_the_dealer_said_stands_against_the_same_misreading(face_up: Deal) -> None:
    state = apply(at(face_up), ev.CardCorrected(1, "back", 0, "Ad", "Ah"))
    assert compare(state, look(state, zone(1, "back", "Ah Kh 8h 6h 3h"))) == ()
    assert whats(compare(state, look(state, zone(1, "back", "2c Kh 8h 6h 3h")))) == ["card_changed"]


def test_what_the_camera_takes_a_card_for_counts_on_its_own_spot_only(face_up: Deal) -> None:
    state = seen(at(face_up), zone(1, "front", "Qs"))
    state = apply(state, ev.CardCorrected(1, "front", 0, "Qd", "Qs"))
    assert compare(state, look(state, zone(1, "front", "Qs", (0,)))) == ()
    assert "card_missing" in whats(compare(state, look(state, zone(1, "front", "Qs", (2,)))))


# ---- irregularities ----


def moved(deal: Deal) -> State:
    """Seat 1's 8h has moved from back to middle."""
    return seen(at(deal), zone(1, "back", "Ah Kh 6h 3h", (0, 1, 3, 4)), zone(1, "middle", "8h"))


def test_a_set_card_that_moves_is_asked_with_its_picture_and_changes_nothing(face_up: Deal) -> None:
    state = moved(face_up)
    (irregular,) = state.irregularities
    assert (irregular.what, irregular.card, irregular.to_row, irregular.frame) == (
        "card_moved",
        "8h",
        "middle",
        FRAME,
    )
    assert [(q.what, q.number) for q in state.questions] == [(Ask.IRREGULARITY, 1)]
    assert [card.card for card in state.seats[0].back] == ["Ah", "Kh", "8h", "6h", "3h"]
    assert state.seats[0].middle == ()


def test_it_is_asked_once_and_over_when_the_card_is_back(face_up: Deal) -> None:
    state = moved(face_up)
    same = look(state, zone(1, "back", "Ah Kh 6h 3h", (0, 1, 3, 4)), zone(1, "middle", "8h"))
    assert compare(state, same, frame=FRAME) == ()
    events = compare(state, look(state))
    assert events == (ev.IrregularityEnded(1),)
    assert fold(events, state).questions == ()


@pytest.mark.parametrize(("stands", "row"), [("record", "back"), ("table", "middle")])
def test_the_dealer_says_where_it_stands(face_up: Deal, stands: str, row: str) -> None:
    state = apply(moved(face_up), ev.IrregularityEnded(1, stands, "dealer"))  # type: ignore[arg-type]
    rows = {str(name): [card.card for card in cards] for name, cards in state.seats[0].rows.items()}
    assert "8h" in rows[row]
    assert sum("8h" in cards for cards in rows.values()) == 1
    same = look(state, zone(1, "back", "Ah Kh 6h 3h", (0, 1, 3, 4)), zone(1, "middle", "8h"))
    assert compare(state, same) == ()


def test_two_cards_that_changed_places_are_two_that_moved(face_up: Deal) -> None:
    state = at(face_up, 6)  # the sixth card is 9c in the middle
    state = seen(state, zone(1, "back", "9c Kh 8h 6h 3h"), zone(1, "middle", "Ah"))
    assert sorted((i.what, i.card) for i in state.irregularities) == [
        ("card_moved", "9c"),
        ("card_moved", "Ah"),
    ]
    for number in (1, 2):
        state = apply(state, ev.IrregularityEnded(number, "table", "dealer"))
    assert {c.card for c in state.seats[0].back} == {"9c", "Kh", "8h", "6h", "3h"}
    assert [c.card for c in state.seats[0].middle] == ["Ah"]


def test_a_missing_card_is_asked_with_what_lies_on_it(face_up: Deal) -> None:
    chips = (ev.Thing("foreign", 1, "back"),)
    state = seen(at(face_up), zone(1, "back", "Ah Kh 6h 3h", (0, 1, 3, 4)), things=chips)
    (irregular,) = state.irregularities
    assert (irregular.what, irregular.card, irregular.index, irregular.detail) == (
        "card_missing",
        "8h",
        2,
        "foreign",
    )
    gone = apply(state, ev.IrregularityEnded(1, "table", "dealer"))
    assert [card.card for card in gone.seats[0].back] == ["Ah", "Kh", "6h", "3h"]
    stays = apply(state, ev.IrregularityEnded(1, "record", "dealer"))
    assert len(stays.seats[0].back) == 5


def test_a_missing_card_that_the_record_no_longer_names_cannot_be_taken_off_it(face_up: Deal) -> None:
    state = seen(at(face_up), zone(1, "back", "Kh 8h 6h", (1, 2, 3)))
    state = apply(state, ev.CardCorrected(1, "back", 4, "3d", "3h"))
    state = apply(state, ev.IrregularityEnded(1, "table", "dealer"))
    with pytest.raises(CommandRefused, match="no such card any more"):
        apply(state, ev.IrregularityEnded(2, "table", "dealer"))
    after = apply(state, ev.IrregularityEnded(2, "record", "dealer"))
    assert [card.card for card in after.seats[0].back] == ["Kh", "8h", "6h", "3d"]


@pytest.mark.parametrize(("stands", "card"), [("record", "Ah"), ("table", "2c")])
def test_another_card_on_a_recorded_spot_is_asked(face_up: Deal, stands: str, card: str) -> None:
    state = seen(at(face_up), zone(1, "back", "2c Kh 8h 6h 3h"))
    assert [(i.what, i.card, i.seen and i.seen.card) for i in state.irregularities] == [
        ("card_changed", "Ah", "2c")
    ]
    state = apply(state, ev.IrregularityEnded(1, stands, "dealer"))  # type: ignore[arg-type]
    assert state.seats[0].back[0].card == card
    assert compare(state, look(state, zone(1, "back", "2c Kh 8h 6h 3h"))) == ()


def test_a_card_too_many_cannot_stand(face_up: Deal) -> None:
    state = seen(at(face_up), zone(1, "back", "Ah Kh 8h 6h 3h 2c"))
    assert [i.what for i in state.irregularities] == ["extra_card"]
    with pytest.raises(CommandRefused, match="cannot stand"):
        apply(state, ev.IrregularityEnded(1, "table", "dealer"))
    assert seen(state).questions == ()


def test_a_card_there_twice_is_recorded_and_asked_at_both_spots(face_up: Deal) -> None:
    state = seen(at(face_up), zone(1, "front", "Kd"))  # seat 2's back holds it
    assert [i.what for i in state.irregularities] == ["card_twice"]
    assert {(q.what, q.seat) for q in state.questions} == {(Ask.DUPLICATE, 1), (Ask.DUPLICATE, 2)}
    state, followed = step(state, [ev.CardCorrected(1, "front", 0, "Kc", "Kd")], RULES)
    assert followed == (ev.IrregularityEnded(1, "record", "table"),)
    assert state.questions == ()
    assert compare(state, look(state, zone(1, "front", "Kd"))) == ()


def test_a_card_face_down_in_a_row_is_asked_until_it_is_turned(face_up: Deal) -> None:
    back = (ev.Thing("back", 1, "front"),)
    state = seen(at(face_up), things=back)
    assert [(i.what, i.detail) for i in state.irregularities] == [("face_down", "back")]
    assert seen(state, zone(1, "front", "Qs")).questions == ()


def test_a_card_out_of_turn_waits_for_the_dealer(face_up: Deal) -> None:
    state = seen(at(face_up), zone(1, "front", "Qs"), zone(1, "middle", "9c"))
    assert [i.what for i in state.irregularities] == ["out_of_turn"]
    assert seen(state).irregularities == state.irregularities, "no look answers it"
    placed = state.seats[0].placed
    assert apply(state, ev.IrregularityEnded(1, "table", "dealer")).seats[0].placed == placed
    assert apply(state, ev.IrregularityEnded(1, "record", "dealer")).seats[0].placed == placed - 1


def test_what_the_dealer_answered_is_asked_once_more_by_the_look_after_the_signal(face_up: Deal) -> None:
    lacks = zone(1, "back", "Ah Kh 6h 3h", (0, 1, 3, 4))
    state = seen(at(face_up, 13), lacks)
    state = apply(state, ev.IrregularityEnded(1, "record", "dealer"))
    assert compare(state, look(state, lacks)) == ()
    state = fold([ev.PhaseAdvanced(Phase.SHOWDOWN), ev.PhaseAdvanced(Phase.READING)], state)
    assert whats(compare(state, look(state, lacks))) == ["card_missing"]


def test_the_marker_of_a_natural_may_hide_its_cards(face_up: Deal) -> None:
    hidden = zone(1, "middle", "9c 9d 2s", (0, 1, 4))
    marker = (ev.Thing("marker", 1, "middle"),)
    state = at(face_up, 13)
    assert whats(compare(state, look(state, hidden), marker)) == ["card_missing", "card_missing"]
    declared = apply(state, ev.NaturalDeclared(1))
    assert compare(declared, look(declared, hidden), marker) == ()


# ---- streets ----


def test_five_cards_then_one_at_a_time_from_the_left_of_the_button(face_up: Deal) -> None:
    state = fold(face_up.until(Phase.PLACING))  # the puck is at seat 1
    assert (street(state), turn(state)) == (1, 2)
    of_seat_2 = [e for e in face_up.placed(5) if isinstance(e, ev.CardPlaced) and e.seat == 2]
    assert turn(fold(of_seat_2, state)) == 1
    assert (street(at(face_up, 5)), turn(at(face_up, 5))) == (2, 2)
    assert (street(at(face_up, 13)), turn(at(face_up, 13))) == (None, None)


def test_the_showdown_waits_for_every_card_but_not_for_a_dead_camera(face_up: Deal) -> None:
    state = at(face_up, 12)
    assert "12 of 13" in str(not_complete(state))
    with pytest.raises(CommandRefused, match="12 of 13"):
        apply(state, ev.PhaseAdvanced(Phase.SHOWDOWN))
    for event in (ev.DeviceFault("camera", "unplugged"), ev.KeyingBegun("dead")):
        assert apply(apply(state, event), ev.PhaseAdvanced(Phase.SHOWDOWN)).phase is Phase.SHOWDOWN


def test_no_showdown_while_an_irregularity_is_open(face_up: Deal) -> None:
    state = seen(at(face_up, 13), zone(1, "back", "Ah Kh 6h 3h", (0, 1, 3, 4)))
    with pytest.raises(CommandRefused, match="irregularity"):
        apply(state, ev.PhaseAdvanced(Phase.SHOWDOWN))


def test_a_hand_whose_foul_is_certain_is_dead(face_up: Deal) -> None:
    rows: dict[int, dict[ev.Row, str]] = {
        1: {"front": "As Ah 2c", "middle": "2d 3d 4h 9s 7c", "back": "Kh Kd Ks 5c 5d"},
        2: face_up.rows[2],
    }
    deal = DealOf(rows, frozenset({1, 2}))
    state = fold(deal.until(Phase.PLACING))
    for row, cards in (("front", "As Ah"), ("middle", "2d 3d 4h 9s")):
        for card in row_reading(1, row, cards).cards:  # type: ignore[arg-type]
            state = apply(state, ev.CardPlaced(1, row, card))  # type: ignore[arg-type]
    assert dead_seats(state, RULES) == {1}
    assert dead_seats(at(face_up, 5), RULES) == set()


def test_a_hand_dies_when_the_last_card_that_could_save_it_is_placed_elsewhere(face_up: Deal) -> None:
    """What was found once for the same rows is not kept longer than it holds."""
    rows: dict[int, dict[ev.Row, str]] = {
        1: {"front": "Ks Kh 2c", "middle": "Ac 3d 4h 9s Ad", "back": "Qh Qd Qs 5c 5d"},
        2: {"front": "6c 7d 8h", "middle": "As Ah 7c 6d 8d", "back": "Tc Td Th 9h 9d"},
    }
    state = fold(DealOf(rows, frozenset({1, 2})).until(Phase.PLACING))

    def place(seat: int, row: ev.Row, cards: str) -> None:
        nonlocal state
        for card in row_reading(seat, row, cards).cards:
            state = apply(state, ev.CardPlaced(seat, row, card))

    place(1, "front", "Ks Kh")
    place(1, "middle", "Ac 3d 4h 9s")  # only another ace, or a wheel's cards, beats the kings
    assert dead_seats(state, RULES) == set()
    place(2, "middle", "As Ah")
    assert dead_seats(state, RULES) == set()
    place(2, "front", "Ad")
    assert dead_seats(state, RULES) == {1}


# ---- a closed seat inside ----


def test_nothing_of_a_closed_seat_is_taken_while_cards_are_placed(fantasyland: Deal) -> None:
    state = at(fantasyland)
    zones = [row_reading(2, row, cards) for row, cards in fantasyland.rows[2].items()]
    assert compare(state, [*look(state), *zones], [ev.Thing("back", 2, "front")]) == ()
    read = row_reading(2, "front", "Kc").cards[0]
    events: list[ev.Event] = [
        ev.CardPlaced(2, "front", read),
        ev.CardReread(2, "front", 0, read),
        ev.IrregularitySeen(1, "face_down", 2, "front"),
        ev.IrregularitySeen(1, "card_moved", 1, "back", 0, "Ah", 2, "front"),
        ev.CardResolved(2, "front", 0, "Kc"),
        ev.RowKeyed(2, "front", ("Kc", "Jd", "7s")),
    ]
    for event in events:
        with pytest.raises(CommandRefused, match="face down"):
            apply(state, event)


def test_the_closed_seat_is_read_after_the_signal_and_the_open_one_only_verified(fantasyland: Deal) -> None:
    state = fold([*fantasyland.until(Phase.READING)])
    wrong = replace(fantasyland, rows={**fantasyland.rows, 1: fantasyland.rows[2]}).reading()
    after = apply(state, wrong)
    assert [card.card for card in after.seats[0].back] == fantasyland.rows[1]["back"].split()
    assert [card.card for card in after.seats[1].back] == fantasyland.rows[2]["back"].split()


def test_a_camera_that_dies_after_the_placing_costs_only_the_closed_seats_cards(fantasyland: Deal) -> None:
    state = fantasyland.at(Phase.READING, ev.ReadingFailed("The camera is gone."))
    assert {(q.what, q.seat) for q in state.questions} == {(Ask.COUNT, 2)}
