"""`feltwatch optics`: the optics tables that were worked out by hand, and the verdicts."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from vision.base.errors import OpticsError
from vision.felt.layout import TableLayout
from vision.felt.optics import MEASURED_PX_PER_MM, WELL_PX_PER_MM, Grade, cameras, coverage_table, sight

LAYOUT = TableLayout.load()

BY_HAND = {  # metres: across, down (the narrower of the listed and the lens's own), px/mm by the lens; HQ, CM3, Wide
    1.0: ((1.05, 0.79, 3.87), (1.30, 0.75, 3.39), (2.35, 1.32, 1.96)),
    1.32: ((1.38, 1.04, 2.93), (1.71, 0.99, 2.57), (3.10, 1.74, 1.49)),
}
WINDOWS = {"hq-6mm": (1236, 1536), "cm3": (1304, 1342), "cm3-wide": (712, 773), "ai": (1046, 1210)}
"""Between which heights every tolerance holds at once, by hand, for a lens of exactly its focal length."""


@pytest.mark.parametrize("height", BY_HAND)
def test_area_and_resolution_are_those_worked_out_by_hand(height: float) -> None:
    for camera, (wide, high, fine) in zip(cameras().values(), BY_HAND[height], strict=False):
        area = [side / 1000 for side in camera.area_mm(height * 1000)]
        assert area == pytest.approx([wide, high], abs=0.0101)
        assert camera.px_per_mm(height * 1000) == pytest.approx(fine, abs=0.0151)


@pytest.mark.parametrize(
    ("felt", "height", "fine"),
    [((835, 790), 1.06, 3.20), ((1010, 1010), 1.35, 2.51), ((1560, 366), 1.20, 2.82)],
)
def test_each_arrangement_hangs_as_low_as_worked_out_by_hand(
    felt: tuple[float, float], height: float, fine: float
) -> None:
    camera = cameras()["cm3"]
    lowest = camera.lowest_mm(*felt)
    assert lowest / 1000 == pytest.approx(height, abs=0.006)
    assert camera.px_per_mm(lowest) == pytest.approx(fine, abs=0.02)


def test_the_camera_module_3_is_sharp_from_098_to_125_m_and_needs_405_lux() -> None:
    camera = cameras()["cm3"]
    seen = sight(camera, 1100, LAYOUT)
    assert [side / 1000 for side in camera.depth_mm(1100)] == pytest.approx([0.98, 1.25], abs=0.006)
    assert [(ms, round(lux)) for ms, lux in seen.exposures] == [(10, 405), (20, 202)]
    assert cameras()["cm3-wide"].lux(10, 200) == pytest.approx(605)


def test_the_reference_build_is_judged_well_and_the_first_camera_listed() -> None:
    key, camera = next(iter(cameras().items()))
    seen = sight(camera, 1320, LAYOUT)
    assert key == "hq-6mm"
    assert (seen.grade, seen.problems) == (Grade.WELL, ())
    low, high = camera.window_mm(LAYOUT)
    assert low < 1310 < 1330 < high


@pytest.mark.parametrize("key", WINDOWS)
def test_the_window_of_heights_is_the_one_worked_out_by_hand(key: str) -> None:
    exact = replace(cameras()[key], focal_tolerance=0.0)
    assert exact.window_mm(LAYOUT) == pytest.approx(WINDOWS[key], abs=3)


def test_a_lens_that_may_differ_in_focal_length_has_a_narrower_window() -> None:
    """HQ with 6 mm ± 5 %: 1,304 to 1,458 mm."""
    assert cameras()["hq-6mm"].window_mm(LAYOUT) == pytest.approx((1304, 1458), abs=2)


@pytest.mark.parametrize(("key", "height"), [("cm3", 1150), ("cm3", 1400), ("hq-6mm", 1250)])
def test_a_height_at_which_not_every_tolerance_holds_is_said(key: str, height: float) -> None:
    """The first design hung the Camera Module 3 at 1,150 mm: 25 mm spare against 40 mm of lean and 20 of cloth."""
    seen = sight(cameras()[key], height, LAYOUT)
    assert seen.grade is Grade.MARGINAL
    assert "when every tolerance adds up" in seen.problems[0]


def test_a_camera_that_no_height_suits_is_said() -> None:
    seen = sight(cameras()["uvc-4k"], 1100, LAYOUT)
    assert "no height holds" in seen.problems[0]


@pytest.mark.parametrize(
    ("key", "height", "grade", "said"),
    [
        ("cm3", 1000, Grade.NO, "does not fit"),
        ("cm3-wide", 1700, Grade.NO, "the reader refuses"),
        ("cm3-wide", 1400, Grade.NO, "nothing was measured"),
        ("cm3-wide", 1150, Grade.MARGINAL, "jumbo index"),
        ("hq-6mm", 150, Grade.NO, "does not focus"),
    ],
)
def test_what_will_not_do_is_said_with_what_to_change(
    key: str, height: float, grade: Grade, said: str
) -> None:
    seen = sight(cameras()[key], height, LAYOUT)
    assert seen.grade is grade
    assert said in " ".join(seen.problems)


def test_poor_light_is_said() -> None:
    assert "lux" in sight(cameras()["cm3"], 1320, LAYOUT, iso=50).problems[0]


def test_beyond_the_hyperfocal_distance_everything_far_is_sharp() -> None:
    assert math.isinf(cameras()["cm3-wide"].depth_mm(4500)[1])


@pytest.mark.parametrize("height", [0.0, -1.0, 99999.0, math.nan])
def test_an_impossible_height_is_refused(height: float) -> None:
    with pytest.raises(OpticsError, match="above the felt"):
        sight(cameras()["cm3"], height, LAYOUT)


def test_the_limits_are_the_rows_that_the_readers_report_measured() -> None:
    report = Path(str(files("vision"))).parent / "docs/reader-report.md"
    rows = {
        line.split("|")[1].strip(): line for line in report.read_text().splitlines() if line.startswith("| ")
    }
    assert f"| {WELL_PX_PER_MM:.1f} px/mm |" in rows[f"{WELL_PX_PER_MM:.1f} px/mm"]
    limit = rows[f"{MEASURED_PX_PER_MM:.1f} px/mm (limit)"].split("|")
    assert limit[3].strip().startswith("100.00 %")
    assert limit[5].strip() == "0"


def test_the_command_answers_people_and_programs() -> None:
    said = CliRunner().invoke(main, ["optics", "--height", "1.32"])
    assert said.exit_code == 0
    assert "2.93 px/mm" in said.output
    assert "1.30 to 1.46 m, with every tolerance at once" in said.output
    told = json.loads(CliRunner().invoke(main, ["optics", "--height", "1.32", "--json"]).output)
    assert (told["camera"], told["height_mm"], told["verdict"]) == ("hq-6mm", 1320.0, "well")
    assert told["window_mm"] == [1304, 1458]
    own = json.loads(CliRunner().invoke(main, ["optics", "--json"]).output)
    assert own["height_mm"] == LAYOUT.camera.height_mm
    assert "3.87 px/mm" in CliRunner().invoke(main, ["optics", "--list"]).output


def test_the_command_exits_1_where_the_felt_cannot_be_read_and_2_for_bad_input() -> None:
    assert CliRunner().invoke(main, ["optics", "--height", "0.9"]).exit_code == 1
    for bad in (["--camera", "polaroid"], ["--height", "-3"], ["--layout", "nowhere.toml"]):
        said = CliRunner().invoke(main, ["optics", *bad])
        assert (said.exit_code, "Traceback" in said.output) == (2, False)


def test_the_coverage_table_has_every_camera_and_height() -> None:
    assert coverage_table().count("px/mm") == 4 * len(cameras())
