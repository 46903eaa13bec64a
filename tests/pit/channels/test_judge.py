"""A table to its release as a pure function of what it has shown: nothing is called updated that is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from pit.channels.judge import (
    FAILURES,
    SILENT_S,
    WITHIN_S,
    Cards,
    Judgement,
    Mark,
    Member,
    Start,
    asks_twice,
    turn,
)
from tests.examples import examples

NEW, OLD, NEWER = "2.0.0-bbbb", "1.0.0-aaaa", "3.0.0-cccc"
T0: Final = 1_800_000_000.0


class ReleaseTrial:
    """A release that goes to tables, kept as the database keeps it."""

    def __init__(self, tables: int) -> None:
        self.now = self.listening = T0
        self.is_stopped = False
        self.causes: list[int] = []
        began = frozenset({Start(1, OLD, T0 - 9e5)})
        self.members = {key: Member(T0, heard_at=T0, starts=began) for key in range(tables)}

    def turn(self) -> dict[int, Judgement]:
        """Take one turn, and keep what comes of it."""
        found, self.causes = turn(NEW, self.members, self.now, self.listening, is_stopped=self.is_stopped)
        for key, judged in found.items():
            was = self.members[key].was_updated or judged.mark is Mark.UPDATED
            self.set(key, was_updated=was, mark=judged.mark)
        self.is_stopped = self.is_stopped or bool(self.causes)
        return found

    def set(self, key: int, **changes: object) -> None:
        self.members[key] = replace(self.members[key], **changes)  # type: ignore[arg-type]

    def start(self, key: int, release: str) -> None:
        """A table's process starts, and is heard of."""
        one = self.members[key]
        begun = Start(1 + max((start.seq for start in one.starts), default=0), release, self.now)
        still = one.settled and release == NEW and max(one.starts, key=lambda s: s.seq).release == NEW
        self.set(key, starts=one.starts | {begun}, settled=still, heard_at=self.now)

    def later(self, seconds: float, *, heard: bool = True) -> None:
        self.now += seconds
        for key in self.members if heard else ():
            self.set(key, heard_at=self.now)

    def marks(self) -> list[Mark]:
        found = self.turn()
        return [found[key].mark for key in sorted(found)]

    def update(self, key: int) -> None:
        self.start(key, NEW)
        self.set(key, settled=True)

    def again(self, *without: int) -> None:
        """A person lets it go on, as the store does it."""
        for key in without:
            self.set(key, is_left_out=True)
        judged = self.turn()
        for key, one in self.members.items():
            if not one.is_left_out and judged[key].mark is not Mark.UPDATED:
                self.set(key, reached_at=self.now, was_updated=False, mark=Mark.WAITS)
        self.is_stopped = False


def stops_for(goes: ReleaseTrial) -> list[Mark]:
    found = goes.turn()
    assert goes.is_stopped
    assert Mark.ASKED not in [one.mark for one in found.values()], "nobody is asked any more"
    return [found[key].mark for key in goes.causes]


def test_a_table_is_asked_runs_and_is_updated_once_it_has_settled_a_hand() -> None:
    goes = ReleaseTrial(2)
    assert goes.marks() == [Mark.ASKED] * 2
    goes.start(0, NEW)
    assert goes.marks() == [Mark.RUNS, Mark.ASKED]
    goes.set(0, settled=True)
    assert goes.marks() == [Mark.UPDATED, Mark.ASKED]


def test_a_release_that_starts_and_settles_nothing_is_stopped_after_its_time() -> None:
    goes = ReleaseTrial(2)
    goes.turn()
    goes.start(0, NEW)
    goes.update(1)
    goes.later(WITHIN_S - 1)
    assert goes.marks() == [Mark.RUNS, Mark.UPDATED]
    goes.later(1)
    assert stops_for(goes) == [Mark.LATE]


def test_a_hand_that_is_settled_with_a_fault_is_no_success_until_the_fault_is_over() -> None:
    goes = ReleaseTrial(1)
    goes.turn()
    goes.start(0, NEW)
    goes.set(0, settled=True, trouble="The camera is gone.")
    assert goes.marks() == [Mark.RUNS]
    goes.set(0, trouble="")
    assert goes.marks() == [Mark.UPDATED]
    goes.set(0, trouble="The camera is gone.")
    assert goes.marks() == [Mark.UPDATED], "a cable that is pulled later is no news of the release"


