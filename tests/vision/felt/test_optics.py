"""`feltwatch optics`: the optics tables that were worked out by hand, and the verdicts."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from vision.base.errors import OpticsError
from vision.felt.layout import TableLayout
from vision.felt.optics import MEASURED_PX_PER_MM, WELL_PX_PER_MM, Grade, cameras, coverage_table, sight

LAYOUT = TableLayout.load()

BY_HAND = {  # metres: across, down, px/mm
    0.8: ((1.04, 0.60, 4.43), (1.98, 1.06, 2.33), (0.84, 0.63, 4.84), (1.12, 0.63, 3.43)),
    1.0: ((1.30, 0.75, 3.55), (2.47, 1.32, 1.87), (1.05, 0.79, 3.87), (1.40, 0.79, 2.74)),
    1.2: ((1.56, 0.90, 2.96), (2.96, 1.59, 1.55), (1.26, 0.94, 3.23), (1.68, 0.94, 2.29)),
    1.5: ((1.95, 1.12, 2.37), (3.70, 1.99, 1.24), (1.57, 1.18, 2.58), (2.10, 1.18, 1.83)),
}


@pytest.mark.parametrize("height", BY_HAND)
def test_area_and_resolution_are_those_worked_out_by_hand(height: float) -> None:
    for camera, (wide, high, fine) in zip(cameras().values(), BY_HAND[height], strict=True):
        area = [side / 1000 for side in camera.area_mm(height * 1000)]
        assert area == pytest.approx([wide, high], abs=0.0101)
        assert camera.px_per_mm(height * 1000) == pytest.approx(fine, abs=0.0151)


@pytest.mark.parametrize(
    ("felt", "height", "fine"),
    [((835, 790), 1.06, 3.36), ((1010, 1010), 1.35, 2.63), ((1560, 366), 1.20, 2.95)],
)
def test_each_arrangement_hangs_as_low_as_worked_out_by_hand(
    felt: tuple[float, float], height: float, fine: float
) -> None:
    camera = cameras()["cm3"]
    lowest = camera.lowest_mm(*felt)
    assert lowest / 1000 == pytest.approx(height, abs=0.006)
    assert camera.px_per_mm(lowest) == pytest.approx(fine, abs=0.02)


def test_the_reference_camera_is_sharp_from_098_to_125_m_and_needs_405_lux() -> None:
    seen = sight(cameras()["cm3"], 1100, LAYOUT)
    assert [side / 1000 for side in seen.depth_mm] == pytest.approx([0.98, 1.25], abs=0.006)
    assert [(ms, round(lux)) for ms, lux in seen.exposures] == [(10, 405), (20, 202)]
    assert cameras()["cm3-wide"].lux(10, 200) == pytest.approx(605)


def test_the_reference_build_is_judged_well_and_is_the_layouts_own_camera() -> None:
    seen = sight(cameras()["cm3"], LAYOUT.camera.height_mm, LAYOUT)
    assert (seen.grade, seen.problems) == (Grade.WELL, ())
    assert seen.px_per_mm == pytest.approx(LAYOUT.camera.px_per_mm)
    assert seen.camera.name == LAYOUT.camera.name
    assert (seen.camera.width_px, seen.camera.height_px) == (LAYOUT.camera.width_px, LAYOUT.camera.height_px)


@pytest.mark.parametrize(
    ("key", "height", "grade", "said"),
    [
        ("cm3", 1000, Grade.NO, "does not fit"),
        ("cm3-wide", 1600, Grade.NO, "the reader refuses"),
        ("cm3-wide", 1300, Grade.NO, "nothing was measured"),
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
    assert "lux" in sight(cameras()["cm3"], 1150, LAYOUT, iso=50).problems[0]


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
    said = CliRunner().invoke(main, ["optics", "--camera", "cm3", "--height", "1.15"])
    assert said.exit_code == 0
    assert "3.09 px/mm" in said.output
    told = json.loads(CliRunner().invoke(main, ["optics", "--json"]).output)
    assert (told["camera"], told["height_mm"], told["verdict"]) == ("cm3", 1150.0, "well")
    assert "4.43 px/mm" in CliRunner().invoke(main, ["optics", "--list"]).output


def test_the_command_exits_1_where_the_felt_cannot_be_read_and_2_for_bad_input() -> None:
    assert CliRunner().invoke(main, ["optics", "--height", "0.9"]).exit_code == 1
    for bad in (["--camera", "polaroid"], ["--height", "-3"], ["--layout", "nowhere.toml"]):
        said = CliRunner().invoke(main, ["optics", *bad])
        assert (said.exit_code, "Traceback" in said.output) == (2, False)


def test_the_coverage_table_has_every_camera_and_height() -> None:
    assert coverage_table().count("px/mm") == 4 * len(cameras())
