"""Every verdict on a picture has a picture in which it rings and one in which it is silent."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.rendered import rendered
from vision.base.arrays import Image
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout
from vision.felt.quality import PictureVerdict, colour, judge
from vision.synthetic.render import Conditions, Scene, deal

SCALE = 0.5


def _judged(
    layout: TableLayout, conditions: Conditions | None = None, *, seed: int = 1, scale: float = SCALE
) -> dict[str, PictureVerdict]:
    scene = rendered(
        deal(np.random.default_rng(seed), layout), layout, seed=seed, conditions=conditions, scale=scale
    )
    return judge(scene.frame, find_felt(scene.frame, layout), layout, scene.homography)


def _ringing(verdicts: dict[str, PictureVerdict]) -> set[str]:
    return {name for name, verdict in verdicts.items() if not verdict.ok}


@pytest.mark.parametrize("seed", range(6))
def test_an_ordinary_evening_rings_nothing(seed: int, layout: TableLayout) -> None:
    verdicts = _judged(layout, seed=seed)
    assert list(verdicts) == ["sharpness", "resolution", "light", "glare", "banding", "colour", "camera"]
    assert _ringing(verdicts) == set()


def test_an_empty_table_rings_nothing_at_full_size(layout: TableLayout) -> None:
    scene = rendered({}, layout, seed=9)
    assert _ringing(judge(scene.frame, find_felt(scene.frame, layout), layout)) == set()


ORDINARY = Conditions()
RINGS = {
    "sharpness": (replace(ORDINARY, blur_px=3.0), "out of focus"),
    "light": (replace(ORDINARY, light=0.25), "too dark"),
    "glare": (replace(ORDINARY, glare=0.6), "Glare: move or shade"),
    "banding": (replace(ORDINARY, banding=0.15), "flickers"),
}


@pytest.mark.parametrize("name", RINGS)
def test_the_verdict_rings_alone_and_says_what_to_do(name: str, layout: TableLayout) -> None:
    conditions, words = RINGS[name]
    verdicts = _judged(layout, conditions)
    assert _ringing(verdicts) == {name}
    assert words in verdicts[name].text
    assert verdicts[name].limit > 0


def test_overexposure_rings_the_light_verdict(layout: TableLayout) -> None:
    verdicts = _judged(layout, replace(ORDINARY, light=1.15))
    assert not verdicts["light"].ok
    assert "overexposed" in verdicts["light"].text


def test_stripes_of_a_fiftieth_are_let_pass(layout: TableLayout) -> None:
    verdicts = _judged(layout, replace(ORDINARY, banding=0.04))
    assert verdicts["banding"].ok
    assert verdicts["banding"].figure == pytest.approx(0.02, abs=0.01)


def test_a_heavy_shadow_is_no_flicker(layout: TableLayout) -> None:
    for seed in range(3):
        assert _judged(layout, replace(ORDINARY, uneven=0.35, light=0.65), seed=seed)["banding"].ok


def test_sharpness_is_measured_in_millimetres_of_felt(layout: TableLayout) -> None:
    """A blur of σ pixels takes 2.56 σ from 10 to 90 %."""
    sharp = replace(ORDINARY, noise=1.0, jpeg=98)
    for blur in (1.5, 4.0):
        figure = _judged(layout, replace(sharp, blur_px=blur), scale=1.0)["sharpness"].figure
        assert figure == pytest.approx(2.56 * blur / layout.camera.px_per_mm, rel=0.15), blur


def test_one_soft_side_is_enough_to_ring(layout: TableLayout) -> None:
    """A lens that leans is sharp on one side only."""
    scene = rendered({}, layout, seed=3, scale=SCALE)
    frame = scene.frame.copy()
    frame[:, :900] = cv2.GaussianBlur(frame[:, :900], (0, 0), 2.0)
    assert not judge(frame, find_felt(frame, layout), layout)["sharpness"].ok


def test_too_few_pixels_ring_the_resolution(layout: TableLayout) -> None:
    assert _judged(layout, scale=0.48)["resolution"].ok
    verdict = _judged(layout, scale=0.26)["resolution"]
    assert not verdict.ok
    assert verdict.figure == pytest.approx(0.8, abs=0.05)
    assert "too small" in verdict.text


def _moved(scene: Scene, layout: TableLayout, mm: float) -> PictureVerdict:
    shift = np.array([[1, 0, mm * layout.camera.px_per_mm * SCALE], [0, 1, 0], [0, 0, 1]])
    view = find_felt(scene.frame, layout)
    return judge(scene.frame, view, layout, shift @ scene.homography)["camera"]


def test_a_knocked_camera_rings_and_a_still_one_does_not(layout: TableLayout) -> None:
    scene = rendered({}, layout, seed=3, scale=SCALE)
    assert _moved(scene, layout, 0.0).figure < 0.2
    assert _moved(scene, layout, 1.5).ok
    knocked = _moved(scene, layout, 6.0)
    assert not knocked.ok
    assert knocked.figure == pytest.approx(6.0, rel=0.1)
    assert "has moved" in knocked.text


def test_without_a_reference_nothing_is_said_of_the_camera(layout: TableLayout) -> None:
    scene = rendered({}, layout, scale=SCALE)
    assert "camera" not in judge(scene.frame, find_felt(scene.frame, layout), layout)


def _grey(frame: Image) -> Image:
    return np.asarray(cv2.cvtColor(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR), np.uint8)


def _sepia(frame: Image) -> Image:
    tinted = _grey(frame).astype(float) * (0.72, 0.86, 1.0)
    return np.round(tinted + (8, 4, 0)).clip(0, 255).astype(np.uint8)


def _packed(frame: Image) -> Image:
    _, packed = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, 70])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)


@pytest.fixture(scope="module")
def frame(layout: TableLayout) -> Image:
    return rendered(deal(np.random.default_rng(4), layout), layout, seed=4, scale=0.4).frame


@pytest.mark.parametrize("bleach", [_grey, _sepia, lambda f: _packed(_grey(f)), lambda f: _grey(f)[:, :, 0]])
def test_a_picture_without_colour_is_told(bleach, frame: Image) -> None:  # type: ignore[no-untyped-def]
    verdict = colour(bleach(frame))
    assert not verdict.ok
    assert verdict.text.startswith("No colour in this picture")


def test_a_coloured_picture_is_told_even_when_dark_or_on_a_grey_table(frame: Image) -> None:
    assert colour(frame).ok
    assert colour((frame * 0.25).astype(np.uint8)).ok
    rng = np.random.default_rng(1)
    table = np.linspace(60, 180, 400)[:, None] + rng.normal(0, 6, (400, 400))
    cards = np.repeat(table[:, :, None], 3, axis=2).clip(0, 255).astype(np.uint8)
    cards[100:300, 100:240] = 240
    assert not colour(cards).ok
    cards[140:165, 120:140] = (40, 20, 190)  # one red sign on white paper, on a grey table
    assert colour(cards).ok


def test_photographs_of_real_cards_have_colour_and_lose_it_when_bleached(shared: object) -> None:
    from pathlib import Path

    assert isinstance(shared, Path)
    for path in sorted((shared / "bidly_deals").glob("*.jpg")):
        photo = np.asarray(cv2.imread(str(path)), np.uint8)
        assert colour(photo).ok
        assert not colour(_grey(photo)).ok


def test_a_verdict_goes_into_json(layout: TableLayout) -> None:
    verdict = _judged(layout)["resolution"]
    assert verdict.to_json() == {
        "ok": True,
        "figure": round(verdict.figure, 3),
        "limit": 1.2,
        "unit": "px/mm",
        "text": "The cards are large enough.",
    }