@pytest.mark.parametrize("settles", [False, True])
@pytest.mark.parametrize("to", [OLD, NEWER])
def test_a_table_that_goes_back_stops_the_release_also_after_it_was_updated(settles: bool, to: str) -> None:
    goes = ReleaseTrial(5)
    goes.turn()
    goes.start(0, NEW)
    goes.set(0, settled=settles)
    goes.turn()
    goes.start(0, to)
    assert stops_for(goes) == [Mark.WENT_BACK]
    assert Mark.UPDATED not in goes.marks()


def test_a_table_that_goes_back_and_comes_again_between_two_turns_is_updated_once_it_settles_a_hand() -> None:
    goes = ReleaseTrial(1)
    goes.turn()
    goes.start(0, NEW)
    goes.set(0, settled=True)
    goes.turn()
    assert goes.marks() == [Mark.UPDATED]
    goes.start(0, OLD)
    goes.start(0, NEW)
    goes.set(0, settled=False)
    goes.turn()
    assert goes.marks() == [Mark.RUNS]
    goes.set(0, settled=True)
    goes.turn()
    assert goes.marks() == [Mark.UPDATED]


def test_a_start_of_the_old_release_before_the_new_one_ever_ran_is_not_going_back() -> None:
    goes = ReleaseTrial(1)
    goes.turn()
    goes.later(60)
    goes.start(0, OLD)
    assert goes.marks() == [Mark.ASKED]


def test_that_a_release_ran_long_before_it_was_asked_is_not_going_back() -> None:
    goes = ReleaseTrial(1)
    goes.set(0, starts=frozenset({Start(1, NEW, T0 - 5000), Start(2, OLD, T0 - 4000)}))
    goes.turn()
    assert goes.marks() == [Mark.ASKED]


def test_a_table_that_refuses_stops_the_release_with_its_reason() -> None:
    goes = ReleaseTrial(3)
    goes.turn()
    goes.set(0, refused="300 MB are left.")
    found = goes.turn()
    assert (goes.causes, found[0].mark, found[0].why) == ([0], Mark.REFUSED, "300 MB are left.")


@pytest.mark.parametrize("runs", [False, True])
def test_a_table_that_is_silent_for_half_an_hour_stops_the_release(runs: bool) -> None:
    goes = ReleaseTrial(3)
    goes.turn()
    if runs:
        goes.start(0, NEW)
    goes.later(SILENT_S - 1, heard=False)
    goes.turn()
    assert not goes.is_stopped
    goes.later(1, heard=False)
    assert stops_for(goes)[:1] == [Mark.SILENT]
    goes.later(0)
    assert goes.marks()[0] is Mark.SILENT, "coming back does not hide why the release was stopped"


def test_an_updated_table_and_one_that_was_left_out_may_be_silent() -> None:
    goes = ReleaseTrial(3)
    goes.update(0)
    goes.set(1, is_left_out=True)
    for _ in range(9):
        goes.later(1000, heard=False)
        goes.set(2, heard_at=goes.now)
        assert goes.marks() == [Mark.UPDATED, Mark.WAITS, Mark.ASKED]


def test_nobody_was_silent_while_the_pit_was_away() -> None:
    goes = ReleaseTrial(3)
    goes.turn()
    goes.later(7200, heard=False)
    goes.listening = goes.now - 10
    goes.turn()
    assert not goes.is_stopped
    goes.later(SILENT_S, heard=False)
    assert stops_for(goes) == [Mark.SILENT] * 3


def test_a_share_of_asked_cards_that_doubles_stops_the_release_also_of_an_updated_table() -> None:
    goes = ReleaseTrial(3)
    goes.turn()
    goes.update(0)
    goes.turn()
    goes.set(0, before=Cards(10_000, 50), after=Cards(1000, 21))
    found = goes.turn()
    assert [found[key].mark for key in goes.causes] == [Mark.ASKS]
    assert str(found[0].why) == "Asked about 2.1 of 100 cards, before the release 0.5."


