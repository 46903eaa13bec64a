"""The pit's pages in a real Chromium: pictures in two languages, a dispute from tile to file, a table unplugged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import is_zipfile

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from dealer_ui.web.log_in import access
from dealer_ui.web.services import stream_source
from firmware.table import events as ev
from pit.follow.data_requests import data_requests_of, fulfil
from pit.pages.people import PitRole
from pit.pages.services import pit
from tests.browser.axe import barriers
from tests.browser.conftest import listening_for_trouble
from tests.browser.golden import MAX_DIFFERENCE, different, keep, load
from tests.browser.pit_floor import NOW_MS, add_downs, add_hands, add_log, furnish
from tests.dealer_ui.served import listening
from tests.examples import THOROUGH
from tests.pit.pages.conftest import House, database, house, owned
from tests.waiting import DEADLINE
from vision.base.arrays import Image

__all__ = ["database", "house", "owned"]
GOLDEN = Path(__file__).parent / "golden" / "pit"
DESK = (1920, 1080)
SIZES = ((1280, 720), DESK, (390, 844))
NARROW = "all => all.filter(one => one.offsetWidth < 120).map(one => one.textContent)"
each_language = pytest.mark.parametrize(
    "language", ["en", pytest.param("zh_Hans", marks=pytest.mark.exhaustive)]
)


@contextmanager
def served(house: House, browser: Browser, role: PitRole = PitRole.FLOOR, **made: object) -> Iterator[Page]:
    """Serve the pit, and open a window of somebody who is logged in; its console must have nothing to say."""
    live = stream_source(house.app)
    with listening(house.app, 24) as port:
        address = f"http://127.0.0.1:{port}/"
        live.start()
        context = browser.new_context(base_url=address, timezone_id="UTC", **made)  # type: ignore[arg-type]
        trouble: list[str] = []
        try:
            cookie = house.logged_in(role).get_cookie(access(house.app).sessions.cookie)
            assert cookie is not None
            context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": address}])
            context.set_default_timeout(1000 * DEADLINE)
            page = context.new_page()
            with listening_for_trouble(page, trouble):
                yield page
        finally:
            context.close()
            live.stop()
    assert trouble == []


def take(page: Page) -> Image:
    """Return what is shown, half as large."""
    image = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    height, width = image.shape[:2]
    return cv2.resize(image, (width // 2, height // 2), interpolation=cv2.INTER_AREA).astype(np.uint8)


@pytest.fixture
def floor(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """The same tables at the same moment, whenever the test runs."""
    with house.database.transaction() as connection:
        connection.execute(
            "UPDATE gaming_table SET struck_at = to_timestamp(%s)", (NOW_MS / 1000 - 40 * 86_400,)
        )
        connection.execute("UPDATE head SET heard_at = to_timestamp(%s)", (NOW_MS / 1000 - 86_400,))
        connection.execute("TRUNCATE hand, hand_seat, down_total")
    furnish(house.database)
    monkeypatch.setattr(pit(house.app).live, "_clock", lambda: NOW_MS / 1000)
    return house


PAGES = {
    "floor": "/",
    "hands": "/hands",
    "disputes": "/disputes",
    "dealers": "/dealers?days=1",
    "reports": "/reports?by=table&days=1",
    "tables": "/tables",
    "table": "/tables/7",
    "people": "/people?person=Ines",
    "proof": "/proof",
}


@pytest.mark.browser
@each_language
def test_each_page_looks_as_it_is_meant_to_at_each_size(
    floor: House, chromium: Browser, language: str
) -> None:
    """Where there is no picture yet, it is taken, and the test fails: look at it before you commit it."""
    taken: list[str] = []
    add_downs(floor.database)
    add_hands(floor.database)
    add_log(floor.database)
    with floor.database.transaction() as connection:
        row = connection.execute("SELECT table_id FROM gaming_table WHERE name = '7'").fetchone()
    assert row is not None
    of_owner = {"people", "proof"}
    for role, names in ((PitRole.FLOOR, PAGES.keys() - of_owner), (PitRole.OWNER, of_owner)):
        with served(floor, chromium, role) as page:
            page.clock.set_fixed_time(NOW_MS)
            page.goto("/log-in")
            page.evaluate(f"document.cookie = 'language={language}; path=/'")
            for name in sorted(names):
                taken += look_as_meant(page, PAGES[name].replace("/7", f"/{row[0]}"), f"{name}-{language}")
            page.goto("/reports?by=down&days=1")
            assert barriers(page) == []
    assert taken == [], "look at these before you commit them"


def look_as_meant(page: Page, address: str, name: str) -> list[str]:
    """Compare a page with its pictures at every size; return those that were not there and are now.

    On the large screen `make test` looks at the floor alone, `make test-all` at every page.
    """
    taken: list[str] = []
    for width, height in SIZES:
        if (width, height) == DESK and not (THOROUGH or name.startswith("floor")):
            continue
        page.set_viewport_size({"width": width, "height": height})
        if (width, height) != DESK:  # a phone's page is laid out as it comes
            page.goto(address)
            if page.locator("#live").count():
                page.wait_for_selector("body:not([data-notlive])")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.eval_on_selector_all(".hands .who", NARROW) == []
        path = GOLDEN / f"{name}-{width}.png"
        if not path.exists():
            keep(path, take(page))
            taken.append(path.name)
        assert different(take(page), load(path)) < MAX_DIFFERENCE, path
    assert barriers(page) == [], name
    return taken


@pytest.mark.browser
def test_on_a_phone_the_pages_are_in_a_drawer_that_opens_and_leads_on(
    house: House, chromium: Browser
) -> None:
    with served(house, chromium, PitRole.OWNER) as page:
        page.goto("/")
        menu, pages = page.get_by_role("button", name="Pages of the pit"), page.locator("nav.pages")
        expect(menu).to_be_hidden()
        expect(pages).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 844})
        expect(pages).to_be_hidden()
        menu.click()
        expect(pages.get_by_role("link")).to_have_count(9)
        assert barriers(page) == []
        page.keyboard.press("Escape")
        expect(pages).to_be_hidden()
        menu.click()
        pages.get_by_role("link", name="Disputes").click()
        page.wait_for_url("**/disputes")
        expect(pages).to_be_hidden()


@pytest.mark.browser
def test_a_dispute_is_taken_from_its_tile_to_its_file_in_three_touches(
    house: House, chromium: Browser
) -> None:
    sent, felt = house.tables[0], house.felts[0]
    with served(house, chromium) as page:
        page.goto("/")
        page.wait_for_selector("body:not([data-notlive])")
        felt.say(ev.HandDisputed(1, "A card was read wrong"))
        sent.send()
        first = page.locator("#now li").first
        expect(first).to_contain_text("Dispute: hand 1")
        first.get_by_role("button", name="I go").click()  # not of the way to the file
        expect(first).to_contain_text("Floor is on the way")
        first.get_by_role("link", name="Table 1").click()  # 1
        page.wait_for_url(re.compile("/record/1/review/1/dispute"))
        expect(page.locator("#pictures")).to_contain_text("0 of 2")
        with house.database.transaction() as connection:
            for one in data_requests_of(connection, sent.table):
                if one["kind"] == "image":
                    pit(house.app).files.keep(one["hash"], felt.captures.read(one["name"]))
                    fulfil(connection, sent.table, one["hash"], "image")
        page.wait_for_selector("#pictures", state="detached")
        page.get_by_role("button", name="Make the dispute file").click()  # 2
        with page.expect_download() as download:
            page.get_by_role("link", name="Get the dispute file").click()  # 3
        assert download.value.suggested_filename == "hand-000001.zip"
        assert is_zipfile(download.value.path())  # waits for the whole of it
        assert page.locator(".frame image").count() == 1


@pytest.mark.browser
def test_a_table_that_is_silent_loses_its_green_and_one_whose_record_differs_turns_red(
    house: House, chromium: Browser
) -> None:
    for felt, sent in zip(house.felts, house.tables, strict=True):
        felt.deal()
        sent.send()
    with served(house, chromium) as page:
        page.goto("/")
        expect(page.locator("#dealing .tile.well")).to_have_count(2)
        with house.database.transaction() as connection:
            connection.execute("UPDATE head SET heard_at = now() - interval '13 s' WHERE record_id = 1")
            connection.execute("UPDATE head SET fork_seq = 9, fork_at = now() WHERE record_id = 2")
        expect(page.locator("#tile-1 .tile.silent")).to_have_count(1)
        expect(page.locator("#tile-1 .tile.well")).to_have_count(0)
        expect(page.locator("#now #tile-2 .tile.alarm")).to_have_count(1)
        with house.database.transaction() as connection:
            connection.execute("UPDATE head SET heard_at = now() - interval '40 s' WHERE record_id = 1")
        expect(page.locator("#soon #tile-1")).to_contain_text("Not heard of")


@pytest.mark.browser
def test_a_floor_page_whose_server_is_gone_says_that_it_is_not_live(house: House, chromium: Browser) -> None:
    with served(house, chromium) as page:
        page.goto("/")
        page.wait_for_selector("body:not([data-notlive])")
        stream_source(house.app).stop()
        page.wait_for_selector("body[data-notlive]")
        expect(page.locator("#live")).to_have_text("Not live")
