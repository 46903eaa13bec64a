"""Every rule of the build holds on the data as they are, and fails on the figures that an engineer found wrong."""

from __future__ import annotations

import copy
import dataclasses
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from hardware.make import electric, loom_sheet, protect, strength, view
from hardware.make.__main__ import write_texts
from hardware.make.bom import Bom
from hardware.make.errors import BomError, RuleBroken
from hardware.make.felt import cloth_marks
from hardware.make.finding import Finding
from hardware.make.frame import Frame
from hardware.make.rules import Sources, antennas_hold, broken, cloth_holds, judge, looms_hold, rules_page
from vision.felt.layout import TableLayout
from vision.felt.optics import CameraModel, cameras

HARDWARE = Path(__file__).parents[2] / "hardware"
LAYOUT = TableLayout.load()
NOW = Sources.load(HARDWARE, LAYOUT)
LOOMS = loom_sheet.looms(HARDWARE / "pinmap.toml", NOW.bom, NOW.electric)


def frame(**changed: dict[str, Any]) -> Frame:
    """The frame with other figures: `frame=`, `puck_shell=`, …"""
    said = copy.deepcopy(NOW.frame.measures)
    for part, values in changed.items():
        said[part] |= values
    return Frame(said, LAYOUT)


def wrong(findings: list[Finding]) -> str:
    return " | ".join(finding.rule for finding in findings if not finding.ok)


def test_every_rule_holds_and_its_page_says_so() -> None:
    judged = judge(NOW, LOOMS)
    assert broken(judged) == []
    page = (HARDWARE / "out/checks.md").read_text()
    assert page == rules_page(judged)
    assert "UNTESTED on hardware" in page
    assert "BROKEN" not in page
    assert page.count(" holds |") == sum(map(len, judged.values())) > 60


OLD_LAMPS = {"lamp_z_mm": 1000.0 - 22, "lamp_y_mm": 985.0, "lamp_long_mm": 600.0, "lamp_lm": 2400.0}
OLD_CAMERA = {"camera": "cm3", "post_long_mm": 1980.0}  # the lens at 1,150 mm


def test_lamps_at_head_height_are_found() -> None:
    assert NOW.frame.head_room().ok
    old = frame(frame=OLD_LAMPS).head_room()
    assert (old.ok, "lamps" in old.figure) == (False, True)
    hooded = frame(frame={"hood_mm": 250.0}).head_room()
    assert (hooded.ok, "with their hoods" in hooded.figure) == (False, True)
    low = frame(frame={"post_long_mm": 1915.0}).head_room()
    assert (low.ok, "ends of the beam" in low.figure) == (False, True)


def test_the_old_camera_at_its_old_height_does_not_hold_the_felt_with_every_tolerance() -> None:
    assert "Felt in the picture" in wrong(view.field_holds(frame(frame=OLD_CAMERA)))
    high = frame(frame={"post_long_mm": 2150.0 + 300})
    assert "Pixels in the zones" in wrong(view.field_holds(high))


def test_a_lens_that_distorts_is_found() -> None:
    """Pincushion shows less: 1,304 mm become 1,330. A barrel of 2 % takes 6 % of the scale at the picture's corner."""
    assert "Felt in the picture" in wrong(view.field_holds(frame(lens={"pincushion": 0.02})))
    assert "Pixels in the zones" in wrong(view.field_holds(frame(lens={"barrel": 0.10})))
    plain = view.worst_px_per_mm(frame(lens={"barrel": 0.0}))
    assert view.worst_px_per_mm(NOW.frame) == pytest.approx(plain * 0.98, abs=0.01), (
        "0.58 of the way to the corner"
    )


def test_a_layout_with_another_camera_or_height_than_the_builds_is_found() -> None:
    assert view.layout_agrees(NOW.frame).ok
    assert not view.layout_agrees(frame(frame=OLD_CAMERA)).ok
    assert not view.layout_agrees(frame(frame={"post_long_mm": 2160.0})).ok


