"""The questions of a training hand: their right answers are the settlement's, and nothing of it is told before."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer_ui.training.quiz import Question, hide_settlement, questions
from dealer_ui.training.routes import Lesson
from dealer_ui.view.build import view
from firmware.rules import Profile, Rows, foul, hand_from_json, load_profile, profile_names, settle
from firmware.simulation.live.players import Habits, Players
from firmware.table import Phase, State
from firmware.table import events as ev
from firmware.table.settling import hand_json, settlement
from firmware.table.state import Card, Seat
from tests.dealer_ui.felt import Felt
from tests.examples import examples

LIVELY: Final = Habits(natural_dealt=0.5, falsely_declared=0.15, fouled=0.3, surrendered=0.15)


def settled(name: str, seed: int, seats: int = 4) -> tuple[State, Profile]:
    """Deal a hand to players who err often, and settle it."""
    rules = load_profile(name).with_options({"deal.kind": "closed", "limits.min_points": 0})
    numbers = range(1, seats + 1)
    dealt = Players(seed, rules, backs_tried=3, habits=LIVELY).deal(list(numbers))
    opened = ev.HandOpened(
        seed % 1000 + 1,
        name,
        "0" * 64,
        100,
        tuple(ev.SeatOpened(number, f"p{number}", "ABCD"[number - 1]) for number in numbers),
    )
    cards: dict[int, dict[str, Any]] = {
        number: {row: tuple(Card(code, True) for code in codes) for row, codes in hand.shown.items()}
        for number, hand in dealt.items()
    }
    state = State(
        phase=Phase.SETTLED,
        hand=opened.hand,
        opened=opened,
        button=random.Random(seed).choice(list(numbers)),
        seats=tuple(
            Seat(
                number,
                f"p{number}",
                "ABCD"[number - 1],
                declares=hand.declares,
                confirmed=hand.declares,
                surrenders=hand.surrenders,
                **cards[number],
            )
            for number, hand in dealt.items()
        ),
    )
    return replace(state, settlement=settlement(state, rules)), rules


hands = st.builds(
    settled, st.sampled_from(profile_names()), st.integers(0, 10**6), st.sampled_from((2, 3, 4))
)


def of_kind(asked: tuple[Question, ...], kind: str) -> list[Question]:
    return [question for question in asked if question.kind == kind]


@examples(60)
@given(hands)
def test_the_right_answers_are_those_of_the_rules(hand: tuple[State, Profile]) -> None:
    state, rules = hand
    asked = questions(state, rules)
    truth = settle(hand_from_json(hand_json(state)), rules)

    fouls = next(iter(of_kind(asked, "foul")), None)
    assert (fouls is not None) == any(not seat.surrenders for seat in state.seats)
    answered = fouls.answer.split() if fouls else []
    assert set(answered) == {str(one.seat) for one in truth.hands if one.fault is not None}
    naturals = {one.seat: one.natural for one in truth.hands}
    for seat in state.seats:
        if not seat.surrenders and not seat.declares:
            rows = Rows.parse(
                " / ".join(" ".join(str(c.card) for c in cards) for cards in seat.rows.values())
            )
            wrong = foul(rows, rules) is not None and naturals[seat.seat] is None
            assert (str(seat.seat) in answered) == wrong

    declared = {seat.seat for seat in state.seats if seat.declares and not seat.surrenders}
    if rules.naturals.declared == "required":
        assert {question.seats[0] for question in of_kind(asked, "natural")} == declared
        for question in of_kind(asked, "natural"):
            assert question.answer == ("yes" if naturals[question.seats[0]] else "no")

    moving = [(pair.a, pair.b) for pair in truth.pairs if pair.paid]
    first = of_kind(asked, "first")
    assert len(first) == (len(moving) > 1)
    for question in first:
        assert question.answer == f"{moving[0][0]}-{moving[0][1]}"
        assert len(question.choices) == len(moving)

    for question in of_kind(asked, "pays"):
        payer, winner = question.seats
        pair = next(pair for pair in truth.pairs if {pair.a, pair.b} == {payer, winner})
        assert int(question.answer) == (pair.points if pair.a == winner else -pair.points) > 0
        assert len(question.lines) == len(pair.lines) + 1


@examples(40)
@given(hands, st.text(max_size=8))
def test_exactly_the_right_answer_is_judged_right(hand: tuple[State, Profile], noise: str) -> None:
    for question in questions(*hand):
        assert question.is_right(question.answer)
        assert question.feedback(question.answer) == question.right
        for value, _words in question.choices:
            given = value if not question.several else " ".join({*question.answer.split()} ^ {value})
            assert question.is_right(given) == (given == question.answer and not question.several)
        if not question.choices:
            assert not question.is_right(str(int(question.answer) + 1))
        if noise.split() != question.answer.split():
            assert not question.is_right(noise) or int(noise) == int(question.answer)


@examples(25)
@given(hands)
def test_why_is_said_with_the_rule_behind_it(hand: tuple[State, Profile]) -> None:
    for question in questions(*hand):
        assert question.lines
        assert question.clauses
        assert all(clause.title and clause.rule for clause in question.clauses)


@examples(40)
@given(hands)
def test_nothing_of_the_settlement_is_told_before_it_is_answered(hand: tuple[State, Profile]) -> None:
    state, rules = hand
    if not questions(state, rules):
        return  # everybody surrendered: there is nothing to tell
    open_ = Lesson().shown(view(7, state, rules), state, rules)
    assert open_.quiz is not None
    assert open_.mode == "quiz"
    told = json.dumps(open_.to_json() | {"sheet": None})
    unsettled = replace(state, settlement=None, phase=Phase.REVIEW)
    blank = hide_settlement(view(7, unsettled, rules), unsettled)
    shown = open_.to_json() | {"sheet": None, "quiz": None}
    same = blank.to_json() | {"sheet": None}
    for key in ("seats", "payments", "transfers", "actions", "needs", "cues", "more", "notices"):
        assert shown[key] == same[key], key
    assert '"answer"' not in told
    assert '"verdict": null' in told


washington = st.builds(
    settled,
    st.sampled_from([name for name in profile_names() if name.startswith("washington")]),
    st.integers(0, 10**6),
    st.sampled_from((2, 3, 4)),
)


@examples(40)
@given(washington)
def test_where_naturals_count_undeclared_one_question_is_about_all_hands(hand: tuple[State, Profile]) -> None:
    """A question about one hand alone would tell that it is one."""
    state, rules = hand
    shown = [str(seat.seat) for seat in state.seats if not seat.surrenders]
    asked = of_kind(questions(state, rules), "natural")
    assert [question.key for question in asked] == ["natural"] * bool(shown)
    for question in asked:
        truth = settle(hand_from_json(hand_json(state)), rules)
        assert [value for value, _words in question.choices] == shown
        assert question.answer.split() == [str(one.seat) for one in truth.hands if one.natural]


def test_a_natural_that_nobody_declared_is_asked_about_with_the_other_hands() -> None:
    asked = [
        question
        for seed in range(60)
        for question in of_kind(questions(*settled("washington-1-unit", seed, 2)), "natural")
    ]
    assert {len(question.answer.split()) for question in asked} >= {0, 1}
    some = next(question for question in asked if question.answer)
    assert re.fullmatch(r"The cards of seat \d are .+: 3 points from each opponent\.", some.lines[0])
    none = next(question for question in asked if not question.answer)
    assert (none.right, none.lines) == ("Nobody", ("No hand counts as a natural.",))


def test_a_hand_that_is_not_settled_asks_nothing(felt: Felt) -> None:
    assert questions(felt.to_setting(), felt.rules) == ()


class Trainee:
    """Answers a lesson's questions about one hand."""

    def __init__(self, state: State, rules: Profile) -> None:
        self.lesson = Lesson()
        self.state, self.rules = state, rules

    @property
    def quiz(self) -> Any:
        return self.lesson.shown(view(7, self.state, self.rules), self.state, self.rules).quiz

    @property
    def asked(self) -> tuple[Question, ...]:
        return questions(self.state, self.rules)


