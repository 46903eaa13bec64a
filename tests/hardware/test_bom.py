"""The bill of materials: its schema, its sums, and the power that it takes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from hardware.make.bom import MARGIN, Bom, bom_page
from hardware.make.errors import BomError

HARDWARE = Path(__file__).parents[2] / "hardware"
BOM = Bom.load(HARDWARE / "bom.toml")
TEXT = (HARDWARE / "bom.toml").read_text()


def test_every_part_has_one_recommended_choice_and_every_choice_a_reason() -> None:
    for part in BOM.part:
        assert [c.recommended for c in part.choices].count(True) == 1
        assert all(choice.why for choice in part.choices)


def test_totals_are_the_sum_of_the_recommended_choices_and_ten_tables_cost_ten_times_one() -> None:
    by_hand = sum(
        p.quantity * c.price for p in BOM.part if not p.optional for c in p.choices if c.recommended
    )
    assert BOM.total() == pytest.approx(by_hand)
    assert BOM.total(10) == pytest.approx(10 * by_hand)
    page = bom_page(BOM)
    assert f"| 1 table | {by_hand:,.2f} |" in page
    assert f"| 10 tables | {10 * by_hand:,.2f} |" in page


def test_the_power_budget_leaves_20_percent_of_every_supply_free() -> None:
    assert MARGIN == 0.2
    for load in BOM.loads():
        assert load.parts, "a supply that feeds nothing"
        assert load.watts * 1.2 <= load.supply.watts
        assert load.watts <= 0.8 * load.supply.watts
        assert load.ok
    assert {p.id for load in BOM.loads() for p in load.parts} >= {
        "computer",
        "camera",
        "display",
        "antenna",
        "lamps",
    }


def test_enough_arrives_at_the_end_of_every_cable() -> None:
    """By hand: 5 W at 5.1 V through 3 m of 0.5 mm², there and back; two lamp cables, a lamp on each."""
    lost = {loss.cable.id: loss for loss in BOM.losses()}
    assert lost["display-cable"].volts == pytest.approx(5.0 / 5.1 * 6 * 0.0178 / 0.5)
    assert lost["lamp-cable"].amps == pytest.approx(45 / 24)
    assert all(loss.ok for loss in lost.values())
    fed = {name for loss in lost.values() for name in loss.cable.feeds}
    drawing = {part.id for part in BOM.part if part.supply}
    assert drawing - fed == {"computer", "camera", "fan"}, (
        "on their own supply's cable, on the ribbon, in the box"
    )


def test_what_hangs_on_the_computers_usb_ports_takes_less_than_they_give() -> None:
    """A Raspberry Pi 5 gives 1.6 A on all of them together, with a 5 A supply (its documentation)."""
    lost = {loss.cable.id: loss.amps for loss in BOM.losses()}
    assert lost["display-cable"] + lost["puck-cable"] <= (1 - MARGIN) * 1.6


def test_a_cable_that_is_too_thin_is_said(tmp_path: Path) -> None:
    thin = tmp_path / "bom.toml"
    thin.write_text(TEXT.replace("core_mm2 = 0.5", "core_mm2 = 0.08"))  # AWG 28, as in many USB cables
    assert [loss.cable.id for loss in Bom.load(thin).losses() if not loss.ok] == ["display-cable"]
    assert bom_page(Bom.load(thin)).count("TOO THIN") == 1


def test_a_supply_that_is_too_small_is_said(tmp_path: Path) -> None:
    small = tmp_path / "bom.toml"
    small.write_text(TEXT.replace("amps = 5.0", "amps = 3.0", 1))
    loads = {load.supply.id: load.ok for load in Bom.load(small).loads()}
    assert loads == {"box": False, "light": True}
    assert "TOO LITTLE" in bom_page(Bom.load(small))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id = "psu"', 'id = "computer"', "computer is named twice"),
        ('supply = "light"', 'supply = "moon"', "no supply moon"),
        (
            "price = 12.0, dated = 2026-11-24, recommended = true",
            "price = 12.0, dated = 2026-11-24",
            "exactly one choice is recommended, not 0",
        ),
        ("quantity = 5", "quantity = 0", "greater than or equal to 1"),
        ("quantity = 5", 'quantity = 5\ncolour = "red"', "not permitted"),
        ("as_of = 2026-11-25", "as_of = soon", "no TOML"),
        ("watts = 12.0", "", "watts and supply go together"),
        ("core_mm2 = 0.5\n", "", "says length_m and core_mm2"),
        ('feeds = ["display"]', 'feeds = ["moon"]', "one supply of this list"),
        ('feeds = ["display"]', 'feeds = ["display", "psu"]', "psu draws nothing"),
        ('feeds = ["display"]', 'feeds = ["display", "lamps"]', "one supply of this list"),
    ],
)
def test_a_list_that_contradicts_itself_is_refused_with_a_sentence(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in TEXT
    broken = tmp_path / "bom.toml"
    broken.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(BomError, match=said):
        Bom.load(broken)


def test_a_list_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BomError, match="cannot be read"):
        Bom.load(tmp_path / "bom.toml")


def test_every_price_has_its_day_and_the_sum_its_range() -> None:
    low, high = BOM.range()
    assert low < BOM.total() < high
    by_hand = sum(
        p.quantity * c.price * (1 + c.spread)
        for p in BOM.part
        if not p.optional
        for c in p.choices
        if c.recommended
    )
    assert high == pytest.approx(by_hand)
    page = bom_page(BOM)
    assert f"| 1 table, from … to | {low:,.0f} … {high:,.0f} |" in page
    assert all(f"price of {choice.dated}" in page for part in BOM.part for choice in part.choices)


def test_old_prices_are_told_when_the_files_are_made() -> None:
    oldest = min(choice.dated for part in BOM.part for choice in part.choices)
    assert BOM.stale(BOM.as_of) == ""
    assert "91 days old" in BOM.stale(oldest + timedelta(days=91))


def test_a_price_without_a_day_is_refused_and_an_old_one_breaks_the_rule(tmp_path: Path) -> None:
    path = tmp_path / "bom.toml"
    path.write_text(TEXT.replace("price = 90.0, dated = 2026-11-24", "price = 65.0", 1))
    with pytest.raises(BomError, match="dated"):
        Bom.load(path)
    path.write_text(TEXT.replace("price = 90.0, dated = 2026-11-24", "price = 65.0, dated = 2026-05-01", 1))
    assert not Bom.load(path).prices().ok
    path.write_text(TEXT.replace("price = 90.0, dated = 2026-11-24", "price = 65.0, dated = 2027-05-01", 1))
    assert not Bom.load(path).prices().ok, "nobody knows tomorrow's price"
    assert BOM.prices().ok