def test_a_listed_field_that_contradicts_the_lens_is_found_unless_it_is_to_be_measured() -> None:
    """66 degrees were listed for 4.74 mm, which is 68.5."""
    cm3 = cameras()["cm3"]
    assert view.camera_agrees(cm3).ok
    values = {k: v for k, v in vars(cm3).items() if k != "measure_field"}
    assert not view.camera_agrees(CameraModel(**values)).ok
    half = {k: v for k, v in vars(cm3).items() if k != "listed_fov_deg"} | {"listed_fov_deg": [66.0]}
    assert not view.camera_agrees(CameraModel(**half)).ok, "one figure of two"
    assert cm3.ideal_fov_deg == pytest.approx((68.5, 41.9), abs=0.1)
    assert cm3.field_deg == (66.0, 41.0), "the narrower one"


def test_the_old_lamps_give_too_little_light_when_they_have_aged() -> None:
    assert "Light on the felt" in wrong(view.light_holds(frame(frame=OLD_LAMPS)))
    uneven = frame(frame={"lamp_y_mm": 300.0, "lamp_z_mm": 500.0})
    assert "Evenness" in wrong(view.light_holds(uneven))


def test_lamps_that_a_bent_card_mirrors_are_found() -> None:
    assert "Glare" in wrong(view.light_holds(frame(frame={"lamp_y_mm": 800.0})))
    assert "Hoods" in wrong(view.light_holds(frame(frame={"hood_mm": 57.0}))), "as deep as it first was"
    assert "Light" in wrong(view.light_holds(frame(frame={"lamp_lm": 4000.0, "lamp_aged": 1.0}))), "no ageing"


def test_the_hood_stands_between_lamp_and_opposite_eye_and_leaves_the_far_edge_in_the_light() -> None:
    """By hand: of a ray from the lamp's inner edge to the felt's far edge and one from its outer edge at 60 degrees."""
    it = NOW.frame
    (inward, down), (out, low) = it.lamp_edges_mm
    tip = it.hood_tip_mm
    _, y, z = it.lamps_mm[1]
    to_edge = (y - inward) / (z - down)
    assert tip[0] - inward == pytest.approx((tip[1] - down) * to_edge), (
        "on the ray to the far edge: no shade on the felt"
    )
    deep = (inward - out + (low - down) * to_edge) / (
        math.tan(math.radians(60)) - to_edge
    )  # below the outer edge
    assert tip[1] >= low + deep - 0.5
    assert it.hood_tip_mm[0] > 0, "towards the table's middle"


OLD_PROFILE = {
    "area_mm2": 310.0,
    "bending_cm4": 2.8,
    "twisting_cm4": 0.6,
    "modulus_cm3": 1.9,
    "kg_per_m": 0.9,
}
OLD_JOINTS = {"bracket_nm": 12.0, "brackets": 2}  # cast, 28 x 28 mm


def test_a_thin_frame_on_small_brackets_with_one_tie_is_found() -> None:
    now = strength.judge(strength.portal(NOW.frame))
    assert wrong(now) == ""
    old = frame(
        profile=OLD_PROFILE,
        strength=OLD_JOINTS,
        frame={"ties_mm": [[417.5, -200.0, "x"]], "profile_mm": 30.0},
    )
    found = wrong(strength.judge(strength.portal(old)))
    assert "first natural frequency" in found
    assert "moment at a joint" in found
    assert "ties" in found


