"""The lens's distortion: found again from pictures of the board, undone, and kept on disk."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from vision.arrays import Image, Matrix
from vision.errors import CalibrationError, CalibrationFileError
from vision.geometry import find_felt, project, zone_to_image
from vision.layout import TableLayout
from vision.lens import BOARD_SQUARE_MM, BOARD_SQUARES, Lens, board_picture, calibrate_lens
from vision.render import TIDY, render_table

WIDTH, HEIGHT = 1152, 648
TRUE = Lens(
    np.array([[880.0, 0, 571.0], [0, 884.0, 330.0], [0, 0, 1]]),
    np.array([-0.12, 0.04, 0.001, -0.0005, 0.0]),
    WIDTH,
    HEIGHT,
    0.0,
)


def _photo(picture: Image, to_px: Matrix, lens: Lens) -> Image:
    """Look at a flat picture through a lens: every pixel is looked up where the straight ray hits."""
    coarse = [np.arange(0, n + 12, 12.0) for n in (lens.width_px, lens.height_px)]
    grid = np.stack(np.meshgrid(*coarse), axis=-1)
    straight = lens.undistort(grid.reshape(-1, 2)).reshape(grid.shape)
    between = RegularGridInterpolator(coarse[::-1], straight)
    fine = np.stack(np.meshgrid(np.arange(lens.height_px), np.arange(lens.width_px), indexing="ij"), axis=-1)
    rays = between(fine.reshape(-1, 2))
    source = project(np.asarray(np.linalg.inv(to_px)), rays).astype(np.float32)
    shape = (lens.height_px, lens.width_px)
    look = (source[:, 0].reshape(shape), source[:, 1].reshape(shape))
    return np.asarray(cv2.remap(picture, *look, cv2.INTER_LINEAR, borderValue=(90, 90, 90)), np.uint8)


@pytest.fixture(scope="module")
def photos() -> list[Image]:
    """The board held out nine ways, over the whole picture."""
    rng = np.random.default_rng(1)
    ppm = 4.0
    board = np.pad(board_picture(ppm), 40, constant_values=255)
    size = np.array(BOARD_SQUARES) * BOARD_SQUARE_MM
    photos = []
    for i in range(9):
        turn, _ = cv2.Rodrigues(
            np.radians([rng.uniform(-28, 28), rng.uniform(-28, 28), rng.uniform(-10, 10)])
        )
        at = np.array([(i % 3 - 1) * 150.0, (i // 3 - 1) * 60.0, 480.0 + 60 * (i % 2)])
        start = at - turn @ np.array([size[0] / 2, size[1] / 2, 0])
        to_px = TRUE.matrix @ np.column_stack([turn[:, 0], turn[:, 1], start])
        from_board = np.array([[1 / ppm, 0, (0.5 - 40) / ppm], [0, 1 / ppm, (0.5 - 40) / ppm], [0, 0, 1]])
        photo = _photo(board, np.asarray(to_px @ from_board), TRUE)
        noisy = photo + rng.normal(0, 2, photo.shape)
        photos.append(np.clip(noisy, 0, 255).astype(np.uint8))
    return photos


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
    flat = render_table({"A": {"back": ["Kh"]}}, layout, conditions=TIDY, scale=0.5)
    shrink = np.diag([0.46, 0.46, 1.0])
    shrink[0, 2], shrink[1, 2] = 46.0, 24.0
    photo = _photo(flat.frame, shrink, TRUE)
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
    mapped = zone_to_image(straight.homography, zone, 2.0, middle * 2 - 0.5, TRUE)
    assert mapped[0] == pytest.approx(true.mean(axis=0), abs=0.5)
    through = straight.rectify(photo, zone, 1.0)
    plain = find_felt(flat.frame, layout).rectify(flat.frame, zone, 1.0)
    assert np.corrcoef(through.ravel(), plain.ravel())[0, 1] > 0.97


def test_a_calibration_serves_pictures_of_half_the_size() -> None:
    half = TRUE.for_size(WIDTH // 2, HEIGHT // 2)
    points = np.array([[100.0, 80.0], [1000.0, 600.0]])
    small = (points + 0.5) / 2 - 0.5
    assert half.distort(small) == pytest.approx((TRUE.distort(points) + 0.5) / 2 - 0.5)
    with pytest.raises(CalibrationError, match="other proportions"):
        TRUE.for_size(640, 480)


def test_a_calibration_is_kept_on_disk(tmp_path: Path) -> None:
    TRUE.save(tmp_path / "lens.json")
    again = Lens.load(tmp_path / "lens.json")
    assert again.to_json() == TRUE.to_json()
    with pytest.raises(CalibrationFileError, match=r"nowhere\.json cannot be read"):
        Lens.load(tmp_path / "nowhere.json")
    with pytest.raises(CalibrationFileError, match="cannot be stored"):
        TRUE.save(tmp_path / "no" / "such" / "folder.json")


GOOD = json.loads(TRUE.to_json())


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
    ],
)
def test_a_spoilt_calibration_is_refused(text: str) -> None:
    with pytest.raises(CalibrationError, match="this is no lens calibration"):
        Lens.from_json(text)


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
        calibrate_lens([photos[0], photos[1][:400]])
