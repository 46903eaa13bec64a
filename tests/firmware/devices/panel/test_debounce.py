"""Bouncing contacts: one press is one press, whatever the contact does."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.devices.panel.debounce import (
    BOUNCE,
    HOLD,
    LOOSE,
    SETTLE,
    STUCK,
    TOGETHER,
    Debounce,
    PressedButtons,
)
from firmware.devices.panel.interface import BUTTONS, ButtonName, Press
from firmware.devices.panel.simulated import bounces
from tests.examples import examples
from tests.firmware.devices import bounce_traces

LOOK_US = 140_000
"""A press that outlasts the look at the pins every 0.1 s, bounces and all, is seen without one edge of it."""
UP: dict[ButtonName, bool] = dict.fromkeys(BUTTONS, False)


@dataclass(frozen=True)
class Edge:
    at: float
    button: ButtonName
    down: bool


def trace(seed: int, button: ButtonName, acts: list[tuple[float, float]], start: float = 1.0) -> list[Edge]:
    """The edges of presses given as (seconds up before it, seconds down)."""
    rng, at, edges = random.Random(seed), start, []
    for pause, held in acts:
        for down, wait in ((True, pause), (False, held)):
            at += wait
            edges.append(Edge(at, button, down))
            bouncing = at
            for number, gap in enumerate(bounces(rng), start=1):
                bouncing += gap
                edges.append(Edge(bouncing, button, down if number % 2 == 0 else not down))
    return edges


def play(edges: list[Edge], lost: frozenset[int] = frozenset(), until: float | None = None) -> list[Press]:
    """Feed the edges as the panel's thread does: it looks at the pins when something is due and every 0.1 s."""
    edges = sorted(edges, key=lambda edge: edge.at)
    panel, presses, levels, now = PressedButtons(UP), [], dict(UP), 0.0
    end = until if until is not None else (edges[-1].at if edges else 0.0) + 0.5
    for number, edge in [*enumerate(edges), (-1, Edge(end, "next", False))]:
        while (look := min(panel.due or float("inf"), now + 0.1)) < edge.at:
            now = max(look, now + 0.001)
            if now >= edge.at:
                break
            presses += panel.sample(levels, now)
        if number < 0:
            break
        levels[edge.button] = edge.down
        now = edge.at
        if number not in lost:
            presses += panel.edge(edge.button, edge.down, edge.at)
    return presses


acts = st.lists(st.tuples(st.floats(0.04, 0.5), st.floats(0.03, 0.9)), min_size=1, max_size=LOOSE[0][0] - 1)


@examples(300)
@given(st.integers(), acts)
def test_bounce_traces_never_give_two_presses_nor_lose_one(
    seed: int, acts: list[tuple[float, float]]
) -> None:
    presses = play(trace(seed, "next", acts))
    assert [press.button for press in presses] == ["next"] * len(acts)
    down_at, at = [], 1.0
    for pause, held in acts:
        at += pause
        down_at.append(at)
        at += held
    assert all(abs(press.at - at) < SETTLE for press, at in zip(presses, down_at, strict=True))


@examples(300)
@given(st.integers(), st.data())
def test_lost_edges_never_make_two_presses_of_one_nor_lose_a_calm_one(seed: int, data: st.DataObject) -> None:
    edges = trace(seed, "confirm", [(0.5, 0.4), (0.5, 0.4)])
    lost = data.draw(st.frozensets(st.integers(0, len(edges) - 1)))
    assert [press.button for press in play(edges, lost)] == ["confirm"] * 2


def test_a_late_thread_still_sees_every_press() -> None:
    """All edges arrive at once, after the fact, with the kernel's times."""
    panel = PressedButtons(UP)
    presses = [
        press
        for edge in trace(1, "next", [(0.1, 0.1), (0.1, 0.1), (0.1, 1.5)])
        for press in panel.edge(edge.button, edge.down, edge.at)
    ]
    presses += panel.sample(UP, 9.0)
    assert [(press.button, press.held) for press in presses] == [
        ("next", False),
        ("next", False),
        ("next", False),
        ("next", True),
    ]


def test_a_spike_shorter_than_the_settling_time_is_nothing() -> None:
    assert play([Edge(1.0, "next", True), Edge(1.0 + SETTLE * 0.9, "next", False)]) == []


def test_a_held_button_is_told_twice_once_as_held() -> None:
    presses = play(trace(3, "confirm", [(0.1, HOLD + 0.2)]))
    assert [press.held for press in presses] == [False, True]
    assert presses[0].at == presses[1].at