def test_figures_of_another_profile_or_of_brackets_that_nobody_buys_are_found() -> None:
    assert strength.profile_agrees(NOW.frame).ok
    for other in (
        {"bending_cm4": 90.0, "modulus_cm3": 45.0},  # more than a solid bar
        {"modulus_cm3": 9.0},
        {"kg_per_m": 0.9},
    ):
        assert not strength.profile_agrees(frame(profile=other)).ok
    assert not strength.profile_agrees(frame(frame={"profile_mm": 30.0})).ok
    assert strength.brackets_bought(NOW.frame, NOW.bom).ok
    assert not strength.brackets_bought(frame(strength={"brackets": 4}), NOW.bom).ok
    assert not strength.brackets_bought(frame(strength={"bracket_nm": 220.0}), NOW.bom).ok


def test_a_beam_that_hangs_from_the_ceiling_claims_no_ties() -> None:
    assert "ties" not in " ".join(one.rule for one in strength.judge(strength.hung(NOW.frame), "Hung"))
    high = strength.judge(strength.hung(frame(frame={"ceiling_mm": 3500.0})), "Hung")
    assert "first natural frequency" in wrong(high)


def test_without_ties_the_frame_swings_at_the_rate_that_was_worked_out_by_hand() -> None:
    """√(k/m)/2π of a post on its foot: 3EI/L³ and 50 kN·m/rad give 1.8 N/mm, 9 kg on it 2.2 Hz."""
    free = strength.portal(NOW.frame, tied=False)
    (hertz,) = free.structure.frequencies(1)
    long, stiff = 2.17, 3 * 70e9 * 9.0e-8
    spring = 1 / (long**3 / stiff + long**2 / 50e3)
    load = NOW.frame.measures["strength"]
    mass = load["lamp_kg"] + load["eye_kg"] / 2 + 1.75 * 2.14 / 2 + 0.24 * 1.75 * 2.15
    assert hertz == pytest.approx(math.sqrt(spring / mass) / 2 / math.pi, abs=0.2)
    told = f"{hertz:.1f} Hz", f"{strength.tips_n(NOW.frame):.0f} N"
    texts = [(HARDWARE / name).read_text() for name in ("assembly.toml", "bom.toml")]
    assert all(figure in text for text in texts for figure in told), told
    assert f"tips at {told[1]}" in (HARDWARE.parent / "docs/technician/safety.md").read_text()
    found = wrong(strength.judge(free))
    assert "first natural frequency" in found
    assert "the camera moves" in found


def test_posts_that_ties_do_not_hold_are_told_in_a_sentence() -> None:
    """A post was moved, its ties were not: the structure cannot be computed at all."""
    moved = dataclasses.replace(NOW, frame=frame(frame={"post_mm": [417.5, -190.0]}))
    assert any("tie at 417.5, -200" in rule for rule in broken(judge(moved, LOOMS)))


def test_two_ties_are_not_enough_because_the_other_post_still_swings() -> None:
    two = strength.portal(frame(frame={"ties_mm": [[417.5, -200.0, "x"], [417.5, -200.0, "y"]]}))
    (hertz,) = two.structure.frequencies(1)
    assert hertz < 3
    assert "ties" in wrong(strength.judge(two))


def electric_with(**changed: Any) -> str:
    said = copy.deepcopy(NOW.electric) | changed
    return wrong(electric.judge(said, NOW.pins, NOW.bom))


def test_nothing_electric_is_wrong() -> None:
    assert electric_with() == ""


def test_diodes_with_10_kiloohm_at_1_mhz_are_too_slow_and_may_block_the_bus() -> None:
    """A fall to 0.8 V takes RC · ln(2.95 / 0.8) = 1.3 µs; half a bit is 0.5 µs."""
    assert electric.edge_ns(10_000.0, 100.0, driven=False) == pytest.approx(1305, abs=5)
    said = copy.deepcopy(NOW.electric)
    said["bus"] |= {"shared": "diodes", "idle_ohm": 10_000.0}
    found = wrong(electric.edges(said, NOW.bom, 1_000_000))
    assert "Edge on MISO, from the gates" in found
    assert "Readers share MISO" in found


