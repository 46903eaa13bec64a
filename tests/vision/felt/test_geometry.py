"""The felt found in pictures: how exactly, and what is said where it cannot be."""

from __future__ import annotations

import re
from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.rendered import TIDY, rendered
from vision.base.arrays import Image, Points
from vision.base.errors import (
    DisagreeingMarkersError,
    MarkersError,
    NoMarkersError,
    PictureError,
    TooFewMarkersError,
)
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout
from vision.felt.markers import dictionary
from vision.felt.resample import as_grey, project, rectify, reduce_picture, zone_size
from vision.synthetic.deck import card_picture
from vision.synthetic.render import Conditions, Scene, deal


@pytest.fixture(scope="module")
def scene(layout: TableLayout) -> Scene:
    """A full-size picture of an ordinary table."""
    return rendered(deal(np.random.default_rng(2), layout), layout, seed=2)


def _zone_error_px(homography: Points, scene: Scene, layout: TableLayout) -> float:
    corners = np.concatenate([zone.corners_mm for zone in layout.zones])
    return float(np.abs(project(homography, corners) - project(scene.homography, corners)).max())


def test_all_markers_are_found_to_a_fraction_of_a_pixel(scene: Scene, layout: TableLayout) -> None:
    view = find_felt(scene.frame, layout)
    assert sorted(m.id for m in view.markers) == [0, 1, 2, 3, 4, 5]
    assert view.others == ()
    for marker in view.markers:
        true = project(scene.homography, layout.markers.corners_mm(marker.id))
        assert np.abs(marker.corners - true).max() < 0.3
    assert _zone_error_px(view.homography, scene, layout) < 0.15
    assert view.error_mm < 0.1
    assert view.px_per_mm == pytest.approx(layout.camera.px_per_mm, rel=0.03)


@pytest.mark.parametrize("scale", [0.5, 0.25])
def test_smaller_pictures_do_as_well_in_pixels(scale: float, layout: TableLayout) -> None:
    scene = rendered({}, layout, seed=4, scale=scale)
    view = find_felt(scene.frame, layout)
    assert len(view.markers) == 6
    assert _zone_error_px(view.homography, scene, layout) < 0.25


def test_markers_are_found_out_of_focus_and_in_the_dark(layout: TableLayout) -> None:
    for conditions in (Conditions(blur_px=5.0), Conditions(light=0.15, noise=5.0)):
        scene = rendered({}, layout, seed=5, conditions=conditions, scale=0.5)
        view = find_felt(scene.frame, layout)
        assert len(view.markers) == 6
        assert _zone_error_px(view.homography, scene, layout) < 1.0


def test_a_grey_picture_does_as_well(scene: Scene, layout: TableLayout) -> None:
    view = find_felt(as_grey(scene.frame), layout)
    assert _zone_error_px(view.homography, scene, layout) < 0.15


def test_a_picture_upside_down_is_the_same_felt(scene: Scene, layout: TableLayout) -> None:
    view = find_felt(np.ascontiguousarray(scene.frame[::-1, ::-1]), layout)
    corners = view.to_image(layout.zone("A", "front").corners_mm)
    size = np.array([scene.frame.shape[1], scene.frame.shape[0]])
    assert corners == pytest.approx(
        size - 1 - project(scene.homography, layout.zone("A", "front").corners_mm), abs=0.3
    )


def _hide(frame: Image, scene: Scene, layout: TableLayout, *ids: int) -> Image:
    covered = frame.copy()
    for marker_id in ids:
        corners = project(scene.homography, layout.markers.corners_mm(marker_id))
        cv2.circle(covered, tuple(int(v) for v in corners.mean(axis=0)), 60, (30, 60, 90), -1)
    return covered


