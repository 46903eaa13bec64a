"""Every electric rule holds on the data as they are, and fails on the figures that an engineer found wrong."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hardware.make import electric, protect
from hardware.make.bom import Bom
from hardware.make.tables import DataTableError
from tests.hardware.cases import NOW, bom, wrong
from tests.hardware.cases import electric as said


def judged(**changed: Any) -> str:
    return wrong(electric.judge(said(**changed), NOW.pins, NOW.bom))


def test_nothing_electric_is_wrong() -> None:
    assert judged() == ""


FERRITES: list[str] = NOW.electric["earth"]["ferrites"]


WRONG: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("bus", "Edge on SCK"): [{"series_ohm": 1000.0}],
    ("bus", "puck board's parts are on the list"): [{"series_ohm": 100.0}, {"idle_ohm": 1000.0}],
    ("bus", "Readers share MISO"): [{"gates": 4}, {"shared": "diodes"}],
    ("contact", "Edge on a contact"): [{"nf": 1000.0}],
    ("contact", "The panel board's parts"): [{"nf": 1000.0}],
    ("contact", "A contact's levels"): [{"pull_up_ohm": 47_000.0}, {"series_ohm": 10_000.0}],
    ("regulator", "Volts at the readers' regulator"): [{"ptc_ohm": 10.0}, {"out_v": 5.0}],
    ("ups", "Power-fail line"): [{"board": "Geekworm X728"}, {"charging": 26}, {"fail": 5}, {"i2c": [0, 1]}],
    ("ups", "the UPS's output"): [{"amps": 3.0}],
    ("ups", "The UPS lasts"): [{"cell_ah": 6.0}, {"pieces": 4}, {"usable": 1.0}],
    ("overlays", "Our pins"): [{"free_of": ["w1-gpio", "spi1-1cs", "i2s", "pwm"]}],
    ("usb", "fan header on the supply"): [{"negotiates": ["another one"]}, {"cooler_a": 0.5}],
    ("usb", "fan header on a UPS"): [{"ups_flags": []}, {"ups_flags": ["usb_max_current_enable=1 alone"]}],
    ("driver", "white and green: 7.8 mA"): [{"ohm": 0.0, "drop_v": 0.75}],  # a ULN2003A
    ("heat", "Air in the box"): [{"fan_m3_per_s": 0.0}],
    ("heat", "The fan on the parts list"): [{"fan_m3_per_s": 0.0283}],
    ("heat", "All heat"): [{"watts": 10.0}],
    # too small; another grille than the one bought; larger than the fan
    ("heat", "smallest opening"): [{"out_cm2": 5.0}, {"in_cm2": 30.0}, {"out_cm2": 20.0}],
    ("clock", "The clock"): [
        *({"battery": other} for other in ("", "a lithium-ion cell")),
        *({"setting": f"dtparam=rtc{volts}"} for volts in ("_bbat_vchg=4200000", "")),
    ],
    ("earth", "bonded"): [{"bonded": ["beam"]}, {"once": ""}],
    ("earth", "carriers and lamps"): [{"bonded": [one for one in protect.EARTHED if "lamps" not in one]}],
    ("earth", "Ferrites"): [
        *({"ferrites": other} for other in ([], 2 * FERRITES[:1], ["0443164151", "1234567890"])),
    ],
}


@pytest.mark.parametrize(
    ("table", "found", "figures"), [(*case, figures) for case, each in WRONG.items() for figures in each]
)
def test_a_wrong_figure_is_found(table: str, found: str, figures: dict[str, Any]) -> None:
    assert found in judged(**{table: figures})


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("length_m = 0.5\n", "length_m = 5.0\n", "Edge on SCK"),
        ("core_mm2 = 0.2\n", "core_mm2 = 0.05\n", "Volts at the readers' regulator"),
        ("core_mm2 = 0.14", "core_mm2 = 0.02", "white and green"),
        ("27 W USB-C, 5.1 V 5 A", "15 W USB-C, 5.1 V 3 A", "fan header on the supply"),
        ('core_mm2 = 0.5\nfeeds = ["display"]\n', "", "on one rail"),  # it hangs on no cable
        ("watts = 0.3\nchoices", "watts = 3.3\nchoices", "panel's 5 V"),
        ("watts = 0.3\nchoices", "watts = 3.3\nchoices", "USB-C supply of the box"),
    ],
)
def test_a_part_that_does_not_serve_is_found(old: str, new: str, found: str) -> None:
    assert found in wrong(electric.judge(NOW.electric, NOW.pins, bom(old, new)))


def test_diodes_with_10_kiloohm_at_1_mhz_are_too_slow() -> None:
    """A fall to 0.8 V takes RC · ln(2.95 / 0.8) = 1.3 µs; half a bit is 0.5 µs."""
    assert electric.edge_ns(10_000.0, 100.0, driven=False) == pytest.approx(1305, abs=5)
    old = said(bus={"shared": "diodes", "idle_ohm": 10_000.0})
    assert "Edge on MISO, from the gates" in wrong(electric.edges(old, NOW.bom, 1_000_000))


def test_a_contacts_edge_and_levels_are_as_by_hand() -> None:
    """2.2 · 10 kΩ · 100 nF = 2.2 ms; pressed 3.3 · 1/11 = 0.30 V; free 3.3 · 50/60 = 2.75 V."""
    edge, levels, _ = electric.contacts(NOW.electric, NOW.bom)
    assert edge.figure == "2.2 ms"
    assert levels.figure.startswith("0.30 V pressed, 2.75 V free")


def pins(**changed: dict[str, Any]) -> dict[str, str]:
    """What is wrong, by rule, with other entries: `buttons=`, …"""
    other = copy.deepcopy(NOW.pins)
    for section, entries in changed.items():
        other[section] = other[section] | entries if entries else {}
    return {one.rule: one.figure for one in electric.pins(NOW.electric, other, NOW.bom) if not one.ok}


def test_pins_that_collide_or_are_named_wrongly_are_found() -> None:
    """Red was on GPIO6, which tells of the mains; power fail on GPIO16, where high stops the charging."""
    old = pins(buttons={"reject": {"bcm": 6, "pin": 31}}, power={"fail": {"bcm": 16, "pin": 36}}, reserved={})
    assert set(old) == {
        "Our pins against UPS, display, overlays, buses",
        "Power-fail line",
        "The UPS's charging line is reserved",
    }
    assert "buttons reject and the UPS's mains line on 6" in " ".join(old.values())
    assert "charging on 16" in " ".join(old.values())
    assert "Each BCM number is at the header's pin that is named" in pins(
        lamps={"fault": {"bcm": 20, "pin": 37}}
    )
    (twice,) = pins(lamps={"fault": {"bcm": 21, "pin": 40}}).values()
    assert "lamps ready on 21" in twice


def test_a_part_that_is_on_no_rail_or_on_two_or_draws_nothing_is_found() -> None:
    rails = copy.deepcopy(NOW.electric["rail"])
    rails[0]["parts"].remove("buzzer")
    assert "on one rail: buzzer" in judged(rail=rails)
    rails[0]["parts"] += ["buzzer", "fan"]
    assert "on one rail: fan" in judged(rail=rails)
    rails[0]["parts"].append("felt")
    with pytest.raises(DataTableError, match="felt draws nothing"):
        electric.rails(said(rail=rails), NOW.bom)


@pytest.mark.parametrize(
    ("wires", "changed", "found"),
    [
        ("+5V", {"tvs": "TVS array, 5 V"}, "no named and bought TVS"),
        ("+5V", {"tvs": "P6KE7.5A"}, "no named and bought"),
        ("lamp far +24V", {"tvs": "P6KE6.8A"}, "for 27 V"),  # it would conduct
        ("lamp far +24V", {"limit": "fuse T 10 A", "limit_a": 10.0, "opens_a": 21.0}, "it opens at 21 A"),
        ("lamp far +24V", {"limit": "fuse T 10 A", "limit_a": 10.0, "opens_a": 21.0}, "on no list"),
        ("lamp far +24V", {"limit": "fuse T 2 A", "limit_a": 2.0}, "does not carry 1.88 A"),
        ("lamp far +24V", {"limit": "fuse T 2.5 A", "limit_a": 2.6}, "its limit is not"),
        ("lamp far +24V", {"most_v": 20.0}, "it is on more than 20 V"),
        ("lamp far +24V", {"core_mm2": 0.14}, "other cores"),
        ("lamp far +24V", {"opens_a": 2.5}, "it opens at 2.5 A"),  # no fuse does
        ("contact next", {"limit": "10 kΩ in series"}, "its limit is not"),
        ("puck 5 V", {"limit": "PTC 0.1 A hold (MF-R010)", "limit_a": 0.1}, "does not carry 0.14 A"),
    ],
)
def test_a_wire_that_leaves_a_box_badly_protected_is_found(
    wires: str, changed: dict[str, Any], found: str
) -> None:
    other = [one | changed if wires in one["wires"] else one for one in NOW.electric["outgoing"]]
    assert found in judged(outgoing=other)


def test_a_wire_that_leaves_a_box_unprotected_and_a_tvs_that_conducts_are_found() -> None:
    unfused = [one for one in NOW.electric["outgoing"] if one["wires"] != ["+5V"]]
    assert judged(outgoing=unfused) == "Wires without protection: +5V"
    loose = [one | {"stands_v": 40.0} for one in NOW.electric["tvs"]]
    assert "its TVS conducts earlier" in judged(tvs=loose)


def test_lamps_that_burn_and_resistors_that_differ_from_the_looms_are_found() -> None:
    lamp = copy.deepcopy(NOW.electric["lamp"])
    lamp[2]["ohm"] = 27.0
    found = judged(lamp=lamp)
    assert "Lamp current: status lamp, red" in found
    assert "resistors of looms" in found


def test_a_part_that_the_list_lacks_is_named() -> None:
    lacking: Bom = NOW.bom.model_copy(update={"part": tuple(p for p in NOW.bom.part if p.id != "fan")})
    with pytest.raises(DataTableError, match="the parts list has no fan"):
        protect.box(NOW.electric, lacking)
