"""What lies on the felt without being a card that was read is noticed and named; a table of cards raises no alarm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet

from tests.rendered import rendered
from vision.base.arrays import Image, Points
from vision.felt.geometry import find_felt
from vision.felt.layout import NaturalMarker, TableLayout
from vision.felt.resample import project
from vision.reading.network import CardReader
from vision.reading.objects import KnownCard, Other, find_others
from vision.reading.table_reading import read
from vision.synthetic import printed_felt as felt
from vision.synthetic.decks import Deck, DrawnDeck, PhotoDeck
from vision.synthetic.evaluation import Condition, grid
from vision.synthetic.props import Thing
from vision.synthetic.render import FACE_DOWN, JOKER, Conditions, Hands, Scene, deal, render_table

pytestmark = pytest.mark.slow

SCALE = 0.7
SMALL = 0.45  # things are looked for at less than a third of this
ORDINARY = [condition for condition in grid() if condition.sets == "ordinary"]


def _felt_mm(scene: Scene, points: Points) -> Points:
    return project(np.asarray(np.linalg.inv(scene.homography)), points)


def _known(scene: Scene, but: Sequence[str] = ()) -> list[KnownCard]:
    """Take all cards for read, but for some of them and those that show no face."""
    cards = [card for card in scene.cards if card.code not in (*but, FACE_DOWN, JOKER)]
    return [KnownCard(card.code, True, _felt_mm(scene, card.corners)) for card in cards]


def _others(scene: Scene, layout: TableLayout, but: Sequence[str] = ()) -> tuple[Other, ...]:
    return find_others(scene.frame, find_felt(scene.frame, layout), layout, _known(scene, but))


def _at(scene: Scene, others: Sequence[Other], x_mm: float, y_mm: float) -> list[str]:
    """Name what was found within 12 mm of a place."""
    middles = [(o.what, _felt_mm(scene, o.corners).mean(axis=0)) for o in others]
    return [what for what, middle in middles if np.hypot(*(middle - (x_mm, y_mm))) < 12]


def _size(condition: Condition) -> float:
    return SCALE if condition.scale == 1 else condition.scale


def _every_second(first: int) -> list[ParameterSet]:
    """Return the ordinary conditions; but every second is enough for `make test` where two decks share them."""
    return [
        pytest.param(
            condition, id=condition.name, marks=[] if number % 2 == first else [pytest.mark.exhaustive]
        )
        for number, condition in enumerate(ORDINARY)
    ]


@pytest.mark.parametrize("condition", _every_second(0))
def test_a_full_table_of_read_cards_raises_no_alarm(
    condition: Condition, layout: TableLayout, reader: CardReader
) -> None:
    rng = np.random.default_rng(ORDINARY.index(condition))
    scene = rendered(
        deal(rng, layout), layout, seed=rng, conditions=condition.conditions, scale=_size(condition)
    )
    assert read(scene.frame, layout, reader).others == ()


@pytest.mark.parametrize("condition", _every_second(1))
def test_a_full_table_of_real_cards_raises_no_alarm(
    condition: Condition, layout: TableLayout, reader: CardReader, shared: Path
) -> None:
    rng = np.random.default_rng(50 + ORDINARY.index(condition))
    deck = PhotoDeck.from_folder(shared / "bidly_cards")
    scene = rendered(
        deal(rng, layout), layout, deck, seed=rng, conditions=condition.conditions, scale=_size(condition)
    )
    assert read(scene.frame, layout, reader).others == ()


THINGS = [
    Thing("chip", 417, 200),
    Thing("chip", 417, 260, 10, (40, 30, 200)),
    Thing("coin", 417, 320),
    Thing("hand", 300, 640),
    Thing("marker", 630, 578),
    Thing(FACE_DOWN, 417, 480, 20),
    Thing(JOKER, 100, 400, 90),  # outside the zones a face is just astray
    Thing("chip", 75, 100),  # on a number card
]


def _busy(layout: TableLayout) -> dict[str, dict[str, list[str]]]:
    hands = deal(np.random.default_rng(1), layout)
    hands["A"]["front"] = ["As", FACE_DOWN, JOKER]
    hands["B"]["back"] = [FACE_DOWN] * 5
    return hands


@pytest.mark.parametrize("condition", ORDINARY, ids=lambda c: c.name)
def test_everything_on_a_busy_table_is_named(
    condition: Condition, layout: TableLayout, reader: CardReader
) -> None:
    hands = _busy(layout)
    seed = 10 + ORDINARY.index(condition)
    scene = rendered(
        hands, layout, seed=seed, conditions=condition.conditions, scale=_size(condition), things=THINGS
    )
    reading = read(scene.frame, layout, reader)
    for thing in THINGS:
        what = {"chip": "foreign", "coin": "foreign", JOKER: "foreign"}.get(thing.what, thing.what)
        if thing.what == "hand":
            assert what in [o.what for o in reading.others]
        else:
            assert _at(scene, reading.others, thing.x_mm, thing.y_mm) == [what]
    for card in scene.cards:
        if card.code in (FACE_DOWN, JOKER):
            x, y = _felt_mm(scene, card.corners).mean(axis=0)
            assert _at(scene, reading.others, x, y) == [card.code]
    wrong = [c.card for z in reading.zones for c in z.cards if c.sure and c.card not in hands[z.place][z.row]]
    assert not wrong


@pytest.mark.parametrize("left_out", ["2c", "7d", "Qh", "As", "Kc"])
def test_a_face_that_was_not_read_never_vanishes(left_out: str, layout: TableLayout) -> None:
    hands = {"A": {"middle": ["2c", "7d", "Qh", "As", "Kc"]}}
    scene = rendered(hands, layout, seed=3, scale=SMALL)
    (other,) = _others(scene, layout, [left_out])
    assert other.what == "joker"
    (card,) = (card for card in scene.cards if card.code == left_out)
    assert np.hypot(*(other.corners.mean(axis=0) - card.corners.mean(axis=0))) < 12


@pytest.mark.parametrize("overlap_mm", [10, 25, 40, 48])
def test_a_hidden_face_that_was_not_read_is_foreign_down_to_a_narrow_strip(
    overlap_mm: float, layout: TableLayout
) -> None:
    scene = rendered({"C": {"back": ["As"]}}, layout, seed=4, conditions=Conditions(shift_mm=0), scale=SMALL)
    above = _known(scene)[0].corners_mm.mean(axis=0) + (63.5 - overlap_mm, 0.0)
    on_top = rendered(
        {"C": {"back": ["As"]}},
        layout,
        seed=4,
        conditions=Conditions(shift_mm=0),
        scale=SMALL,
        things=[Thing("Kd", float(above[0]), float(above[1]))],
    )
    box = above + np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (63.5 / 2, 88.9 / 2)
    view = find_felt(on_top.frame, layout)
    (other,) = find_others(on_top.frame, view, layout, [KnownCard("Kd", True, box)])
    assert other.what in ("foreign", "joker")


def test_a_coloured_rim_of_four_millimetres_around_a_read_card_is_let_pass(layout: TableLayout) -> None:
    scene = rendered(deal(np.random.default_rng(8), layout), layout, seed=8, scale=SMALL)
    view = find_felt(scene.frame, layout)
    known = [replace(card, corners_mm=card.corners_mm + (4.0, 4.0)) for card in _known(scene)]
    assert find_others(scene.frame, view, layout, known) == ()


@pytest.mark.parametrize("turned", [0.0, 30.0, 90.0])
def test_backs_are_counted_and_outlined_one_by_one(turned: float, layout: TableLayout) -> None:
    step = 64.0  # they all but touch
    along = np.array([np.cos(np.radians(turned)), np.sin(np.radians(turned))])
    middles = np.array([417.5, 395.0]) + (np.arange(3) - 1)[:, None] * step * along
    scene = rendered(
        {}, layout, seed=5, scale=SMALL, things=[Thing(FACE_DOWN, x, y, turned) for x, y in middles]
    )
    others = _others(scene, layout)
    assert [o.what for o in others] == ["back"] * 3
    for x, y in middles:
        assert _at(scene, others, x, y) == ["back"]
    sides = [_felt_mm(scene, o.corners) for o in others]
    for box in sides:
        lengths = sorted(np.linalg.norm(box - np.roll(box, 1, axis=0), axis=1))
        assert lengths[0] == pytest.approx(63.5, abs=7)
        assert lengths[3] == pytest.approx(88.9, abs=7)


@pytest.mark.parametrize(
    "conditions", [Conditions(), Conditions(tilt_deg=3, offset_mm=25)], ids=["ordinary", "leaning"]
)
def test_backs_of_rows_that_touch_each_other_and_their_lines_are_counted_one_by_one(
    conditions: Conditions, layout: TableLayout
) -> None:
    """The rows' printed lines lie between them: taken for parts of the cards, they made half of the backs foreign."""
    hands: Hands = {
        place: {"front": [FACE_DOWN] * 3, "middle": [FACE_DOWN] * 5, "back": [FACE_DOWN] * 5}
        for place in "ABCD"
    }
    named: list[str] = []
    for seed in range(3):
        scene = rendered(hands, layout, seed=300 + seed, conditions=conditions, scale=SCALE)
        named += [o.what for o in _others(scene, layout)]
    assert abs(len(named) - 3 * 52) <= 4
    assert named.count("back") >= 0.95 * 3 * 52


