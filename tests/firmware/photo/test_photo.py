"""`feltwatch photo`: hands in a photograph are found and settled; what is not certain is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.photo.asking import Answers, Outcome, consider
from firmware.photo.grouping import Place
from tests.firmware.photo.laid import laid

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def rows(outcome: Outcome) -> set[tuple[frozenset[int], ...]]:
    """Return the hands by their cards' numbers."""
    return {tuple(frozenset(card.number for card in row) for row in seat.rows) for seat in outcome.seats}


def truth(players: int) -> set[tuple[frozenset[int], ...]]:
    starts = [13 * n + 1 for n in range(players)]
    return {
        (frozenset(range(s, s + 3)), frozenset(range(s + 3, s + 8)), frozenset(range(s + 8, s + 13)))
        for s in starts
    }


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("turned", [0.0, 0.7, 2.9, 4.4])
def test_hands_around_a_table_are_found_however_the_picture_is_turned(players: int, turned: float) -> None:
    outcome = consider(laid(players, turned=turned), Answers(), "traditional")
    assert rows(outcome) == truth(players)
    assert outcome.settlement is not None
    assert not outcome.questions
    lowest = max(
        outcome.seats, key=lambda seat: np.mean([card.middle[1] for row in seat.rows for card in row])
    )
    assert lowest.seat == 1


def test_a_card_that_is_not_sure_is_asked_and_its_answer_settles() -> None:
    cards = laid(2)
    cards[6] = replace(cards[6], sure=False, candidates=("Ks", "Kc"), card="Ks")
    outcome = consider(cards, Answers(), "traditional")
    assert [(q.kind, q.key, q.options) for q in outcome.questions] == [("card", "7", ("Ks", "Kc"))]
    assert outcome.settlement is None
    assert consider(cards, Answers({7: "Ks"}), "traditional").settlement is not None


def test_a_card_that_lies_twice_settles_nothing() -> None:
    cards = laid(2)
    cards[20] = replace(cards[20], card=cards[3].card)
    outcome = consider(cards, Answers(), "traditional")
    assert outcome.settlement is None
    assert "twice" in str(outcome.sentences[0])


def test_one_card_read_by_each_of_its_indices_is_one_question() -> None:
    cards = laid(2)
    cards[6] = replace(cards[6], sure=False)
    again = replace(cards[6], number=27, place=replace(cards[6].place, x=cards[6].place.x + 8))
    outcome = consider([*cards, again], Answers(), "traditional")
    assert [question.key for question in outcome.questions] == ["7"]


def test_a_card_that_was_not_seen_is_asked_for_and_one_too_many_is_said() -> None:
    cards = laid(3)
    lost = cards.pop(17)
    outcome = consider(cards, Answers(), "traditional")
    (question,) = outcome.questions
    assert question.kind == "missing"
    seat, _, row = question.key.partition(".")
    outcome = consider(cards, Answers(missing={(int(seat), row): (lost.card,)}), "traditional")
    assert outcome.settlement is not None
    assert lost.card in outcome.hand["seats"][int(seat) - 1][row].split() if outcome.hand else False
    more = laid(2)
    stray = replace(more[0], number=27, card="As", place=Place(600, 600, 0))
    outcome = consider([*more, stray], Answers(), "traditional")
    assert outcome.settlement is None
    assert "Cards seen: 27." in str(outcome.sentences[0])
    assert consider([*more, stray], Answers({27: None}), "traditional").settlement is not None


def test_where_the_front_lies_between_the_other_rows_the_way_is_asked() -> None:
    cards = laid(2, order=(5, 3, 5))
    outcome = consider(cards, Answers(), "traditional")
    assert outcome.settlement is None
    assert outcome.questions[0].kind == "grouping"
    assert len(outcome.questions[0].options) == 4
    assert consider(cards, Answers(grouping=2), "traditional").settlement is not None


def test_rows_of_other_lengths_are_asked_for() -> None:
    outcome = consider(laid(2, order=(4, 4, 5)), Answers(), "traditional")
    assert outcome.settlement is None
    assert outcome.questions[0].kind == "rows"


def test_the_example_settles_as_the_book_says_and_its_sheet_keeps_no_metadata(tmp_path: Path) -> None:
    example = EXAMPLES / "two-hands.jpg"
    out = tmp_path / "sheet.jpg"
    result = CliRunner().invoke(main, ["photo", str(example), "--json", "--out", str(out)])
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    text = (EXAMPLES / "two-hands.txt").read_text(encoding="utf-8")
    for seat in told["hand"]["seats"]:
        assert all(f"{name:<6}  {seat[name]}" in text for name in ("front", "middle", "back"))
    assert {abs(points) for points in told["settlement"]["points"].values()} == {
        int(line.split("(")[1].split()[0]) for line in text.splitlines() if " pays seat " in line
    }
    assert b"Exif" not in out.read_bytes()
    assert cv2.imread(str(out)) is not None


def test_files_that_are_no_photograph_of_cards_are_refused_in_a_sentence(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.png"
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x86\xa0\x00\x01\x86\xa0\x08\x02\x00\x00\x00"
    bomb.write_bytes(header + b"\x00" * 40)
    cut = tmp_path / "cut.jpg"
    cut.write_bytes((EXAMPLES / "two-hands.jpg").read_bytes()[:9000])
    text = tmp_path / "text.jpg"
    text.write_text("no picture")
    empty = tmp_path / "empty.png"
    cv2.imwrite(str(empty), np.full((300, 400, 3), 90, np.uint8))
    thin = tmp_path / "thin.png"
    cv2.imwrite(str(thin), np.full((40, 900, 3), 90, np.uint8))
    for file in (bomb, cut, text, thin, tmp_path / "none.jpg"):
        result = CliRunner().invoke(main, ["photo", str(file)])
        assert result.exit_code == 2, (file, result.output)
        assert result.output.startswith("Error: ")
        assert "Traceback" not in result.output
    result = CliRunner().invoke(main, ["photo", str(empty)])
    assert result.exit_code == 1
    assert "Cards seen: 0." in result.output


def test_the_sheet_never_replaces_the_photograph(tmp_path: Path) -> None:
    example = EXAMPLES / "two-hands.jpg"
    photograph = tmp_path / "hands.jpg"
    photograph.write_bytes(example.read_bytes())
    result = CliRunner().invoke(main, ["photo", str(photograph), "--out", str(photograph)])
    assert result.exit_code == 2
    assert "--out would replace the photograph" in result.stderr
    assert photograph.read_bytes() == example.read_bytes()
