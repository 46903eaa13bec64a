"""The drawn deck: 52 cards that differ, the same as SVG and as pixels, and decks of photographs."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.base.errors import DeckError, UnknownCardError
from vision.reading.cards import CARDS
from vision.synthetic.deck import Style, back_picture, card_picture, card_svg
from vision.synthetic.decks import DrawnDeck, PhotoDeck
from vision.synthetic.drawing import Path as Outline

pytestmark = pytest.mark.slow

STYLES = [Style(four, jumbo) for four in (False, True) for jumbo in (False, True)]


def test_there_are_52_cards_in_the_models_order() -> None:
    assert len(set(CARDS)) == 52
    assert CARDS[:2] == ("2c", "3c")
    assert CARDS[-1] == "As"


@pytest.mark.parametrize("style", STYLES)
def test_no_two_cards_look_alike_in_the_corner(style: Style) -> None:
    """Only the index is looked at: a covered card shows nothing else."""
    corners = {code: card_picture(code, 2.0, style)[:64, :32].astype(int) for code in CARDS}
    for a, b in itertools.combinations(CARDS, 2):
        assert np.abs(corners[a] - corners[b]).max() > 100, (a, b)


def test_a_card_reads_the_same_upside_down() -> None:
    for code in ("Kh", "Qs", "Jd", "2c", "Th"):
        picture = card_picture(code, 10.0).astype(int)
        assert np.abs(picture - picture[::-1, ::-1]).mean() < 1.0, code


@pytest.mark.parametrize("style", STYLES)
def test_every_svg_is_well_formed_small_and_needs_no_font(style: Style) -> None:
    for code in CARDS:
        text = card_svg(code, style)
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert not re.search(r"<text|font|https?:(?!//www\.w3\.org/2000/svg)", text)
        assert len(text.encode()) < 6000, code


def test_svg_and_pixels_have_the_same_proportions() -> None:
    root = ElementTree.fromstring(card_svg("Kh"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    picture = card_picture("Kh", 10.0)
    assert picture.shape == (889, 635, 3)
    assert width / height == pytest.approx(635 / 889)


def test_svg_and_pixels_show_the_same_card() -> None:
    """The SVG's own path data, painted here, covers what the picture shows inked."""
    for code in ("8s", "Td", "Ah"):
        root = ElementTree.fromstring(card_svg(code))
        _, _, width, height = (round(float(v)) for v in root.attrib["viewBox"].split())
        space = {"s": "http://www.w3.org/2000/svg"}
        half = [p.attrib["d"] for p in root.findall(".//s:g[@id]//s:path", space)]
        rest = [p.attrib["d"] for p in root.findall(".//s:path", space) if p.attrib["d"] not in half]
        ink = np.zeros((height, width), np.uint8)
        for d in half + rest[1:]:  # the first is the paper
            one = np.zeros_like(ink)
            cv2.fillPoly(one, [np.round(c).astype(np.int32) for c in _absolute(d).contours()], 255)
            ink |= one
            if d in half:
                ink |= one[::-1, ::-1]
        picture = cv2.resize(card_picture(code, 10.0), (width, height), interpolation=cv2.INTER_LINEAR)
        inked = (picture.min(axis=2) < 128)[40:-40, 40:-40]
        both = (ink > 0)[40:-40, 40:-40]
        assert (inked & both).sum() / (inked | both).sum() > 0.97, code


def _absolute(d: str) -> Outline:
    """Read relative SVG path data, independently of the writer."""
    out, x, y, start = "", 0.0, 0.0, (0.0, 0.0)
    for command, rest in re.findall(r"([mlhvcz])([^mlhvcz]*)", d):
        numbers = [float(v) for v in re.findall(r"-?\d+", rest)]
        if command == "z":
            out += "Z"
            x, y = start
        step = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "z": 1}[command]
        for i in range(0, len(numbers), step):
            part = numbers[i : i + step]
            if command == "h":
                part = [part[0], 0.0]
            elif command == "v":
                part = [0.0, part[0]]
            points = [(x + part[j], y + part[j + 1]) for j in range(0, len(part), 2)]
            first = command == "m" and i == 0
            name = "M" if first else ("C" if command == "c" else "L")
            out += name + " ".join(f"{px},{py}" for px, py in points)
            x, y = points[-1]
            if first:
                start = (x, y)
    return Outline.parse(out)