@pytest.mark.parametrize("ink", ["#1257b8", "#0b7a37", "#15151a"])
def test_backs_of_any_colour_are_backs(ink: str, layout: TableLayout) -> None:
    hands: Hands = {"B": {"back": [FACE_DOWN] * 5}}
    scene = rendered(hands, layout, DrawnDeck(back_colour=ink), seed=6, scale=SMALL)
    assert [o.what for o in _others(scene, layout)] == ["back"] * 5


SKINS = {"fair": (175, 195, 232), "brown": (88, 125, 178), "dark": (45, 62, 92)}


@pytest.mark.parametrize("skin", SKINS)
@pytest.mark.parametrize("cards", [True, False], ids=["over cards", "over the felt"])
def test_a_hand_is_one_hand_whatever_its_skin_and_what_it_is_over(
    skin: str, cards: bool, layout: TableLayout
) -> None:
    hands = deal(np.random.default_rng(2), layout) if cards else {}
    hand = Thing("hand", 240, 600, -12, SKINS[skin])
    scene = rendered(hands, layout, seed=7, scale=SMALL, things=[hand])
    found = {o.what for o in _others(scene, layout)}
    assert "hand" in found
    assert found <= {"hand", "foreign"}
    if not cards:
        assert len(_others(scene, layout)) == 1


