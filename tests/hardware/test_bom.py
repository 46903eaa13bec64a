"""The bill of materials: its schema, its sums, and the power that it takes."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from pathlib import Path

import pytest

from hardware.make.bom import Bom, bom_page
from hardware.make.tables import DataTableError
from tests.hardware.cases import BOM, NOW, bom
from vision.felt.optics import cameras

TODAY = "price = 90.0, dated = 2026-11-24"


def test_totals_are_the_sum_of_the_recommended_choices_with_their_range_and_ten_tables_cost_ten_times_one() -> (
    None
):
    needed = [
        (p.quantity, c) for p in NOW.bom.part if not p.optional for c in p.choices if c.recommended and c.why
    ]
    by_hand = sum(pieces * choice.price for pieces, choice in needed)
    high = sum(pieces * choice.price * (1 + choice.spread) for pieces, choice in needed)
    low = 2 * by_hand - high
    page = bom_page(NOW.bom)
    assert (NOW.bom.total(), NOW.bom.total(10)) == pytest.approx((by_hand, 10 * by_hand))
    assert f"| 1 table | {by_hand:,.2f} |" in page
    assert f"| 10 tables | {10 * by_hand:,.2f} |" in page
    assert f"| 1 table, from … to | {low:,.0f} … {high:,.0f} |" in page
    assert all(f"price of {choice.dated}" in page for part in NOW.bom.part for choice in part.choices)


def test_enough_arrives_at_the_end_of_every_cable() -> None:
    """By hand: 5 W at 5.1 V through 3 m of 0.5 mm², there and back; two lamp cables, a lamp on each."""
    lost = {loss.cable.id: loss for loss in NOW.bom.losses()}
    assert lost["display-cable"].volts == pytest.approx(5.0 / 5.1 * 6 * 0.0178 / 0.5)
    assert lost["lamp-cable"].amps == pytest.approx(45 / 24)
    assert all(loss.ok for loss in lost.values())
    drawing = {part.id for part in NOW.bom.part if part.supply}
    fed = {name for loss in lost.values() for name in loss.cable.feeds}
    assert drawing >= {"computer", "camera", "display", "antenna", "lamps"}
    assert drawing - fed == {"computer", "camera", "fan"}, "on the supply's cable, on the ribbon, in the box"
    usb = lost["display-cable"].amps + lost["puck-cable"].amps
    assert usb <= 0.8 * 1.6, "of a Raspberry Pi 5's ports together, with a 5 A supply (its documentation)"


def test_a_cable_that_is_too_thin_and_a_supply_that_is_too_small_are_said() -> None:
    thin = bom("core_mm2 = 0.5", "core_mm2 = 0.08")  # AWG 28, as in many USB cables
    assert [loss.cable.id for loss in thin.losses() if not loss.ok] == ["display-cable"]
    assert bom_page(thin).count("TOO THIN") == 1
    small = bom("amps = 5.0\n\n[[supply]]", "amps = 3.0\n\n[[supply]]")
    assert {load.supply.id: load.ok for load in small.loads()} == {"box": False, "light": True}
    assert "TOO LITTLE" in bom_page(small)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id = "psu"', 'id = "computer"', "computer is named twice"),
        ('supply = "light"', 'supply = "moon"', "no supply moon"),
        ("dated = 2026-11-24, recommended = true", "dated = 2026-11-24", "one choice is recommended, not 0"),
        ("quantity = 5", "quantity = 0", "greater than or equal to 1"),
        ("quantity = 5", 'quantity = 5\ncolour = "red"', "not permitted"),
        ("as_of = 2026-11-25", "as_of = soon", "no TOML"),
        ("watts = 12.0", "", "watts and supply go together"),
        ("core_mm2 = 0.5\n", "", "says length_m and core_mm2"),
        ('feeds = ["display"]', 'feeds = ["moon"]', "one supply of this list"),
        ('feeds = ["display"]', 'feeds = ["display", "psu"]', "psu draws nothing"),
        ('feeds = ["display"]', 'feeds = ["display", "lamps"]', "one supply of this list"),
        (TODAY, "price = 65.0", "dated"),
        ('of = "polarisers"', 'of = "mirrors"', "mirrors, which is no part"),
    ],
)
def test_a_list_that_contradicts_itself_is_refused_with_a_sentence(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in BOM
    path = tmp_path / "bom.toml"
    path.write_text(BOM.replace(old, new, 1))
    with pytest.raises(DataTableError, match=said):
        Bom.load(path)


def test_a_list_that_is_not_there_is_refused_and_what_is_no_cable_has_no_length(tmp_path: Path) -> None:
    with pytest.raises(DataTableError, match="cannot be read"):
        Bom.load(tmp_path / "bom.toml")
    with pytest.raises(DataTableError, match="no cable computer"):
        NOW.bom.length_m("computer")


def test_old_prices_are_told_and_break_the_rule() -> None:
    oldest = min(choice.dated for part in NOW.bom.part for choice in part.choices)
    assert NOW.bom.stale(NOW.bom.as_of) == ""
    assert "91 days old" in NOW.bom.stale(oldest + timedelta(days=91))
    assert NOW.bom.prices().ok
    assert not bom(TODAY, "price = 65.0, dated = 2026-05-01").prices().ok
    assert not bom(TODAY, "price = 65.0, dated = 2027-05-01").prices().ok, "nobody knows tomorrow's price"


def test_what_the_arrived_lens_is_tested_for_is_what_the_frame_was_computed_with() -> None:
    """By hand, for the build's pictures: 6 mm over pixels of 1.55 µm, and the barrel along half the diagonal."""
    tested = next(it.test for it in NOW.bom.optical if it.what == "lens")
    camera, wide, high = cameras()["hq-6mm"], 4032, 3024
    focal = 1000 * camera.focal_mm / camera.pixel_um * wide / camera.width_px
    shares = (1 - camera.focal_tolerance, 1 + camera.focal_tolerance)
    limits = [int(number) for number in re.findall(r"(\d+) (?:to|px)", tested)]
    assert limits[:2] == pytest.approx([focal * share for share in shares], abs=5)
    assert limits[2] == pytest.approx(
        NOW.frame.measures["lens"]["barrel"] * math.hypot(wide, high) / 2, abs=1
    )
    page = bom_page(NOW.bom)
    assert all(it.test in page and all(one.name in page for one in it.candidates) for it in NOW.bom.optical)