def test_a_bus_with_other_resistors_longer_ribbons_or_too_few_gates_is_found(tmp_path: Path) -> None:
    bus = NOW.electric["bus"]
    assert "Edge on SCK" in electric_with(bus=bus | {"series_ohm": 1000.0})
    assert "parts are on the list" in electric_with(bus=bus | {"series_ohm": 100.0})
    assert "parts are on the list" in electric_with(bus=bus | {"idle_ohm": 1000.0})
    assert "Readers share MISO" in electric_with(bus=bus | {"gates": 4})
    text = (HARDWARE / "bom.toml").read_text()
    path = tmp_path / "bom.toml"
    path.write_text(
        text.replace(
            'length_m = 0.5\nchoices = [{ name = "0.5 m each',
            'length_m = 5.0\nchoices = [{ name = "0.5 m each',
        )
    )
    long = wrong(electric.edges(NOW.electric, Bom.load(path)))
    assert "Edge on SCK" in long


def test_the_old_pins_collide_with_the_named_ups() -> None:
    """Red was on GPIO6, which tells of the mains; power fail on GPIO16, where high stops the charging."""
    old = copy.deepcopy(NOW.pins)
    old["buttons"]["reject"] |= {"bcm": 6, "pin": 31}
    old["power"]["fail"] |= {"bcm": 16, "pin": 36}
    del old["reserved"]
    by_rule = {one.rule: one for one in electric.pins(NOW.electric, old, NOW.bom)}
    assert wrong(list(by_rule.values())).count("|") == 2
    twice = by_rule["Our pins against UPS, display, overlays, buses"].figure
    assert "buttons reject and the UPS's mains line on 6" in twice
    assert "charging on 16" in twice


def test_contacts_that_are_slower_than_the_program_or_at_no_level_are_found() -> None:
    """By hand: 2.2 · 10 kΩ · 100 nF = 2.2 ms; pressed 3.3 · 1/11 = 0.30 V; free 3.3 · 50/60 = 2.75 V."""
    contact = NOW.electric["contact"]
    edge, levels, _ = electric.contacts(NOW.electric, NOW.bom)
    assert (edge.figure, levels.figure[:14]) == ("2.2 ms", "0.30 V pressed")
    assert "2.75 V free" in levels.figure
    slow = electric_with(contact=contact | {"nf": 1000.0})
    assert "Edge on a contact" in slow
    assert "The panel board's parts" in slow
    assert "A contact's levels" in electric_with(contact=contact | {"pull_up_ohm": 47_000.0})
    assert "A contact's levels" in electric_with(contact=contact | {"series_ohm": 10_000.0})


def test_a_regulator_that_starves_behind_a_thin_cable_is_found(tmp_path: Path) -> None:
    regulator = NOW.electric["regulator"]
    assert "Volts at the readers' regulator" in electric_with(regulator=regulator | {"ptc_ohm": 10.0})
    assert "Volts at the readers' regulator" in electric_with(regulator=regulator | {"out_v": 5.0})
    path = tmp_path / "bom.toml"
    path.write_text((HARDWARE / "bom.toml").read_text().replace("core_mm2 = 0.2\n", "core_mm2 = 0.05\n"))
    assert not electric.regulator(NOW.electric, Bom.load(path)).ok


def test_a_bcm_number_at_another_pin_or_taken_twice_and_another_ups_board_are_found() -> None:
    pins = copy.deepcopy(NOW.pins)
    pins["lamps"]["fault"] = {"bcm": 20, "pin": 37}
    assert "at the header's pin" in wrong(electric.pins(NOW.electric, pins, NOW.bom))
    pins["lamps"]["fault"] = {"bcm": 21, "pin": 40}
    (found,) = [one for one in electric.pins(NOW.electric, pins, NOW.bom) if not one.ok]
    assert "lamps ready on 21" in found.figure
    ups = NOW.electric["ups"]
    for other in ({"board": "Geekworm X728 for every Pi"}, {"charging": 26}, {"fail": 5}, {"i2c": [0, 1]}):
        assert "Power-fail line" in electric_with(ups=ups | other)


