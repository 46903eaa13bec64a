"""Real cards for rendered tables: cut straight, altered as said, laid only where there are any."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from models.training import cut, judge, labels, real
from vision.base.arrays import Image
from vision.base.errors import DeckError
from vision.felt.layout import TableLayout
from vision.reading.network import default_model
from vision.synthetic.deck import HEIGHT_MM, WIDTH_MM, card_picture
from vision.synthetic.decks import PhotoDeck
from vision.synthetic.evaluation import Score
from vision.synthetic.render import deal

SIZE = (640, 640)


def photograph(code: str, turn_deg: float) -> tuple[Image, np.ndarray, tuple[labels.Box, labels.Box]]:
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
    return picture, corners, (first, second)


@pytest.mark.parametrize("turn", [0.0, 8.0, -12.0])
def test_a_card_is_cut_out_by_its_outline(turn: float) -> None:
    picture, corners, boxes = photograph("7h", turn)
    found = cut.by_outline(picture, boxes)
    assert found is not None
    assert np.abs(found - corners).max() < 12  # its corners are round


def test_a_card_is_cut_out_by_where_its_indices_stand() -> None:
    _, corners, boxes = photograph("7h", 30.0)
    assert np.abs(cut.by_indices(boxes, (6.5, 12.5)) - corners).max() < 1


def test_a_cut_on_which_another_cards_index_lies_is_not_alone() -> None:
    _, corners, (first, second) = photograph("7h", 0.0)
    assert not cut.alone(corners, [first])
    assert cut.alone(corners, [(0.0, 0.0, 20.0, 20.0)])
    assert second != first


def test_a_covered_card_is_less_like_itself_turned_round() -> None:
    card = card_picture("4s", 5.0)
    covered = card.copy()
    covered[: card.shape[0] // 2, : card.shape[1] // 2] = 40
    assert real.oddness(card) < real.oddness(covered)


def test_a_lowered_index_stands_seven_millimetres_lower_and_an_ace_has_four() -> None:
    def ink(card: Image, left: float, right: float) -> float:
        strip = card[: card.shape[0] // 2, round(5 * left) : round(5 * right)].min(axis=2)
        return float(np.nonzero(strip < 120)[0].mean() / 5)

    for code in ("Ad", "2c"):
        card = card_picture(code, 5.0)
        low = real.lowered(code, card)
        assert ink(low, 2, 10) == pytest.approx(ink(card, 2, 10) + real.LOWER_MM, abs=0.5)
    corner = real.lowered("Ad", card_picture("Ad", 5.0))[60:160, -60:-10]
    assert (corner.min(axis=2) < 120).any()


def test_an_enlarged_index_is_as_much_higher_as_is_said() -> None:
    def height(card: Image) -> float:
        strip = card[10:210, 10 : round(5 * 10.5 * real.JUMBO)].min(axis=2)
        return float(np.ptp(np.nonzero(strip < 120)[0]))

    card = np.full((445, 315, 3), 255, np.uint8)
    card[25:110, 15:45] = 0
    assert height(real.enlarged("2c", card)) == pytest.approx(real.JUMBO * height(card), rel=0.05)


def test_each_deck_says_whether_the_network_knows_it_and_how_it_was_altered() -> None:
    known = ["bidly_cards", "cardcounterml WIN*"]  # as a model's manifest names them
    assert "not trained on" in real.DECKS["phone"].words(known)
    assert "not trained on" not in real.DECKS["webcam"].words(known)
    assert "not trained on" in real.DECKS["webcam"].words(["bidly_cards"])
    assert real.DECKS["bidly"].words(known) == "bidly_cards, trained on"
    assert "altered: indices 7 mm lower" in real.DECKS["bidly-casino"].words(known)


def test_the_packaged_model_says_which_photographs_it_was_trained_on() -> None:
    assert "bidly_cards" in real.photographs_of(default_model())


def test_of_a_deck_that_lacks_cards_those_it_has_are_laid(tmp_path: Path) -> None:
    for code in ("As", "Kh"):
        cv2.imwrite(str(tmp_path / f"{code}.png"), card_picture(code, 4.0))
    with pytest.raises(DeckError, match="lacks 50"):
        PhotoDeck.from_folder(tmp_path)
    deck = PhotoDeck.from_folder(tmp_path, whole=False)
    hands = judge._of(deck, deal(np.random.default_rng(1), TableLayout.load()))
    assert sorted(code for rows in hands.values() for codes in rows.values() for code in codes) == [
        "As",
        "Kh",
    ]


def test_a_reports_section_on_real_cards_is_written_anew_and_the_rest_kept(tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text(f"before\n{real.MARKS[0]}\nold\n{real.MARKS[1]}\nafter\n")
    found = judge.Outcome(Score(cards=52, right=52, sure=51, wrong=1, tables=1), [])
    found.cards.append(judge.Judged("Kc", "Ks", 9.0, 6.0, 0.99, sure=True))
    real.put_into(report, real.section({"webcam": found}, 1, 7, []))
    text = report.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert (
        "| webcam | cardcounterml WIN*, not trained on | 1 | 0 of 1 | 100.0% | 98.1% of 52 | 1 | 0 |" in text
    )
    assert "webcam: Kc as Ks (9.0 nats)" in text


def test_a_report_without_such_a_section_is_left_alone(tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text("nothing of the kind\n")
    with pytest.raises(ValueError, match="no section"):
        real.put_into(report, "new")
    assert report.read_text() == "nothing of the kind\n"
