"""Settlement and commands: the state's figures are the rules' figures, and a command does what it says or why not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import CARDS, Declaration, RankedNatural, load_profile, profile_toml, settle_json
from firmware.table import Ask, CommandRefused, Phase, State, TableError, fold
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide, step
from firmware.table.house import House
from firmware.table.settling import (
    NaturalVerdict,
    hand_json,
    natural_verdict,
    pending_natural,
    rules_of,
    settlement,
)

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal
from tests.examples import examples
from tests.firmware.table.next_puck import puck_moved

RULES = load_profile("washington-1-unit")
DRAGON: dict[ev.Row, str] = {"front": "Qc Kh Ah", "middle": "2c 3d 4h 6d 8h", "back": "5c 7d 9h Td Jc"}


@pytest.fixture
def house(deal: Deal) -> House:
    opened = deal.opened()
    return House(RULES, opened.profile, opened.profile_hash, opened.unit, opened.seats)


def after(state: State, house: House, *lines: str) -> State:
    for line in lines:
        state, _ = step(state, decide(state, parse_command(line), house, RULES), RULES)
    return state


def test_the_states_settlement_is_what_feltwatch_settle_gives(deal: Deal) -> None:
    state = deal.at(Phase.REVIEW)
    seats = [
        {"seat": seat, "player": f"p{seat}", "stack": 10_000, **rows} for seat, rows in deal.rows.items()
    ]
    given_ = {"profile": "washington-1-unit", "unit": 100, "button": 1, "seats": seats}
    assert settlement(state, RULES) == settle_json(given_)
    assert settle_json(hand_json(state)) == settle_json(given_)
    assert settlement(state, RULES)["paid"] == {"1": 300, "2": -300}


@pytest.mark.slow
@examples(150)
@given(st.data())
def test_nothing_is_asked_exactly_when_the_rules_find_nothing_irregular(data: st.DataObject) -> None:
    """The state's questions about cards and the rules' irregularities are two sides of one thing."""
    codes = st.sampled_from([card.code for card in CARDS])
    deck = data.draw(st.permutations([card.code for card in CARDS]))
    rows = []
    for seat in (1, 2):
        for row, size in ev.ROWS.items():
            cards = [deck.pop() for _ in range(size)]
            match data.draw(st.integers(0, 30)):
                case 0:
                    cards.pop()
                case 1:
                    cards[0] = data.draw(codes)
            read = [ev.CardReading(card, 1.0, data.draw(st.integers(0, 40)) > 0) for card in cards]
            rows.append(ev.RowReading(seat, row, "AB"[seat - 1], tuple(read)))
    state = fold(
        [
            ev.HandOpened(1, RULES.name, "", 1, (ev.SeatOpened(1, "a", "A"), ev.SeatOpened(2, "b", "B")), 1),
            *(ev.PhaseAdvanced(phase) for phase in (Phase.SETTING, Phase.SHOWDOWN, Phase.READING)),
            ev.ReadingTaken(tuple(rows)),
        ]
    )
    assert bool(state.questions) == bool(settlement(state, RULES)["irregularities"])


def test_the_last_answer_settles_the_hand_in_the_same_step(deal: Deal, house: House) -> None:
    state = fold(deal.until(Phase.REVIEW, unsure=((2, "back", 4),)))
    answered = after(state, house, '{"do":"set_card","seat":2,"row":"back","index":4,"card":"Kd"}')
    assert answered.phase is Phase.SETTLED
    assert answered.settlement == settlement(deal.at(Phase.REVIEW), RULES)


def test_a_whole_hand_by_commands(deal: Deal, house: House) -> None:
    white = '{"do":"next"}'
    state = after(State(), house, white, '{"do":"key_button","seat":1}', white, white)
    assert state.phase is Phase.SHOWDOWN
    state, followed = step(state, [ev.PhaseAdvanced(Phase.READING), deal.reading()], RULES)
    assert [event.type for event in followed] == ["settled"]
    state = after(state, house, '{"do":"mark_paid","a":2,"b":1}')
    state = after(fold(puck_moved(state, house), state), house, white)
    assert (state.phase, state.hand) == (Phase.DEALING, 2)
    assert {seat.player: seat.stack for seat in state.seats} == {"p1": 10_300, "p2": 9_700}


def test_a_keyed_hand_with_a_ten_written_both_ways(deal: Deal, house: House) -> None:
    state = deal.at(Phase.READING, ev.ReadingFailed("The camera does not answer."))
    for seat, rows in deal.rows.items():
        for row, cards in rows.items():
            written = cards.replace("T", "10")
            state = after(state, house, f'{{"do":"key_row","seat":{seat},"row":"{row}","cards":"{written}"}}')
    assert state.phase is Phase.SETTLED


# ---- naturals ----


def test_naturals_come_up_one_after_another_in_settling_order(deal: Deal, house: House) -> None:
    declared = [
        *deal.until(Phase.SETTING),
        ev.NaturalDeclared(1),
        ev.NaturalDeclared(2),
        ev.PhaseAdvanced(Phase.SHOWDOWN),
        ev.PhaseAdvanced(Phase.READING),
    ]
    state = fold([*declared, replace(deal, rows={1: DRAGON, 2: deal.rows[2]}).reading()])
    # the puck is at seat 1; the first settler sits to its left: seat 2
    assert pending_natural(state, RULES) == 2
    assert natural_verdict(state, 2, RULES) == NaturalVerdict(
        None, declaration=Declaration("not_borne_out", "naturals.false_declaration")
    )
    assert natural_verdict(state, 1, RULES) == NaturalVerdict(
        RankedNatural("dragon", 3, 0), declaration=Declaration("counts", "naturals.kinds")
    )
    with pytest.raises(CommandRefused, match="seat 2's"):
        after(state, house, '{"do":"confirm","seat":1}')
    state = after(state, house, '{"do":"confirm","seat":2}')
    assert pending_natural(state, RULES) == 1
    state = after(state, house, '{"do":"confirm"}')
    assert state.phase is Phase.SETTLED
    assert state.settlement is not None
    assert state.settlement["points"] == {"1": 3, "2": -3}


def test_a_natural_that_counts_undeclared_is_found_when_rows_are_compared_and_waits_for_green(
    deal: Deal, house: House
) -> None:
    dragon = replace(deal, rows={1: DRAGON, 2: deal.rows[2]})
    unsure = fold(dragon.until(Phase.REVIEW, ((2, "back", 4),)))
    assert [question.what for question in unsure.questions] == [Ask.CARD]
    assert not any(seat.found for seat in unsure.seats)
    state = after(unsure, house, '{"do":"set_card","seat":2,"row":"back","index":4,"card":"Kd"}')
    assert [(question.what, question.seat) for question in state.questions] == [(Ask.NATURAL, 1)]
    assert pending_natural(state, RULES) == 1
    state = after(state, house, '{"do":"confirm"}')
    assert (state.phase, state.settlement and state.settlement["points"]) == (
        Phase.SETTLED,
        {"1": 3, "2": -3},
    )
    other = after(state, house, '{"do":"set_card","seat":1,"row":"front","index":0,"card":"Ac"}')
    assert (other.phase, other.seats[0].found) == (Phase.SETTLED, False)
    assert other.settlement is not None
    assert other.settlement["hands"][0]["natural"] is None


def test_the_order_of_declarations_and_surrenders_comes_from_the_events(deal: Deal) -> None:
    acts: list[ev.Event] = [ev.PlayerSurrendered(2), ev.NaturalDeclared(1)]
    state = fold([*deal.until(Phase.SETTING), *acts])
    assert [seat.acted for seat in state.seats] == [2, 1]
    again = fold([ev.SurrenderWithdrawn(2), ev.PlayerSurrendered(2)], state)
    assert [seat.acted for seat in again.seats] == [2, 3]
    assert [seat.get("acted") for seat in hand_json(again)["seats"]] == [2, 3]


def test_the_settlement_waits_for_green_and_red_settles_nothing(deal: Deal, house: House) -> None:
    state = deal.at(Phase.REVIEW, ev.NaturalDeclared(1))
    assert [question.what for question in state.questions] == [Ask.NATURAL]
    again = after(state, house, '{"do":"look_again"}')
    assert (again.phase, again.settlement) == (Phase.READING, None)


def test_no_natural_is_due_while_a_card_is_open(deal: Deal, house: House) -> None:
    state = fold([*deal.until(Phase.REVIEW, ((2, "back", 4),)), ev.NaturalDeclared(1)])
    assert pending_natural(state, RULES) is None
    with pytest.raises(CommandRefused, match="No natural waits"):
        after(state, house, '{"do":"confirm"}')


def test_what_the_profile_does_not_offer_cannot_be_declared(deal: Deal, house: House) -> None:
    traditional = load_profile("california-face-up").with_options({"naturals.kinds": []})
    state = deal.at(Phase.SETTING)
    for word in ("declare", "surrender"):
        command = parse_command(f'{{"do":"{word}","seat":1}}')
        with pytest.raises(CommandRefused, match=r"no naturals|no surrender"):
            decide(state, command, house, traditional)


# ---- refusals ----


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "one line of JSON"),
        ("[]", "one line of JSON"),
        ('{"do":"dance"}', "no command"),
        ('{"seat":1}', "no command"),
        ('{"do":"key_button"}', "seat: Field required"),
        ('{"do":"key_button","seat":"1"}', "seat"),
        ('{"do":"next","sudo":true}', "sudo"),
        ('{"do":"void","reason":""}', "reason"),
        ('{"do":"set_card","seat":1,"row":"top","index":0,"card":"As"}', "row"),
    ],
)
def test_what_is_no_command_is_refused_with_a_sentence(line: str, why: str) -> None:
    with pytest.raises(CommandRefused, match=why):
        parse_command(line)


@pytest.mark.parametrize(
    ("phase", "line", "why"),
    [
        (Phase.READING, '{"do":"next"}', "being read"),
        (Phase.REVIEW, '{"do":"next","hand":7}', "meant for hand 7"),
        (Phase.IDLE, '{"do":"void","reason":"x"}', "idle"),
        (Phase.SETTING, '{"do":"confirm"}', "No natural waits"),
        (Phase.SETTING, '{"do":"look_again"}', "setting"),
        (Phase.REVIEW, '{"do":"set_card","seat":1,"row":"front","index":0,"card":"1s"}', "no card"),
        (Phase.REVIEW, '{"do":"surrender","seat":1}', "review"),
    ],
)
def test_what_is_not_possible_now_is_refused_with_a_sentence(
    deal: Deal, house: House, phase: Phase, line: str, why: str
) -> None:
    with pytest.raises(CommandRefused, match=why):
        after(deal.at(phase), house, line)


def test_white_says_what_is_open(deal: Deal, house: House) -> None:
    state = fold([*deal.until(Phase.REVIEW, ((2, "back", 4),)), ev.NaturalDeclared(1)])
    with pytest.raises(CommandRefused, match="an unsure card, a natural to confirm"):
        after(state, house, '{"do":"next"}')


def test_a_hand_is_settled_by_the_rules_it_was_opened_with(deal: Deal) -> None:
    opened = replace(deal.opened(), options={"foul.points": 5})
    assert rules_of(opened, profile_toml(RULES).encode()).foul.points == 5
    with pytest.raises(TableError, match="missing"):
        rules_of(opened, None)
    with pytest.raises(TableError, match="cannot be used"):
        rules_of(opened, b"no profile")


def test_a_hand_that_the_rules_refuse_stays_in_review_and_white_says_why(deal: Deal, house: House) -> None:
    seats = (ev.SeatOpened(1, "p1", "A", 10), ev.SeatOpened(2, "p1", "B", 10))  # nobody to play against
    events = [replace(deal.opened(), seats=seats), *deal.until(Phase.REVIEW)[1:]]
    state, followed = step(State(), events, RULES)
    assert (state.phase, followed) == (Phase.REVIEW, ())
    with pytest.raises(CommandRefused, match="cannot be settled: player p1"):
        after(state, house, '{"do":"next"}')


def test_a_natural_of_the_houses_own_waits_for_one_press_and_settles(deal: Deal, house: House) -> None:
    kinds = [{"kind": "thirteen_ranks", "value": 7, "different_ranks": 13}]
    own = RULES.with_options({"naturals.kinds": kinds})
    declared = [
        *deal.until(Phase.SETTING),
        ev.NaturalDeclared(1),
        ev.PhaseAdvanced(Phase.SHOWDOWN),
        ev.PhaseAdvanced(Phase.READING),
    ]
    state = fold([*declared, replace(deal, rows={1: DRAGON, 2: deal.rows[2]}).reading()])
    natural = natural_verdict(state, 1, own).natural
    assert natural is not None
    assert (natural.kind, natural.value, str(natural.words)) == (
        "thirteen_ranks", 7, "13 different ranks or more",
    )  # fmt: skip
    state, followed = step(state, decide(state, parse_command('{"do":"confirm"}'), house, own), own)
    assert state.phase is Phase.SETTLED
    assert state.settlement is not None
    assert state.settlement["points"] == {"1": 7, "2": -7}
    assert [event.type for event in followed] == ["settled"]
