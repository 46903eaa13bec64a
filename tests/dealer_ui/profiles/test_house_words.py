"""A house's own words for rows and naturals: page, document, past hands, the text of `settle`."""

from __future__ import annotations

import pytest

from dealer_ui.profiles.house_rules import house_rules
from dealer_ui.review.timeline import timeline
from dealer_ui.text.i18n import speaking
from dealer_ui.text.words import speaking_of
from dealer_ui.view.build import view
from firmware.cli.settlement_text import settlement_text
from firmware.rules import Profile, ProfileError, load_profile, profile_toml, recorded_profile
from firmware.rules.profiles.document import DocumentTable
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.review.recalled import of
from tests.firmware.rules.tables import play, rules
from tests.firmware.rules.test_options import FOUL, LOW

WORDS = {"front": "Spitze", "middle": "Mitte", "back": "Boden"}


def german(base: str, **options: object) -> Profile:
    profile = rules(base, hands__rows_called=WORDS, **options)
    text = profile_toml(profile)
    assert recorded_profile(text.encode()).hands == profile.hands
    return profile


def test_the_page_calls_the_rows_as_the_house_does_in_every_language(felt: Felt) -> None:
    felt.to_settled()
    for code in ("en", "es", "zh_Hant"):
        with speaking(code), speaking_of(german(felt.profile)):
            screen = view(felt.seq, felt.state, load_profile(felt.profile))
            assert {row.name for seat in screen.seats for row in seat.rows} == {*WORDS.values()}
            told = [line.text for pay in screen.payments for line in pay.lines]
            (foul,) = {flag.text for seat in screen.seats for flag in seat.flags if "Mitte" in flag.text}
            assert "Boden" in foul
            assert any("Mitte" in text for text in told)
            assert any("Spitze" in text for text in told)


def test_a_past_hands_timeline_names_the_houses_own_natural(felt: Felt) -> None:
    felt.to_natural()
    felt.do("confirm", seat=1)
    felt.pay_all()
    felt.do("archive")
    kinds = [{"kind": "six_pairs", "value": 3, "name": "Sechs Paare"}]
    for game, said in ((german(felt.profile, naturals__kinds=kinds), "Sechs Paare"), (None, "six pairs")):
        with speaking_of(game):
            told = " ".join(one.text for one in timeline(of(felt)))
        assert f"seat 1 has a natural, {said}." in told


def test_the_document_says_once_which_is_which_and_its_tables_use_the_houses_words() -> None:
    blocks = house_rules(german("california-face-up"))
    tables = [block for block in blocks if isinstance(block, DocumentTable)]
    assert ("Hand", "Spitze", "Mitte", "Boden") in [table.head for table in tables]
    said = [row[1] for table in tables for row in table.rows if "the front is called Spitze" in row[1]]
    assert len(said) == 1
    assert "Spitze" not in str(house_rules(load_profile("california-face-up")))


def test_settle_prints_the_houses_words_and_json_keeps_the_rows_own() -> None:
    text = settlement_text(play(german("washington-1-unit"), {1: FOUL, 2: LOW}))
    assert "  Spitze  As Ah Kd" in text
    assert "the Spitze (pair of aces) beats the Mitte (pair of queens)" in text
    assert "front" not in text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"front": "Spitze"}, "a word for each row"),
        ({"front": "Kopf", "middle": "kopf", "back": "Boden"}, "the same name"),
        ({"front": "a\u202eb", "middle": "Mitte", "back": "Boden"}, "front: "),
        ({"front": "An incredibly long word", "middle": "Mitte", "back": "Boden"}, "front: "),
        ({"front": 3, "middle": "Mitte", "back": "Boden"}, "is a text"),
    ],
)
def test_words_that_the_page_could_not_show_are_refused(words: dict[str, object], why: str) -> None:
    with pytest.raises(ProfileError, match=why):
        rules("washington-1-unit", hands__rows_called=words)
