"""The felt's calibration: measured, stored, compared; how the camera hangs; one look for the set-up."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.rendered import TIDY, rendered
from vision.base.arrays import Image
from vision.base.errors import CalibrationError, NoMarkersError
from vision.felt.calibration import FeltCalibration, calibrate_felt, movement, pose, set_up_verdicts
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout
from vision.felt.survey import survey
from vision.synthetic.render import Conditions

SCALE = 0.5


@pytest.fixture(scope="module")
def bare() -> Image:
    return rendered({}, TableLayout.load(), seed=1, conditions=Conditions(), scale=SCALE).frame


@pytest.fixture(scope="module")
def made(bare: Image) -> FeltCalibration:
    return calibrate_felt([bare, bare], TableLayout.load())


def test_a_calibration_comes_back_from_its_text_with_the_same_hash(made: FeltCalibration) -> None:
    again = FeltCalibration.from_text(made.to_text())
    assert again.to_text() == made.to_text()
    assert again.sha256 == made.sha256


GOOD = {
    "homography": np.eye(3).tolist(),
    "width_px": 10,
    "height_px": 10,
    "layout": "",
    "lens": "",
    "figures": {},
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        json.dumps({**GOOD, "homography": [[1, 0], [0, 1]]}),
        json.dumps({**GOOD, "homography": [[0, 0, 0], [0, 0, 0], [0, 0, 1]]}),
        json.dumps({**GOOD, "homography": [[float("nan"), 0, 0], [0, 1, 0], [0, 0, 1]]}),
        json.dumps({**GOOD, "width_px": 0}),
        json.dumps({**GOOD, "figures": []}),
        json.dumps({**GOOD, "height_px": float("inf")}),
        json.dumps({**GOOD, "figures": {"a": 10**400}}),
        pytest.param("[" * 9_000, id="brackets within one another"),
    ],
)
def test_a_spoilt_calibration_is_refused(text: str) -> None:
    with pytest.raises(CalibrationError, match="This is no felt calibration"):
        FeltCalibration.from_text(text)


def test_a_calibration_serves_pictures_of_another_size_but_not_of_other_proportions(
    made: FeltCalibration, layout: TableLayout
) -> None:
    small = made.reference(made.width_px // 2, made.height_px // 2)
    smaller = rendered({}, layout, seed=1, conditions=Conditions(), scale=SCALE / 2).frame
    view = find_felt(smaller, layout)
    assert movement(view.homography, small, layout).most_mm < 1
    with pytest.raises(CalibrationError, match="other proportions"):
        made.reference(640, 360)


@pytest.mark.parametrize(
    ("tilt", "offset"), [((0.0, 0.0), (0.0, 0.0)), ((1.5, 0.0), (12.0, -7.0)), ((-1.0, 2.5), (0.0, 15.0))]
)
def test_the_pose_is_how_the_camera_was_hung(
    layout: TableLayout, tilt: tuple[float, float], offset: tuple[float, float]
) -> None:
    camera = layout.camera
    focal = camera.width_px * SCALE / 2 / np.tan(np.radians(camera.horizontal_fov_deg) / 2)
    size = (int(camera.width_px * SCALE), int(camera.height_px * SCALE))
    matrix = np.array([[focal, 0, (size[0] - 1) / 2], [0, focal, (size[1] - 1) / 2], [0, 0, 1]])
    about_x, about_y = np.radians(tilt)
    turn_x = np.array(
        [[1, 0, 0], [0, np.cos(about_x), -np.sin(about_x)], [0, np.sin(about_x), np.cos(about_x)]]
    )
    turn_y = np.array(
        [[np.cos(about_y), 0, np.sin(about_y)], [0, 1, 0], [-np.sin(about_y), 0, np.cos(about_y)]]
    )
    turn = turn_x @ turn_y
    eye = np.array([layout.width_mm / 2 + offset[0], layout.height_mm / 2 + offset[1], -1100.0])
    homography = matrix @ np.column_stack([turn[:, 0], turn[:, 1], -turn @ eye])
    view = replace(_view(layout), homography=homography, size=size)
    hangs = pose(view, layout)
    assert hangs.height_mm == pytest.approx(1100, abs=0.1)
    assert (hangs.across_mm, hangs.down_mm) == pytest.approx(offset, abs=0.1)
    assert hangs.tilt_deg == pytest.approx(np.degrees(np.arccos(turn[2, 2])), abs=0.01)


def _view(layout: TableLayout):  # type: ignore[no-untyped-def]
    return find_felt(rendered({}, layout, conditions=TIDY, scale=0.3).frame, layout)


def test_movement_is_what_was_moved(layout: TableLayout) -> None:
    before = np.diag([2.0, 2.0, 1.0])
    turned = np.radians(0.5)
    middle = np.array([layout.width_mm / 2, layout.height_mm / 2])
    rotate = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]]) * 1.01
    shift = middle + (6.0, -3.0) - rotate @ middle
    moved = np.array([[*rotate[0], shift[0]], [*rotate[1], shift[1]], [0, 0, 1]])
    found = movement(before @ moved, before, layout)
    assert (found.right_mm, found.down_mm) == pytest.approx((6.0, -3.0))
    assert found.turned_deg == pytest.approx(0.5)
    assert found.larger == pytest.approx(0.01)
    assert found.most_mm > 6


def test_pictures_that_contradict_or_are_missing_are_refused(bare: Image, layout: TableLayout) -> None:
    with pytest.raises(CalibrationError, match="no picture"):
        calibrate_felt([], layout)
    with pytest.raises(CalibrationError, match="different sizes"):
        calibrate_felt([bare, bare[:, :-2]], layout)
    with pytest.raises(CalibrationError, match="wander by"):
        calibrate_felt([bare, np.roll(bare, 4, axis=1)], layout)
    with pytest.raises(CalibrationError, match="too dark"):
        calibrate_felt([(bare * 0.2).astype(np.uint8)], layout)
    with pytest.raises(NoMarkersError):
        calibrate_felt([np.full_like(bare, 90)], layout)


def test_a_camera_that_leans_or_sees_too_little_is_told(layout: TableLayout) -> None:
    leaning = rendered(
        {}, layout, seed=3, conditions=replace(TIDY, tilt_deg=6, offset_mm=0), scale=SCALE
    ).frame
    verdicts = {verdict.name: verdict for verdict in set_up_verdicts(find_felt(leaning, layout), layout)}
    assert not verdicts["tilt"].ok
    straight = rendered({}, layout, conditions=TIDY, scale=SCALE).frame
    top = find_felt(straight, layout).to_image(np.zeros((1, 2)))[0, 1]
    near = np.roll(straight, -round(top), axis=0)
    verdicts = {verdict.name: verdict for verdict in set_up_verdicts(find_felt(near, layout), layout)}
    assert not verdicts["margin"].ok
    assert all(verdict.ok for verdict in set_up_verdicts(find_felt(straight, layout), layout))


def test_a_look_at_another_felt_names_its_strange_markers(bare: Image, layout: TableLayout) -> None:
    other = TableLayout.parse(layout.text.replace("id = 0,", "id = 40,"))
    seen = survey(bare, other)
    assert [outline.name for outline in seen.strange] == ["0"]
    assert [outline.name for outline in seen.missing] == ["40"]
    assert seen.error is None


def test_a_calibration_of_another_mode_is_said_and_not_compared(
    made: FeltCalibration, layout: TableLayout
) -> None:
    wider = replace(made, width_px=640, height_px=360)
    seen = survey(rendered({}, layout, conditions=TIDY, scale=SCALE).frame, layout, None, wider)
    assert "other proportions" in str(seen.error)
    assert seen.moved is None
    assert "camera" not in {verdict.name for verdict in seen.verdicts}
