"""The felt's layout: what the product's own says, and every way in which a layout can be wrong."""

from __future__ import annotations

import importlib.resources
import re
from pathlib import Path

import numpy as np
import pytest

from vision.base.errors import LayoutError, VisionError, VisionFileError
from vision.felt.layout import ROWS, TableLayout


@pytest.fixture(scope="module")
def text() -> str:
    return (importlib.resources.files("hardware") / "table.toml").read_text(encoding="utf-8")


def test_the_products_felt_has_four_places_of_three_five_five(layout: TableLayout) -> None:
    assert layout.places == ("A", "B", "C", "D")
    assert [(z.row, z.capacity) for z in layout.zones[:3]] == [("front", 3), ("middle", 5), ("back", 5)]
    assert len(layout.zones) == 12


def test_a_zone_is_its_cards_at_their_gap_and_the_margin(layout: TableLayout) -> None:
    back = layout.zone("C", "back")
    assert back.width_mm == pytest.approx(5 * 63.5 + 4 * 5 + 2 * 5)
    assert back.height_mm == pytest.approx(88.9 + 2 * 5)
    assert layout.zone("C", "front").width_mm == pytest.approx(3 * 63.5 + 2 * 5 + 2 * 5)


def test_the_front_row_lies_nearest_the_middle_in_every_place(layout: TableLayout) -> None:
    middle = np.array([layout.width_mm / 2, layout.height_mm / 2])
    for place in layout.places:
        far = [np.hypot(*(np.array([z.x_mm, z.y_mm]) - middle)) for z in layout.zones if z.place == place]
        assert far == sorted(far)


def test_a_turned_place_counts_its_row_from_its_players_left(layout: TableLayout) -> None:
    """A's player sits at the top of the picture: their left is the picture's right."""
    a, d = layout.zone("A", "back"), layout.zone("D", "back")
    first_a, last_a = a.to_felt(layout.slots_mm(a)[[0, -1]])
    first_d, last_d = d.to_felt(layout.slots_mm(d)[[0, -1]])
    assert first_a[0] > last_a[0]
    assert first_d[0] < last_d[0]
    assert a.corners_mm[0, 1] > a.corners_mm[2, 1]  # far left corner lies nearer the table's centre


def test_slots_lie_a_card_and_a_gap_apart(layout: TableLayout) -> None:
    slots = layout.slots_mm(layout.zone("B", "middle"))
    assert np.diff(slots[:, 0]) == pytest.approx([68.5] * 4)


def test_a_place_may_be_turned_by_a_quarter(text: str) -> None:
    """The pinwheel of four: the player on the left of the picture has their row on the left edge."""
    wheel = re.sub(r"(?m)^[ABC] = .*\n", "", text).replace(
        "[felt]\nwidth_mm = 835.0", "[felt]\nwidth_mm = 1000.0"
    )
    wheel = re.sub(r"(?m)^D = .*$", "D = { x_mm = 250.0, y_mm = 395.0, turned_deg = 90.0 }", wheel)
    layout = TableLayout.parse(wheel)
    front, back = layout.zone("D", "front"), layout.zone("D", "back")
    assert back.x_mm < front.x_mm
    assert back.y_mm == pytest.approx(front.y_mm)
    near_left = back.corners_mm[3]
    assert near_left == pytest.approx([back.x_mm - back.height_mm / 2, back.y_mm - back.width_mm / 2])


def test_the_text_is_kept_as_it_was_and_named_by_its_hash(text: str, layout: TableLayout) -> None:
    assert layout.text == text
    assert TableLayout.parse(layout.text) == layout
    assert len(layout.sha256) == 64
    assert TableLayout.parse(text + "\n# a note\n").sha256 != layout.sha256


def test_marker_corners_run_clockwise_from_the_top_left(layout: TableLayout) -> None:
    assert layout.markers.corners_mm(0).tolist() == [[10, 10], [50, 10], [50, 50], [10, 50]]


def test_the_reference_camera_sees_the_whole_felt(layout: TableLayout) -> None:
    assert 2.9 < layout.camera.px_per_mm < 3.2
    assert layout.height_mm * layout.camera.px_per_mm < layout.camera.height_px


