"""The adaptive limit: what holds for any sequence of durations and timeouts, on a clock that is moved by hand."""

from __future__ import annotations

import doctest
import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware import adaptive_limit
from firmware.adaptive_limit import GROWTH, MULTIPLE, RECENT, AdaptiveLimit

SECONDS = st.floats(0.001, 1000)
BOUNDS = st.tuples(SECONDS, SECONDS).map(sorted)
HISTORY = st.lists(st.tuples(st.booleans(), st.floats(0, 10_000)), max_size=60)


def after(limit: AdaptiveLimit, history: list[tuple[bool, float]]) -> AdaptiveLimit:
    for came, seconds in history:
        if came:
            limit.took(seconds)
        else:
            limit.timed_out(limit.seconds)
    return limit


@given(BOUNDS, HISTORY)
def test_it_is_never_below_its_floor_or_above_its_ceiling(
    bounds: list[float], history: list[tuple[bool, float]]
) -> None:
    floor, ceiling = bounds
    limit = AdaptiveLimit(floor, ceiling)
    assert limit.seconds == floor, "before anything was timed"
    for step in history:
        assert floor <= after(limit, [step]).seconds <= ceiling


@given(BOUNDS, HISTORY, SECONDS)
def test_recent_work_of_one_duration_settles_it_at_the_multiple_whatever_was_before(
    bounds: list[float], history: list[tuple[bool, float]], duration: float
) -> None:
    floor, ceiling = bounds
    limit = after(AdaptiveLimit(floor, ceiling), history)
    for _ in range(RECENT):
        limit.took(duration)
    assert limit.seconds == min(ceiling, max(floor, MULTIPLE * duration))


@given(BOUNDS, HISTORY)
def test_timeouts_one_after_another_lead_to_the_ceiling(
    bounds: list[float], history: list[tuple[bool, float]]
) -> None:
    floor, ceiling = bounds
    limit = after(AdaptiveLimit(floor, ceiling), history)
    steps = math.ceil(math.log(ceiling / floor, GROWTH)) + 1  # one more where the quotient is rounded
    for _ in range(steps):
        before = limit.seconds
        limit.timed_out(before)
        assert limit.seconds == min(ceiling, GROWTH * before)
    assert limit.seconds == ceiling


def test_work_that_always_takes_longer_than_the_floor_gets_its_time() -> None:
    limit, needs, timeouts = AdaptiveLimit(3, 60), 29.0, 0
    while limit.seconds < needs:
        limit.timed_out(limit.seconds)
        timeouts += 1
    assert timeouts == 4  # 3, 6, 12, 24
    limit.took(needs)
    assert limit.seconds == 60


def test_several_that_time_out_together_let_it_grow_once() -> None:
    limit = AdaptiveLimit(3, 60)
    for _ in range(5):
        limit.timed_out(3.0)
    assert limit.seconds == 6


def test_a_single_slow_piece_of_work_is_forgotten() -> None:
    limit = AdaptiveLimit(3, 60)
    limit.took(10)
    for _ in range(RECENT - 1):
        limit.took(0.1)
        assert limit.seconds == 40
    limit.took(0.1)
    assert limit.seconds == 3


def test_it_times_work_by_the_clock_that_it_is_given() -> None:
    now = [100.0]
    limit = AdaptiveLimit(3, 60, lambda: now[0])

    def work(seconds: float, error: Exception | None = None) -> float:
        with limit.timed() as given:
            now[0] += seconds
            if error:
                raise error
        return given

    assert work(2.0) == 3
    assert limit.seconds == 8
    with pytest.raises(TimeoutError):
        work(8.0, TimeoutError())
    assert limit.seconds == 16
    with pytest.raises(ConnectionRefusedError):
        work(50.0, ConnectionRefusedError())
    assert limit.seconds == 16, "nobody was there to be slow"


def test_its_figures_say_what_it_follows_from() -> None:
    limit = AdaptiveLimit(5, 60)
    assert (limit.figures().usual_s, limit.figures().recent) == (None, 0)
    for seconds in (1.0, 1.2, 1.5):
        limit.took(seconds)
    limit.timed_out(6.0)
    assert limit.to_json() == {
        "limit_s": 12.0,
        "floor_s": 5.0,
        "ceiling_s": 60.0,
        "usual_s": 1.2,
        "longest_s": 1.5,
        "recent": 4,
        "timeouts": 1,
    }


@pytest.mark.parametrize(("floor", "ceiling"), [(0.0, 5.0), (-1.0, 5.0), (6.0, 5.0), (math.nan, 5.0)])
def test_bounds_that_are_none_are_refused(floor: float, ceiling: float) -> None:
    with pytest.raises(ValueError, match="a limit from"):
        AdaptiveLimit(floor, ceiling)


def test_many_threads_may_use_one() -> None:
    limit, failed = AdaptiveLimit(1, 100), []

    def work() -> None:
        try:
            for _ in range(500):
                limit.took(limit.seconds)
                limit.figures()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert limit.seconds == 100


def test_its_example_is_true() -> None:
    assert doctest.testmod(adaptive_limit).failed == 0