def test_an_overlay_that_is_on_takes_its_pins() -> None:
    on = {"free_of": ["w1-gpio", "spi1-1cs", "i2s", "pwm"], "display": []}
    assert "Our pins" in electric_with(overlays=on)


def test_a_supply_that_does_not_negotiate_leaves_usb_too_little() -> None:
    usb = NOW.electric["usb"]
    assert "USB ports and fan header on the supply" in electric_with(
        usb=usb | {"negotiates": ["another one"]}
    )
    assert "USB ports and fan header on a UPS" in electric_with(usb=usb | {"ups_flags": []})
    half = ["`usb_max_current_enable=1` in `config.txt`", "and nothing else"]
    assert "USB ports and fan header on a UPS" in electric_with(usb=usb | {"ups_flags": half})
    assert "USB ports and fan header on the supply" in electric_with(usb=usb | {"cooler_a": 0.5})
    assert "the UPS's output" in electric_with(ups=NOW.electric["ups"] | {"amps": 3.0})


def test_a_supply_of_3_amperes_on_the_parts_list_is_found(tmp_path: Path) -> None:
    path = tmp_path / "bom.toml"
    text = (HARDWARE / "bom.toml").read_text()
    path.write_text(text.replace("Raspberry Pi 27 W USB-C, 5.1 V 5 A", "Raspberry Pi 15 W USB-C, 5.1 V 3 A"))
    assert "fan header on the supply" in wrong(electric.rails(NOW.electric, Bom.load(path)))


def test_a_part_that_is_on_no_rail_or_on_two_is_found(tmp_path: Path) -> None:
    rails = copy.deepcopy(NOW.electric["rail"])
    rails[0]["parts"].remove("buzzer")
    assert "on one rail" in electric_with(rail=rails)
    rails[0]["parts"] += ["buzzer", "fan"]
    assert "on one rail" in electric_with(rail=rails)
    path = tmp_path / "bom.toml"
    text = (HARDWARE / "bom.toml").read_text()
    path.write_text(text.replace('feeds = ["display"]\n', "").replace("core_mm2 = 0.5\n", ""))
    assert "on one rail" in wrong(electric.rails(NOW.electric, Bom.load(path))), (
        "the display hangs on no cable"
    )


def test_a_wire_that_leaves_a_box_without_fuse_or_named_tvs_is_found() -> None:
    outgoing = NOW.electric["outgoing"]
    unfused = [one for one in outgoing if one["wires"] != ["+5V"]]
    said = copy.deepcopy(NOW.electric) | {"outgoing": unfused}
    (found,) = [one for one in protect.outgoing(said, NOW.pins, NOW.bom) if not one.ok]
    assert (found.rule, found.figure) == ("Wires without protection", "+5V")

    def judged(wires: str, **changed: Any) -> str:
        said = [one | changed if wires in one["wires"] else one for one in outgoing]
        found = protect.outgoing(NOW.electric | {"outgoing": said}, NOW.pins, NOW.bom)
        return " ".join(one.figure for one in found if not one.ok)

    assert "no named and bought TVS" in judged("+5V", tvs="TVS array, 5 V")
    assert "for 27 V" in judged("lamp far +24V", tvs="P6KE6.8A"), "it would conduct"
    assert "no named and bought" in judged("+5V", tvs="P6KE7.5A")
    thick = {"limit": "fuse T 10 A", "limit_a": 10.0, "opens_a": 21.0}
    assert "it opens at 21 A" in judged("lamp far +24V", **thick)
    assert "on no list" in judged("lamp far +24V", **thick)
    assert "does not carry 1.88 A" in judged("lamp far +24V", limit="fuse T 2 A", limit_a=2.0)
    assert "its limit is not" in judged("lamp far +24V", limit="fuse T 2.5 A", limit_a=2.6)
    assert "it is on more than 20 V" in judged("lamp far +24V", most_v=20.0)
    assert "other cores" in judged("lamp far +24V", core_mm2=0.14)
    assert "it opens at 2.5 A" in judged("lamp far +24V", opens_a=2.5), "no fuse does"
    assert "its limit is not" in judged("contact next", limit="10 kΩ in series")
    assert "does not carry 0.14 A" in judged("puck 5 V", limit="PTC 0.1 A hold (MF-R010)", limit_a=0.1)


