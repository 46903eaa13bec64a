"""What hides the felt is said by its own name, and by no other fault's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from tests.rendered import rendered
from tests.spoilt import flickering, fogged, mirrored, through_blinds, torn
from vision.base.arrays import Image
from vision.base.errors import MarkersError
from vision.felt.faults import FLICKERS, FOGGED, STRIPED, TORN, is_torn
from vision.felt.geometry import MIRRORED, find_felt
from vision.felt.layout import TableLayout
from vision.felt.quality import judge
from vision.felt.survey import survey
from vision.synthetic.render import deal

SPOILT: dict[str, tuple[Callable[[Image], Image], str]] = {
    "blinds": (through_blinds, STRIPED),
    "flicker": (flickering, FLICKERS),
    "fog": (lambda frame: fogged(frame, 0.95), FOGGED),
    "torn": (torn, TORN),
    "out of step": (lambda frame: np.roll(frame, len(frame) // 2, axis=0), TORN),
    "mirrored": (mirrored, MIRRORED),
}


@pytest.fixture(scope="module", params=[1, 2])
def frame(request: pytest.FixtureRequest, layout: TableLayout) -> Image:
    hands = deal(np.random.default_rng(request.param), layout)
    return rendered(hands, layout, seed=request.param, scale=0.4).frame


@pytest.mark.parametrize("name", SPOILT)
def test_what_hides_the_felt_is_named(name: str, frame: Image, layout: TableLayout) -> None:
    spoil, sentence = SPOILT[name]
    with pytest.raises(MarkersError) as told:
        find_felt(spoil(frame), layout)
    assert str(told.value) == sentence


def test_the_set_up_page_and_the_command_say_the_same(
    frame: Image, layout: TableLayout, tmp_path: Path
) -> None:
    spoilt = torn(frame)
    assert str(survey(spoilt, layout).error) == TORN
    cv2.imwrite(str(tmp_path / "torn.png"), spoilt)
    done = CliRunner().invoke(main, ["read", str(tmp_path / "torn.png")])
    assert done.exit_code == 2
    assert " ".join(TORN.split()[:8]) in done.stderr


def test_lower_rows_that_lie_aslant_of_the_upper_ones_are_torn_though_all_markers_fit(
    frame: Image, layout: TableLayout
) -> None:
    with pytest.raises(MarkersError, match="torn"):
        find_felt(torn(frame, (90.0, 20.0), 0.0), layout)


def test_covered_markers_and_a_dark_picture_are_none_of_these(frame: Image, layout: TableLayout) -> None:
    view = find_felt(frame, layout)
    covered = frame.copy()
    for marker in view.markers:
        x, y = np.round(marker.corners.mean(axis=0)).astype(int)
        covered[y - 40 : y + 40, x - 40 : x + 40] = (60, 90, 30)
    for picture in (covered, (frame * 0.05).astype(np.uint8)):
        with pytest.raises(MarkersError, match="markers are not seen: the whole felt must be in view"):
            find_felt(picture, layout)


def test_a_felt_that_is_bent_in_its_middle_is_not_torn(layout: TableLayout) -> None:
    felt = np.stack([layout.markers.corners_mm(marker.id) for marker in layout.markers.at])
    bent = felt + np.where(felt[:, :, 1:] > 400, (4.0, 6.0), 0.0)
    assert not is_torn(felt, bent)
    assert is_torn(felt, felt + np.where(felt[:, :, 1:] > 400, (40.0, 0.0), 0.0))


def test_a_veil_and_blinds_are_named_where_the_felt_is_found_too(frame: Image, layout: TableLayout) -> None:
    veiled = fogged(frame, 0.8)
    assert judge(veiled, find_felt(veiled, layout), layout)["sharpness"].text == FOGGED
    striped = through_blinds(frame, slats=14, exposure=1.0, gain=2.0)
    assert judge(striped, find_felt(striped, layout), layout)["banding"].text == STRIPED
    flickers = flickering(frame, 0.3)
    assert judge(flickers, find_felt(flickers, layout), layout)["banding"].text == FLICKERS