WRONG = {
    "not TOML": ("[felt]", "[felt", "not a TOML file"),
    "brackets within one another": ("[felt]", "a = " + "[" * 5_000 + "\n[felt]", "not a TOML file"),
    "a number without end": ("height_mm = 790.0", "height_mm = " + "9" * 5_000, "not a TOML file"),
    "a missing key": ("height_mm = 790.0", "", "felt.height_mm is missing"),
    "a mistyped key": ("quiet_mm = 6.0", "quiet_mm = 6.0\nquite_mm = 6.0", "markers.quite_mm is not known"),
    "an unknown table": ("[felt]", "[cloth]\n[felt]", "cloth is not known"),
    "a text for a number": (
        "width_mm = 835.0",
        'width_mm = "835"',
        "felt.width_mm is not a number",
    ),
    "a truth value for a number": (
        "width_mm = 835.0",
        "width_mm = true",
        "felt.width_mm is not a number",
    ),
    "infinity": ("width_mm = 835.0", "width_mm = inf", "felt.width_mm is not a finite number"),
    "a negative length": ("gap_mm = 5.0 ", "gap_mm = -5.0 ", "card.gap_mm is not more than 0"),
    "no cards": ("front = 3", "front = 0", "zones.rows.front is not more than 0"),
    "half a card": ("front = 3", "front = 2.5", "zones.rows.front is not a whole number"),
    "a fourth row": ("front = 3", "front = 3, hidden = 1", "zones.rows.hidden is not known"),
    "an unknown dictionary": ("DICT_4X4_50", "DICT_9X9_50", "not one of OpenCV's"),
    "an id twice": ("id = 5", "id = 4", "names an id twice"),
    "an id that does not exist": ("id = 5", "id = 50", "marker 50 does not exist"),
    "a place in two letters": ("\nA = {", "\nAB = {", "places.AB is not one capital letter"),
    "a place off the felt": ("A = { x_mm = 205.0", "A = { x_mm = 100.0", "sticks out of the felt"),
    "a marker off the felt": ("id = 0, x_mm = 30.0", "id = 0, x_mm = 10.0", "marker 0 sticks out"),
    "two places on one another": ("B = { x_mm = 630.0", "B = { x_mm = 500.0", "overlap"),
    "a marker under a zone": (
        "id = 0, x_mm = 30.0, y_mm = 30.0",
        "id = 0, x_mm = 205, y_mm = 212",
        "overlap",
    ),
    "a place turned away": (
        "A = { x_mm = 205.0, y_mm = 212.0, turned_deg = 180.0 }",
        "A = { x_mm = 205.0, y_mm = 212.0, turned_deg = 0.0 }",
        "front row lies farther",
    ),
    "a fisheye of half the world": (
        "horizontal_fov_deg = 55.3",
        "horizontal_fov_deg = 180",
        "is not less than 180",
    ),
    "a field of view of nothing": (
        "horizontal_fov_deg = 55.3",
        "horizontal_fov_deg = 5e-324",
        "camera.horizontal_fov_deg is less than 1",
    ),
    "a table that is a number": ("[camera]", "[camera2]", "camera is missing"),
    "markers that are no list": (
        "at = [ # centres",
        "at = 3\nother = [",
        "markers.at is not a list",
    ),
    "a marker of a shape unknown": (
        '"disk"',
        '"star"',
        "natural_marker.shape is not 'disk' or 'plate'",
    ),
    "a disk that is no circle": (
        "height_mm = 50.0",
        "height_mm = 60.0",
        "a disk is as wide as it is high",
    ),
    "a marker as small as a pip": (
        "width_mm = 50.0\nheight_mm = 50.0",
        "width_mm = 12\nheight_mm = 12",
        "natural_marker.width_mm is less than 30",
    ),
    "a colour by name": ('"#7a2fb0"', '"violet"', "natural_marker.colour is not a colour as #rrggbb"),
    "a marker's picture": ("[camera]", 'picture = "x.png"\n[camera]', "natural_marker.picture is not known"),
    "a nameless camera": (
        '"Raspberry Pi HQ Camera with a 6 mm lens"',
        '""',
        "camera.name is empty",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_layout_is_refused_with_the_key_named(case: str, text: str) -> None:
    old, new, message = WRONG[case]
    assert old in text
    with pytest.raises(LayoutError, match=re.escape(message)):
        TableLayout.parse(text.replace(old, new, 1))


def test_the_naturals_marker_has_a_size_and_a_colour(layout: TableLayout) -> None:
    marker = layout.natural_marker
    assert marker is not None
    assert (marker.shape, marker.width_mm, marker.height_mm) == ("disk", 50, 50)
    assert marker.bgr == (0xB0, 0x2F, 0x7A)


def test_a_house_may_do_without_the_naturals_marker(text: str) -> None:
    without = re.sub(r"(?ms)^\[natural_marker\].*?(?=^\[camera\])", "", text)
    assert TableLayout.parse(without).natural_marker is None


def test_three_markers_are_too_few(text: str) -> None:
    with pytest.raises(LayoutError, match="at least 4"):
        TableLayout.parse(re.sub(r"(?m)^    \{ id = [345].*\n", "", text))


def test_a_felt_without_places_is_refused(text: str) -> None:
    with pytest.raises(LayoutError, match="places has 0, and needs at least 1"):
        TableLayout.parse(re.sub(r"(?m)^[ABCD] = .*\n", "", text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(VisionFileError, match=r"nowhere\.toml cannot be read: No such file") as caught:
        TableLayout.load(tmp_path / "nowhere.toml")
    assert isinstance(caught.value, VisionError)
    assert isinstance(caught.value, OSError)


def test_a_wrong_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "felt.toml"
    path.write_text("[felt]\n")
    with pytest.raises(LayoutError, match=r"felt\.toml: card is missing|felt\.toml: felt"):
        TableLayout.load(path)
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(LayoutError, match="not a text file"):
        TableLayout.load(path)


def test_an_unknown_zone_is_named_with_the_places_there_are(layout: TableLayout) -> None:
    with pytest.raises(LayoutError, match="no zone E front; its places are A, B, C, D"):
        layout.zone("E", "front")


def test_rows_are_named_from_the_centre_to_the_player() -> None:
    assert ROWS == ("front", "middle", "back")
