"""The suit witness: large signs cut out of cards, and what comes of cards whose index says another suit."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.rendered import rendered
from vision.base.arrays import Image, Points
from vision.base.errors import ModelError
from vision.felt.layout import TableLayout
from vision.reading.cards import ALIKE, CARDS, SUITS
from vision.reading.loose_cards import read_photograph
from vision.reading.network import CardReader, default_model
from vision.reading.pips import HIDDEN
from vision.reading.signs import SIDE_PX, cut_signs, windows
from vision.reading.table_reading import read
from vision.synthetic.deck import HEIGHT_MM, WIDTH_MM, card_picture
from vision.synthetic.decks import DrawnDeck, PhotoDeck
from vision.synthetic.render import deal

SCALE = 0.7
HIDDEN_MM = np.array([12.0, 25.0])


def at(x: float, y: float) -> Points:
    """The corners of a card that lies upright there."""
    return np.array([[x, y], [x + WIDTH_MM, y], [x + WIDTH_MM, y + HEIGHT_MM], [x, y + HEIGHT_MM]])


def cloth(*cards: tuple[str, float, float]) -> Image:
    """Cloth of 300 × 200 mm at 3 px/mm with cards on it."""
    picture = np.full((600, 900, 3), (40, 90, 20), np.uint8)
    for code, x, y in cards:
        card = card_picture(code, 3.0)
        h, w = card.shape[:2]
        picture[round(3 * y) : round(3 * y) + h, round(3 * x) : round(3 * x) + w] = card
    return picture


def cuts(picture: Image, ranks: str, *corners: Points) -> tuple[np.ndarray, np.ndarray]:
    return cut_signs(picture, lambda mm: mm * 3.0, corners, [HIDDEN_MM] * len(corners), ranks)


@pytest.mark.parametrize("rank", list("A259TJQK"))
def test_the_large_signs_of_a_card_say_its_suit(rank: str, reader: CardReader) -> None:
    for suit in SUITS:
        picture = cloth((rank + suit, 20, 30))
        (said,) = reader.signs.suits(*cuts(picture, rank, at(20, 30)), [0])
        assert SUITS[int(said.argmax())] == suit
        assert said.max() > 0.49


def test_at_most_two_signs_of_a_card_are_cut_without_its_index() -> None:
    found, owner = cuts(cloth(("7h", 20, 30), ("Kh", 120, 30)), "7K", at(20, 30), at(120, 30))
    assert owner.tolist() == [0, 0, 1, 1]
    assert found.shape == (4, SIDE_PX, SIDE_PX, 3)
    for cut in found:
        red = cut[SIDE_PX // 4 : -SIDE_PX // 4, SIDE_PX // 4 : -SIDE_PX // 4].astype(int)
        assert (red[..., 2] - red[..., 0]).max() > 100, "there is a red sign in the middle"
        assert (cut[:20, :3] == HIDDEN).all(), "and at the side what may be of the index is hidden"


def test_signs_that_another_card_may_cover_are_not_looked_at() -> None:
    _, owner = cuts(cloth(), "K7", at(20, 30), at(50, 30))
    assert owner.tolist() == [0, 1, 1], "the king's lower sign lies under the seven"
    _, owner = cuts(cloth(), "2", at(20, 30))
    assert owner.tolist() == [0, 0]
    _, owner = cuts(cloth(), "27", at(20, 30), at(36, 30))
    assert 0 not in owner


def test_every_rank_has_windows_within_its_card() -> None:
    for rank in "23456789TJQKA":
        for x, y, side in windows(rank):
            assert side / 2 < min(x, 1 - x) * WIDTH_MM
            assert side / 2 < min(y, 1 - y) * HEIGHT_MM


def forged(*codes: str) -> PhotoDeck:
    """A deck in which these cards' indices are printed over the body of the other suit of their colour."""
    drawn = DrawnDeck()
    pictures = {code: drawn.picture(code).copy() for code in CARDS}
    for code in codes:
        body = drawn.picture(code[0] + ALIKE[code[1]]).copy()
        h, w = body.shape[:2]
        index = np.s_[: round(0.29 * h), : round(0.17 * w)]
        for turn in (np.s_[:], np.s_[::-1, ::-1]):
            body[turn][index] = pictures[code][turn][index]
        pictures[code] = body
    return PhotoDeck("forged", pictures, drawn.width_mm)


def test_a_card_whose_large_signs_say_another_suit_than_its_index_is_asked_about(
    layout: TableLayout, reader: CardReader
) -> None:
    wrong = ("Jc", "Qh", "9d")
    frame = rendered(
        deal(np.random.default_rng(4), layout), layout, forged(*wrong), seed=4, scale=SCALE
    ).frame
    cards = [card for zone in read(frame, layout, reader).zones for card in zone.cards]
    assert sorted(card.card for card in cards if not card.sure) == sorted(wrong)
    assert all(card.denied for card in cards if card.card in wrong)


def test_in_a_photograph_too(reader: CardReader) -> None:
    deck = forged("Qh", "Jc")
    picture = np.full((900, 2000, 3), (40, 90, 20), np.uint8)
    for k, code in enumerate(("Qh", "7h", "Jc", "Kd")):
        card = deck.picture(code)
        x = 60 + 480 * k
        picture[150 : 150 + card.shape[0], x : x + card.shape[1]] = card
    cards, _ = read_photograph(picture, reader)
    assert {card.card for card in cards if card.denied} == {"Qh", "Jc"}
    assert {card.card for card in cards if card.sure} == {"7h", "Kd"}


def test_without_the_networks_file_the_reading_says_so(layout: TableLayout, tmp_path: Path) -> None:
    for name in ("reader.onnx", "reader.json", "pips.onnx"):
        shutil.copy(default_model().with_name(name), tmp_path)
    frame = rendered(deal(np.random.default_rng(4), layout), layout, seed=4, scale=SCALE).frame
    with pytest.raises(ModelError, match=r"signs\.onnx cannot be loaded"):
        read(frame, layout, CardReader(tmp_path / "reader.onnx", threads=1))
