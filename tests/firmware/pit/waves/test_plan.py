"""A wave as a pure function of what its tables have shown: it ends, and calls nothing updated that is not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from firmware.pit.waves.plan import (
    Accepted,
    Cards,
    Failure,
    Mark,
    Member,
    Phase,
    Rules,
    Start,
    Turn,
    asks_twice,
    go_on,
    turn,
)

NEW, OLD, NEWER = "2.0.0-bbbb", "1.0.0-aaaa", "3.0.0-cccc"
RULES: Final = Rules()
T0: Final = 1_800_000_000.0


class Wave:
    """A wave's state, kept as the database keeps it."""

    def __init__(self, tables: int, rules: Rules = RULES) -> None:
        self.now, self.rules, self.phase = T0, rules, Phase.RUNNING
        self.listening = T0
        self.members = {
            key: Member(place=key, heard_at=T0, starts=frozenset({Start(1, OLD, T0 - 9e5)}))
            for key in range(tables)
        }

    def turn(self) -> Turn:
        """Take one turn, and keep what comes of it."""
        found = turn(self.phase, NEW, self.rules, self.members, self.now, self.listening)
        stops = found.phase is Phase.STOPPED and self.phase is Phase.RUNNING
        for key, judged in found.judged.items():
            one = self.members[key]
            self.members[key] = replace(
                one,
                reached_at=self.now if key in found.reached else one.reached_at,
                was_updated=one.was_updated or judged.mark is Mark.UPDATED,
                stopped_for=judged.failure if stops and key in found.causes else one.stopped_for,
            )
        self.phase = found.phase
        return found

    def set(self, key: int, **changes: object) -> None:
        self.members[key] = replace(self.members[key], **changes)  # type: ignore[arg-type]

    def start(self, key: int, release: str) -> None:
        """A table's process starts, and is heard of."""
        one = self.members[key]
        begun = Start(1 + max((start.seq for start in one.starts), default=0), release, self.now)
        still = one.settled and release == NEW and max(one.starts, key=lambda s: s.seq).release == NEW
        self.set(key, starts=one.starts | {begun}, settled=still, heard_at=self.now)

    def hear(self) -> None:
        for key in self.members:
            self.set(key, heard_at=self.now)

    def later(self, seconds: float, *, heard: bool = True) -> None:
        self.now += seconds
        if heard:
            self.hear()

    def marks(self) -> list[Mark]:
        found = self.turn()
        return [found.judged[key].mark for key in sorted(found.judged)]

    def update(self, key: int) -> None:
        self.start(key, NEW)
        self.set(key, settled=True)


def test_a_release_goes_to_one_table_then_to_a_tenth_then_to_the_rest() -> None:
    wave = Wave(30)
    asked = []
    while wave.phase is Phase.RUNNING:
        found = wave.turn()
        if found.asked:
            asked.append((found.step, sorted(found.asked)))
        for key in found.asked:
            wave.later(60)
            wave.update(key)
    assert asked == [(0, [0]), (1, [1, 2]), (2, list(range(3, 30)))]
    assert set(wave.marks()) == {Mark.UPDATED}


@pytest.mark.parametrize("tables", range(1, 26))
@pytest.mark.parametrize("share", [1, 10, 50, 100])
def test_every_number_of_tables_comes_to_its_end(tables: int, share: int) -> None:
    wave = Wave(tables, Rules(share=share))
    for _ in range(4):
        for key in wave.turn().asked:
            wave.update(key)
    assert wave.phase is Phase.DONE
    assert wave.marks() == [Mark.UPDATED] * tables


def stopped_for(wave: Wave) -> list[Failure | None]:
    found = wave.turn()
    assert (found.phase, found.asked, found.reached) == (Phase.STOPPED, frozenset(), frozenset())
    return [found.judged[key].failure for key in found.causes]


def test_a_release_that_starts_and_settles_nothing_stops_the_wave_after_its_time() -> None:
    wave = Wave(5)
    wave.turn()
    wave.start(0, NEW)
    wave.later(RULES.within_s - 1)
    assert wave.marks() == [Mark.RUNS, *[Mark.WAITS] * 4]
    wave.later(1)
    assert stopped_for(wave) == [Failure.LATE]


def test_a_hand_that_is_settled_with_a_fault_is_no_success_until_the_fault_is_over() -> None:
    wave = Wave(1)
    wave.turn()
    wave.start(0, NEW)
    wave.set(0, settled=True, trouble="The camera is gone.")
    assert wave.marks() == [Mark.RUNS]
    wave.set(0, trouble="")
    assert wave.marks() == [Mark.UPDATED]
    wave.set(0, trouble="The camera is gone.")
    assert wave.marks() == [Mark.UPDATED], "a cable that is pulled later is no news of the release"


