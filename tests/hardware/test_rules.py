"""Every rule of the build holds on the data as they are, and fails on the figures that an engineer found wrong."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from hardware.make import fits, rules, view
from hardware.make.__main__ import write_texts
from hardware.make.felt import cloth_marks
from hardware.make.tables import RuleBroken
from tests.hardware.cases import BOM, HARDWARE, NOW, bom, frame, wrong
from vision.felt.optics import CameraModel, cameras


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
OLD_PROFILE = {"area_mm2": 310.0, "bending_cm4": 2.8, "modulus_cm3": 1.9, "kg_per_m": 0.9}
ANTENNAS = NOW.frame.sizes["antennas_mm"]


WRONG: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("frame", "Head room beyond the table: lamps"): [OLD_LAMPS],
    ("frame", "Head room beyond the table: lamps, with their hoods"): [{"hood_mm": 250.0}],
    ("frame", "Head room beyond the table: ends of the beam"): [{"post_long_mm": 1915.0}],
    ("frame", "Felt in the picture"): [OLD_CAMERA],
    ("lens", "Felt in the picture"): [{"pincushion": 0.02}],  # 1,304 mm become 1,330
    ("frame", "Pixels in the zones"): [{"post_long_mm": 2450.0}],
    ("lens", "Pixels in the zones"): [{"barrel": 0.10}],
    ("frame", "The layout's camera"): [OLD_CAMERA, {"post_long_mm": 2160.0}],
    ("frame", "Light on the felt"): [OLD_LAMPS, {"lamp_lm": 4000.0, "lamp_aged": 1.0}],  # no ageing
    ("frame", "Evenness"): [{"lamp_y_mm": 300.0, "lamp_z_mm": 500.0}],
    ("frame", "Glare"): [{"lamp_y_mm": 800.0}, {"lamp_y_mm": 1020.0}],  # where they first hung
    ("frame", "Hoods"): [{"hood_mm": 57.0}],  # as deep as it first was
    ("puck_shell", "Two pucks"): [{"outer_mm": 60.0}],
    ("antenna_lid", "A lid closes"): [{"pieces": 0}, {"thick_mm": 2.0}],
    ("antenna_pocket", "From the coil"): [{"range_mm": 10.0}],
    ("frame", "Nothing of this on the felt"): [{"antennas_mm": [[280.0, 30.0], *ANTENNAS[1:]]}],
    ("frame", "Between table and posts"): [{"table_mm": [1200.0, 1160.0]}],
    ("frame", "lies on it: corner of the felt's print"): [{"table_mm": [600.0, 550.0]}],
    ("frame", "lies on it: middle of the push-buttons"): [{"panel_mm": [-300.0, 300.0]}],
    ("frame", "on the beam: post at x 300"): [{"near_post_mm": [300.0, 990.0]}],
    ("frame", "on the beam: post at y"): [{"beam_long_mm": 1100.0}],
    ("frame", "on the beam: carrier at"): [{"beam_long_mm": 2050.0}],
    ("frame", "on the beam: tie at z 1000"): [{"tie_z_mm": 1000.0}],
    ("frame", "on the beam: tie at 417.5, 395"): [{"ties_mm": [[417.5, 395.0, "x"]]}],
    ("frame", "on the beam: tie at 417.5, -200"): [{"post_mm": [417.5, -190.0]}],  # its ties were not moved
    ("frame", "Between two coils: 170 mm"): [{"antennas_mm": [[280.0, -30.0], [450.0, -30.0]]}],
    ("frame", "Metal beside"): [{"antennas_mm": [[280.0, -30.0], [417.5, -100.0]]}],
    ("frame", "Cable reaches: Camera cable"): [{"box_from_camera_mm": 320.0}],
    ("frame", "Cable reaches: Cable from the box to the panel"): [{"panel_mm": [-1200.0, 300.0]}],
    ("frame", "Cable reaches: Ribbon"): [{"antennas_mm": [[0.0, -40.0], *ANTENNAS[1:]]}],
    ("frame", "Cable reaches: Power supply"): [{"socket_z_mm": 400.0}],
    ("frame", "200 lm/W"): [{"lamp_lm": 9000.0}],
    ("antenna_lid", "4 antennas"): [{"pieces": 4}],
    ("profile", "Frame: sag"): [OLD_PROFILE],
    ("profile", "Frame: first natural frequency"): [OLD_PROFILE],
    ("profile", "profile's table agrees"): [
        {"bending_cm4": 90.0, "modulus_cm3": 45.0},  # more than a solid bar
        *({"modulus_cm3": 9.0}, {"kg_per_m": 0.9}),
    ],
    ("frame", "profile's table agrees"): [{"profile_mm": 30.0}],
    ("strength", "Frame: moment at a joint"): [{"bracket_nm": 12.0}],  # cast, 28 x 28 mm
    ("strength", "brackets on the parts list"): [{"brackets": 4}, {"bracket_nm": 220.0}],
    ("frame", "Frame: stiff ties: 2"): [{"ties_mm": [[417.5, -200.0, "x"], [417.5, -200.0, "y"]]}],
    ("frame", "Frame: first natural frequency, beam rigid on its posts: 2.2 Hz"): [{"ties_mm": []}],
    ("frame", "Frame: the camera moves"): [{"ties_mm": []}],
    ("frame", "Hung from the ceiling: first natural frequency"): [{"ceiling_mm": 3500.0}],
}


@pytest.mark.parametrize(
    ("part", "found", "figures"), [(*case, figures) for case, each in WRONG.items() for figures in each]
)
def test_a_wrong_measure_is_found(part: str, found: str, figures: dict[str, Any]) -> None:
    judged = rules.judge(dataclasses.replace(NOW, frame=frame(**{part: figures})))
    assert found in wrong(itertools.chain(*judged.values()))


@pytest.mark.parametrize(
    "part", ["antenna", "antenna-cable", "lamp-fuses", "lamp-holders", "tags", "natural-marker"]
)
def test_too_few_pieces_are_found(part: str) -> None:
    named = BOM[BOM.index(f'id = "{part}"') :]
    said = named[: named.index("choices")]
    few = bom(said, re.sub(r"quantity = \d+", "quantity = 1", said))
    assert f"1 {part}" in wrong(fits.judge_pieces(NOW.frame, few, NOW.pins))


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
