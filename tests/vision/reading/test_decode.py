"""Naming cards together: pairing, merging, one card once, margins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from vision.reading.cards import CARDS
from vision.reading.decode import clusters, fuse, is_whole_deck, name
from vision.reading.network import FEATURES, NO_INDICES, Floats, Indices, log_softmax


def _logp(**weights: float) -> Floats:
    """Log-probabilities that prefer the cards named, by nats over all others."""
    x = np.zeros(52)
    for card, nats in weights.items():
        x[CARDS.index(card)] = nats
    return log_softmax(x)


def _index(
    x: float, y: float, logp: Floats, turn_deg: float = 0, heat: float = 0.95, size: float = 35
) -> Indices:
    turn = math.radians(turn_deg)
    return Indices(
        np.array([[x, y]]),
        np.array([heat]),
        logp[None],
        np.array([[math.cos(turn), math.sin(turn)]]),
        np.array([size]),
        np.zeros((1, FEATURES)),
    )


def _card(x: float, y: float, logp: Floats, turn_deg: float = 0) -> list[Indices]:
    """Return both indices of a card at 2 px/mm whose upper left index stands at (x, y) before it is turned."""
    turn = math.radians(turn_deg)
    across = np.array([math.cos(turn), math.sin(turn)])
    step = 100 * across + 126 * np.array([-across[1], across[0]])
    return [_index(x, y, logp, turn_deg), _index(x + step[0], y + step[1], logp, turn_deg + 180)]


def test_nothing_seen_is_nothing_named() -> None:
    assert name(clusters(NO_INDICES)) == []
    assert len(fuse(NO_INDICES)) == 0


@pytest.mark.parametrize("turn", range(0, 360, 45))
def test_two_indices_of_one_card_are_one_card_at_any_turn(turn: int) -> None:
    found = clusters(Indices.joined(_card(300, 300, _logp(Th=9), turn)))
    assert [len(c.members) for c in found] == [2]
    (named,) = name(found)
    assert named.card == "Th"


def test_print_beside_a_half_hidden_card_of_its_name_does_not_swallow_it() -> None:
    """A heart in a halberd, read as an index, and the king's own index right of it, but above: found in a picture."""
    king = _logp(Kd=9)
    above = Indices.joined([_index(591, 181, king, 22), _index(654, 145, king, 187)])
    below = Indices.joined([_index(591, 181, king, 22), _index(608, 256, king, 187)])
    assert len(clusters(replace(above, sizes=np.array([11.6, 15.9])))) == 2
    assert len(clusters(replace(below, sizes=np.array([11.6, 15.9])))) == 1


def test_two_cards_of_different_names_side_by_side_are_two_cards() -> None:
    seen = Indices.joined(_card(100, 100, _logp(Th=9)) + _card(237, 100, _logp(As=9)))
    assert sorted(n.card for n in name(clusters(seen))) == ["As", "Th"]


def test_a_misread_neighbour_in_a_fan_is_not_swallowed_by_the_card_it_is_taken_for() -> None:
    fan = Indices.joined([_index(100, 100, _logp(Th=6)), _index(130, 102, _logp(Th=5, Td=4.5), turn_deg=3)])
    assert sorted(n.card for n in name(clusters(fan))) == ["Td", "Th"]


def test_each_card_is_named_once_and_a_second_claim_makes_both_doubtful() -> None:
    far = Indices.joined([_index(100, 100, _logp(Th=8)), _index(900, 100, _logp(Th=8, Td=2))])
    named = name(clusters(far))
    assert [n.card for n in named] == ["Th", "Td"]
    assert all(n.margin == 0 for n in named)


def test_a_card_whose_name_another_has_is_never_surely_another_card() -> None:
    twice = [_index(100, 100, _logp(Ks=20)), _index(900, 100, _logp(Ks=14, As=9, Qs=1))]
    for conflicts in (False, True):
        named = name(clusters(Indices.joined(twice)), conflicts=conflicts)
        assert named
        assert all(n.margin == 0 for n in named if n.card in ("Ks", "As"))


def test_a_faint_preference_for_a_card_that_lies_elsewhere_leaves_that_card_its_margin() -> None:
    faint = [_index(100, 100, _logp(Ks=20)), _index(900, 100, _logp(Ks=9, As=8.5))]
    margins = {n.card: n.margin for n in name(clusters(Indices.joined(faint)))}
    assert margins["As"] == 0
    assert margins["Ks"] > 5