@pytest.mark.parametrize("settles", [False, True])
@pytest.mark.parametrize("to", [OLD, NEWER])
def test_a_table_that_goes_back_stops_the_wave_also_after_it_was_updated(settles: bool, to: str) -> None:
    wave = Wave(5)
    wave.turn()
    wave.start(0, NEW)
    wave.set(0, settled=settles)
    wave.turn()
    wave.start(0, to)
    assert stopped_for(wave) == [Failure.WENT_BACK]
    assert Mark.UPDATED not in wave.marks()


def test_a_table_that_goes_back_and_comes_again_between_two_turns_is_updated_once_it_settles_a_hand() -> None:
    wave = Wave(1)
    wave.turn()
    wave.start(0, NEW)
    wave.set(0, settled=True)
    wave.turn()
    assert wave.marks() == [Mark.UPDATED]
    wave.start(0, OLD)
    wave.start(0, NEW)
    wave.set(0, settled=False)
    wave.turn()
    assert wave.marks() == [Mark.RUNS]
    wave.set(0, settled=True)
    wave.turn()
    assert wave.marks() == [Mark.UPDATED]


def test_a_start_of_the_old_release_before_the_new_one_ever_ran_is_not_going_back() -> None:
    wave = Wave(1)
    wave.turn()
    wave.later(60)
    wave.start(0, OLD)
    assert wave.marks() == [Mark.ASKED]


def test_that_a_release_ran_long_before_the_wave_is_not_going_back() -> None:
    wave = Wave(1)
    wave.set(0, starts=frozenset({Start(1, NEW, T0 - 5000), Start(2, OLD, T0 - 4000)}))
    wave.turn()
    assert wave.marks() == [Mark.ASKED]


def test_a_table_that_refuses_stops_the_wave_with_its_reason() -> None:
    wave = Wave(3)
    wave.turn()
    wave.set(0, refused="300 MB are left.")
    found = wave.turn()
    assert (found.phase, found.causes) == (Phase.STOPPED, (0,))
    assert (found.judged[0].failure, found.judged[0].why) == (Failure.REFUSED, "300 MB are left.")


@pytest.mark.parametrize("runs", [False, True])
def test_a_table_that_is_silent_for_half_an_hour_stops_the_wave(runs: bool) -> None:
    wave = Wave(3)
    wave.turn()
    if runs:
        wave.start(0, NEW)
    wave.later(RULES.silent_s - 1, heard=False)
    assert wave.turn().phase is Phase.RUNNING
    wave.later(1, heard=False)
    assert stopped_for(wave) == [Failure.SILENT]
    wave.hear()
    assert wave.marks()[0] is Mark.FAILED, "coming back does not hide why the wave stopped"


def test_tables_whose_turn_has_not_come_and_updated_ones_may_be_silent() -> None:
    wave = Wave(3)
    wave.turn()
    for _ in range(5):
        wave.later(1000, heard=False)
        wave.set(0, heard_at=wave.now)
        assert wave.turn().phase is Phase.RUNNING
    wave.update(0)
    wave.turn()
    for _ in range(5):
        wave.later(1000, heard=False)
        for key in (1, 2):
            wave.set(key, heard_at=wave.now)
        assert wave.turn().phase is Phase.RUNNING


def test_nobody_was_silent_while_the_pit_was_away() -> None:
    wave = Wave(3)
    wave.turn()
    wave.later(7200, heard=False)
    wave.listening = wave.now - 10
    assert wave.turn().phase is Phase.RUNNING
    wave.later(RULES.silent_s, heard=False)
    assert stopped_for(wave) == [Failure.SILENT]


