"""A row's hash: of the one JSON text of its values, whatever a foreign file has in their places."""

from __future__ import annotations

import hashlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from firmware.table.entry import Entry, seal
from firmware.table.events import canonical

TEXT = st.characters(exclude_categories=["Cs"])
NUMBERS = ("seq", "hand", "monotonic_ns", "wall_ms")
SOUND = st.tuples(*(st.integers() if name in NUMBERS else st.text(TEXT) for name in Entry._fields[:-1]))
ANY = st.one_of(
    st.none(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(TEXT), st.booleans()
)
FOREIGN = st.tuples(*[ANY] * len(Entry._fields[:-1]))
"""What SQLite may hold in any column, but for bytes, of which there is no JSON."""


def by_json(row: tuple[Any, ...]) -> str:
    *head, payload, previous = row
    return hashlib.sha256(f"{canonical([previous, *head])}\n{payload}".encode()).hexdigest()


@given(SOUND)
def test_a_rows_hash_is_that_of_its_json(row: tuple[Any, ...]) -> None:
    assert seal(row) == by_json(row)


@given(FOREIGN)
def test_a_row_of_any_types_has_the_hash_of_its_json(row: tuple[Any, ...]) -> None:
    assert seal(row) == by_json(row)


def test_what_is_no_number_is_not_taken_for_one() -> None:
    """Else text could say what two columns say, and two rows would have one hash."""
    row = (1, 2, "boot", 3, 4, "unknown", "table", "", "type", "{}", "")
    told = ('1,2,"boot",3,4', 2, *row[2:])
    assert seal(row) != seal(told)
    assert seal(row) != seal(("1", *row[1:]))
