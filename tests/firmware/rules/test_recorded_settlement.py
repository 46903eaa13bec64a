"""A settlement read from its JSON says what the settlement itself says."""

from __future__ import annotations

import json
from random import Random

import pytest

from firmware.rules import (
    FoulHand,
    NaturalHand,
    RegularHand,
    Settlement,
    SurrenderedHand,
    load_profile,
    profile_names,
    settle,
    settlement_json,
)
from firmware.rules.recorded_settlement import NOTHING_SETTLED, RecordedSettlement, read_settlement
from tests.firmware.rules.random_settlements import hand


def both(name: str, seed: int) -> tuple[Settlement, RecordedSettlement]:
    profile = load_profile(name)
    settled = settle(hand(Random(seed), profile), profile)
    return settled, read_settlement(json.loads(json.dumps(settlement_json(settled))))


@pytest.mark.parametrize("name", profile_names())
def test_a_recorded_settlement_has_the_sums_and_the_sentences_of_the_settlement(name: str) -> None:
    for seed in range(12):
        settled, read = both(name, seed)
        assert (read.order, read.points, read.paid) == (settled.order, settled.points, settled.paid)
        for pair, kept in zip(settled.pairs, read.pairs, strict=True):
            assert kept.seats == (pair.a, pair.b)
            assert (kept.points, kept.owed, kept.paid, kept.short) == (
                pair.points,
                pair.owed,
                pair.paid,
                pair.short,
            )
            assert [(line.id, line.points, line.clause) for line in kept.lines] == [
                (line.id, line.points, line.clause) for line in pair.lines
            ]
            for line, said in zip(pair.lines, kept.lines, strict=True):
                assert str(said.message) == str(line.message)
                assert said.why == line.why
                declared_in_vain = line.id.startswith("declaration_") and line.winner.is_foul
                assert declared_in_vain or said.why == str(said.message)


def test_hands_are_regular_or_fouls_or_naturals_or_surrendered_in_the_record_too() -> None:
    seen = set()
    for seed in range(60):
        settled, read = both("poker-flush-western", seed)
        for judged in settled.hands:
            kept = read.hand(judged.seat)
            assert kept is not None
            seen.add(type(judged))
            assert kept.is_foul == isinstance(judged, FoulHand) == (judged.fault is not None)
            assert (kept.natural is not None) == isinstance(judged, NaturalHand)
            if kept.fault:
                assert kept.fault == judged.fault == read.faults[judged.seat]
    assert seen == {RegularHand, FoulHand, NaturalHand, SurrenderedHand}


def test_a_pair_names_who_pays_even_if_the_stakes_leave_nothing_to_pay() -> None:
    pair = {"a": 1, "b": 2, "points": 3, "owed": 300, "paid": 0, "short": 300, "lines": []}
    read = read_settlement({"pairs": [pair, {**pair, "points": -3, "owed": -300, "paid": -10}]})
    assert [pair.payer_winner for pair in read.pairs] == [(2, 1), (1, 2)]
    assert [pair.paid for pair in read.moving] == [-10]


def test_nothing_settled_has_no_payments_and_no_hands() -> None:
    assert (NOTHING_SETTLED.pairs, NOTHING_SETTLED.hands, dict(NOTHING_SETTLED.paid)) == ((), (), {})
    assert NOTHING_SETTLED.hand(1) is None