def test_the_old_driver_dims_white_and_green_lamps() -> None:
    """7.8 mA of 15 behind a ULN2003A's 0.75 V."""
    old = NOW.electric["driver"] | {"ohm": 0.0, "drop_v": 0.75}
    assert "white and green" in electric_with(driver=old)
    said = copy.deepcopy(NOW.electric) | {"driver": old}
    assert electric.lamps(said, NOW.bom)[0].figure.startswith("7.8 mA")


def test_lamps_that_burn_and_resistors_that_differ_from_the_looms_are_found(tmp_path: Path) -> None:
    lamp = copy.deepcopy(NOW.electric["lamp"])
    lamp[2]["ohm"] = 27.0
    found = electric_with(lamp=lamp)
    assert "Lamp current: status lamp, red" in found
    assert "resistors of looms" in found
    path = tmp_path / "bom.toml"
    text = (HARDWARE / "bom.toml").read_text()
    path.write_text(text.replace("core_mm2 = 0.14", "core_mm2 = 0.02"))
    assert "white and green" in wrong(electric.lamps(NOW.electric, Bom.load(path))), (
        "a thin cable takes the volts"
    )


def test_a_closed_box_without_fan_battery_bonding_and_ferrites_is_found() -> None:
    assert "Air in the box" in electric_with(heat=NOW.electric["heat"] | {"fan_m3_per_s": 0.0})
    clock, earth, heat = (NOW.electric[name] for name in ("clock", "earth", "heat"))
    assert "clock" in electric_with(clock=clock | {"battery": ""})
    assert "clock" in electric_with(clock=clock | {"battery": "a lithium-ion cell"})
    assert "clock" in electric_with(clock=clock | {"setting": "dtparam=rtc_bbat_vchg=4200000"})
    assert "clock" in electric_with(clock=clock | {"setting": "dtparam=rtc"}), "then it is never charged"
    assert "bonded" in electric_with(earth=earth | {"bonded": ["beam"]})
    lamps = [name for name in earth["bonded"] if "lamps" not in name]
    assert "bonded" in electric_with(earth=earth | {"bonded": lamps})
    assert "bonded" in electric_with(earth=earth | {"once": ""})
    assert "Ferrites" in electric_with(earth=earth | {"ferrites": []})
    assert "Ferrites" in electric_with(earth=earth | {"ferrites": 2 * earth["ferrites"][:1]})
    assert "Ferrites" in electric_with(
        earth=earth | {"ferrites": ["ferrite 0443164151", "ferrite 1234567890"]}
    )
    assert "The fan on the parts list" in electric_with(heat=heat | {"fan_m3_per_s": 0.0283})
    assert "All heat" in electric_with(heat=heat | {"watts": 10.0})
    assert "smallest opening" in electric_with(heat=heat | {"out_cm2": 5.0})
    assert "smallest opening" in electric_with(heat=heat | {"in_cm2": 30.0}), (
        "another grille than the one bought"
    )
    assert "smallest opening" in electric_with(heat=heat | {"out_cm2": 20.0}), "the fan is not so large"
    for other in ({"cell_ah": 6.0}, {"pieces": 4}, {"usable": 1.0}):
        assert "The UPS lasts" in electric_with(ups=NOW.electric["ups"] | other)