@pytest.fixture
def trainee(felt: Felt) -> Trainee:
    return Trainee(felt.to_settled(), felt.rules)


def test_questions_come_one_after_the_other_and_the_score_is_kept(trainee: Trainee) -> None:
    for number, question in enumerate(trainee.asked, start=1):
        assert (trainee.quiz.number, trainee.quiz.key, trainee.quiz.verdict) == (number, question.key, None)
        wrong = number == 1
        given = "x" if wrong else question.answer
        assert trainee.lesson.answer(trainee.state, trainee.rules, question.key, given) is not wrong
        assert trainee.quiz.verdict.is_right is not wrong
        assert trainee.quiz.verdict.right == question.right
        assert (trainee.quiz.right, trainee.quiz.answered) == (number - 1, number)
        trainee.lesson.go_on(trainee.state, trainee.rules, question.key)
    assert trainee.quiz is None


def test_a_mistake_shows_why(trainee: Trainee) -> None:
    trainee.lesson.answer(trainee.state, trainee.rules, "foul", "")
    verdict = trainee.quiz.verdict
    assert not verdict.is_right
    assert (verdict.given, verdict.right) == ("Nobody", "Seat 3")
    assert any("seat 3's hand is a foul" in line for line in verdict.lines)
    assert any("nine in all" in clause.clause for clause in verdict.clauses)


