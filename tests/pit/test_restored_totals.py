"""Whatever is set back when, the pit's totals are the tables' own."""

from __future__ import annotations

from collections import Counter

from pit.store.database import Database
from tests.campaigns.pit.restored_totals import evenings


def test_totals_are_the_tables_own_whatever_was_set_back_in_the_middle_of_a_down(database: Database) -> None:
    done: Counter[str] = Counter()
    assert list(evenings(database, 8, 7, done)) == []
    assert done["set_back"] > 3
    assert done["hand"] > 20
