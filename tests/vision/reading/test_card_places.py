"""Where cards lie: what becomes of an index that a neighbour half covers, so that it looks like another card's."""

from __future__ import annotations

import numpy as np

from tests.vision.reading.test_pairs import CASINO, row, table
from vision.felt.layout import TableLayout
from vision.reading.card_places import cards_on
from vision.reading.decode import NamedCluster
from vision.reading.network import Indices

KNOWN = ["As", "Kh", "Td", "7c", "2s"]


def named(indices: Indices) -> dict[str, NamedCluster]:
    """Read the indices; the names in the order of their cards' places."""
    found = sorted(cards_on(indices, TableLayout.load()), key=lambda at: float(at[1].middle[0]))
    return {one.card: one for one, _ in found}


def with_a_card(both: tuple[str, str], moved: tuple[float, float], nats: float = 9) -> Indices:
    """Lay five cards and one whose second index seems to lie elsewhere, by millimetres."""
    seen = table(row(KNOWN) | {(400.0, 0.0): both}, CASINO, nats)
    seen.places[-1] += moved
    seen.heat[-1] = 0.8
    return seen


def test_a_half_covered_index_that_names_another_card_is_no_second_card_and_its_own_is_asked() -> None:
    found = named(with_a_card(("6s", "7h"), (5.0, 0.0)))
    assert list(found)[:5] == KNOWN
    assert {code: one.second for code, one in found.items() if code not in KNOWN} == {"6s": False, "7h": True}
    assert found["6s"].margin == 0
    assert all(found[code].margin > 0 for code in KNOWN)


def test_a_card_that_shows_its_index_beside_that_place_is_a_card_of_its_own() -> None:
    for moved in ((9.0, 0.0), (0.0, 9.0), (-8.0, 0.0)):
        found = named(with_a_card(("6s", "7h"), moved))
        assert not any(one.second for one in found.values())
        assert {"6s", "7h"} <= set(found)


def test_two_indices_that_quite_clearly_name_two_cards_are_both_kept() -> None:
    found = named(with_a_card(("6s", "Qh"), (5.0, 0.0), nats=20))
    assert not any(one.second for one in found.values())


def test_on_a_table_that_teaches_no_deck_nothing_is_left_out() -> None:
    few = with_a_card(("6s", "7h"), (5.0, 0.0)).take(np.arange(4, 12))
    assert not any(one.second for one in named(few).values())