def test_a_sleeve_that_reaches_in_is_a_hand(layout: TableLayout) -> None:
    sleeve = rendered({}, layout, seed=7, scale=SMALL, things=[Thing("hand", 417, 230, 180)])
    assert {o.what for o in _others(sleeve, layout)} == {"hand"}


@pytest.mark.parametrize(
    "marker",
    [NaturalMarker("disk", 50, 50, "#7a2fb0"), NaturalMarker("plate", 80, 40, "#e07020")],
    ids=["disk", "plate"],
)
@pytest.mark.parametrize("where", [(417.5, 395.0), (205.0, 212.0)], ids=["on the felt", "on the cards"])
def test_the_naturals_marker_is_known_on_the_felt_and_on_cards(
    marker: NaturalMarker, where: tuple[float, float], layout: TableLayout
) -> None:
    house = replace(layout, natural_marker=marker)
    hands = deal(np.random.default_rng(3), layout)
    for seed, turned in ((1, 0.0), (2, 35.0)):
        scene = rendered(hands, house, seed=seed, scale=SMALL, things=[Thing("marker", *where, turned)])
        assert _at(scene, _others(scene, house), *where) == ["marker"]


def test_a_marker_that_the_house_does_not_know_is_foreign(layout: TableLayout) -> None:
    scene = rendered({}, layout, scale=SMALL, things=[Thing("marker", 417.5, 395.0)])
    view = find_felt(scene.frame, layout)
    unknown = replace(layout, natural_marker=None)
    assert [o.what for o in find_others(scene.frame, view, unknown, [])] == ["foreign"]


def test_a_chip_of_the_markers_colour_is_no_marker(layout: TableLayout) -> None:
    assert layout.natural_marker is not None
    chip = Thing("chip", 417.5, 395.0, 0, layout.natural_marker.bgr)
    assert [o.what for o in _others(rendered({}, layout, scale=SMALL, things=[chip]), layout)] == ["foreign"]