@pytest.mark.parametrize("hidden", [(0,), (1, 4), (0, 3), (1, 3, 5)])
def test_hidden_markers_are_done_without_while_the_rest_suffice(
    hidden: tuple[int, ...], layout: TableLayout
) -> None:
    scene = rendered({}, layout, seed=6, scale=0.5)
    view = find_felt(_hide(scene.frame, scene, layout, *hidden), layout)
    assert len(view.markers) == 6 - len(hidden)
    ours = np.abs(
        project(view.homography, layout.zones[0].corners_mm)
        - project(scene.homography, layout.zones[0].corners_mm)
    )
    assert ours.max() < 3 * max(0.25, view.doubt_mm * view.px_per_mm)


def test_markers_at_the_pictures_very_edge_are_found_and_what_it_cuts_off_leads_nowhere(
    layout: TableLayout,
) -> None:
    """The camera leans ever more: the picture's edge wanders over two markers, pixel by pixel."""
    scene = rendered({}, layout, seed=6, scale=0.5)
    tops = [project(scene.homography, layout.markers.corners_mm(k))[:, 1] for k in range(6)]
    row = sorted(range(6), key=lambda k: float(tops[k].min()))[:3]
    first, last = (round(float(f(tops[k].min() for k in row))) for f in (min, max))
    side = float(np.ptp(tops[row[0]]))
    assert len(find_felt(scene.frame[first - 3 :], layout).markers) == 6
    for cut in range(first - 5, last + round(side)):
        try:
            view = find_felt(scene.frame[cut:], layout)
        except TooFewMarkersError:
            assert cut > first + side / 2, "half of each marker is enough"
            continue
        down = np.array([[1, 0, 0], [0, 1, cut], [0, 0, 1]])
        assert _zone_error_px(down @ view.homography, scene, layout) < 1.0


@pytest.mark.parametrize("number", [9, 17])
def test_what_is_left_of_another_marker_is_not_taken_for_the_felts_own(
    number: int, layout: TableLayout
) -> None:
    scene = rendered({}, layout, seed=6, scale=0.5)
    frame = scene.frame.copy()
    known = dictionary(layout.markers.dictionary)
    tops = {k: project(scene.homography, layout.markers.corners_mm(k)) for k in range(6)}
    row = sorted(tops, key=lambda k: float(tops[k][:, 1].min()))[:3]
    for k in row:
        other = cv2.cvtColor(cv2.aruco.generateImageMarker(known, number, 60), cv2.COLOR_GRAY2BGR)
        ends = np.array([[-0.5, -0.5], [59.5, -0.5], [59.5, 59.5], [-0.5, 59.5]], np.float32)
        to_frame = cv2.getPerspectiveTransform(ends, tops[k].astype(np.float32))
        cv2.warpPerspective(
            other, to_frame, frame.shape[1::-1], frame, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT
        )
    cut = round(max(float(tops[k][:, 1].min()) for k in row)) + 4
    with pytest.raises(TooFewMarkersError, match="uncertain"):
        find_felt(frame[cut:], layout)
    assert len(find_felt(scene.frame[cut:], layout).markers) == 3


def test_one_marker_alone_is_too_few(layout: TableLayout) -> None:
    scene = rendered({}, layout, seed=6, scale=0.5)
    with pytest.raises(TooFewMarkersError, match="Only marker 5 of the felt"):
        find_felt(_hide(scene.frame, scene, layout, 0, 1, 2, 3, 4), layout)


def test_two_neighbours_leave_too_much_doubt(layout: TableLayout) -> None:
    scene = rendered({}, layout, seed=6, scale=0.5)
    with pytest.raises(TooFewMarkersError, match=r"leave the zones uncertain by \d"):
        find_felt(_hide(scene.frame, scene, layout, 2, 3, 4, 5), layout)


