"""What is drawn fits together and is bought in as many pieces as it takes; other figures are found."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from hardware.make import fits
from hardware.make.bom import Bom
from hardware.make.finding import Finding
from hardware.make.frame import Frame
from hardware.make.rules import Sources
from vision.felt.layout import TableLayout

HARDWARE = Path(__file__).parents[2] / "hardware"
LAYOUT = TableLayout.load()
NOW = Sources.load(HARDWARE, LAYOUT)
TEXT = (HARDWARE / "bom.toml").read_text()


def frame(part: str = "frame", **changed: Any) -> Frame:
    said = copy.deepcopy(NOW.frame.measures)
    said[part] |= changed
    return Frame(said, LAYOUT)


def wrong(findings: list[Finding]) -> str:
    return " | ".join(f"{one.rule}: {one.figure}" for one in findings if not one.ok)


def test_everything_fits_and_is_bought() -> None:
    assert wrong(fits.frame_fits(NOW.frame)) == ""
    assert wrong(fits.antennas_apart(NOW.frame)) == ""
    assert wrong(fits.bought(NOW.frame, NOW.bom, NOW.pins)) == ""
    assert wrong(fits.cables_feed(NOW.bom)) == ""


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"table_mm": [1200.0, 1160.0]}, "Between table and posts"),
        ({"table_mm": [600.0, 550.0]}, "lies on it"),
        ({"near_post_mm": [300.0, 990.0]}, "post at x 300"),
        ({"beam_long_mm": 1100.0}, "post at y"),
        ({"beam_long_mm": 2050.0}, "carrier at"),
        ({"tie_z_mm": 1000.0}, "tie at z 1000"),
        ({"ties_mm": [[417.5, 395.0, "x"]]}, "tie at 417.5, 395"),
        ({"panel_mm": [-300.0, 300.0]}, "push-buttons"),
    ],
)
def test_a_frame_that_does_not_fit_the_table_or_itself_is_found(changed: dict[str, Any], found: str) -> None:
    assert found in wrong(fits.frame_fits(frame(**changed)))


def test_readers_next_to_each_other_or_to_metal_are_found() -> None:
    antennas = copy.deepcopy(NOW.frame.said["antennas_mm"])
    antennas[1][0] = antennas[0][0] + 170.0
    assert "Between two coils: 170 mm" in wrong(fits.antennas_apart(frame(antennas_mm=antennas)))
    antennas[1] = [417.5, -100.0]
    assert "Metal beside" in wrong(fits.antennas_apart(frame(antennas_mm=antennas)))


@pytest.mark.parametrize(
    "part", ["antenna", "antenna-cable", "lamp-fuses", "lamp-holders", "tags", "natural-marker"]
)
def test_too_few_pieces_are_found(tmp_path: Path, part: str) -> None:
    at = TEXT.index(f'id = "{part}"')
    path = tmp_path / "bom.toml"
    path.write_text(TEXT[:at] + re.sub(r"quantity = \d+", "quantity = 1", TEXT[at:], count=1))
    assert f"1 {part}" in wrong(fits.bought(NOW.frame, Bom.load(path), NOW.pins))


def test_bars_that_promise_too_much_and_lids_that_are_too_few_are_found() -> None:
    assert "200 lm/W" in wrong(fits.bought(frame(lamp_lm=9000.0), NOW.bom, NOW.pins))
    assert "4 antennas" in wrong(fits.bought(frame("antenna_lid", pieces=4), NOW.bom, NOW.pins))


def test_thin_or_too_long_cables_are_found(tmp_path: Path) -> None:
    path = tmp_path / "bom.toml"
    path.write_text(TEXT.replace("core_mm2 = 0.5", "core_mm2 = 0.2"))
    assert "Loss in: HDMI cable" in wrong(fits.cables_feed(Bom.load(path)))
    path.write_text(TEXT.replace("length_m = 3.0\ncore_mm2 = 0.2", "length_m = 6.0\ncore_mm2 = 0.5"))
    assert "USB cables are short" in wrong(fits.cables_feed(Bom.load(path)))
