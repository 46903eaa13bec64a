"""Every rule of the build holds on the data as they are, and fails on the figures that an engineer found wrong."""

from __future__ import annotations

import copy
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardware.make import fits, rules, view
from hardware.make.__main__ import write_texts
from hardware.make.felt import cloth_marks
from hardware.make.finding import Finding
from hardware.make.frame import Frame
from hardware.make.tables import RuleBroken
from tests.hardware.cases import BOM, HARDWARE, NOW, bom, frame, wrong
from vision.felt.optics import CameraModel, cameras

Judge = Callable[[Frame], list[Finding]]


def test_every_rule_holds_and_its_page_says_so() -> None:
    judged = rules.judge(NOW)
    assert rules.broken(judged) == []
    page = (HARDWARE / "out/checks.md").read_text()
    assert page == rules.rules_page(judged)
    assert "UNTESTED on hardware" in page
    assert "BROKEN" not in page
    assert page.count(" holds |") == sum(map(len, judged.values())) > 60


OLD_LAMPS = {"lamp_z_mm": 1000.0 - 22, "lamp_y_mm": 985.0, "lamp_long_mm": 600.0, "lamp_lm": 2400.0}
OLD_CAMERA = {"camera": "cm3", "post_long_mm": 1980.0}  # the lens at 1,150 mm
ANTENNAS = NOW.frame.said["antennas_mm"]


def head_room(it: Frame) -> list[Finding]:
    return [it.head_room()]


def layout(it: Frame) -> list[Finding]:
    return [view.layout_agrees(it)]


def cables(it: Frame) -> list[Finding]:
    return it.cables(NOW.bom)


def bought(it: Frame) -> list[Finding]:
    return fits.bought(it, NOW.bom, NOW.pins)


@pytest.mark.parametrize(
    ("judge", "part", "figures", "found"),
    [
        (head_room, "frame", OLD_LAMPS, "lamps"),
        (head_room, "frame", {"hood_mm": 250.0}, "with their hoods"),
        (head_room, "frame", {"post_long_mm": 1915.0}, "ends of the beam"),
        (view.field_holds, "frame", OLD_CAMERA, "Felt in the picture"),
        (view.field_holds, "frame", {"post_long_mm": 2150.0 + 300}, "Pixels in the zones"),
        (view.field_holds, "lens", {"pincushion": 0.02}, "Felt in the picture"),  # 1,304 mm become 1,330
        (view.field_holds, "lens", {"barrel": 0.10}, "Pixels in the zones"),
        (layout, "frame", OLD_CAMERA, "The layout's camera"),
        (layout, "frame", {"post_long_mm": 2160.0}, "The layout's camera"),
        (view.light_holds, "frame", OLD_LAMPS, "Light on the felt"),
        (view.light_holds, "frame", {"lamp_lm": 4000.0, "lamp_aged": 1.0}, "Light on the felt"),  # no ageing
        (view.light_holds, "frame", {"lamp_y_mm": 300.0, "lamp_z_mm": 500.0}, "Evenness"),
        (view.light_holds, "frame", {"lamp_y_mm": 800.0}, "Glare"),
        (view.light_holds, "frame", {"lamp_y_mm": 1020.0}, "Glare"),  # where they first hung
        (view.light_holds, "frame", {"hood_mm": 57.0}, "Hoods"),  # as deep as it first was
        (rules.antennas_hold, "puck_shell", {"outer_mm": 60.0}, "Two pucks"),
        (rules.antennas_hold, "antenna_lid", {"pieces": 0}, "A lid closes"),
        (rules.antennas_hold, "antenna_lid", {"thick_mm": 2.0}, "A lid closes"),
        (rules.antennas_hold, "antenna_pocket", {"range_mm": 10.0}, "From the coil"),
        (
            rules.cloth_holds,
            "frame",
            {"antennas_mm": [[280.0, 30.0], *ANTENNAS[1:]]},
            "Nothing of this on the felt",
        ),
        (fits.frame_fits, "frame", {"table_mm": [1200.0, 1160.0]}, "Between table and posts"),
        (fits.frame_fits, "frame", {"table_mm": [600.0, 550.0]}, "lies on it"),
        (fits.frame_fits, "frame", {"near_post_mm": [300.0, 990.0]}, "post at x 300"),
        (fits.frame_fits, "frame", {"beam_long_mm": 1100.0}, "post at y"),
        (fits.frame_fits, "frame", {"beam_long_mm": 2050.0}, "carrier at"),
        (fits.frame_fits, "frame", {"tie_z_mm": 1000.0}, "tie at z 1000"),
        (fits.frame_fits, "frame", {"ties_mm": [[417.5, 395.0, "x"]]}, "tie at 417.5, 395"),
        (fits.frame_fits, "frame", {"panel_mm": [-300.0, 300.0]}, "push-buttons"),
        (
            fits.antennas_apart,
            "frame",
            {"antennas_mm": [[280.0, -30.0], [450.0, -30.0]]},
            "two coils: 170 mm",
        ),
        (fits.antennas_apart, "frame", {"antennas_mm": [[280.0, -30.0], [417.5, -100.0]]}, "Metal beside"),
        (cables, "frame", {"box_from_camera_mm": 320.0}, "Camera cable"),
        (cables, "frame", {"panel_mm": [-1200.0, 300.0]}, "Cable from the box to the panel"),
        (cables, "frame", {"antennas_mm": [[0.0, -40.0]]}, "Ribbon"),
        (cables, "frame", {"socket_z_mm": 400.0}, "Power supply"),
        (bought, "frame", {"lamp_lm": 9000.0}, "200 lm/W"),
        (bought, "antenna_lid", {"pieces": 4}, "4 antennas"),
    ],
)
def test_a_wrong_measure_is_found(judge: Judge, part: str, figures: dict[str, Any], found: str) -> None:
    assert wrong(judge(NOW.frame)) == ""
    assert found in wrong(judge(frame(**{part: figures})))