@pytest.mark.parametrize(
    ("before", "after", "is_so"),
    [
        ((10_000, 50), (1000, 9), False),
        ((10_000, 50), (1000, 18), True),
        ((10_000, 50), (100, 60), False),  # too few cards
        ((100, 0), (1000, 100), False),  # nothing to compare with
        ((10_000, 0), (1000, 4), False),
        ((10_000, 0), (1000, 5), True),
        ((10_000, 1), (200, 5), True),
        ((1000, 10), (500, 12), False),  # twice as many, and no more than chance makes
        ((1000, 10), (500, 25), True),
        ((1000, 1), (1000, 12), True),
        ((1000, 1), (1000, 10), False),
        ((100_000, 5000), (10_000, 900), False),  # no chance, and not twice as many
    ],
)
def test_a_share_is_compared_beyond_chance(
    before: tuple[int, int], after: tuple[int, int], is_so: bool
) -> None:
    assert asks_twice(Cards(*before), Cards(*after)) is is_so


@pytest.mark.parametrize("share", [0.0003, 0.001, 0.005, 0.02])
@pytest.mark.parametrize("hands_before", [20, 500])
def test_chance_alone_rarely_stops_a_release_and_three_times_as_many_asked_cards_do(
    share: float, hands_before: int
) -> None:
    """Of tables whose share stays as it was, judged after each of 500 hands."""
    rng = np.random.default_rng(11)
    found = {}
    for times in (1, 3):
        found[times] = 0
        for _ in range(100):
            before = Cards(52 * hands_before, int(rng.binomial(52 * hands_before, share)))
            asked = rng.binomial(52, share * times, size=500).cumsum()
            found[times] += any(asks_twice(before, Cards(52 * n, int(asked[n - 1]))) for n in range(1, 501))
    assert found[1] <= 3
    assert found[3] >= 85 or share * hands_before < 0.25, "of few cards nothing is known"


def test_that_a_table_was_updated_otherwise_counts_once_it_has_settled_a_hand() -> None:
    goes = ReleaseTrial(2)
    goes.start(0, NEW)
    goes.update(1)
    assert goes.marks() == [Mark.RUNS, Mark.UPDATED], "what runs there need not be fetched"


@pytest.mark.parametrize("failure", [Mark.SILENT, Mark.WENT_BACK])
@pytest.mark.parametrize("is_without", [True, False])
def test_a_stopped_release_goes_on_with_the_table_tried_again_or_without_it(
    failure: Mark, is_without: bool
) -> None:
    goes = ReleaseTrial(3)
    goes.turn()
    if failure is Mark.SILENT:
        goes.later(SILENT_S, heard=False)
        for key in (1, 2):
            goes.set(key, heard_at=goes.now)
    else:
        goes.start(0, NEW)
        goes.start(0, OLD)
    assert stops_for(goes) == [failure]
    goes.later(100)
    goes.again(*([0] if is_without else []))
    marks = goes.marks()
    assert not goes.is_stopped
    assert marks[1:] == [Mark.ASKED] * 2
    assert marks[0] is (
        Mark.ASKED if not is_without else Mark.WAITS if failure is Mark.SILENT else Mark.WENT_BACK
    )


@given(st.data())
@examples(60)
def test_the_order_of_facts_does_not_matter_and_equal_facts_give_equal_answers(data: st.DataObject) -> None:
    starts = st.frozensets(
        st.builds(Start, st.integers(1, 6), st.sampled_from([OLD, NEW]), st.floats(T0, T0 + 9000)), max_size=4
    )
    member = st.builds(
        Member,
        reached_at=st.floats(T0, T0 + 9000),
        is_left_out=st.booleans(),
        was_updated=st.booleans(),
        mark=st.sampled_from(Mark),
        heard_at=st.none() | st.floats(T0, T0 + 9000),
        starts=starts.filter(lambda some: len({one.seq for one in some}) == len(some)),
        settled=st.booleans(),
        trouble=st.sampled_from(["", "gone"]),
        refused=st.sampled_from(["", "no"]),
    )
    some = data.draw(st.lists(member, min_size=1, max_size=4))
    members = dict(enumerate([*some, *some]))
    is_stopped = data.draw(st.booleans())
    found, causes = turn(NEW, members, T0 + 9000, T0, is_stopped=is_stopped)
    assert [found[key] for key in range(len(some))] == [found[key + len(some)] for key in range(len(some))]
    shuffled = list(members.items())
    data.draw(st.randoms(use_true_random=False)).shuffle(shuffled)
    assert turn(NEW, dict(shuffled), T0 + 9000, T0, is_stopped=is_stopped) == (found, causes)
    for key, judged in found.items():
        assert (
            judged.mark is not Mark.UPDATED
            or max(members[key].starts, key=lambda one: one.seq).release == NEW
        )