def test_a_share_of_asked_cards_that_doubles_stops_the_wave_also_of_an_updated_table() -> None:
    wave = Wave(3)
    wave.turn()
    wave.update(0)
    wave.turn()
    wave.set(0, before=Cards(10_000, 50), after=Cards(1000, 21))
    found = wave.turn()
    assert [found.judged[key].failure for key in found.causes] == [Failure.ASKS]
    assert str(found.judged[0].why) == "Asked about 2.1 of 100 cards, before the release 0.5."


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
def test_chance_alone_rarely_stops_a_wave_and_three_times_as_many_asked_cards_do(
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


def test_a_table_that_was_struck_off_is_not_waited_for_and_the_next_one_is_first() -> None:
    wave = Wave(3)
    assert wave.turn().asked == {0}
    wave.set(0, is_struck=True)
    found = wave.turn()
    assert (found.step, set(found.asked)) == (0, {1})
    wave.update(1)
    assert wave.turn().asked == {2}
    wave.update(2)
    assert wave.marks() == [Mark.STRUCK, Mark.UPDATED, Mark.UPDATED]
    assert wave.phase is Phase.DONE


def test_a_wave_of_which_no_table_is_left_stops() -> None:
    wave = Wave(2)
    for key in (0, 1):
        wave.set(key, is_struck=True)
    found = wave.turn()
    assert (found.phase, found.causes) == (Phase.STOPPED, ())


def test_a_table_that_was_updated_otherwise_counts_once_it_has_settled_a_hand() -> None:
    wave = Wave(3)
    wave.start(1, NEW)
    wave.update(2)
    found = wave.turn()
    assert [found.judged[key].mark for key in range(3)] == [Mark.ASKED, Mark.RUNS, Mark.UPDATED]
    assert found.asked == {0}
    wave.update(0)
    found = wave.turn()
    assert found.asked == frozenset(), "what runs there need not be fetched"
    wave.set(1, settled=True)
    assert wave.marks() == [Mark.UPDATED] * 3


def test_a_table_that_is_away_is_not_waited_for_takes_the_release_later_and_stops_the_wave_if_it_goes_back() -> (
    None
):
    wave = Wave(4)
    wave.set(3, accepted=Accepted.NO_WAIT, heard_at=T0 - 600_000)
    for key in range(3):
        wave.turn()
        wave.update(key)
    found = wave.turn()
    assert (found.phase, set(found.asked)) == (Phase.DONE, {3})
    assert found.judged[3].mark is not Mark.UPDATED
    wave.later(7 * 86_400)
    found = wave.turn()
    assert (found.judged[3].mark, set(found.asked)) == (Mark.ASKED, {3})
    wave.start(3, NEW)
    assert wave.marks()[3] is Mark.RUNS
    wave.set(3, settled=True)
    assert wave.marks() == [Mark.UPDATED] * 4

    running = Wave(4)
    running.set(0, accepted=Accepted.NO_WAIT, heard_at=T0 - 600_000)
    assert running.turn().asked == {0, 1}
    running.later(7200)
    running.start(0, NEW)
    running.turn()
    running.start(0, OLD)
    assert stopped_for(running) == [Failure.WENT_BACK]


@pytest.mark.parametrize("failure", [Failure.SILENT, Failure.WENT_BACK])
@pytest.mark.parametrize("is_without", [True, False])
def test_a_stopped_wave_goes_on_with_the_table_tried_again_or_without_it(
    failure: Failure, is_without: bool
) -> None:
    wave = Wave(4)
    wave.turn()
    if failure is Failure.SILENT:
        wave.later(RULES.silent_s, heard=False)
    else:
        wave.start(0, NEW)
        wave.start(0, OLD)
    found = wave.turn()
    assert found.phase is Phase.STOPPED
    wave.later(100, heard=failure is not Failure.SILENT)
    wave.members = go_on(wave.members, wave.turn().judged, {0} if is_without else set(), wave.now)
    wave.phase = Phase.RUNNING
    found = wave.turn()
    assert found.phase is Phase.RUNNING
    assert (set(found.asked), found.step) == (
        {0} if not is_without else {0, 1} if failure is Failure.SILENT else {1},
        0,
    )


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_the_order_of_facts_does_not_matter_and_equal_facts_give_equal_answers(data: st.DataObject) -> None:
    starts = st.frozensets(
        st.builds(Start, st.integers(1, 6), st.sampled_from([OLD, NEW]), st.floats(T0, T0 + 9000)), max_size=4
    )
    member = st.builds(
        Member,
        place=st.just(0),
        reached_at=st.none() | st.floats(T0, T0 + 9000),
        accepted=st.sampled_from(list(Accepted)),
        is_struck=st.booleans(),
        heard_at=st.none() | st.floats(T0, T0 + 9000),
        starts=starts.filter(lambda some: len({one.seq for one in some}) == len(some)),
        settled=st.booleans(),
        was_updated=st.booleans(),
        trouble=st.sampled_from(["", "gone"]),
        refused=st.sampled_from(["", "no"]),
    )
    some = data.draw(st.lists(member, min_size=1, max_size=4))
    members = {key: replace(one, place=key) for key, one in enumerate([*some, *some])}
    phase = data.draw(st.sampled_from(list(Phase)))
    found = turn(phase, NEW, RULES, members, T0 + 9000, T0)
    for key in range(len(some)):
        one, other = found.judged[key], found.judged[key + len(some)]
        assert one == other or {one.mark, other.mark} <= {Mark.WAITS, Mark.ASKED}, "but for whose turn it is"
    shuffled = list(members.items())
    data.draw(st.randoms(use_true_random=False)).shuffle(shuffled)
    assert turn(phase, NEW, RULES, dict(shuffled), T0 + 9000, T0) == found
    for key, judged in found.judged.items():
        if judged.mark is Mark.UPDATED:
            newest = max(members[key].starts, key=lambda one: one.seq)
            assert newest.release == NEW


class AnyWave(RuleBasedStateMachine):
    """Whatever tables do, in whatever order, and whatever a person does: what a wave may never do."""

    @initialize(tables=st.integers(1, 7), share=st.sampled_from([10, 40, 100]))
    def begin(self, tables: int, share: int) -> None:
        self.wave = Wave(tables, Rules(share=share))
        self.shown: dict[int, bool] = dict.fromkeys(range(tables), False)
        """Whether the new release runs there and has settled a hand since: what is true, kept apart."""
        self.running: dict[int, str] = dict.fromkeys(range(tables), OLD)

    def key(self, number: int) -> int:
        return number % len(self.shown)

    @rule(number=st.integers(0, 6), release=st.sampled_from([OLD, NEW, NEW]))
    def a_table_starts(self, number: int, release: str) -> None:
        key = self.key(number)
        self.wave.start(key, release)
        self.shown[key] = self.shown[key] and self.running[key] == release == NEW
        self.running[key] = release

    @rule(number=st.integers(0, 6))
    def a_hand_is_settled(self, number: int) -> None:
        key = self.key(number)
        if self.running[key] == NEW:
            self.wave.set(key, settled=True)
            self.shown[key] = True

    @rule(number=st.integers(0, 6), has=st.booleans())
    def a_fault_begins_or_ends(self, number: int, has: bool) -> None:
        self.wave.set(self.key(number), trouble="gone" if has else "")

    @rule(number=st.integers(0, 6))
    def a_table_refuses(self, number: int) -> None:
        self.wave.set(self.key(number), refused="no")

    @rule(number=st.integers(0, 6), is_struck=st.booleans())
    def a_table_is_struck_off_or_comes_in_again(self, number: int, is_struck: bool) -> None:
        self.wave.set(self.key(number), is_struck=is_struck)

    @rule(seconds=st.integers(0, 100_000), heard=st.booleans())
    def time_passes(self, seconds: int, heard: bool) -> None:
        self.wave.later(seconds, heard=heard)

    @rule()
    def the_pit_starts_again(self) -> None:
        self.wave.listening = self.wave.now

    @rule()
    def a_turn(self) -> None:
        before = self.wave.phase
        members = dict(self.wave.members)
        found = self.wave.turn()
        if Phase.STOPPED in (found.phase, before):
            assert (found.asked, found.reached) == (frozenset(), frozenset())
            assert found.phase is not Phase.RUNNING
        for key, judged in found.judged.items():
            assert judged.mark is not Mark.UPDATED or (self.shown[key] and self.running[key] == NEW)
        assert all(self.running[key] != NEW for key in found.asked)
        if before is Phase.RUNNING and found.phase is Phase.RUNNING:
            assert not [
                key for key, one in found.judged.items() if one.failure and members[key].is_waited_for
            ]
        if found.phase is Phase.DONE and before is Phase.RUNNING:
            marks = [found.judged[key].mark for key, one in members.items() if one.is_waited_for]
            assert marks
            assert set(marks) == {Mark.UPDATED}
        for key in found.reached:  # nobody is reached while somebody before is not updated
            if found.step == 0:
                continue
            earlier = [
                other
                for other, one in members.items()
                if one.is_waited_for and one.reached_at is not None and other != key
            ]
            assert all(found.judged[other].mark is Mark.UPDATED for other in earlier)
            assert any(
                found.judged[other].mark is Mark.UPDATED and members[other].is_waited_for for other in members
            )

    @precondition(lambda self: self.wave.phase is Phase.STOPPED)
    @rule(without=st.sets(st.integers(0, 6)))
    def a_person_lets_it_go_on(self, without: set[int]) -> None:
        found = self.wave.turn()
        self.wave.members = go_on(self.wave.members, found.judged, without, self.wave.now)
        self.wave.phase = Phase.RUNNING

    @precondition(lambda self: self.wave.phase is Phase.RUNNING)
    @rule()
    def a_person_stops_it(self) -> None:
        self.wave.phase = Phase.STOPPED

    @invariant()
    def a_turn_changes_nothing_that_the_same_turn_would_not_give_again(self) -> None:
        wave = self.wave
        args = (wave.phase, NEW, wave.rules, wave.members, wave.now, wave.listening)
        assert turn(*args) == turn(*args)

    def teardown(self) -> None:
        """Nothing more happens: the wave comes to an end within a bounded time."""
        if not hasattr(self, "wave"):
            return
        for _ in itertools.count():
            self.wave.turn()
            if self.wave.phase is not Phase.RUNNING:
                break
            self.wave.later(self.wave.rules.within_s)
            assert self.wave.now < T0 + 1e9
        final = self.wave.turn()
        for key, judged in final.judged.items():
            assert judged.mark is not Mark.UPDATED or self.shown[key]


AnyWave.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestAnyWave = AnyWave.TestCase