def test_a_picture_without_markers_says_what_to_do(layout: TableLayout) -> None:
    picture = np.full((600, 800, 3), 90, np.uint8)
    with pytest.raises(NoMarkersError, match="markers are not seen: the whole felt must be in view"):
        find_felt(picture, layout)
    assert issubclass(NoMarkersError, MarkersError)
    assert issubclass(NoMarkersError, ValueError)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_mirrored_picture_is_called_mirrored(axis: int, layout: TableLayout) -> None:
    scene = rendered({}, layout, seed=6, scale=0.5)
    with pytest.raises(NoMarkersError, match="The picture is mirrored: switch that off"):
        find_felt(np.ascontiguousarray(np.flip(scene.frame, axis)), layout)


def test_another_felts_markers_are_named(layout: TableLayout) -> None:
    other = TableLayout.parse(re.sub(r"id = (\d)", r"id = 2\1", layout.text))
    scene = rendered({}, other, scale=0.3)
    with pytest.raises(NoMarkersError, match=r"others are \(20, 21, 22, 23, 24, 25\): this is another felt"):
        find_felt(scene.frame, layout)


def test_the_right_markers_in_the_wrong_places_are_another_felt(layout: TableLayout) -> None:
    swapped = layout.text
    for old, new in (("id = 0", "id = 9"), ("id = 3", "id = 0"), ("id = 9", "id = 3"), ("id = 1,", "id = 9,"),
                     ("id = 5", "id = 1"), ("id = 9,", "id = 5,")):  # fmt: skip
        swapped = swapped.replace(old, new)
    scene = rendered({}, TableLayout.parse(swapped), scale=0.3)
    with pytest.raises(MarkersError):
        find_felt(scene.frame, layout)


def test_two_felts_in_view_are_refused(layout: TableLayout) -> None:
    scene = rendered({}, layout, conditions=TIDY, scale=0.3)
    felt = scene.frame[:, 250:1140]
    with pytest.raises(DisagreeingMarkersError, match="Two felts are in view"):
        find_felt(np.hstack([felt, felt]), layout)


def test_a_stray_marker_is_set_aside(layout: TableLayout) -> None:
    """A second marker 0, as on a spare felt's edge, and one of no felt of ours."""
    scene = rendered({}, layout, conditions=TIDY, scale=0.4)
    frame = scene.frame.copy()
    for marker_id, x in ((0, 60), (40, 180)):
        stray = cv2.aruco.generateImageMarker(
            cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), marker_id, 60
        )
        frame[400:480, x : x + 80] = 255
        frame[410:470, x + 10 : x + 70] = np.asarray(stray)[:, :, None]
    view = find_felt(frame, layout)
    assert sorted(m.id for m in view.markers) == [0, 1, 2, 3, 4, 5]
    assert sorted(m.id for m in view.others) == [0, 40]
    assert _zone_error_px(view.homography, scene, layout) < 0.25


@pytest.mark.parametrize("depth", [6, 12])
def test_a_bent_felt_is_refused(depth: float, layout: TableLayout) -> None:
    scene = rendered({}, layout, conditions=TIDY, scale=0.4)
    height, width = scene.frame.shape[:2]
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    half = 387.5 * layout.camera.px_per_mm * 0.4  # from the middle markers to the corners
    wave = np.cos((x - width / 2) / half * np.pi).astype(np.float32)
    bent = cv2.remap(scene.frame, x, y + depth * wave, cv2.INTER_LINEAR)
    with pytest.raises(DisagreeingMarkersError, match="lay the felt flat"):
        find_felt(np.asarray(bent, np.uint8), layout)


@pytest.mark.parametrize(
    "frame",
    [
        np.zeros((1, 1, 3), np.uint8),
        np.zeros((500, 40, 3), np.uint8),
        np.zeros((500, 500, 4), np.uint8),
        np.zeros((500, 500, 3), np.uint16),
        np.zeros((500, 500, 3), float),
        np.zeros(500, np.uint8),
    ],
    ids=["one pixel", "a strip", "four channels", "16 bits", "floats", "a line"],
)
def test_what_is_no_picture_is_refused(frame: Image, layout: TableLayout) -> None:
    with pytest.raises(PictureError):
        find_felt(frame, layout)


