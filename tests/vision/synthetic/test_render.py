"""The rendered table: the truth it states is what it shows, and the same seed shows the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.rendered import TIDY
from vision.base.arrays import Image
from vision.base.errors import RenderError, UnknownCardError
from vision.felt.layout import TableLayout
from vision.synthetic.deck import Style, card_picture
from vision.synthetic.decks import Deck, DrawnDeck, PhotoDeck
from vision.synthetic.props import Thing
from vision.synthetic.render import FACE_DOWN, JOKER, Conditions, Scene, deal, render_table

HANDS = {
    "A": {"front": ["As", "Kd", "2c"], "middle": ["Th"], "back": []},
    "C": {"back": ["9d", FACE_DOWN, "9s", "9h", "Jc"]},
}


def _lies(scene: Scene, index: int, deck: Deck) -> float:
    """Correlate a laid card with its picture: 1 is alike."""
    card = scene.cards[index]
    face = deck.back() if card.code == FACE_DOWN else deck.picture(card.code)
    size = (127, 178)
    whole = np.array([[0, 0], [size[0], 0], size, [0, size[1]]], np.float32) - 0.5
    warp = cv2.getPerspectiveTransform(card.corners.astype(np.float32), whole)
    seen = cv2.warpPerspective(scene.frame, warp, size).astype(float)
    face = np.asarray(cv2.resize(face, size, interpolation=cv2.INTER_AREA), float)
    return float(np.corrcoef(seen.ravel(), face.ravel())[0, 1])


@pytest.mark.parametrize("conditions", [TIDY, Conditions(overlapped=0)], ids=["tidy", "by hand"])
def test_every_card_lies_where_the_truth_says(conditions: Conditions, layout: TableLayout) -> None:
    deck = DrawnDeck()
    scene = render_table(HANDS, layout, deck, seed=1, conditions=conditions, scale=0.6)
    assert [card.code for card in scene.cards] == ["As", "Kd", "2c", "Th", "9d", FACE_DOWN, "9s", "9h", "Jc"]
    assert all(_lies(scene, i, deck) > 0.9 for i in range(len(scene.cards)))


def test_the_truth_names_the_faces_only(layout: TableLayout) -> None:
    scene = render_table(HANDS, layout, scale=0.2)
    assert scene.truth == {
        "A": {"front": ["As", "Kd", "2c"], "middle": ["Th"], "back": []},
        "C": {"back": ["9d", "9s", "9h", "Jc"]},
    }


def test_a_joker_lies_in_a_row_and_is_no_card_of_the_truth(layout: TableLayout) -> None:
    scene = render_table({"A": {"front": ["As", JOKER]}}, layout, scale=0.2)
    assert scene.truth == {"A": {"front": ["As"]}}
    assert [card.code for card in scene.cards] == ["As", JOKER]


def _at(scene: Scene, x_mm: float, y_mm: float) -> list[int]:
    u, v, w = scene.homography @ (x_mm, y_mm, 1)
    return [int(level) for level in scene.frame[round(v / w), round(u / w)]]


@pytest.mark.parametrize("what", ["chip", "coin", "hand", "marker", "back", "As", JOKER])
def test_things_lie_where_they_are_laid(what: str, layout: TableLayout) -> None:
    things = [Thing(what, 417.5, 395.0, 30.0)]
    empty, scene = (
        render_table({}, layout, conditions=TIDY, scale=0.5, things=laid) for laid in ([], things)
    )
    changed = np.argwhere((scene.frame != empty.frame).any(axis=2))[:, ::-1]
    (middle,) = np.column_stack([[417.5], [395.0], [1.0]]) @ scene.homography.T
    off = changed - middle[:2] / middle[2]
    assert np.linalg.norm(off, axis=1).min() < 3
    if what != "hand":
        assert np.abs(off.mean(axis=0)).max() < 3


def test_a_thing_throws_its_shadow_on_the_felt_around_it(layout: TableLayout) -> None:
    lit, shaded = (
        render_table(
            {},
            layout,
            conditions=replace(TIDY, shadow=shadow),
            scale=0.5,
            things=[Thing("chip", 417.5, 395.0)],
        )
        for shadow in (0.0, 0.5)
    )
    assert sum(_at(shaded, 417.5 + 20, 395.0)) < 0.95 * sum(_at(lit, 417.5 + 20, 395.0)), "next to the chip"
    assert _at(shaded, 417.5, 395.0) == _at(lit, 417.5, 395.0), "not upon it"


def test_the_naturals_marker_has_the_layouts_colour(layout: TableLayout) -> None:
    scene = render_table({}, layout, conditions=TIDY, things=[Thing("marker", 417.5, 395.0)])
    assert layout.natural_marker is not None
    assert _at(scene, 417.5, 395.0) == list(layout.natural_marker.bgr)
    assert _at(scene, 417.5 + 24, 395.0) == list(layout.natural_marker.bgr)
    assert _at(scene, 417.5 + 30, 395.0) != list(layout.natural_marker.bgr)


def test_a_marker_that_the_layout_does_not_know_cannot_be_laid(layout: TableLayout) -> None:
    with pytest.raises(RenderError, match="no natural_marker"):
        render_table(
            {}, replace(layout, natural_marker=None), scale=0.1, things=[Thing("marker", 417.5, 395.0)]
        )


def test_a_row_runs_from_its_players_left(layout: TableLayout) -> None:
    scene = render_table(HANDS, layout, conditions=TIDY, scale=0.2)
    middles = {card.code: card.corners.mean(axis=0) for card in scene.cards}
    assert middles["As"][0] > middles["2c"][0], "A's player sits at the top of the picture"
    assert middles["9d"][0] < middles["Jc"][0], "C's player sits at the bottom"
    as_card = scene.cards[0]
    assert as_card.corners[0, 1] > as_card.corners[3, 1], "A's cards stand upside down in the picture"


def test_the_same_seed_shows_the_same_picture(layout: TableLayout) -> None:
    first, again, other = (render_table(HANDS, layout, seed=s, scale=0.25) for s in (5, 5, 6))
    assert np.array_equal(first.frame, again.frame)
    assert not np.array_equal(first.frame, other.frame)


def test_the_picture_has_the_cameras_size_unless_scaled(layout: TableLayout) -> None:
    camera = layout.camera
    assert render_table({}, layout).frame.shape == (camera.height_px, camera.width_px, 3)
    assert render_table({}, layout, scale=0.25).frame.shape == (760, 1014, 3)


def test_an_empty_table_shows_no_card(layout: TableLayout) -> None:
    scene = render_table({}, layout, conditions=TIDY, scale=0.25)
    assert scene.truth == {}
    assert scene.cards == ()
    paper = (scene.frame.min(axis=2) > 200).mean()
    assert paper < 0.02  # the markers' white only


def test_the_whole_felt_stays_in_view_whatever_the_seed(layout: TableLayout) -> None:
    border = layout.markers.side_mm / 2 + layout.markers.quiet_mm
    for seed in range(40):
        scene = render_table({}, layout, seed=seed, scale=0.05)
        for marker in layout.markers.at:
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * border + (marker.x_mm, marker.y_mm)
            px = np.column_stack([corners, np.ones(4)]) @ scene.homography.T
            px = px[:, :2] / px[:, 2:]
            assert px.min() > 0
            assert px[:, 0].max() < scene.frame.shape[1]
            assert px[:, 1].max() < scene.frame.shape[0]


def test_an_overlapping_card_hides_part_of_its_left_neighbour(layout: TableLayout) -> None:
    conditions = replace(TIDY, overlapped=1.0, overlap_mm=40.0)
    scene = render_table({"D": {"back": ["As", "Kd"]}}, layout, seed=3, conditions=conditions, scale=0.5)
    left, right = (card.corners for card in scene.cards)
    assert right[0, 0] < left[1, 0] - 3
    assert _lies(scene, 1, DrawnDeck()) > 0.9


def _darker(frame: Image, plain: Image) -> bool:
    return bool(frame.mean() < 0.6 * plain.mean())


def _brighter_spots(frame: Image, plain: Image) -> bool:
    return bool((frame.min(axis=2) > 250).sum() > 5 * max(1, (plain.min(axis=2) > 250).sum()))


def _smoother(frame: Image, plain: Image) -> bool:
    return bool(cv2.Laplacian(frame, cv2.CV_64F).std() < 0.6 * cv2.Laplacian(plain, cv2.CV_64F).std())


def _rougher(frame: Image, plain: Image) -> bool:
    return bool(frame[20:80, 20:80].std() > 1.5 * plain[20:80, 20:80].std())


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"light": 0.4}, _darker),
        ({"glare": 0.9}, _brighter_spots),
        ({"blur_px": 6.0}, _smoother),
        ({"noise": 12.0}, _rougher),
    ],
    ids=["dark", "glare", "blur", "noise"],
)
def test_a_condition_shows(
    change: dict[str, float], seen: Callable[[Image, Image], bool], layout: TableLayout
) -> None:
    conditions = Conditions(jpeg=None)
    plain = render_table(HANDS, layout, conditions=conditions, scale=0.25).frame
    changed = render_table(HANDS, layout, conditions=replace(conditions, **change), scale=0.25).frame  # type: ignore[arg-type]
    assert seen(changed, plain)
    assert not seen(plain, plain)


def test_a_deal_gives_every_card_once(layout: TableLayout) -> None:
    hands = deal(np.random.default_rng(1), layout)
    cards = [code for rows in hands.values() for row in rows.values() for code in row]
    assert len(cards) == len(set(cards)) == 52
    assert [len(row) for row in hands["A"].values()] == [3, 5, 5]
    assert list(deal(np.random.default_rng(1), layout, ["B", "D"])) == ["B", "D"]


@pytest.mark.parametrize(
    ("hands", "message"),
    [
        ({"E": {"front": ["As"]}}, "no zone E front"),
        ({"A": {"top": ["As"]}}, "no zone A top"),
        ({"A": {"front": ["As", "Ks", "Qs", "Js"]}}, "A front holds 3 cards, not 4"),
    ],
)
def test_what_the_felt_cannot_hold_is_refused(
    hands: dict[str, dict[str, list[str]]], message: str, layout: TableLayout
) -> None:
    with pytest.raises(RenderError, match=message):
        render_table(hands, layout, scale=0.1)


def test_a_card_that_does_not_exist_is_refused(layout: TableLayout) -> None:
    with pytest.raises(UnknownCardError):
        render_table({"A": {"front": ["1x"]}}, layout, scale=0.1)
    with pytest.raises(RenderError, match="scale"):
        render_table({}, layout, scale=0)


@pytest.mark.slow
def test_other_decks_lie_on_the_same_table(layout: TableLayout) -> None:
    for deck in (DrawnDeck(Style(four_colour=True, jumbo=True)), _narrow()):
        scene = render_table(HANDS, layout, deck, conditions=TIDY, scale=0.5)
        assert all(_lies(scene, i, deck) > 0.85 for i in range(len(scene.cards))), deck.name


def _narrow() -> PhotoDeck:
    from vision.reading.cards import CARDS

    return PhotoDeck("narrow", {code: card_picture(code, 4.0) for code in CARDS}, width_mm=57.15)


def test_photographs_of_real_cards_lie_on_the_table(shared: Path, layout: TableLayout) -> None:
    deck = PhotoDeck.from_folder(shared / "bidly_cards")
    hands = deal(np.random.default_rng(7), layout)
    scene = render_table(hands, layout, deck, seed=7, conditions=Conditions(overlapped=0), scale=0.5)
    assert len(scene.cards) == 52
    assert all(_lies(scene, i, deck) > 0.85 for i in range(52))
