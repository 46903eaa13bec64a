"""The simulated dealer at a workplace of paper: what it does of an act, and what it does when an act has no effect."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from firmware.rules import load_profile
from firmware.simulation.dealer import HOLD, PRESS, SimulatedDealer
from firmware.simulation.habits import Habits
from firmware.simulation.live import run as live
from firmware.simulation.live.players import Players
from firmware.simulation.policy import Act, Policy
from firmware.table import Phase, State

RULES = load_profile("washington-1-unit")
SETTLED = State(hand=4, phase=Phase.SETTLED)


@dataclass
class Paper:
    """A workplace that writes down what is done; every press and every accepted command is a row, if `works`."""

    works: bool = True
    answers: list[Mapping[str, Any] | None] = field(default_factory=list)
    state: State = SETTLED
    is_page_gone: bool = False
    seq: int = 0
    done: list[Any] = field(default_factory=list)

    def look(self) -> State:
        return self.state

    def pause(self, seconds: float) -> None:
        self.done.append(("pause", seconds))

    def until(self, what: Callable[[State], bool]) -> bool:
        return what(self.state)

    def lay(self, felt: dict[str, dict[str, list[str]]]) -> None:
        self.done.append(("lay", felt))

    def move_puck(self, seat: int | None) -> None:
        self.done.append(("puck", seat))

    def press(self, button: str, seconds: float) -> None:
        self.done.append((button, seconds))
        self.seq += self.works

    def send(self, command: dict[str, Any]) -> Mapping[str, Any] | None:
        self.done.append(command)
        answer = self.answers.pop(0) if self.answers else {"ok": True}
        self.seq += bool(answer and answer["ok"])
        return answer


def dealer(paper: Paper, habits: Habits | None = None, *, among_people: bool = False) -> SimulatedDealer:
    """A dealer at this workplace."""
    policy = Policy(Players(1, RULES, 1), lambda state: RULES, random.Random(1), habits)
    return SimulatedDealer(paper, policy, among_people=among_people)


def test_a_button_is_pressed_after_the_pause_and_the_page_is_left_alone() -> None:
    paper = Paper()
    dealer(paper).do(Act("next", pause=4), SETTLED)
    dealer(paper).do(Act("confirm", {"seat": 2}, held=True), SETTLED)
    assert paper.done == [("pause", 4), ("next", PRESS), ("pause", 0.0), ("confirm", HOLD)]


@pytest.mark.parametrize(
    ("among_people", "is_page_gone", "touched"),
    [(False, False, [{"do": "look_again", "hand": 4}]), (True, False, []), (False, True, [])],
)
def test_a_press_without_an_effect_is_touched_unless_people_play_along_or_the_page_is_gone(
    among_people: bool, is_page_gone: bool, touched: list[Any]
) -> None:
    paper = Paper(works=False, is_page_gone=is_page_gone)
    dealer(paper, among_people=among_people).do(Act("look_again"), SETTLED)
    assert paper.done == [("pause", 0.0), ("reject", PRESS), *touched]


def test_an_act_that_somebody_overtook_is_not_done() -> None:
    paper = Paper(state=replace(SETTLED, hand=5, phase=Phase.DEALING))
    for act in (Act("next", felt={}), Act("mark_paid", {"a": 1, "b": 2})):
        dealer(paper).do(act, SETTLED)
    assert paper.done == [("pause", 0.0), ("pause", 0.0)]


def test_a_refused_command_is_remembered_and_among_people_an_accepted_one_too() -> None:
    no: Mapping[str, Any] = {"ok": False, "error": "No."}
    yes: Mapping[str, Any] = {"ok": True}
    for answer, among_people, remembered in (
        (no, False, True),
        (yes, False, False),
        (no, True, True),
        (yes, True, True),
    ):
        at = dealer(Paper(answers=[answer]), among_people=among_people)
        at.do(Act("declare", {"seat": 3}, retry="declare 3 0"), SETTLED)
        assert bool(at._policy.hand.done_with) is remembered, (answer, among_people)


def test_a_command_without_an_answer_is_sent_once_more() -> None:
    paper = Paper(answers=[None, {"ok": True}])
    assert dealer(paper).touch("mark_paid", 4, a=1, b=2)
    assert paper.done == [{"do": "mark_paid", "hand": 4, "a": 1, "b": 2}] * 2


def test_a_command_for_the_hand_before_that_is_taken_is_noted() -> None:
    paper = Paper(answers=[{"ok": False, "error": "Hand 3 is over."}, {"ok": True}])
    strict = dealer(paper, Habits(touched_stale=1.0))
    strict.touch("void", 4)
    assert (strict.stale_taken, paper.done[0]) == ([], {"do": "void", "hand": 3})
    lax = dealer(Paper(), Habits(touched_stale=1.0))
    lax.touch("void", 4)
    assert lax.stale_taken == [{"do": "void", "hand": 4}]


def test_collected_cards_are_laid_back_where_the_table_reads_again() -> None:
    policy = Policy(Players(1, RULES, 1), lambda state: RULES, random.Random(1))
    policy.hand.laid = True
    assert policy.next(State(phase=Phase.SETTLED)) == Act("next", felt={}, pause=4)
    reading = State(phase=Phase.READING)
    assert [policy.next(reading).do for _ in range(2)] == ["lay", "wait"]


def test_at_a_real_table_a_press_without_an_effect_is_given_up_and_one_without_end_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process that was paused meanwhile took the press for a long one, which counts for nothing."""
    monkeypatch.setattr(live, "GIVE_UP_AFTER", 0.0)
    link = Paper()
    table = SimpleNamespace(failure=None, panel=SimpleNamespace(press=lambda button, seconds: None))
    reader = SimpleNamespace(events_since=lambda seq, limit: [], recover=lambda: (SETTLED, 7))
    run = live.LiveRun(cast(Any, table), Players(1, RULES, 1), cast(Any, reader), cast(Any, link), seed=1)
    run._dealer.do(Act("next"), run.look())
    assert link.done == [{"do": "next", "hand": 4}]
    monkeypatch.setattr(live, "STUCK_AFTER", 0.0)
    with pytest.raises(live.SimulationStuck, match="has not gone on for 0 s"):
        run.until(lambda state: False)
