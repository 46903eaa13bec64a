"""Scenes to train on, and what is done with them before the network sees them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.training import decks, scene
from models.training.samples import SIZE_PX, Sample, real_crops, store_real_crops, turn
from models.training.scene import CORNER_FIELDS, SceneMaker
from vision.reading.cards import RANKS, SUITS

pytestmark = [pytest.mark.usefixtures("fonts"), pytest.mark.slow]
SCENES = 40


def maker(seed: int, pool: int = 3) -> SceneMaker:
    """A maker that does with drawn decks, as on a machine that has fetched no art."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decks, "art_decks", list)
        return SceneMaker(seed, None, pool)


def make(seed: int, count: int) -> list[Sample]:
    scenes = maker(seed)
    return [scenes.scene(SIZE_PX) for _ in range(count)]


@pytest.fixture(scope="module")
def scenes() -> list[Sample]:
    return make(1, SCENES)


def test_the_same_seed_makes_the_same_scenes(scenes: list[Sample]) -> None:
    for (picture, corners), (again, corners_again) in zip(scenes[:5], make(1, 5), strict=True):
        assert np.array_equal(picture, again)
        assert np.array_equal(corners, corners_again)


def test_another_seed_makes_other_scenes(scenes: list[Sample]) -> None:
    assert not np.array_equal(scenes[0][0], make(2, 1)[0][0])


def test_a_scene_is_a_square_picture_with_rows_of_eight(scenes: list[Sample]) -> None:
    for picture, corners in scenes:
        assert picture.shape == (SIZE_PX, SIZE_PX, 3)
        assert picture.dtype == np.uint8
        assert corners.dtype == np.float32
        assert corners.shape[1] == CORNER_FIELDS


def test_an_index_to_be_found_lies_in_the_picture_and_is_of_a_card(scenes: list[Sample]) -> None:
    rows = np.concatenate([corners for _, corners in scenes])
    clear = rows[rows[:, 7] == 1]
    assert len(clear) > SCENES / 2
    assert ((clear[:, :2] > -10) & (clear[:, :2] < SIZE_PX + 10)).all()
    assert set(clear[:, 2]) <= set(range(len(RANKS)))
    assert set(clear[:, 3]) <= set(range(len(SUITS)))
    assert np.allclose(np.hypot(clear[:, 4], clear[:, 5]), 1, atol=1e-4)
    assert ((clear[:, 6] > 5) & (clear[:, 6] < 130)).all()
    assert set(rows[:, 7]) <= {0, 1}


def test_the_ink_of_a_lone_card_lies_where_the_truth_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without light, blur and noise: the index's middle has ink around it, turned as the direction says."""
    placement = [(80.0, 80.0, 30.0)]
    monkeypatch.setattr(scene, "_layout", lambda *_: placement)
    monkeypatch.setattr(scene, "_slant", lambda _: np.eye(2))
    monkeypatch.setattr(
        scene, "photograph", lambda _rng, _noise, picture, _scale: (picture, np.zeros((160, 160), bool))
    )
    alone = maker(4, pool=2)
    seen = 0
    for _ in range(20):
        picture, corners = alone.scene(160)
        for x, y, _, _, ux, uy, size, state in corners[corners[:, 7] == 1]:
            assert abs(ux * math.sin(math.radians(30)) - uy * math.cos(math.radians(30))) < 1e-3
            near = picture[int(y - size / 2) : int(y + size / 2), int(x - size / 2) : int(x + size / 2)]
            if near.size and state:
                seen += 1
                assert float(np.ptp(near.astype(float).max(axis=2))) > 40
    assert seen > 5


def _marked(x: int, y: int) -> Sample:
    picture = np.zeros((SIZE_PX, SIZE_PX, 3), np.uint8)
    picture[y, x] = 255
    return picture, np.array([[x, y, 3, 1, 1, 0, 30, 1]], np.float32)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_turning_moves_each_corner_with_the_picture(quarters: int) -> None:
    picture, corners = turn(_marked(20, 50), quarters)
    (y, x), *_ = np.argwhere(picture.any(axis=2)).tolist()
    assert corners[0, :2].tolist() == [x, y]
    assert corners[0, [2, 3, 6, 7]].tolist() == [3, 1, 30, 1]


def test_turning_counter_clockwise_makes_what_read_rightwards_read_upwards() -> None:
    assert turn(_marked(20, 50), 1)[1][0, 4:6].tolist() == [0, -1]


def test_four_quarters_are_a_whole_turn_and_the_sample_itself_is_not_changed() -> None:
    sample = _marked(20, 50)
    kept = sample[1].copy()
    picture, corners = turn(turn(sample, 3), 1)
    assert np.array_equal(picture, sample[0])
    assert np.array_equal(corners, sample[1])
    assert np.array_equal(sample[1], kept)


def test_stored_crops_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, scenes: list[Sample]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    assert real_crops(folder) == []
    store_real_crops(scenes[:6], folder)
    for (picture, corners), (again, corners_again) in zip(scenes[:6], real_crops(folder), strict=True):
        assert np.array_equal(picture, again)
        assert np.array_equal(corners, corners_again)
