"""Four marker sheets on any table: where they lie is measured, and the zones lie between them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.sheets_table import SPOTS, picture, seen_at, table_with_sheets
from vision.base.errors import MarkersError
from vision.felt.calibration import calibrate_felt
from vision.felt.geometry import find_felt, find_markers
from vision.felt.layout import SHEETS, TableLayout
from vision.felt.resample import as_grey, project
from vision.felt.sheets import measure_sheets, sheets_among

SIZE = 1700, 1275
LEANING = np.array([[0.9, 0.04, 40.0], [-0.03, 0.85, 60.0], [6e-5, 1.2e-4, 1.0]])
"""A camera that leans two ways."""


def apart(layout: TableLayout) -> list[float]:
    at = [(marker.x_mm, marker.y_mm) for marker in layout.markers.at]
    return [math.dist(one, other) for one in at for other in at]


@pytest.mark.parametrize("players", [2, 4])
def test_sheets_are_measured_to_a_few_millimetres_from_a_leaning_camera(players: int) -> None:
    spots = ((90.0, 100.0, 4.0), (1110.0, 90.0, -6.0), (1100.0, 740.0, 183.0), (100.0, 750.0, 2.0))
    rng = np.random.default_rng(1)
    seen = {
        k: project(LEANING, corners) + rng.normal(0, 0.25, (4, 2)) for k, corners in seen_at(spots).items()
    }
    layout = measure_sheets(seen, SIZE, TableLayout.load(), players)
    true = [math.dist(one[:2], other[:2]) for one in spots for other in spots]
    assert np.abs(np.subtract(apart(layout), true)).max() < 5
    assert layout.places == (("A", "D") if players == 2 else ("A", "B", "C", "D"))
    assert layout.markers.are_sheets
    assert [layout.markers.name(number) for number in SHEETS] == ["1", "2", "3", "4"]


def test_the_felt_is_found_and_calibrated_by_sheets_that_lie_turned() -> None:
    frame = picture(table_with_sheets())
    found = sheets_among(find_markers(as_grey(frame), TableLayout.load()))
    layout = measure_sheets({k: marker.corners for k, marker in found.items()}, SIZE, TableLayout.load(), 2)
    made = calibrate_felt([frame, frame], layout)
    assert made.figures["error_px"] < 0.3
    frame[:400, :400] = 90  # a hat on sheet 1: the other three fix the table
    view = find_felt(frame, layout)
    assert sorted(marker.id for marker in view.markers) == [*SHEETS[1:]]


@pytest.mark.parametrize(
    ("spots", "players", "why"),
    [
        (SPOTS[:3], 2, "Not seen of the four sheets: 4."),
        ((SPOTS[1], SPOTS[0], *SPOTS[2:]), 2, "The sheets lie in another order"),
        (SPOTS, 4, "The sheets lie too near each other for the rows of 4 hands"),
    ],
)
def test_sheets_that_cannot_be_used_say_why(
    spots: tuple[tuple[float, float, float], ...], players: int, why: str
) -> None:
    with pytest.raises(MarkersError, match=why):
        measure_sheets(seen_at(spots), SIZE, TableLayout.load(), players)


def test_a_sheet_of_another_scale_is_refused() -> None:
    seen = seen_at()
    middle = seen[SHEETS[2]].mean(axis=0)
    seen[SHEETS[2]] = (seen[SHEETS[2]] - middle) * 0.9 + middle
    with pytest.raises(MarkersError, match="print all at the same scale"):
        measure_sheets(seen, SIZE, TableLayout.load(), 2)
