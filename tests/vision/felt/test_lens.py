"""The lens's distortion: found again from pictures of the board, undone, and kept on disk."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.rendered import TIDY, rendered
from tests.vision.boards import HEIGHT, TRUE, WIDTH, board_photo, photographed
from vision.base.arrays import Image
from vision.base.errors import CalibrationError, VisionFileError
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens, calibrate_lens
from vision.felt.resample import project


@pytest.fixture(scope="module")
def photos() -> list[Image]:
    """The board held out nine ways, over the whole picture."""
    return [board_photo(number) for number in range(9)]


@pytest.mark.slow
def test_the_lens_is_found_again_from_the_board(photos: list[Image]) -> None:
    lens = calibrate_lens(photos)
    assert lens.error_px < 0.5
    assert lens.matrix == pytest.approx(TRUE.matrix, rel=0.01, abs=4)
    grid = np.stack(np.meshgrid(np.linspace(40, WIDTH - 40, 9), np.linspace(40, HEIGHT - 40, 6)), -1).reshape(
        -1, 2
    )
    bend = TRUE.distort(grid) - grid
    assert np.abs(bend).max() > 10, "the lens bends by far more than is left over"
    # what matters: straight stays straight. Seen through both, points agree to a pixel.
    both = TRUE.distort(lens.undistort(grid))
    fitted, _ = cv2.findHomography(grid, both, 0)
    assert np.abs(project(np.asarray(fitted, float), grid) - both).max() < 1.0


def test_undistort_is_the_inverse_of_distort() -> None:
    grid = np.stack(np.meshgrid(np.linspace(0, WIDTH, 7), np.linspace(0, HEIGHT, 5)), -1).reshape(-1, 2)
    assert TRUE.distort(TRUE.undistort(grid)) == pytest.approx(grid, abs=1e-3)
    assert TRUE.undistort(TRUE.distort(grid)) == pytest.approx(grid, abs=1e-3)


def test_a_felt_seen_through_the_lens_is_found_straight(layout: TableLayout) -> None:
    flat = rendered({"A": {"back": ["Kh"]}}, layout, conditions=TIDY, scale=0.5)
    shrink = np.diag([0.46, 0.46, 1.0])
    shrink[0, 2], shrink[1, 2] = 46.0, 24.0
    photo = photographed(flat.frame, shrink)
    straight = find_felt(photo, layout, TRUE)
    assert straight.error_px < 0.4
    corners = np.concatenate([zone.corners_mm for zone in layout.zones])
    really = TRUE.distort(project(shrink @ flat.homography, corners))
    assert np.abs(straight.to_image(corners) - really).max() < 0.5
    bent = find_felt(photo, layout)
    assert np.abs(bent.to_image(corners) - really).max() > 1.5, "what the lens does without its calibration"
    card = flat.cards[0]
    true = TRUE.distort(project(shrink, card.corners))
    zone = layout.zone("A", "back")
    middle = layout.slots_mm(zone)[:1]
    assert straight.to_image(zone.to_felt(middle))[0] == pytest.approx(true.mean(axis=0), abs=0.5)
    through = straight.rectify(photo, zone, 1.0)
    plain = find_felt(flat.frame, layout).rectify(flat.frame, zone, 1.0)
    assert np.corrcoef(through.ravel(), plain.ravel())[0, 1] > 0.97


def test_a_calibration_serves_pictures_of_half_the_size() -> None:
    half = TRUE.for_size(WIDTH // 2, HEIGHT // 2)
    points = np.array([[100.0, 80.0], [1000.0, 600.0]])
    small = (points + 0.5) / 2 - 0.5
    assert half.distort(small) == pytest.approx((TRUE.distort(points) + 0.5) / 2 - 0.5)
    with pytest.raises(CalibrationError, match="other proportions"):
        TRUE.for_size(640, 360)


def test_a_calibration_is_kept_on_disk(tmp_path: Path) -> None:
    (tmp_path / "lens.json").write_text(TRUE.to_text() + "\n")
    again = Lens.load(tmp_path / "lens.json")
    assert again.to_text() == TRUE.to_text()
    with pytest.raises(VisionFileError, match=r"nowhere\.json cannot be read"):
        Lens.load(tmp_path / "nowhere.json")


GOOD = json.loads(TRUE.to_text())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        json.dumps({**GOOD, "matrix": [[1, 0], [0, 1]]}),
        json.dumps({**GOOD, "distortion": [1, 2]}),
        json.dumps({**GOOD, "distortion": [0, 0, 0, 0, float("nan")]}),
        json.dumps({**GOOD, "matrix": [[-1, 0, 0], [0, 1, 0], [0, 0, 1]]}),
        json.dumps({**GOOD, "width_px": "wide"}),
        json.dumps({**GOOD, "width_px": float("inf")}),
        json.dumps({**GOOD, "error_px": 10**400}),
        pytest.param("[" * 9_000, id="brackets within one another"),
    ],
)
def test_a_spoilt_calibration_is_refused(text: str) -> None:
    with pytest.raises(CalibrationError, match="This is no lens calibration"):
        Lens.from_text(text)


def test_the_least_size_of_a_calibrations_picture_is_one_pixel() -> None:
    assert Lens.from_text(json.dumps({**GOOD, "width_px": 1, "height_px": 1})).height_px == 1
    for side in ("width_px", "height_px"):
        with pytest.raises(CalibrationError, match="impossible values"):
            Lens.from_text(json.dumps({**GOOD, side: 0}))


def test_too_few_views_are_refused(photos: list[Image]) -> None:
    blank = np.full((HEIGHT, WIDTH), 128, np.uint8)
    with pytest.raises(CalibrationError, match="made out in 3 of 4 pictures; 6 are needed"):
        calibrate_lens([*photos[:3], blank])
    with pytest.raises(CalibrationError, match="made out in 0 of 0 pictures"):
        calibrate_lens([])


def test_views_of_the_middle_only_are_refused(photos: list[Image]) -> None:
    with pytest.raises(CalibrationError, match="show it near the edges too"):
        calibrate_lens([photos[4]] * 6)


def test_pictures_of_two_sizes_are_refused(photos: list[Image]) -> None:
    with pytest.raises(CalibrationError, match="different sizes"):
        calibrate_lens([photos[0], photos[1][:-2]])
