"""Which two indices are one card's: learnt from the table, and never against two clear names."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vision.base.arrays import Points
from vision.reading.cards import CARDS
from vision.reading.network import FEATURES, Indices, log_softmax
from vision.reading.pairs import Stance, exact_pairs, learnt_stance

CARD_MM = (63.0, 88.0)
CASINO = Stance(46.0, 49.0)
"""Indices 7 mm lower than usual."""


def table(cards: dict[tuple[float, float], tuple[str, str]], stance: Stance, nats: float = 9) -> Indices:
    """Lay cards of 63 × 88 mm, by the place of the first index: what each of both indices is taken for."""
    places: list[Points] = []
    ways: list[Points] = []
    names: list[str] = []
    for number, (at, both) in enumerate(cards.items()):
        turn = math.radians(5 * (number % 3 - 1))
        along = np.array([math.cos(turn), math.sin(turn)])
        step = stance.across * along + stance.down * np.array([-along[1], along[0]])
        places += [np.array(at), np.array(at) + step]
        names += both
        ways += [along, -along]
    n = len(names)
    logp = np.zeros((n, 52))
    logp[range(n), [CARDS.index(code) for code in names]] = nats
    return Indices(
        np.array(places),
        np.full(n, 0.95),
        log_softmax(logp),
        np.array(ways),
        np.full(n, 17.0),
        np.zeros((n, FEATURES)),
    )


def row(codes: list[str]) -> dict[tuple[float, float], tuple[str, str]]:
    return {(68.0 * k, 0.0): (code, code) for k, code in enumerate(codes)}


def test_how_low_a_decks_indices_stand_is_learnt_from_the_table() -> None:
    stance = learnt_stance(table(row(["As", "Kh", "Td", "7c", "2s"]), CASINO))
    assert stance is not None
    assert stance.across == pytest.approx(CASINO.across, abs=0.5)
    assert stance.down == pytest.approx(CASINO.down, abs=0.5)


def test_too_few_cards_teach_nothing() -> None:
    assert learnt_stance(table(row(["As", "Kh", "Td", "7c"]), CASINO)) is None


def test_low_indices_are_paired_by_what_the_table_teaches() -> None:
    seen = table(row(["As", "Kh", "Td", "7c", "2s"]), CASINO)
    pairs = exact_pairs(seen, CARD_MM, learnt_stance(seen))
    assert sorted(pairs) == [(2 * k, 2 * k + 1) for k in range(5)]


def test_a_misread_index_that_lies_exactly_is_its_cards_own() -> None:
    cards = row(["As", "Kh", "Td", "7c", "2s"]) | {(400.0, 0.0): ("5h", "6h")}
    seen = table(cards, CASINO)
    assert (10, 11) in exact_pairs(seen, CARD_MM, learnt_stance(seen))


def test_two_clear_names_are_two_cards_however_exactly_they_lie() -> None:
    cards = row(["As", "Kh", "Td", "7c", "2s"]) | {(400.0, 0.0): ("5h", "Qc")}
    seen = table(cards, CASINO, nats=20)
    assert len(exact_pairs(seen, CARD_MM, learnt_stance(seen))) == 5
    assert len(exact_pairs(seen, CARD_MM)) < 6