def test_four_colours_paint_the_suits_apart() -> None:
    colours = set()
    for suit in "cdhs":
        picture = card_picture("A" + suit, 4.0, Style(four_colour=True))
        colours.add(tuple(int(v) for v in picture[picture.shape[0] // 2 - 2, picture.shape[1] // 2 + 24]))
    assert len(colours) == 4


def test_the_index_has_a_real_cards_measures() -> None:
    """8.4–9.2 mm rank and 6.2–7.1 mm suit on an ordinary index, 14–18 and 8–10 mm on a jumbo one."""
    for style, rank_mm, suit_mm in (
        (Style(), (8.4, 9.2), (6.2, 7.1)),
        (Style(jumbo=True), (14, 18), (8, 10)),
    ):
        corner = card_picture("8h", 10.0, style)[20:360, 10 : 150 if style.jumbo else 100]
        rows = np.flatnonzero((corner[:, :, 0] < 128).any(axis=1))
        gap = int(np.argmax(np.diff(rows)))
        rank, suit = (rows[gap] - rows[0] + 1) / 10, (rows[-1] - rows[gap + 1] + 1) / 10
        assert rank_mm[0] <= rank <= rank_mm[1]
        assert suit_mm[0] <= suit <= suit_mm[1]


def test_the_back_is_no_face_and_reads_the_same_upside_down() -> None:
    back = back_picture(4.0).astype(int)
    assert np.abs(back - back[::-1, ::-1]).mean() < 12
    assert all(np.abs(back - card_picture(code, 4.0)).mean() > 40 for code in CARDS)


@pytest.mark.parametrize("draw", [card_svg, lambda code: card_picture(code, 2.0)])
@pytest.mark.parametrize("code", ["1h", "10h", "hT", "", "Xx"])
def test_a_card_that_does_not_exist_is_refused(draw, code: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UnknownCardError, match="there is no card"):
        draw(code)


def test_a_picture_from_the_cache_cannot_be_spoilt() -> None:
    with pytest.raises(ValueError, match="read-only"):
        card_picture("Th", 2.0)[0, 0] = 0


def test_a_folder_of_photographs_is_a_deck(tmp_path: Path) -> None:
    for code in CARDS:
        name = code.replace("T", "10").lower()
        cv2.imwrite(str(tmp_path / f"{name}.png"), card_picture(code, 3.0))
    (tmp_path / "notes.txt").write_text("not a card")
    deck = PhotoDeck.from_folder(tmp_path)
    assert deck.width_mm == 63.5
    wide = DrawnDeck(px_per_mm=3.0).picture("Th")
    assert np.array_equal(deck.picture("Th"), wide[4:-4, 3:-3])
    with pytest.raises(UnknownCardError):
        deck.picture("1x")


def test_an_incomplete_deck_is_refused_with_what_it_lacks(tmp_path: Path) -> None:
    for code in CARDS[1:]:
        cv2.imwrite(str(tmp_path / f"{code}.png"), card_picture(code, 1.0))
    with pytest.raises(DeckError, match="lacks 1 of 52 cards: 2c"):
        PhotoDeck.from_folder(tmp_path)
    with pytest.raises(DeckError, match="there is no folder"):
        PhotoDeck.from_folder(tmp_path / "nowhere")
    (tmp_path / "2c.jpg").write_bytes(b"not a picture")
    with pytest.raises(DeckError, match=r"2c\.jpg is not a picture"):
        PhotoDeck.from_folder(tmp_path)


def test_the_photographs_of_a_real_deck_are_a_bridge_deck(shared: Path) -> None:
    deck = PhotoDeck.from_folder(shared / "bidly_cards")
    assert deck.width_mm == pytest.approx(57.15)
    assert deck.picture("Th").shape[2] == 3