def test_noise_is_no_felt(layout: TableLayout) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (700, 900, 3), dtype=np.uint8)
    with pytest.raises(MarkersError):
        find_felt(noise, layout)


@pytest.mark.slow
@pytest.mark.parametrize("px_per_mm", [1.0, 2.0, 4.0])
def test_rectified_zones_show_their_cards_upright(px_per_mm: float, layout: TableLayout) -> None:
    hands = deal(np.random.default_rng(8), layout, ["A", "C"])
    scene = rendered(hands, layout, conditions=TIDY)
    view = find_felt(scene.frame, layout)
    for zone in (zone for zone in layout.zones if zone.place in hands):
        picture = view.rectify(scene.frame, zone, px_per_mm)
        assert picture.shape == (*zone_size(zone, px_per_mm)[::-1], 3)
        for code, middle in zip(hands[zone.place][zone.row], layout.slots_mm(zone), strict=True):
            card = card_picture(code, px_per_mm)
            half = np.array([63.5, 88.9]) / 2
            x, y = np.round((middle - half) * px_per_mm).astype(int)
            cut = picture[y : y + card.shape[0], x : x + card.shape[1]]
            alike = cv2.matchTemplate(cut, card[2:-2, 2:-2], cv2.TM_CCOEFF_NORMED).max()
            assert alike > 0.9, (zone.name, code)


def test_places_in_a_zone_map_to_the_picture(layout: TableLayout) -> None:
    scene = rendered({"A": {"back": ["Kh"]}, "C": {"back": ["Kh"]}}, layout, conditions=TIDY, scale=0.5)
    view = find_felt(scene.frame, layout)
    for card in scene.cards:
        zone = layout.zone(card.place, card.row)
        mapped = view.to_image(zone.to_felt(layout.slots_mm(zone)[:1]))
        assert mapped[0] == pytest.approx(card.corners.mean(axis=0), abs=0.3)


def test_a_zone_that_leaves_the_picture_is_black_there(layout: TableLayout) -> None:
    scene = rendered({}, layout, conditions=TIDY, scale=0.3)
    zone = layout.zone("A", "back")
    gone = replace(zone, x_mm=-5000.0)
    assert rectify(scene.frame, scene.homography, gone, 1.0).max() == 0
    top_mm = project(np.asarray(np.linalg.inv(scene.homography)), np.zeros((1, 2)))[0, 1]
    half = replace(zone, y_mm=float(top_mm))
    assert (rectify(scene.frame, scene.homography, half, 1.0) == 0).any()


def test_a_reduced_picture_keeps_its_places() -> None:
    picture = np.zeros((100, 205, 3), np.uint8)
    picture[30:33, 60:63] = 255
    small, times = reduce_picture(picture, 69)
    assert times == 3
    assert small.shape == (33, 68, 3)
    assert small[10, 20].tolist() == [255, 255, 255]
    assert reduce_picture(picture, 300)[1] == 1


def test_a_smaller_picture_shows_the_same_felt(layout: TableLayout) -> None:
    scene = rendered({}, layout, seed=2)
    view = find_felt(scene.frame, layout)
    small, near = view.smaller(scene.frame, 0.5)
    height, width = scene.frame.shape[:2]
    assert small.shape == (height // 4, width // 4, 3)
    assert near.size == (width // 4, height // 4)
    assert near.px_per_mm == pytest.approx(view.px_per_mm / 4)
    corners = np.concatenate([zone.corners_mm for zone in layout.zones])
    assert (near.to_image(corners) + 0.5) * 4 - 0.5 == pytest.approx(view.to_image(corners))
    zone = layout.zone("B", "front")
    there, here = (v.rectify(p, zone, 0.5).astype(float) for v, p in ((view, scene.frame), (near, small)))
    assert np.abs(there - here).mean() < 2
    assert view.smaller(scene.frame, 2.0)[0] is scene.frame
