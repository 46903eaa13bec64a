"""The rules' sheet: its examples are what they are said to be, its pays are the profile's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dealer_ui.text.words import speaking_of
from dealer_ui.view.rules_sheet import NATURALS, RANKING, sheet
from firmware.rules import load_profile, natural_finder, parse_cards, profile_names, scale
from firmware.rules.naturals.kinds import NATURALS as BITS

SCALE = scale()


def test_every_example_is_of_its_category_and_below_the_one_before() -> None:
    strengths = [SCALE.strength(parse_cards(cards)) for cards in RANKING.values()]
    assert [SCALE.kind(strength).category.name.lower() for strength in strengths] == list(RANKING)
    assert strengths == sorted(strengths, reverse=True)


@pytest.mark.parametrize("kind", list(NATURALS))
def test_every_example_of_a_natural_is_one_as_set(kind: str) -> None:
    cards = NATURALS[kind].split()
    front, middle, back = (parse_cards(" ".join(cards[a:b])) for a, b in ((0, 3), (3, 8), (8, 13)))
    assert natural_finder("rows").bits(front, middle, back) & int(BITS[kind])


@pytest.mark.parametrize("name", profile_names())
def test_a_sheet_has_every_pay_of_its_profile(name: str) -> None:
    rules = load_profile(name)
    tables = {table.title: table for table in sheet(rules).tables}
    for row in ("front", "middle", "back"):
        pays = dict(getattr(rules.bonus, row))
        shown = tables[f"Bonus in {row}"].hands if pays else ()
        assert sorted(int(hand.pays) for hand in shown) == sorted(pays.values())
        assert all(hand.cards for hand in shown)
    naturals = [table for title, table in tables.items() if title.startswith("Naturals")]
    assert sum(len(table.hands) for table in naturals) == len(rules.naturals.kinds)
    assert len(tables["Hands, the highest first"].hands) == 10


def test_the_points_are_said_as_the_house_rules_page_says_them() -> None:
    said = dict(sheet(load_profile("california-face-up")).sentences)
    assert said["Row"] == "Each row won is 1 point."
    assert "Pair of queens or better in the front." in said.values()


def test_a_sheet_has_its_own_games_words_whatever_game_is_spoken_of() -> None:
    plain = load_profile("california-face-up")
    called = replace(plain, hands=replace(plain.hands, rows_called=(("front", "top"),)))
    with speaking_of(called):
        assert "Bonus in front" in {table.title for table in sheet(plain).tables}
    with speaking_of(plain):
        assert "Bonus in top" in {table.title for table in sheet(called).tables}