def test_a_cable_across_the_felt_is_foreign(layout: TableLayout) -> None:
    scene = rendered({}, layout, scale=SMALL)
    ends = np.round(project(scene.homography, np.array([[150.0, 395.0], [700.0, 420.0]]))).astype(int)
    cv2.line(scene.frame, ends[0].tolist(), ends[1].tolist(), (200, 200, 200), round(13 * 3.09 * SMALL))
    others = _others(scene, layout)
    assert {o.what for o in others} == {"foreign"}
    reach = _felt_mm(scene, np.concatenate([o.corners for o in others]))[:, 0]
    assert reach.min() < 170
    assert reach.max() > 680


def _relit(frame: Image, light: Points) -> Image:
    return np.clip(np.round(frame * light[..., None]), 0, 255).astype(np.uint8)


def test_a_shadow_across_the_table_is_no_thing(layout: TableLayout) -> None:
    scene = rendered(deal(np.random.default_rng(4), layout), layout, seed=4, scale=SMALL)
    h, w = scene.frame.shape[:2]
    x, y = np.meshgrid(np.arange(w) / w, np.arange(h) / h)
    light = 1 - 0.45 / (1 + np.exp(-((x + 0.4 * y) - 0.7) * 30))
    assert _others(replace(scene, frame=_relit(scene.frame, light)), layout) == ()


@pytest.fixture(
    params=[(120, 60, 20), (40, 30, 130), (95, 95, 95), (40, 40, 40)], ids=["blue", "red", "grey", "black"]
)
def cloth(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(felt, "CLOTH_BGR", request.param)
    felt.felt_picture.cache_clear()
    yield
    felt.felt_picture.cache_clear()


@pytest.mark.usefixtures("cloth")
def test_the_cloth_may_have_another_colour(layout: TableLayout) -> None:
    scene = render_table(deal(np.random.default_rng(9), layout), layout, seed=9, scale=SMALL)
    assert _others(scene, layout) == ()
    hands: Hands = {"B": {"front": [FACE_DOWN, "2c", "7d"]}}
    chip = Thing("chip", 417.5, 395.0, 0, (40, 140, 40))
    scene = render_table(hands, layout, DrawnDeck(back_colour="#7a5a10"), seed=2, scale=SMALL, things=[chip])
    assert sorted(o.what for o in _others(scene, layout)) == ["back", "foreign"]


def test_without_any_colour_cards_and_chips_are_still_noticed(layout: TableLayout) -> None:
    white = Thing("chip", 417.5, 395.0, 0, (240, 240, 240))
    scene = rendered({"B": {"front": ["2c"]}}, layout, scale=SMALL, things=[white])
    grey = cv2.cvtColor(cv2.cvtColor(scene.frame, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    others = _others(replace(scene, frame=np.asarray(grey, np.uint8)), layout, ["2c"])
    assert sorted(o.what for o in others) == ["foreign", "joker"]


def test_where_the_felt_leaves_the_picture_nothing_is_made_up(layout: TableLayout) -> None:
    scene = rendered(deal(np.random.default_rng(6), layout), layout, seed=6, scale=SMALL)
    edge = project(
        scene.homography, np.array([[0.0, layout.height_mm - 3], [layout.width_mm, layout.height_mm - 3]])
    )
    cut = replace(scene, frame=np.ascontiguousarray(scene.frame[: int(edge[:, 1].min())]))
    assert _others(cut, layout) == ()


def test_an_empty_felt_has_nothing_on_it(layout: TableLayout) -> None:
    for seed in range(4):
        assert _others(rendered({}, layout, seed=seed, scale=SMALL), layout) == ()


def test_a_card_beside_the_zones_is_reported_once(layout: TableLayout, reader: CardReader) -> None:
    scene = rendered({}, layout, scale=SCALE, things=[Thing("Kd", 417.5, 395.0, 25)])
    reading = read(scene.frame, layout, reader)
    assert [o.what for o in reading.others] == ["foreign"]
    assert _at(scene, reading.others, 417.5, 395.0) == ["foreign"]


def test_a_joker_is_never_taken_for_a_card(layout: TableLayout, reader: CardReader) -> None:
    deck: Deck = DrawnDeck()
    hands: Hands = {place: {"front": [JOKER, "2c", JOKER]} for place in ("A", "C")}
    for seed in range(2):
        reading = read(rendered(hands, layout, deck, seed=seed, scale=SCALE).frame, layout, reader)
        assert {c.card for z in reading.zones for c in z.cards if c.sure} <= {"2c"}