def test_an_answer_counts_once_and_for_the_open_question_only(trainee: Trainee) -> None:
    lesson, state, rules = trainee.lesson, trainee.state, trainee.rules
    with pytest.raises(LookupError):
        lesson.answer(state, rules, "first", "1-2")
    with pytest.raises(LookupError):
        lesson.go_on(state, rules, "foul")
    lesson.answer(state, rules, "foul", "3")
    with pytest.raises(LookupError):
        lesson.answer(state, rules, "foul", "3")
    assert (trainee.quiz.right, trainee.quiz.answered) == (1, 1)


def test_who_skips_sees_the_settlement_and_loses_no_point(trainee: Trainee, felt: Felt) -> None:
    trainee.lesson.skip(trainee.state, trainee.rules, "foul")
    screen = trainee.lesson.shown(view(7, trainee.state, trainee.rules), trainee.state, trainee.rules)
    assert screen.quiz is None
    assert screen.payments
    assert [action.label for action in screen.actions][:1] == ["Next hand"]
    trainee.state = replace(trainee.state, hand=trainee.state.hand + 1)
    assert (trainee.quiz.number, trainee.quiz.answered) == (1, 0)


def test_a_declared_natural_is_asked_about_and_not_named(felt: Felt) -> None:
    felt.to_natural()
    waiting = Trainee(felt.state, felt.rules)
    shown = waiting.lesson.shown(view(7, felt.state, felt.rules), felt.state, felt.rules)
    assert shown.needs == ()
    felt.do("confirm", seat=1)
    trainee = Trainee(felt.state, felt.rules)
    assert trainee.quiz.text == "Seat 1 declares a natural. Is it one?"
    shown = trainee.lesson.shown(view(7, felt.state, felt.rules), felt.state, felt.rules)
    assert [flag.text for flag in shown.seats[0].flags] == ["Natural declared"]


def test_what_a_trainee_corrects_wrongly_is_asked_as_at_a_table(trainee: Trainee, felt: Felt) -> None:
    trainee.lesson.skip(trainee.state, trainee.rules, "foul")
    felt.do("set_card", seat=1, row="front", index=0, card="Ks")
    shown = trainee.lesson.shown(view(7, felt.state, felt.rules), felt.state, felt.rules)
    assert shown.needs
