"""Real cards for rendered tables: cut straight, and laid only where there are any."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from models.training import judge, measure, real_decks, report
from models.training.photographs import Box
from vision.base.arrays import Image
from vision.base.errors import DeckError
from vision.felt.layout import TableLayout
from vision.reading.network import default_model
from vision.synthetic.deck import HEIGHT_MM, WIDTH_MM, card_picture
from vision.synthetic.decks import PhotoDeck
from vision.synthetic.evaluation import Score

SIZE = (640, 640)


def photograph(code: str, turn_deg: float) -> tuple[Image, np.ndarray, list[Box]]:
    """Lay a drawn card on dark cloth; return the picture, the card's corners and its two index boxes."""
    card = card_picture(code, 4.0)
    h, w = card.shape[:2]
    turn = cv2.getRotationMatrix2D((w / 2, h / 2), turn_deg, 1.2)
    turn[:, 2] += (320 - w / 2, 320 - h / 2)
    picture = np.full((*SIZE, 3), 60, np.uint8)
    cv2.warpAffine(card, turn, SIZE, picture, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)

    def at(*mm: tuple[float, float]) -> np.ndarray:
        points = np.array(mm) * (w / WIDTH_MM, h / HEIGHT_MM)
        return np.column_stack([points, np.ones(len(points))]) @ turn.T

    corners = at((0, 0), (WIDTH_MM, 0), (WIDTH_MM, HEIGHT_MM), (0, HEIGHT_MM))
    indices = at((6.5, 12.5), (WIDTH_MM - 6.5, HEIGHT_MM - 12.5))
    first, second = ((x - 30.0, y - 45.0, x + 30.0, y + 45.0) for x, y in indices)
    return picture, corners, [first, second]


@pytest.mark.parametrize("turn", [0.0, 8.0, -12.0])
def test_a_card_is_cut_out_by_its_outline(turn: float) -> None:
    picture, corners, boxes = photograph("7h", turn)
    found = real_decks.by_outline(picture, boxes)
    assert found is not None
    assert np.abs(found - corners).max() < 12  # its corners are round


def test_a_card_is_cut_out_by_where_its_indices_stand() -> None:
    _, corners, boxes = photograph("7h", 30.0)
    assert np.abs(real_decks.by_indices(boxes, (6.5, 12.5)) - corners).max() < 1


def test_a_cut_on_which_another_cards_index_lies_is_not_alone() -> None:
    _, corners, (first, second) = photograph("7h", 0.0)
    assert not real_decks.alone(corners, [first])
    assert real_decks.alone(corners, [(0.0, 0.0, 20.0, 20.0)])
    assert second != first


def test_a_covered_card_is_less_like_itself_turned_round() -> None:
    card = card_picture("4s", 5.0)
    covered = card.copy()
    covered[: card.shape[0] // 2, : card.shape[1] // 2] = 40
    assert real_decks.oddness(card) < real_decks.oddness(covered)


def test_the_packaged_model_says_which_photographs_it_was_trained_on() -> None:
    assert "bidly_cards" in measure.manifest_of(default_model())["trained"]["photographs"]


def test_of_a_deck_that_lacks_cards_those_it_has_are_laid(tmp_path: Path) -> None:
    for code in ("As", "Kh"):
        cv2.imwrite(str(tmp_path / f"{code}.png"), card_picture(code, 4.0))
    with pytest.raises(DeckError, match="lacks 50"):
        PhotoDeck.from_folder(tmp_path)
    deck = PhotoDeck.from_folder(tmp_path, complete=False)
    hands = judge._deal(np.random.default_rng(1), TableLayout.load(), deck)
    assert sorted(code for rows in hands.values() for codes in rows.values() for code in codes) == [
        "As",
        "Kh",
    ]


def test_the_table_of_real_cards_says_which_decks_were_trained_on_and_what_was_surely_wrong() -> None:
    found = judge.Outcome(Score(cards=52, right=52, sure=51, wrong=1, tables=1), [])
    found.cards.append(judge.JudgedCard("Kc", "Ks", 9.0, 6.0, sure=True))
    manifest = {"trained": {"photographs": ["bidly_cards"]}}
    keys = [("real", name, "ordinary evening") for name in ("webcam", "bidly")]
    text = report.real_table(dict.fromkeys(keys, found), manifest)
    assert "| webcam: cardcounterml WIN, not trained on | 52 | 100.00 %" in text
    assert "| bidly: bidly_cards, trained on | 52 |" in text
    assert "Kc as Ks, 9.0 nats, evidence 6.0 (webcam, ordinary evening)" in text
