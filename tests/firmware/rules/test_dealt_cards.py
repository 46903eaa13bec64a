"""Fantasy Land of 14 to 17 cards, and how many players a deck can serve."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.rules import (
    HandError,
    ProfileError,
    UnknownCardError,
    contradictions,
    load_profile,
    parse_cards,
    settle_json,
)
from tests.firmware.rules.tables import play, rules
from tests.firmware.rules.test_options import SCOOPED

PROGRESSIVE = rules(
    "california-face-up",
    limits__players=3,
    fantasyland__cards=14,
    fantasyland__cards_by_front={"KK": 15, "AA": 16, "three_of_a_kind": 17},
    fantasyland__stay_cards=14,
)
OTHER = "8c 7d 5h / 2c 2h Js 9d 6c / 3c 3d 4h 4d Ts"
STRONG = "8s 8d 8h 3h Tc / 9s 9h 9c Jd Jh"
STAYS = "5s 5d 5c / 8s 8d 8h Kc Qd / Ah Ad Ac 7s 7h"


@pytest.mark.parametrize(
    ("front", "cards"),
    [
        ("Jc Js Ad", 0),
        ("Qs Qh 2d", 14),
        ("Ks Kh 2d", 15),
        ("As Ah 2d", 16),
        ("7s 7h 7c", 17),
    ],
)
def test_the_front_that_earns_fantasy_land_says_how_many_cards_it_brings(front: str, cards: int) -> None:
    settlement = play(PROGRESSIVE, {1: f"{front} / {STRONG}", 2: OTHER.replace("Js", "6d")})
    assert settlement.hands[0].fantasyland_cards == cards
    assert settlement.hands[0].fantasyland_next is (cards > 0)


@pytest.mark.parametrize(
    ("stay_cards", "dealt", "cards"), [(14, 17, 14), (0, 16, 16), (0, None, 14), (17, 14, 17)]
)
def test_who_stays_is_dealt_what_the_rules_say_or_as_many_as_before(
    stay_cards: int, dealt: int | None, cards: int
) -> None:
    profile = rules(PROGRESSIVE, fantasyland__stay_cards=stay_cards)
    settlement = play(profile, {1: STAYS, 2: OTHER}, fantasyland={1: dealt} if dealt else [1])
    assert settlement.hands[0].fantasyland_cards == cards


def test_json_names_the_cards_only_where_rules_may_deal_more_than_thirteen() -> None:
    rows = dict(zip(("front", "middle", "back"), f"Ks Kh 2d / {STRONG}".split(" / "), strict=True))
    low = dict(zip(("front", "middle", "back"), OTHER.split(" / "), strict=True))
    hand = {"button": 1, "seats": [{"seat": 1, **rows}, {"seat": 2, **low}], "profile": "california-face-up"}
    options = {"limits.players": 3, "fantasyland.cards": 14, "fantasyland.cards_by_front": {"KK": 15}}
    assert "fantasyland_cards" not in settle_json(hand)["hands"][0]
    more = settle_json({**hand, "options": options})["hands"]
    assert more[0]["fantasyland_cards"] == 15
    assert "fantasyland_cards" not in more[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fantasyland": True, "fantasyland_cards": 18}, "dealt 13 to 17, and lays 13"),
        ({"fantasyland_cards": 14}, "is not there"),
        ({"fantasyland": True, "fantasyland_cards": "14"}, "the number of cards dealt"),
    ],
)
def test_a_number_of_cards_that_cannot_be_is_refused(given: dict[str, object], said: str) -> None:
    rows = dict(zip(("front", "middle", "back"), OTHER.split(" / "), strict=True))
    hand = {
        "button": 1,
        "profile": "california-face-up",
        "seats": [{"seat": 1, **rows, **given}, {"seat": 2, **rows}],
    }
    with pytest.raises(HandError, match=said) as refused:
        settle_json(hand)
    assert refused.value.key == "seats[0].fantasyland_cards"


def test_more_hands_than_the_rules_have_players_are_refused() -> None:
    with pytest.raises(
        HandError, match="there are 4 hands; washington-1-unit is played by 3 players at most"
    ):
        play(rules("washington-1-unit", limits__players=3), SCOOPED)


THREE = {"limits.players": 3}
KINGS = {"fantasyland.cards_by_front": {"KK": 15}}
NOBODY_EARNS: dict[str, object] = {"fantasyland.entry": {}, "fantasyland.stay": {}}
CONTRADICTIONS: tuple[tuple[dict[str, object], list[str]], ...] = (
    ({"fantasyland.cards": 14, "fantasyland.stay_cards": 14}, ["limits.players"]),
    ({**THREE, "fantasyland.cards": 14}, []),
    ({**THREE, **KINGS, "fantasyland.cards": 16}, ["fantasyland.cards_by_front"]),
    ({**THREE, "fantasyland.cards_by_front": {"66": 14}}, ["fantasyland.cards_by_front"]),
    ({**THREE, "fantasyland.stay": {}, "fantasyland.stay_cards": 14}, ["fantasyland.stay_cards"]),
    ({**NOBODY_EARNS, **KINGS, "fantasyland.cards": 14}, ["fantasyland.cards", "fantasyland.cards_by_front"]),
)


@pytest.mark.parametrize(("players", "paths"), [(4, ["limits.players"]), (3, []), (2, [])])
def test_a_deck_serves_three_players_of_pineapple(players: int, paths: list[str]) -> None:
    options = {"deal.kind": "pineapple", "limits.players": players}
    found = contradictions(load_profile("california-face-up").with_options(options))
    assert [one.path for one in found] == paths
    assert all("4 players of up to 17 cards each need 68" in str(one.sentence) for one in found)


@pytest.mark.parametrize("joker", ["Jk", "joker", "JKR", "RJ", "*", "red_joker"])
def test_a_joker_is_refused_by_a_sentence(joker: str) -> None:
    with pytest.raises(UnknownCardError, match="is a joker, and the rules have none"):
        parse_cards(f"As {joker} Kd")
    assert [card.code for card in parse_cards("Jc Jd Jh Js")] == ["Jc", "Jd", "Jh", "Js"]


def test_a_file_that_speaks_of_jokers_is_refused_by_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "ours.toml"
    head = '[profile]\nname = "ours"\ntitle = "Ours"\nextends = "california-face-up"\n'
    file.write_text(f"{head}[deal]\njokers = 2\n[wild_cards]\ndeuces = true\n", encoding="utf-8")
    with pytest.raises(ProfileError) as refused:
        load_profile(file)
    assert [(key, line, "no jokers and no wild cards" in str(text)) for key, line, text in refused.value.troubles] == [
        ("deal.jokers", 6, True), ("wild_cards", 7, True),
    ]  # fmt: skip


@pytest.mark.parametrize(("options", "paths"), CONTRADICTIONS)
def test_what_a_deck_cannot_give_and_what_nobody_earns_is_a_contradiction(
    options: dict[str, object], paths: list[str]
) -> None:
    found = contradictions(load_profile("california-face-up").with_options(options))
    assert [one.path for one in found] == paths
    if paths == ["limits.players"]:
        assert "4 players of up to 14 cards each need 56, and a deck has 52: at most 3" in str(
            found[0].sentence
        )


def test_all_that_is_wrong_is_said_at_once_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(
        '[profile]\nname = "ours"\ntitle = "Ours"\nextends = "california-face-up"\n'
        '[limits]\nplayers = 5\n[fantasyland]\ncards = 12\ncards_by_front = { "KK" = 18 }\n',
        encoding="utf-8",
    )
    with pytest.raises(ProfileError) as refused:
        load_profile(file)
    assert [(key, line) for key, line, _ in refused.value.troubles] == [
        ("limits.players", 6), ("fantasyland.cards", 8), ("fantasyland.cards_by_front", 9),
    ]  # fmt: skip
