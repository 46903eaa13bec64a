"""The frame around the table: the camera comes to hang where the felt's layout says, cables reach, lamps light."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import pytest

from hardware.make.bom import Bom
from hardware.make.errors import BomError
from hardware.make.frame import EVEN, Frame, frame_page
from hardware.make.mech import measures
from vision.layout import TableLayout
from vision.optics import MIN_LUX

HARDWARE = Path(__file__).parents[2] / "hardware"
BOM = Bom.load(HARDWARE / "bom.toml")
LAYOUT = TableLayout.load()
SAID = measures(HARDWARE / "mech")


def frame(**changed: Any) -> Frame:
    said = copy.deepcopy(SAID)
    said["frame"] |= changed
    return Frame(said, LAYOUT)


def test_the_camera_comes_to_hang_over_the_felts_middle_at_the_layouts_height() -> None:
    x, y, z = frame().camera_mm
    assert math.dist((x, y), (LAYOUT.width_mm / 2, LAYOUT.height_mm / 2)) <= 20
    assert z == pytest.approx(LAYOUT.camera.height_mm, abs=20)
    assert frame(arm_long_mm=500.0).camera_mm[1] == pytest.approx(y - 72)


def test_every_cable_of_the_parts_list_reaches() -> None:
    routes = frame().routes(BOM)
    assert len(routes) == 1 + sum(part.length_m is not None for part in BOM.part)
    assert [route for route in routes if not route.ok] == []


@pytest.mark.parametrize(
    ("changed", "short"),
    [
        ({"box_from_camera_mm": 320.0}, "Camera cable"),
        ({"panel_mm": [-400.0, 300.0]}, "Cable from the box to the panel"),
        ({"antennas_mm": [[0.0, -40.0]]}, "Ribbon"),
        ({"socket_z_mm": -500.0}, "Power supply"),
    ],
)
def test_a_cable_that_is_too_short_is_said(changed: dict[str, Any], short: str) -> None:
    wrong = frame(**changed)
    assert any(route.what.startswith(short) for route in wrong.routes(BOM) if not route.ok)
    assert "TOO SHORT" in frame_page(wrong, BOM)


def test_what_is_no_cable_has_no_length() -> None:
    with pytest.raises(BomError, match="no cable computer"):
        BOM.length_m("computer")


def test_both_bars_light_the_felt_enough_and_evenly() -> None:
    least, mean, most = frame().lux()
    assert mean >= MIN_LUX
    assert least >= mean * (1 - EVEN)
    assert most <= mean * (1 + EVEN)
    assert "TOO LITTLE" in frame_page(frame(lamp_lm=1000.0), BOM)


def test_the_light_of_a_point_far_above_is_as_by_hand() -> None:
    """Seen from 10 m every bar is a point: E = Φ/π · cos 45° at the lamp · cos at the felt / d², twice."""
    far = frame(crossbar_z_mm=10_000.0, lamp_long_mm=1.0)
    aside = (SAID["frame"]["crossbar_long_mm"] - SAID["frame"]["profile_mm"]) / 2
    d = math.hypot(10_000, aside)
    by_hand = (
        2
        * SAID["frame"]["lamp_lm"]
        / math.pi
        * (10_000 + aside)
        / math.sqrt(2)
        / d
        * 10_000
        / d
        / (d / 1000) ** 2
    )
    assert far.lux()[1] == pytest.approx(by_hand, rel=0.01)


def test_no_card_on_the_felt_mirrors_a_lamp_into_the_camera() -> None:
    assert frame().glare_mm() > 50
    assert frame(crossbar_long_mm=1200.0).glare_mm() < 0


def test_the_lamps_hang_as_far_aside_as_above() -> None:
    said = SAID["frame"]
    assert (said["crossbar_long_mm"] - said["profile_mm"]) / 2 / said["crossbar_z_mm"] >= 0.98


def test_every_antenna_lies_off_the_felt_and_apart_from_its_neighbours() -> None:
    at = SAID["frame"]["antennas_mm"]
    puck = SAID["puck_shell"]["outer_mm"] / 2
    for number, (x, y) in enumerate(at):
        assert x < -puck or x > LAYOUT.width_mm + puck or y < -puck or y > LAYOUT.height_mm + puck
        assert all(math.dist((x, y), other) > 200 for other in at[:number])
