"""Cards to clusters at the least cost: SciPy, and every other assignment, find nothing cheaper."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from vision.reading.assignment import NONE, assign, extra_costs
from vision.reading.network import Floats


@st.composite
def costs(draw: st.DrawFn, most: int = 9) -> tuple[Floats, Floats]:
    """Draw the costs of rows with each column, and without one; often with ties, and more rows than columns."""
    shape = draw(st.integers(1, most)), draw(st.integers(1, most))
    figures = draw(st.sampled_from([st.integers(0, 3), st.integers(-5, 20), st.floats(-20, 20, width=32)]))
    return draw(arrays(float, shape, elements=figures)), draw(arrays(float, shape[0], elements=figures))


def _square(cost: Floats, without: Floats, barred: float = 1e6) -> Floats:
    """Give each row a further column that stands for going without."""
    alone = np.full((len(cost), len(cost)), barred)
    np.fill_diagonal(alone, without)
    return np.hstack([cost, alone])


def _least(matrix: Floats) -> float:
    return float(matrix[linear_sum_assignment(matrix)].sum())


def _total(cost: Floats, without: Floats, columns: tuple[int, ...]) -> float:
    pairs = enumerate(columns)
    return float(sum(without[row] if column == NONE else cost[row, column] for row, column in pairs))


@given(costs())
def test_no_column_is_taken_twice_and_scipy_finds_nothing_cheaper(drawn: tuple[Floats, Floats]) -> None:
    columns = assign(*drawn).tolist()
    taken = [column for column in columns if column != NONE]
    assert len(taken) == len(set(taken))
    assert _total(*drawn, tuple(columns)) == pytest.approx(_least(_square(*drawn)), abs=1e-9)


@given(costs(most=6))
def test_what_another_column_costs_is_what_scipy_pays_for_it(drawn: tuple[Floats, Floats]) -> None:
    columns = assign(*drawn)
    square = _square(*drawn)
    rows = np.flatnonzero(columns != NONE)
    extra = extra_costs(*drawn, columns)
    assert extra.shape == (len(rows), drawn[0].shape[1])
    for row, found in zip(rows, extra, strict=True):
        for column, more in enumerate(found):
            bound = square.copy()
            bound[row] = 1e7
            bound[row, column] = square[row, column]
            assert more == pytest.approx(_least(bound) - _least(square), abs=1e-6)


@given(costs(most=4))
def test_no_assignment_at_all_is_cheaper(drawn: tuple[Floats, Floats]) -> None:
    rows, columns = drawn[0].shape
    places = [*range(columns), *[NONE] * rows]
    every = {_total(*drawn, tried) for tried in permutations(places, rows)}
    assert _total(*drawn, tuple(assign(*drawn).tolist())) == pytest.approx(min(every), abs=1e-9)


@pytest.mark.parametrize("rows", [40, 52, 60, 200])
def test_a_table_of_cards_is_named_as_scipy_names_it(rows: int) -> None:
    """Clear names, blurred ones, and print; the costs end at 16 nats, as those of the reader."""
    rng = np.random.default_rng(rows)
    cost = rng.uniform(5, 40, (rows, 52)).clip(max=16)
    cost[np.arange(rows), rng.integers(52, size=rows)] = rng.exponential(1, rows)
    without = rng.uniform(0.2, 20, rows)
    columns = assign(cost, without)
    square = _square(cost, without)
    assert _total(cost, without, tuple(columns.tolist())) == pytest.approx(_least(square))
    scipy = linear_sum_assignment(square)[1]
    assert [c for c in columns.tolist() if c != NONE] == scipy[scipy < 52].tolist()
