"""Assigns columns to rows at the least total cost, each column once, and says what any other column would cost a row.

Exact, and NumPy alone. A row may also go without a column, at a cost of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.reading.network import Floats

NONE = -1
"""In place of a column: the row goes without."""


def assign(cost: Floats, without: Floats) -> NDArray[np.intp]:
    """Return the column of each row, or NONE.

    The Hungarian method: row by row, the cheapest chain of changes to a free column is found by Dijkstra's algorithm,
    over costs less the columns' prices so that no step is negative.

    Args:
        cost: n × m, of a row with a column.
        without: n, of a row without.
    """
    columns = np.full(len(cost), NONE)
    # for all others, going without takes nothing from anyone
    rows = np.flatnonzero(cost.min(axis=1) < without)
    alone = np.full((len(rows), len(rows)), np.inf)
    np.fill_diagonal(alone, without[rows])
    cost = np.hstack([cost[rows], alone])
    owner, price = np.full(cost.shape[1], NONE), np.zeros(cost.shape[1])
    for row in range(len(rows)):
        distance, before = cost[row] - price, np.full(len(price), NONE)
        ahead, done = distance.copy(), []
        while owner[column := int(ahead.argmin())] != NONE:
            done.append(column)
            step = cost[owner[column]] - price
            step += distance[column] - step[column]
            step[done] = np.inf
            better = step < distance
            before[better], distance[better], ahead[better] = column, step[better], step[better]
            ahead[column] = np.inf
        price[done] += distance[done] - distance[column]
        while before[column] != NONE:
            owner[column], column = owner[before[column]], before[column]
        owner[column] = row
    held = np.flatnonzero(owner[: len(price) - len(rows)] != NONE)
    columns[rows[owner[held]]] = held
    return columns


def extra_costs(cost: Floats, without: Floats, columns: NDArray[np.intp]) -> Floats:
    """Return what the cheapest assignment with a row in a column costs beyond the cheapest one of all.

    For each row that has a column, in their order, and each column. A row that loses its column takes another's, and so
    on, until a chain ends at the column that the first row gave up; free columns and the rows without are one more link
    of the chains. The cheapest chains are found by Floyd and Warshall's algorithm: no cycle has a negative cost, or the
    assignment would not be the cheapest.

    Args:
        cost, without: as in `assign`.
        columns: its result.
    """
    rows, idle = np.flatnonzero(columns != NONE), columns == NONE
    held = columns[rows]
    free = np.ones(cost.shape[1], bool)
    free[held] = False
    extra = cost[rows] - cost[rows, held][:, None]
    chain = np.zeros((len(rows) + 1, len(rows) + 1))
    chain[:-1, :-1] = step = extra[:, held]
    chain[:-1, -1] = np.minimum(without[rows] - cost[rows, held], extra[:, free].min(axis=1, initial=np.inf))
    chain[-1, :-1] = (cost[idle][:, held] - without[idle, None]).min(axis=0, initial=0.0)
    for k in range(len(chain)):
        np.minimum(chain, chain[:, k, None] + chain[k], out=chain)
    extra[:, free] += chain[-1, :-1, None]
    extra[:, held] = step + chain[:-1, :-1].T
    extra[np.arange(len(rows)), held] = 0.0
    return extra
