"""Whole tables through the real network: rendered and photographed decks, in every state a table may be in."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.rendered import rendered
from vision.base.arrays import Image
from vision.base.errors import NoMarkersError
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout, Zone
from vision.reading.cards import CARDS
from vision.reading.decode import Cluster, NamedCluster
from vision.reading.network import Calibration, CardReader, Curve, Indices
from vision.reading.table_reading import TableReading, read, read_card, read_zone
from vision.synthetic.decks import PhotoDeck
from vision.synthetic.render import FACE_DOWN, Conditions, deal

SCALE = 0.7  # 2.2 px/mm: what the reader needs, at half the time


def _cards(reading: TableReading) -> dict[tuple[str, str], list[str]]:
    return {(z.place, z.row): [c.card for c in z.cards] for z in reading.zones}


def _sure(reading: TableReading) -> dict[tuple[str, str], list[bool]]:
    return {(z.place, z.row): [c.sure for c in z.cards] for z in reading.zones}


def _truth(hands: dict[str, dict[str, list[str]]]) -> dict[tuple[str, str], list[str]]:
    return {(place, row): cards for place, rows in hands.items() for row, cards in rows.items()}


@pytest.mark.parametrize("seed", range(3))
def test_all_52_cards_of_a_rendered_table_are_read_in_their_order(
    seed: int, layout: TableLayout, reader: CardReader
) -> None:
    hands = deal(np.random.default_rng(seed), layout)
    reading = read(rendered(hands, layout, seed=seed, scale=SCALE).frame, layout, reader)
    assert _cards(reading) == _truth(hands)
    assert all(c.sure for z in reading.zones for c in z.cards)


def test_a_zone_that_was_cut_out_is_read_again_where_its_cards_lie(
    layout: TableLayout, reader: CardReader
) -> None:
    hands = deal(np.random.default_rng(3), layout)
    frame = rendered(hands, layout, seed=3, scale=SCALE).frame
    zone = layout.zone("B", "back")
    picture = find_felt(frame, layout).rectify(frame, zone, 2.5)
    found = read_zone(picture, zone, layout, reader)
    assert [card.card for card in found] == hands["B"]["back"]
    for before, after in pairwise(found):
        assert before.corners[:, 0].mean() < after.corners[:, 0].mean()
    assert all((card.corners.mean(axis=0) < picture.shape[1::-1]).all() for card in found)


def test_a_real_deck_laid_on_the_felt_is_read(shared: Path, layout: TableLayout, reader: CardReader) -> None:
    hands = deal(np.random.default_rng(5), layout)
    deck = PhotoDeck.from_folder(shared / "bidly_cards")
    reading = read(rendered(hands, layout, deck, seed=5, scale=SCALE).frame, layout, reader)
    right = sum(len(set(cards) & set(_truth(hands)[key])) for key, cards in _cards(reading).items())
    wrong = [c for z in reading.zones for c in z.cards if c.sure and c.card not in hands[z.place][z.row]]
    assert right >= 51
    assert not wrong


def test_in_a_soft_picture_a_name_must_stand_out_as_much_farther() -> None:
    logp = np.full(52, -8.0)
    logp[0] = 0.0
    named = NamedCluster(Cluster((0, 1), logp, 9.0), CARDS[0], 8.0, (CARDS[0],))
    worth = Calibration(Curve(sure_from=6.0), Curve(sure_from=2.0))
    corners = np.zeros((4, 2))
    assert read_card(named, corners, worth).sure
    assert read_card(named, corners, worth, soft=1.3).sure
    assert not read_card(named, corners, worth, soft=1.4).sure


class CountingReader(CardReader):
    """Counts the pictures that it is shown."""

    shown = 0

    def indices(self, picture: Image, threshold: float = 0.2) -> Indices:
        self.shown += 1
        return super().indices(picture, threshold)


def test_a_clear_table_is_read_once_and_what_is_unclear_again(layout: TableLayout) -> None:
    reader = CountingReader()
    hands = deal(np.random.default_rng(0), layout)
    read(rendered(hands, layout, seed=0, scale=SCALE).frame, layout, reader)
    assert reader.shown == len(layout.zones)
    reader.shown = 0
    soft = rendered(hands, layout, seed=0, conditions=Conditions(blur_px=3.4, jpeg=40), scale=SCALE)
    read(soft.frame, layout, reader)
    assert len(layout.zones) < reader.shown <= 2 * len(layout.zones)


def test_where_a_row_shows_more_cards_than_it_holds_none_of_them_is_sure(
    layout: TableLayout, reader: CardReader
) -> None:
    """One of them is print: signs in a strange deck's pictures once made a sixth card, and a sure one."""
    hands = {"B": {"front": ["5c", "6c", "8d"], "back": ["9d", "Ts", "Jh", "2c", "3s"]}}
    scene = rendered(hands, layout, seed=3, scale=SCALE)
    assert _sure(read(scene.frame, layout, reader))["B", "front"] == [True] * 3
    small = replace(layout, zones=tuple(_holding_two(z) if z.row == "front" else z for z in layout.zones))
    crowded = _sure(read(scene.frame, small, reader))
    assert crowded["B", "front"] == [False] * 3
    assert crowded["B", "back"] == [True] * 5
    picture = find_felt(scene.frame, small).rectify(scene.frame, small.zone("B", "front"), 2.5)
    assert [c.sure for c in read_zone(picture, small.zone("B", "front"), small, reader)] == [False] * 3