def test_a_rail_that_carries_too_much_is_found(tmp_path: Path) -> None:
    text = (HARDWARE / "bom.toml").read_text()
    path = tmp_path / "bom.toml"
    path.write_text(text.replace("watts = 0.3\nchoices", "watts = 3.3\nchoices"))
    found = wrong(electric.rails(NOW.electric, Bom.load(path)))
    assert "panel's 5 V" in found
    assert "USB-C supply of the box" in found


def test_a_rail_that_names_a_part_that_draws_nothing_is_refused() -> None:
    said = copy.deepcopy(NOW.electric)
    said["rail"][0]["parts"].append("felt")
    with pytest.raises(BomError, match="felt draws nothing"):
        electric.rails(said, NOW.bom)


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


def test_large_pucks_and_a_missing_or_proud_lid_are_found() -> None:
    assert wrong(antennas_hold(NOW.frame)) == ""
    assert "Two pucks" in wrong(antennas_hold(frame(puck_shell={"outer_mm": 60.0})))
    assert "A lid closes" in wrong(antennas_hold(frame(antenna_lid={"pieces": 0})))
    assert "A lid closes" in wrong(antennas_hold(frame(antenna_lid={"thick_mm": 2.0})))
    assert "From the coil" in wrong(antennas_hold(frame(antenna_pocket={"range_mm": 10.0})))


def test_a_cloth_without_circles_or_with_tiny_letters_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrong(cloth_holds(NOW.frame)) == ""
    monkeypatch.setattr("hardware.make.felt.PLACE_MM", 7.0)
    assert "Places are legible" in wrong(cloth_holds(NOW.frame))
    marks = cloth_marks(NOW.frame)

    def lacking(*what: str) -> str:
        left = [mark for mark in marks if mark.what not in what]
        monkeypatch.setattr("hardware.make.rules.cloth_marks", lambda frame: left)
        return wrong(cloth_holds(NOW.frame))

    assert "A circle on the cloth" in lacking("circle")
    assert "Seats are numbered" in lacking("seat")
    assert "Cut-outs are drawn" in lacking("cut")
    monkeypatch.undo()
    on_the_felt = frame(frame={"antennas_mm": [[280.0, 30.0], *NOW.frame.said["antennas_mm"][1:]]})
    assert "Nothing of this on the felt" in wrong(cloth_holds(on_the_felt))


def test_three_yellow_and_five_blue_wires_in_one_cable_are_found() -> None:
    old = {
        "panel": {
            "cables": {
                "W1": {
                    "wirecount": 12,
                    "colors": ["OG", "RD", "BK", "YE", "VT", "YE", "YE", "BU", "BU", "BU", "BU", "BU"],
                }
            }
        }
    }
    (found,) = looms_hold(old)
    assert (found.ok, found.figure) == (False, "panel W1")
    short = {"panel": {"cables": {"W1": {"wirecount": 3, "colors": ["OG", "RD"]}}}}
    assert not looms_hold(short)[0].ok


def test_one_signal_has_one_colour_in_every_cable_of_the_panel() -> None:
    colours: dict[str, set[str]] = {}
    for block in loom_sheet.blocks(LOOMS["panel"]):
        for _, colour, end in block.wires:
            signal = end.split("  ")[1].removesuffix(" -").replace("contact ", "push-button ").lstrip("+")
            colours.setdefault(signal, set()).add(colour)
    assert {name: found for name, found in colours.items() if len(found) > 1 and name} == {}


def test_old_cables_with_two_centimetres_over_are_found(tmp_path: Path) -> None:
    text = (HARDWARE / "bom.toml").read_text()
    path = tmp_path / "bom.toml"
    path.write_text(
        text.replace("length_m = 3.5", "length_m = 2.5").replace("length_m = 0.5", "length_m = 0.44")
    )
    found = wrong(NOW.frame.cables(Bom.load(path)))
    assert "panel" in found
    assert "Ribbon" in found
