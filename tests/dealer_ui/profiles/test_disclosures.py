"""What a regulator's reader must find on the page of a packaged game: each reading that was once hidden."""

from __future__ import annotations

import re
from functools import cache

import pytest

from dealer_ui.profiles.house_rules import house_rules
from dealer_ui.profiles.house_rules_numbered import rules_of
from dealer_ui.text.i18n import speaking
from dealer_ui.view.rules_sheet import sheet
from firmware.rules import load_profile, profile_names
from firmware.rules.profiles.document import markdown

CALIFORNIA, TRADITIONAL, ONLINE = "california-face-up", "traditional", "clean-sweep-online"
WESTERN, EASTERN = "poker-flush-western", "poker-flush-eastern"
WASHINGTON = ("washington-1-unit", "washington-2-4", "washington-1-6")
GROSS = "a player pays no more in all than what lay on the table when the hand began"
NO_FIFTH = "No fifth player sits at the table."
NEITHER = "A straight flush counts as neither in a natural."
EQUAL_ALLOWED = "A middle that equals the back in rank is allowed."
TWICE = "It pays a bonus twice where its own row is a hand of the same kind."


@cache
def text_of(name: str, language: str = "en") -> str:
    with speaking(language):
        return markdown(house_rules(load_profile(name)))


def readings(name: str) -> list[str]:
    """Return the rows of the list at the end."""
    part = text_of(name).partition("## Where the document leaves room")[2].partition("\n## ")[0]
    return [line for line in part.splitlines() if line.startswith("|")]


READINGS = [
    (CALIFORNIA, "may bet no more than what they have on the table at the beginning of that hand", GROSS),
    (TRADITIONAL, "maximum win or loss", GROSS),
    (WESTERN, "gaining or losing more", GROSS),
    (EASTERN, "gaining or losing more", GROSS),
    *((name, "says nothing of fouls", "a foul pays both the penalty and the value") for name in WASHINGTON),
    (
        "washington-1-6",
        "a foul loses less to a natural than to a regular hand",
        "both the penalty and the value",
    ),
    (CALIFORNIA, "40 points for a royal flush in the middle", "A royal flush in the middle may stand"),
    (CALIFORNIA, "40 points” for a royal flush in the middle", EQUAL_ALLOWED),
    *(
        (name, "one hand won and two ties", "Nothing is paid where neither player wins two rows")
        for name in WASHINGTON[1:]
    ),
    (EASTERN, "“any opponent's bonus”", TWICE),
    (CALIFORNIA, "“not in consecutive ranking”", NEITHER),
    *((name, "“Up to four players can play on one poker table.”", NO_FIFTH) for name in WASHINGTON),
    (TRADITIONAL, "“as many as 4 players”", NO_FIFTH),
    (CALIFORNIA, "“chooses not to participate”", "The puck first moves on"),
]


@pytest.mark.parametrize(("name", "document", "other"), READINGS)
def test_the_list_at_the_end_holds_the_reading_beside_what_the_document_says(
    name: str, document: str, other: str
) -> None:
    document = document.lower()
    assert any(document in row.lower() and other in row for row in readings(name)), readings(name)


def test_california_says_that_a_limit_has_at_most_five_rates() -> None:
    assert "A table limit has at most five rates." in text_of(CALIFORNIA)


@pytest.mark.parametrize("name", profile_names())
def test_the_order_of_the_rows_and_equal_rows_do_not_contradict_each_other(name: str) -> None:
    rules = [rule.text for rule in rules_of(load_profile(name))]
    must_be_higher = any(text.startswith("The back must rank above the middle") for text in rules)
    assert must_be_higher == any(
        text.startswith("A middle that equals the back in rank is a foul") for text in rules
    )
    by_suits = any("the suit of the highest card decides" in text for text in rules)
    assert by_suits == any("unless the next rule decides by suits" in text for text in rules)


@pytest.mark.parametrize("name", profile_names())
def test_of_several_other_readings_each_is_set_off_by_or(name: str) -> None:
    wheel = next(row for row in readings(name) if "second straight" in row) if name != CALIFORNIA else ""
    assert (
        name == CALIFORNIA
        or "below A-K-Q-J-10. No straight goes past the ace. Or: The ace is never low" in wheel
    )


@pytest.mark.parametrize(
    ("name", "option", "value", "note"),
    [
        (CALIFORNIA, "collection.half_from_minute", 10, "half is charged there"),
        (CALIFORNIA, "collection.half_from_minute", 10, "at the mark itself"),
        (ONLINE, "foul.suit_tiebreak", [], "two suit symbols"),
        (ONLINE, "foul.suit_tiebreak", [], "lacks two symbols"),
        (WESTERN, "naturals.kinds", [{"kind": "dragon", "value": 13}], "red or black"),
    ],
)
def test_a_note_on_the_document_goes_when_the_house_changes_the_option(
    name: str, option: str, value: object, note: str
) -> None:
    base = load_profile(name)
    assert note not in markdown(house_rules(base.with_options({option: value}), base)).lower()


@pytest.mark.parametrize("name", profile_names())
def test_the_hands_of_a_bonus_card_stand_from_high_to_low(name: str) -> None:
    profile = load_profile(name)
    for row, table in zip(
        [row for row in ("front", "middle", "back") if getattr(profile.bonus, row)],
        sheet(profile).tables,
        strict=False,
    ):
        points = [int(pay.pays) for pay in table.hands]
        assert points == sorted(points, reverse=True), row


@pytest.mark.parametrize(
    ("language", "action", "house"),
    [("zh_Hans", "行动庄钮", "荷官庄钮"), ("zh_Hant", "行動莊鈕", "荷官莊鈕")],
)
def test_both_pucks_have_one_name_each_in_chinese(language: str, action: str, house: str) -> None:
    lines = text_of(CALIFORNIA, language).splitlines()
    rows = [line for line in lines if "行动" in line or "行動" in line]
    rules = [row.split("|")[2] for row in rows if re.match(r"\| (2\.1|15\.7) \|", row)]
    assert len(rules) == 2
    for rule in rules:
        assert action in rule, rule
        assert house in rule, rule


@pytest.mark.parametrize(
    "point", ["Player conduct", "The showdown", "Player seating and seat holding", "Patron disputes"]
)
def test_a_page_from_california_has_the_points_that_its_regulator_asks_for(point: str) -> None:
    assert f"| {point} |  |  |" in text_of(CALIFORNIA)
    assert all(f"| {point} |" not in text_of(name) for name in profile_names() if name != CALIFORNIA)


@pytest.mark.parametrize("name", profile_names())
def test_the_page_says_whether_the_house_may_change_a_rule(name: str) -> None:
    part = text_of(name).partition("## Whether the house may change a rule")[2].partition("\n## ")[0]
    expected = {
        CALIFORNIA: "tit. 4 § 12392",
        **dict.fromkeys(WASHINGTON, "“Card room operators may make immaterial"),
    }
    assert expected.get(name, "was not verified for this page") in part
