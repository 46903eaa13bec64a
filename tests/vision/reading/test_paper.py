"""Light and colour are judged where a card lies: what spoils one place costs nothing elsewhere."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.rendered import rendered
from tests.spoilt import sun_at
from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.reading.deck_print import BLACK, LETTERS, inverted
from vision.reading.memory import TableMemory
from vision.reading.network import CardReader
from vision.reading.paper import BURNT, DARK, GREY
from vision.reading.table_reading import TableReading, read
from vision.synthetic.decks import DrawnDeck
from vision.synthetic.render import Scene, deal

SCALE = 0.5


@pytest.fixture(scope="module")
def reader() -> CardReader:
    return CardReader()


@pytest.fixture(scope="module")
def scene(layout: TableLayout) -> Scene:
    return rendered(deal(np.random.default_rng(1), layout), layout, seed=1, scale=SCALE)


def _sure(scene: Scene, reading: TableReading) -> dict[tuple[str, str], int]:
    """Count the sure cards of each zone; none may be wrong."""
    for zone in reading.zones:
        assert {c.card for c in zone.cards if c.sure} <= set(scene.truth[zone.place][zone.row])
    return {(zone.place, zone.row): sum(c.sure for c in zone.cards) for zone in reading.zones}


def _other_than(scene: Scene, sure: dict[tuple[str, str], int], *zones: tuple[str, str]) -> bool:
    """Return whether all cards are sure in all zones but these."""
    return all(n == len(scene.truth[p][r]) for (p, r), n in sure.items() if (p, r) not in zones)


def test_sun_on_a_marker_alone_costs_no_card(scene: Scene, layout: TableLayout, reader: CardReader) -> None:
    reading = read(sun_at(scene, (-10.0, -10.0, 56.0, 56.0)), layout, reader)
    assert not reading.seen["light"].ok
    assert reading.verdicts["light"].ok
    assert sum(_sure(scene, reading).values()) == 52


def test_a_patch_of_sun_costs_the_cards_under_it_and_names_their_zones(
    scene: Scene, layout: TableLayout, reader: CardReader
) -> None:
    memory = TableMemory()
    reading = read(sun_at(scene, (-20.0, -20.0, 130.0, 160.0)), layout, reader, memory=memory)
    sure, light = _sure(scene, reading), reading.verdicts["light"]
    assert (light.ok, light.text, light.where) == (False, BURNT, "A back")
    assert 0 < sure["A", "back"] < 5
    assert _other_than(scene, sure, ("A", "back"))
    again = read(sun_at(scene, (-20.0, -20.0, 130.0, 160.0)), layout, reader, memory=memory)
    assert _sure(scene, again) == sure


def test_a_deep_shadow_costs_the_cards_in_it(scene: Scene, layout: TableLayout, reader: CardReader) -> None:
    reading = read(sun_at(scene, (-20.0, -20.0, 330.0, 150.0), gain=0.2), layout, reader)
    light = reading.verdicts["light"]
    assert (light.ok, light.text, light.where) == (False, DARK, "A back")
    assert _other_than(scene, _sure(scene, reading), ("A", "back"))


def test_a_lamp_of_one_colour_costs_the_zone_below_it(
    scene: Scene, layout: TableLayout, reader: CardReader
) -> None:
    frame, zone = scene.frame.copy(), layout.zone("C", "back")
    at = cv2.perspectiveTransform(zone.corners_mm.astype(np.float32)[None], scene.homography)[0]
    x, y, w, h = cv2.boundingRect(at)
    part = frame[y : y + h, x : x + w]
    part[:] = cv2.cvtColor(part, cv2.COLOR_BGR2GRAY)[..., None]
    reading = read(frame, layout, reader)
    colour = reading.verdicts["colour"]
    assert (colour.ok, colour.text, colour.where) == (False, GREY, "C back")
    sure = _sure(scene, reading)
    assert sure["C", "back"] == 0
    assert _other_than(scene, sure, ("C", "back"))


class OddDeck(DrawnDeck):
    """Our deck printed otherwise: `change` is given each card's picture and its code."""

    def __init__(self, change) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        self.change = change

    def picture(self, code: str) -> Image:
        return np.asarray(self.change(super().picture(code), code), np.uint8)


def _four_colours(picture: Image, code: str) -> Image:
    """Print diamonds blue and clubs green."""
    if code[1] == "d":
        return picture[..., ::-1]
    grey = picture.mean(axis=2)
    return np.stack([grey, 110 + grey * 145 / 255, grey], axis=2) if code[1] == "c" else picture


def _letters(picture: Image, code: str) -> Image:
    """Print B, D and R on the corners of jacks, queens and kings."""
    letter = {"J": "B", "Q": "D", "K": "R"}.get(code[0])
    if letter is None:
        return picture
    ink = (20, 20, 200) if code[1] in "dh" else (20, 20, 20)
    for _ in range(2):
        picture = np.ascontiguousarray(np.rot90(picture, 2))
        h, w = picture.shape[:2]
        cv2.rectangle(
            picture, (int(0.02 * w), int(0.025 * h)), (int(0.155 * w), int(0.155 * h)), (255, 255, 255), -1
        )
        size, at = 0.0047 * h, (int(0.035 * w), int(0.143 * h))
        cv2.putText(picture, letter, at, cv2.FONT_HERSHEY_DUPLEX, size, ink, round(1.8 * size), cv2.LINE_AA)
    return picture


def _laid(change, layout: TableLayout) -> Scene:  # type: ignore[no-untyped-def]
    from vision.synthetic.render import render_table

    hands = deal(np.random.default_rng(3), layout)
    return render_table(hands, layout, OddDeck(change), seed=3, scale=0.6)


def test_a_deck_of_four_colours_is_read(layout: TableLayout, reader: CardReader) -> None:
    scene = _laid(_four_colours, layout)
    reading = read(scene.frame, layout, reader)
    assert sum(_sure(scene, reading).values()) == 52
    assert reading.verdicts["deck"].ok


def test_a_black_deck_is_refused_by_name(layout: TableLayout, reader: CardReader) -> None:
    scene = _laid(lambda picture, code: inverted(picture), layout)
    reading = read(scene.frame, layout, reader)
    assert sum(_sure(scene, reading).values()) == 0
    assert reading.verdicts["deck"].text == BLACK
    assert reading.verdicts["light"].ok


def test_other_letters_are_named_and_no_court_is_surely_wrong(
    layout: TableLayout, reader: CardReader
) -> None:
    scene = _laid(_letters, layout)
    reading = read(scene.frame, layout, reader)
    assert sum(_sure(scene, reading).values()) >= 36
    assert reading.verdicts["deck"].text == LETTERS


def test_an_ordinary_deck_and_cards_face_down_are_no_odd_deck(
    scene: Scene, layout: TableLayout, reader: CardReader
) -> None:
    assert read(scene.frame, layout, reader).verdicts["deck"].ok
    down = {p: {r: ["back"] * len(codes) for r, codes in rows.items()} for p, rows in scene.truth.items()}
    frame = rendered(down, layout, seed=2, scale=SCALE).frame
    assert read(frame, layout, reader).verdicts["deck"].ok