class AnyRelease(RuleBasedStateMachine):
    """Whatever tables do, in whatever order, and whatever a person does: what a release may never do."""

    @initialize(tables=st.integers(1, 5))
    def begin(self, tables: int) -> None:
        self.goes = ReleaseTrial(tables)
        self.shown: dict[int, bool] = dict.fromkeys(range(tables), False)
        """Whether the new release runs there and has settled a hand since: what is true, kept apart."""
        self.running: dict[int, str] = dict.fromkeys(range(tables), OLD)

    def key(self, number: int) -> int:
        return number % len(self.shown)

    @rule(number=st.integers(0, 4), release=st.sampled_from([OLD, NEW, NEW]))
    def a_table_starts(self, number: int, release: str) -> None:
        key = self.key(number)
        self.goes.start(key, release)
        self.shown[key] = self.shown[key] and self.running[key] == release == NEW
        self.running[key] = release

    @rule(number=st.integers(0, 4))
    def a_hand_is_settled(self, number: int) -> None:
        key = self.key(number)
        if self.running[key] == NEW:
            self.goes.set(key, settled=True)
            self.shown[key] = True

    @rule(number=st.integers(0, 4), trouble=st.sampled_from(["", "gone"]))
    def a_fault_begins_or_ends(self, number: int, trouble: str) -> None:
        self.goes.set(self.key(number), trouble=trouble)

    @rule(number=st.integers(0, 4), refused=st.sampled_from(["", "no"]))
    def a_table_refuses_or_is_asked_again(self, number: int, refused: str) -> None:
        self.goes.set(self.key(number), refused=refused)

    @rule(seconds=st.integers(0, 100_000), heard=st.booleans())
    def time_passes(self, seconds: int, heard: bool) -> None:
        self.goes.later(seconds, heard=heard)

    @rule()
    def the_pit_starts_again(self) -> None:
        self.goes.listening = self.goes.now

    @rule()
    def a_turn(self) -> None:
        was_stopped = self.goes.is_stopped
        found = self.goes.turn()
        for key, judged in found.items():
            assert judged.mark is not Mark.UPDATED or (self.shown[key] and self.running[key] == NEW)
            if judged.mark is Mark.ASKED:
                assert self.running[key] != NEW
                assert not self.goes.is_stopped
                assert not self.goes.members[key].is_left_out
            if judged.mark in FAILURES and not self.goes.members[key].is_left_out:
                assert self.goes.is_stopped
        assert not (was_stopped and self.goes.causes), "it is stopped once"
        again = self.goes.turn()
        for key, judged in found.items():  # but that of a failure the turn after says since when it was asked
            assert again[key].mark == judged.mark

    @precondition(lambda self: self.goes.is_stopped)
    @rule(without=st.sets(st.integers(0, 4)))
    def a_person_lets_it_go_on(self, without: set[int]) -> None:
        self.goes.again(*{self.key(number) for number in without})

    def teardown(self) -> None:
        """Nothing more happens: each table that counts is updated, or the release is stopped, within its time."""
        if not hasattr(self, "goes"):
            return
        self.goes.later(WITHIN_S)
        found = self.goes.turn()
        counting = [key for key, one in self.goes.members.items() if not one.is_left_out]
        assert self.goes.is_stopped or all(found[key].mark is Mark.UPDATED for key in counting)
        assert all(self.shown[key] for key, judged in found.items() if judged.mark is Mark.UPDATED)


AnyRelease.TestCase.settings = examples(80, stateful_step_count=40)
TestAnyRelease = AnyRelease.TestCase