def _holding_two(zone: Zone) -> Zone:
    return replace(zone, capacity=2)


def test_a_zones_picture_is_read_again_where_a_card_is_unclear(layout: TableLayout) -> None:
    reader = CountingReader()
    hands = {"B": {"back": ["5c", "6c", "8d", "9d", "Ts"]}}
    scene = rendered(hands, layout, seed=3, conditions=Conditions(blur_px=3.4, jpeg=40), scale=SCALE)
    zone = layout.zone("B", "back")
    read_zone(find_felt(scene.frame, layout).rectify(scene.frame, zone, 2.5), zone, layout, reader)
    assert reader.shown == 2


def test_an_empty_table_has_no_cards(layout: TableLayout, reader: CardReader) -> None:
    reading = read(rendered({}, layout, scale=SCALE).frame, layout, reader)
    assert all(not z.cards for z in reading.zones)
    assert len(reading.zones) == 12
    assert not reading.others


def test_cards_face_down_are_not_read(layout: TableLayout, reader: CardReader) -> None:
    hands = {"A": {"front": [FACE_DOWN] * 3, "back": ["As", FACE_DOWN, "Th", "2c", "9d"]}}
    reading = _cards(read(rendered(hands, layout, scale=SCALE).frame, layout, reader))
    assert reading["A", "front"] == []
    assert reading["A", "back"] == ["As", "Th", "2c", "9d"]


def test_a_cards_corners_are_where_it_lies(layout: TableLayout, reader: CardReader) -> None:
    hands = deal(np.random.default_rng(7), layout, ["B"])
    scene = rendered(hands, layout, seed=7, scale=SCALE)
    laid = {c.code: c.corners for c in scene.cards}
    for zone in read(scene.frame, layout, reader).zones:
        for card in zone.cards:
            # a card has no upper side: either index may be named first
            off = [
                np.linalg.norm(card.corners - np.roll(laid[card.card], k, 0), axis=1).max() for k in (0, 2)
            ]
            assert min(off) < 4 * SCALE * layout.camera.px_per_mm


def test_a_card_hidden_by_its_neighbour_is_missed_or_asked_about_but_never_made_up(
    layout: TableLayout, reader: CardReader
) -> None:
    untidy = Conditions(overlapped=1.0, overlap_mm=40, shift_mm=5, turn_deg=6)
    hands = deal(np.random.default_rng(11), layout)
    reading = read(rendered(hands, layout, seed=11, conditions=untidy, scale=SCALE).frame, layout, reader)
    for zone in reading.zones:
        assert {c.card for c in zone.cards if c.sure} <= set(hands[zone.place][zone.row])


def test_a_picture_without_the_felt_is_told_in_a_sentence(layout: TableLayout, reader: CardReader) -> None:
    with pytest.raises(NoMarkersError, match="marker"):
        read(np.full((900, 1200, 3), 90, np.uint8), layout, reader)


def test_confidence_grows_with_the_margin_and_stays_a_probability(reader: CardReader) -> None:
    values = [reader.calibrations.whole.confidence(m, 6.0) for m in (0.0, 1.0, 2.0, 10.0, 1e9)]
    assert values == sorted(values)
    assert 0 < values[0] < values[-1] <= 1


def test_the_reading_as_json_names_every_zone_and_stage(layout: TableLayout, reader: CardReader) -> None:
    reading = read(rendered({"A": {"front": ["As"]}}, layout, scale=SCALE).frame, layout, reader).to_json()
    assert reading.keys() == {"size", "markers", "zones", "others", "verdicts", "ms"}
    assert len(reading["zones"]) == 12
    (card,) = next(z for z in reading["zones"] if (z["place"], z["row"]) == ("A", "front"))["cards"]
    assert card["card"] == "As"
    assert len(card["corners"]) == 4