@pytest.mark.parametrize(
    "part", ["antenna", "antenna-cable", "lamp-fuses", "lamp-holders", "tags", "natural-marker"]
)
def test_too_few_pieces_are_found(part: str) -> None:
    named = BOM[BOM.index(f'id = "{part}"') :]
    said = named[: named.index("choices")]
    few = bom(said, re.sub(r"quantity = \d+", "quantity = 1", said))
    assert f"1 {part}" in wrong(fits.bought(NOW.frame, few, NOW.pins))


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("core_mm2 = 0.5", "core_mm2 = 0.2", "Loss in: HDMI cable"),
        ("length_m = 3.0\ncore_mm2 = 0.2", "length_m = 6.0\ncore_mm2 = 0.5", "USB cables are short"),
        ("length_m = 3.5", "length_m = 2.85", "the panel"),  # four centimetres over
        ("length_m = 0.5", "length_m = 0.44", "Ribbon"),
    ],
)
def test_thin_short_or_too_long_cables_are_found(old: str, new: str, found: str) -> None:
    list_ = bom(old, new)
    assert found in wrong([*fits.cables_feed(list_), *NOW.frame.cables(list_)])


def test_a_barrel_takes_three_times_its_share_at_the_corner() -> None:
    """2 % take 6 % of the scale at the picture's corner; the zones end at 0.58 of the way to it."""
    plain = view.worst_px_per_mm(frame(lens={"barrel": 0.0}))
    assert view.worst_px_per_mm(NOW.frame) == pytest.approx(plain * 0.98, abs=0.01)


def test_a_listed_field_that_contradicts_the_lens_is_found_unless_it_is_to_be_measured() -> None:
    """66 degrees were listed for 4.74 mm, which is 68.5."""
    cm3 = cameras()["cm3"]
    assert view.camera_agrees(cm3).ok
    values = {k: v for k, v in vars(cm3).items() if k != "measure_field"}
    assert not view.camera_agrees(CameraModel(**values)).ok
    half = vars(cm3) | {"listed_fov_deg": [66.0]}
    assert not view.camera_agrees(CameraModel(**half)).ok, "one figure of two"
    assert cm3.ideal_fov_deg == pytest.approx((68.5, 41.9), abs=0.1)
    assert cm3.field_deg == (66.0, 41.0), "the narrower one"


def test_the_hood_stands_between_lamp_and_opposite_eye_and_leaves_the_far_edge_in_the_light() -> None:
    """By hand: of a ray from the lamp's inner edge to the felt's far edge and one from its outer edge at 60 degrees."""
    it = NOW.frame
    (inward, down), (out, low) = it.lamp_edges_mm
    tip = it.hood_tip_mm
    _, y, z = it.lamps_mm[1]
    to_edge = (y - inward) / (z - down)
    assert tip[0] - inward == pytest.approx((tip[1] - down) * to_edge), "on that ray: no shade on the felt"
    deep = (inward - out + (low - down) * to_edge) / (math.tan(math.radians(60)) - to_edge)
    assert tip[1] >= low + deep - 0.5, "below the outer edge"
    assert tip[0] > 0, "towards the table's middle"


def test_data_that_break_a_rule_are_refused_and_lacking_data_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "hardware"
    shutil.copytree(HARDWARE, root, ignore=shutil.ignore_patterns("out", "make", "*.py"))
    monkeypatch.setattr("hardware.make.__main__.HARDWARE", root)
    mech = root / "mech/mech.toml"
    good = mech.read_text()
    mech.write_text(good.replace("lamp_z_mm = 1370.0", "lamp_z_mm = 1000.0"))
    with pytest.raises(RuleBroken, match="Head room beyond the table: lamps"):
        write_texts(root)
    mech.write_text(good.replace("lamp_lm = ", "lamp_lumen = "))
    with pytest.raises(KeyError, match="lamp_lm"):
        write_texts(root)


@pytest.mark.parametrize(
    ("what", "found"),
    [("circle", "A circle on the cloth"), ("seat", "Seats are numbered"), ("cut", "Cut-outs are drawn")],
)
def test_a_cloth_that_lacks_something_is_found(
    what: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [mark for mark in cloth_marks(NOW.frame) if mark.what != what]
    monkeypatch.setattr("hardware.make.rules.cloth_marks", lambda frame: left)
    assert found in wrong(rules.cloth_holds(NOW.frame))


def test_tiny_letters_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardware.make.felt.PLACE_MM", 7.0)
    assert "Places are legible" in wrong(rules.cloth_holds(NOW.frame))


def test_two_wires_of_one_colour_in_one_cable_are_found() -> None:
    old = copy.deepcopy(NOW.looms())
    assert wrong(rules.looms_hold(old)) == ""
    colours = old["panel"].cables["W1"].colours
    colours[:] = ["YE" if one == "GN" else one for one in colours]
    assert wrong(rules.looms_hold(old)).endswith("panel W1")


def test_one_signal_has_one_colour_in_every_cable_of_the_panel() -> None:
    loom = NOW.looms()["panel"]
    colours: dict[str, set[str]] = {}
    for cable in loom.cables.values():
        for _, colour, end in loom.wires(cable):
            signal = end.split("  ")[1].removesuffix(" -").replace("contact ", "push-button ").lstrip("+")
            colours.setdefault(signal, set()).add(colour)
    assert {name: found for name, found in colours.items() if len(found) > 1 and name} == {}