def test_the_four_indices_of_an_ace_are_one_card() -> None:
    corners = [(100, 100, 0), (200, 100, 0), (200, 226, 180), (100, 226, 180)]
    ace = Indices.joined([_index(x, y, _logp(As=9), turn) for x, y, turn in corners])
    assert [len(cluster.members) for cluster in clusters(ace)] == [4]


def test_print_that_names_no_card_clearly_is_less_evidence_than_an_index_as_faint_that_does() -> None:
    (print_, index) = (
        clusters(_index(100, 100, _logp(Th=1, Td=0.9), heat=0.7)),
        clusters(_index(100, 100, _logp(Th=8), heat=0.7)),
    )
    assert print_[0].presence == pytest.approx(index[0].presence)
    assert index[0].evidence > print_[0].evidence + 4


def test_beside_a_whole_card_a_half_hidden_neighbour_of_nearly_its_name_stays_a_card_of_its_own() -> None:
    pair = [_index(100, 100, _logp(Th=8)), _index(250, 289, _logp(Th=8), turn_deg=180)]
    neighbour = _index(300, 130, _logp(Th=2, Td=2.1), turn_deg=180)
    assert sorted(n.card for n in name(clusters(Indices.joined([*pair, neighbour])))) == ["Td", "Th"]
    corner = _index(100, 289, _logp(Th=3), turn_deg=180)  # a deck with an index in every corner
    assert [n.card for n in name(clusters(Indices.joined([*pair, corner])))] == ["Th"]


def test_two_places_that_claim_one_card_are_both_shown_where_conflicts_are_asked_for() -> None:
    far = Indices.joined([_index(100, 100, _logp(Th=8)), _index(900, 100, _logp(Th=8, Td=2))])
    named = name(clusters(far), conflicts=True)
    assert [n.card for n in named] == ["Th", "Th"]
    assert all(n.margin < 1 for n in named)
    assert named[1].candidates[:2] == ("Th", "Td")


def test_one_place_seen_at_two_scales_is_one_index() -> None:
    both = fuse(Indices.joined([_index(100, 100, _logp(Th=3)), _index(103, 101, _logp(Th=2, Td=2), size=40)]))
    assert len(both) == 1
    assert CARDS[int(both.logp[0].argmax())] == "Th"


def test_the_margin_is_what_another_name_would_cost_and_the_candidates_come_with_it() -> None:
    (clear,) = name(clusters(_index(100, 100, _logp(Th=9, Td=2))))
    (doubtful,) = name(clusters(_index(100, 100, _logp(Th=3, Td=2))))
    assert clear.margin > 4 > 2 > doubtful.margin > 0
    assert doubtful.candidates[:2] == ("Th", "Td")


def test_a_faint_trace_of_a_card_is_not_named() -> None:
    assert name(clusters(_index(100, 100, _logp(), heat=0.21))) == []


def test_a_table_with_a_card_claimed_twice_is_no_whole_deck_though_52_are_named() -> None:
    def table(codes: tuple[str, ...]) -> Indices:
        places = ((600.0 * (k % 13), 600.0 * (k // 13)) for k in range(52))
        return Indices.joined(
            [
                index
                for (x, y), code in zip(places, codes, strict=True)
                for index in _card(x, y, _logp(**{code: 20}))
            ]
        )

    whole = name(clusters(table(CARDS)), conflicts=True)
    assert is_whole_deck(whole)
    twice = name(clusters(table((CARDS[1], *CARDS[1:]))), conflicts=True)
    assert len(twice) == 52
    assert not is_whole_deck(twice)


@pytest.mark.parametrize(("agrees", "card"), [("5h", "5h"), ("6h", "6h")])
def test_the_whole_card_tips_the_scales_between_two_names_and_adds_no_more_than_four_nats(
    agrees: str, card: str
) -> None:
    (cluster,) = clusters(Indices.joined(_card(300, 300, _logp(**{"5h": 9, "6h": 8.5}))))
    (before,) = name([cluster])
    (named,) = name([replace(cluster, whole=30 * _logp(**{agrees: 1}))])
    assert named.card == card
    assert named.margin == pytest.approx(4 + (1 if card == "5h" else -1) * before.margin, abs=0.05)


def test_clear_indices_keep_their_name_and_the_whole_cards_denial_is_told() -> None:
    (cluster,) = clusters(Indices.joined(_card(300, 300, _logp(Kh=9))))
    assert name([cluster])[0].denied == 0
    (named,) = name([replace(cluster, whole=12 * _logp(**{"4h": 1}))])
    assert named.card == "Kh"
    assert named.denied == pytest.approx(12)