def test_a_button_let_go_before_the_hold_is_told_once() -> None:
    assert [press.held for press in play(trace(3, "confirm", [(0.1, HOLD - 0.1)]))] == [False]


@examples(200)
@given(
    st.integers(),
    st.sampled_from([("confirm", "reject"), ("next", "confirm")]),
    st.floats(0, TOGETHER),
)
def test_two_at_once_are_nothing(seed: int, pair: tuple[ButtonName, ButtonName], apart: float) -> None:
    first = trace(seed, pair[0], [(0.1, 0.3)])
    second = trace(seed + 1, pair[1], [(0.1 + apart, 0.3)])
    assert play(first + second) == []


def test_a_second_button_under_a_held_one_is_nothing_and_ends_the_hold() -> None:
    edges = trace(5, "confirm", [(0.1, 2.0)]) + trace(6, "reject", [(0.6, 0.2)])
    assert [(press.button, press.held) for press in play(edges)] == [("confirm", False)]


def test_after_two_at_once_the_next_press_alone_counts_again() -> None:
    edges = trace(7, "confirm", [(0.1, 0.3)]) + trace(8, "reject", [(0.1, 0.3), (0.5, 0.2)])
    assert [press.button for press in play(edges)] == ["reject"]


def test_two_quick_presses_one_after_the_other_are_two() -> None:
    edges = trace(9, "confirm", [(0.1, 0.04)]) + trace(10, "reject", [(0.16, 0.05)])
    assert [press.button for press in play(edges)] == ["confirm", "reject"]


def test_a_button_down_from_the_start_is_stuck_and_does_not_block_the_others() -> None:
    panel = PressedButtons(UP | {"reject": True})
    assert panel.sample(UP | {"reject": True}, 5.0) == []
    assert panel.stuck(5.0) == {"reject"}
    panel.sample(UP | {"reject": True, "next": True}, 6.0)
    presses = panel.sample(UP | {"reject": True, "next": True}, 6.2)
    assert [press.button for press in presses] == ["next"]
    panel.sample(UP, 7.0)
    panel.sample(UP, 7.1)
    assert panel.stuck(7.1) == frozenset()


def test_a_button_that_jams_is_told_as_a_press_and_later_as_stuck() -> None:
    panel = PressedButtons(UP)
    down = UP | {"next": True}
    presses = [press for tick in range(1, 120) for press in panel.sample(down, tick * 0.1)]
    assert [press.held for press in presses] == [False, True]
    assert panel.stuck(0.1 + STUCK - 0.01) == frozenset()
    assert panel.stuck(0.1 + STUCK) == {"next"}


@pytest.mark.parametrize("start", [False, True])
def test_a_contact_at_rest_needs_no_look(start: bool) -> None:
    contact = Debounce(start)
    due = [contact.due]
    assert contact.edge(not start, 1.0) is None
    due.append(contact.due)
    assert contact.settle(1.0 + SETTLE) == 1.0
    due.append(contact.due)
    assert due == [None, 1.0 + SETTLE, None]
    assert contact.level == (not start)


# recorded traces


@pytest.mark.parametrize("recorded", bounce_traces.traces(), ids=lambda recorded: recorded["switch"])
class TestRecordedTraces:
    def edges(self, recorded: dict[str, Any]) -> list[Edge]:
        return [
            Edge(change / 1e6, "confirm", number % 2 == 0)
            for number, change in enumerate(recorded["changes_us"])
        ]

    def test_the_trace_is_what_its_model_says(self, recorded: dict[str, Any]) -> None:
        assert recorded == bounce_traces.record(recorded["switch"])

    def test_no_press_is_lost_and_none_is_given_twice(self, recorded: dict[str, Any]) -> None:
        presses = [press for press in play(self.edges(recorded)) if not press.held]
        began = [begins / 1e6 for begins, _ in recorded["presses_us"]]
        assert len(presses) == len(began)
        assert all(0 <= press.at - at <= BOUNCE for press, at in zip(presses, began, strict=True))

    def test_nor_where_the_kernel_drops_edges(self, recorded: dict[str, Any]) -> None:
        edges = self.edges(recorded)
        for seed in range(20):
            rng = random.Random(seed)
            lost = frozenset(number for number in range(len(edges)) if rng.random() < 0.2)
            presses = [press for press in play(edges, lost) if not press.held]
            long = [begins for begins, ends in recorded["presses_us"] if ends - begins > LOOK_US]
            assert len(presses) <= len(recorded["presses_us"])
            assert len(presses) >= len(long)
