"""The pip reader: whole cards cut out upright, their indices hidden, and what it says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rendered import rendered
from vision.base.arrays import Image, Points
from vision.base.errors import ModelError
from vision.felt.layout import TableLayout
from vision.reading.card_places import CardPlace, cards_on
from vision.reading.cards import CARDS, SUITS
from vision.reading.decode import NamedCluster
from vision.reading.network import FEATURES, CardReader, Indices
from vision.reading.pips import COUNTS, DIFFERS, HIDDEN, SIZE, PipReader, count_of, cut_out, learnt, scores
from vision.reading.table_reading import TableReading, read
from vision.synthetic.deck import HEIGHT_MM, WIDTH_MM, card_picture
from vision.synthetic.render import deal

INDICES = np.array([12.0, 25.0])


def at(x: float, y: float) -> Points:
    """The corners of a card that lies upright there."""
    return np.array([[x, y], [x + WIDTH_MM, y], [x + WIDTH_MM, y + HEIGHT_MM], [x, y + HEIGHT_MM]])


def table(*cards: tuple[str, float, float]) -> Image:
    """Cloth of 300 × 200 mm at 2 px/mm with cards on it."""
    picture = np.full((400, 600, 3), (40, 90, 20), np.uint8)
    for code, x, y in cards:
        card = card_picture(code, 2.0)
        picture[round(2 * y) : round(2 * y) + card.shape[0], round(2 * x) : round(2 * x) + card.shape[1]] = (
            card
        )
    return picture


def seen(picture: Image, *corners: Points) -> tuple[np.ndarray, np.ndarray]:
    return cut_out(picture, lambda mm: mm * 2.0, corners, [INDICES] * len(corners))


@pytest.fixture(scope="module")
def pips() -> PipReader:
    found = CardReader(threads=1).pips
    assert found is not None, "the packaged model has a pip reader"
    return found


def test_every_card_has_a_count() -> None:
    assert [COUNTS[count_of(code)] for code in ("Ac", "2d", "Th", "Js", "Qs", "Ks")] == list("A2TCCC")


def test_a_card_is_cut_out_upright_without_its_indices() -> None:
    (card,), enough = seen(table(("5h", 20, 30)), at(20, 30))
    assert card.shape == (SIZE[1], SIZE[0], 3)
    assert enough.all()
    for corner in (card[:25, :12], card[:25, -12:], card[-25:, :12], card[-25:, -12:]):
        assert (corner == HIDDEN).all()
    assert card[44, 32, 2] > card[44, 32, 0] + 80  # the pip in the middle is red


def test_what_another_card_may_cover_is_hidden_too() -> None:
    (alone,), _ = seen(table(("5h", 20, 30)), at(20, 30))
    (covered, _), _ = seen(table(("5h", 20, 30)), at(20, 30), at(65, 30))
    assert (covered[40, -17:] == HIDDEN).all()
    assert not (alone[40, -17:] == HIDDEN).all()


def test_of_a_card_that_is_nearly_covered_too_little_is_left() -> None:
    _, enough = seen(table(("5h", 20, 30)), at(20, 30), at(40, 32))
    assert not enough.any()


@pytest.mark.parametrize("code", ["2c", "5h", "6s", "8d", "9c", "Ts"])
def test_a_card_named_rightly_is_not_denied_and_one_pip_more_or_the_other_suit_is(
    code: str, pips: PipReader
) -> None:
    cards, _ = seen(table((code, 20, 30)), at(20, 30))
    near = COUNTS[count_of(code) - 1] + code[1]
    other = code[0] + {"c": "s", "s": "c", "d": "h", "h": "d"}[code[1]]
    (said,) = scores(pips.readings(cards))
    right, fewer, other_suit = (float(said.max() - said[CARDS.index(name)]) for name in (code, near, other))
    assert right < DIFFERS < min(fewer, other_suit)


def test_without_cards_nothing_is_said(pips: PipReader) -> None:
    assert scores(pips.readings(np.empty((0, SIZE[1], SIZE[0], 3), np.uint8))).shape == (0, 52)


def test_a_card_is_expected_as_it_was_read_and_no_other_card_loses_by_it() -> None:
    six_of_spades, four = certain("6s"), CARDS.index("4s")
    usual = learnt(np.repeat(six_of_spades, 3, axis=0), np.full(3, four))
    assert scores(six_of_spades)[0, four] < -DIFFERS
    (now,) = scores(six_of_spades, usual)
    assert now[four] > -1
    assert now.argmax() == CARDS.index("6s")
    others = np.arange(len(CARDS)) != four
    assert np.array_equal(now[others], scores(six_of_spades)[0, others])
    assert scores(certain("9h"), usual)[0, four] < -DIFFERS  # any other reading denies it as before


def test_cards_that_were_not_seen_are_expected_as_what_they_are() -> None:
    nothing = learnt(np.empty((0, 15)), np.empty(0, np.intp))
    assert np.array_equal(scores(certain("Kh"), nothing), scores(certain("Kh")))


def certain(code: str) -> NDArray[np.float64]:
    """A reading that is certain to be of this card."""
    reading = np.full((1, len(COUNTS) + len(SUITS)), 1e-6)
    reading[0, [count_of(code), len(COUNTS) + SUITS.index(code[1])]] = 1
    return reading


def test_a_file_that_is_no_such_network_is_told(tmp_path: Path) -> None:
    (tmp_path / "pips.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"pips\.onnx cannot be loaded"):
        PipReader(tmp_path / "pips.onnx")


def test_a_card_whose_index_and_pips_differ_is_asked_about_and_no_other(
    layout: TableLayout, reader: CardReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = rendered(deal(np.random.default_rng(1), layout), layout, seed=1, scale=0.7).frame
    assert unsure(read(frame, layout, reader)) == []
    names = cards_on

    def with_a_liar(*args: Any) -> list[tuple[NamedCluster, CardPlace]]:
        """Deny one card, whatever it shows."""
        found = names(*args)
        for named, _ in found:
            if named.card == "7h":
                named.cluster.whole[:] = np.arange(52) == CARDS.index("7s")
                named.cluster.whole[:] *= 1.1 * DIFFERS
        return found

    monkeypatch.setattr("vision.reading.table_reading.cards_on", with_a_liar)
    assert unsure(read(frame, layout, reader)) == ["7h"]


def named(layout: TableLayout, code: str, rival: str, whole: np.ndarray) -> NamedCluster:
    """Name the one card of a table whose index says `code`, barely before `rival`."""
    chances = np.full(52, 1e-4)
    chances[[CARDS.index(code), CARDS.index(rival)]] = 0.6, 0.3
    seen = Indices(
        np.array([[300.0, 300.0]]),
        np.array([0.99]),
        np.log(chances / chances.sum())[None],
        np.array([[1.0, 0.0]]),
        np.array([17.0]),
        np.zeros((1, FEATURES)),
    )
    ((found, _),) = cards_on(seen, layout, lambda places, names: np.tile(whole, (len(places), 1)))
    return found


def like(ranks: str, suits: str) -> NDArray[np.float64]:
    """What a whole card says that can only be of these ranks and these suits, each by 9 nats."""
    return np.array([-9.0 * (card[0] not in ranks) - 9.0 * (card[1] not in suits) for card in CARDS])


def test_pips_are_held_against_a_numbers_rank_and_never_against_a_courts(layout: TableLayout) -> None:
    assert named(layout, "7h", "8h", like("4", "h")).denied == 9
    assert named(layout, "Kh", "Qh", like("4", "h")).denied == 0


def test_a_court_speaks_for_no_rank_but_against_numbers_and_other_suits(layout: TableLayout) -> None:
    for rival, more in (("5h", 4), ("Qh", 0), ("Js", 4)):
        said = named(layout, "Jh", rival, like("JQK", "h"))
        assert said.denied == 0
        assert said.margin == pytest.approx(named(layout, "Jh", rival, np.zeros(52)).margin + more, abs=0.5)
    assert named(layout, "Jh", "Qh", like("JQK", "d")).denied == 9


def test_no_margin_over_the_other_suit_of_its_colour_grows_by_what_the_whole_card_shows(
    layout: TableLayout,
) -> None:
    for code, rival in (("Jh", "Jd"), ("7c", "7s")):
        by_index = named(layout, code, rival, np.zeros(52)).margin
        assert named(layout, code, rival, like(code[0], code[1])).margin == pytest.approx(by_index, abs=0.01)
        assert named(layout, code, rival, like(code[0], rival[1])).margin == 0


def unsure(found: TableReading) -> list[str]:
    cards = [card for zone in found.zones for card in zone.cards]
    assert sorted(card.card for card in cards) == sorted(CARDS)
    return [card.card for card in cards if not card.sure]
