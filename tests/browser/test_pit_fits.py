"""The pit's pages on a phone, a tablet and a desk: nothing is cut, and a finger meets each button."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from firmware.table import events as ev
from pit.authority import Authority
from pit.door.enrolment import remember
from pit.follow.data_requests import data_requests_of, fulfil
from pit.pages.people import PitRole
from pit.pages.services import pit
from tests.browser.pit_floor import NOW_MS, add_channels, add_downs, add_hands, add_log
from tests.browser.test_pit import floor, served
from tests.browser.test_pit_files import add_files
from tests.browser.visits import misfits
from tests.pit.pages.conftest import House, database, house, owned

__all__ = ["database", "floor", "house", "owned"]
pytestmark = pytest.mark.browser
WIDTHS = ((390, 844), (768, 1024), (1280, 720))
TOUCHED = (390, 768)
"""Widths in pixels at which a page is touched."""
SMALL = """() => {
  const found = [];
  for (const one of document.querySelectorAll(":is(main, header) :is(a, button, summary, select, input)")) {
    const whole = one.closest(".tile h3") ? one.closest(".tile") : one.closest("label.tick, .mark") || one;
    const box = whole.getBoundingClientRect();
    if (!one.checkVisibility() || !box.width || box.height >= 44 && box.width >= 44) continue;
    found.push(`${Math.round(box.width)} by ${Math.round(box.height)} px: ${one.textContent.trim() || one.name}`);
  }
  return found;
}"""
"""Returns what a finger would have to meet within less than 44 px; a tile and a mark are links as a whole."""


def misfits_of(page: Page, addresses: Iterable[str]) -> list[str]:
    """Return what does not fit on pages at each width."""
    found: list[str] = []
    for address in addresses:
        page.goto(address)
        if page.locator("#live").count():
            page.wait_for_selector("body:not([data-notlive])")
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            said = misfits(page, scrolls=True)
            small = page.evaluate(SMALL) if width in TOUCHED else []
            found += [f"{address} at {width} px: {words}" for words in (*said, *small)]
    return found


def test_nothing_is_cut_or_too_small_for_a_finger_on_a_floor_in_every_need(
    floor: House, chromium: Browser, tmp_path: Path
) -> None:
    remember(floor.database, Authority(tmp_path / "authority"))
    with floor.database.transaction() as connection:
        connection.execute("INSERT INTO gaming_table (name, serial) VALUES ('24', 24)")
        ids = dict(
            connection.execute("SELECT name, table_id FROM gaming_table WHERE struck_at IS NULL").fetchall()
        )
    for add in (add_downs, add_hands, add_log, add_files):
        add(floor.database)
    tables = [f"/tables/{ids[name]}" for name in ("7", "9", "19", "24")]
    pages = ("/hands", "/disputes", "/dealers?days=1", "/reports?by=table&days=1", "/reports?by=down&days=1")
    with served(floor, chromium) as page:
        page.clock.set_fixed_time(NOW_MS)
        found = misfits_of(page, ("/",))
        expect(page.get_by_role("button", name="I go to 7")).to_be_visible()
        expect(page.locator(".tile", has_text="Never heard of")).to_be_visible()
    with served(floor, chromium, PitRole.OWNER) as page:
        page.clock.set_fixed_time(NOW_MS)
        found += misfits_of(
            page, (*pages, "/hands?player=Nobody", "/tables", "/tables/enrol", "/proof", *tables)
        )
    assert found == []


def test_nothing_is_cut_or_too_small_for_a_finger_while_a_release_is_stopped(
    floor: House, chromium: Browser
) -> None:
    add_channels(floor.database, is_stopped=True)
    with served(floor, chromium, PitRole.OWNER) as page:
        page.clock.set_fixed_time(NOW_MS)
        found = misfits_of(page, ("/", "/channels"))
        page.get_by_text("Try again…").click()
        page.set_viewport_size({"width": 390, "height": 844})
        found += misfits(page, scrolls=True) + page.evaluate(SMALL)
    assert found == []


def test_nothing_of_a_disputed_hand_is_cut_before_and_after_its_pictures_came(
    house: House, chromium: Browser
) -> None:
    sent, felt = house.tables[0], house.felts[0]
    felt.say(ev.HandDisputed(1, "A card was read wrong"))
    sent.send()
    hand = ("/record/1/review/1", "/record/1/review/1/dispute")
    with served(house, chromium) as page:
        found = misfits_of(page, hand)
        sent.send()  # the look at the pages may have taken longer than a table may be silent
        expect(page.locator("#pictures")).to_contain_text("0 of 2")
        page.goto("about:blank")  # it would load itself again once the pictures are there
        with house.database.transaction() as connection:
            for one in data_requests_of(connection, sent.table):
                if one["kind"] == "image":
                    pit(house.app).files.keep(one["hash"], felt.captures.read(one["name"]))
                    fulfil(connection, sent.table, one["hash"], "image")
        found += misfits_of(page, hand)
        expect(page.locator(".frame image")).to_have_count(1)
    assert found == []


def test_a_pit_without_a_table_says_so(house: House, chromium: Browser) -> None:
    with house.database.transaction() as connection:
        connection.execute("UPDATE gaming_table SET struck_at = now()")
    with served(house, chromium) as page:
        assert misfits_of(page, ("/",)) == []
        expect(page.locator("#sums")).to_have_text("No table is enrolled.")
