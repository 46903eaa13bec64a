"""The page of releases in a real Chromium: pictures in two languages, and a release moved and decided on by hand."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from pit.pages.people import PitRole
from tests.browser.axe import barriers
from tests.browser.pit_floor import NOW_MS, RELEASE, add_channels
from tests.browser.test_pit import SIZES, each_language, floor, look_as_meant, served
from tests.pit.pages.conftest import House, database, house, owned

__all__ = ["database", "floor", "house", "owned"]


@pytest.mark.sampled
@pytest.mark.browser
@pytest.mark.parametrize("is_stopped", [False, True])
@each_language
def test_releases_look_as_they_are_meant_to_at_each_size(
    floor: House, chromium: Browser, language: str, is_stopped: bool
) -> None:
    """Where there is no picture yet, it is taken, and the test fails: look at it before you commit it."""
    add_channels(floor.database, is_stopped)
    with served(floor, chromium, PitRole.TECHNICIAN) as page:
        page.clock.set_fixed_time(NOW_MS)
        page.goto("/log-in")
        page.evaluate(f"document.cookie = 'language={language}; path=/'")
        name = f"channels-{'stopped' if is_stopped else 'running'}-{language}"
        taken = look_as_meant(page, "/channels", name)
    assert taken == [], "look at these before you commit them"


@pytest.mark.browser
def test_a_release_is_moved_decided_on_and_withdrawn_each_after_a_question(
    house: House, chromium: Browser
) -> None:
    with house.database.transaction() as connection:
        connection.execute(
            "INSERT INTO offered_file VALUES (%s, 'release', 'feltwatch', %s, 1000, 'Ines')",
            ("22" * 32, RELEASE),
        )
    with served(house, chromium, PitRole.TECHNICIAN) as page:
        page.goto("/channels")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            expect(page.get_by_role("button", name="Move to First…")).to_be_disabled()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert barriers(page) == []
        page.get_by_label("Table").select_option("Table 2")
        page.get_by_label("Channel").select_option("First")
        page.get_by_role("button", name="Put it there").click()
        first, tenth = page.locator("[data-channel=first]"), page.locator("[data-channel=tenth]")
        expect(first).to_contain_text("Table 2")
        page.get_by_role("button", name="Fill with a tenth of the tables").click()
        expect(tenth).to_contain_text("Table 1")
        page.get_by_text("Move to First…").click()
        assert barriers(page) == []
        page.get_by_role("button", name="Yes, move it").click()
        expect(first).to_contain_text("Waits for Table 2")
        expect(page.get_by_role("button", name="Move to Tenth…")).to_be_disabled()
        expect(first.locator(".reason").first).to_contain_text("Not updated yet: Table 2")
        with house.database.transaction() as connection:
            connection.execute(
                "INSERT INTO channel_table (table_id, sha256, mark) SELECT table_id, %s, 'updated' FROM gaming_table"
                " WHERE channel = 'first'",
                ("22" * 32,),
            )
        page.get_by_text("Move to Tenth…").click()  # the page brings it by itself
        page.get_by_role("button", name="Yes, move it").click()
        expect(tenth).to_contain_text("Waits for Table 1")
        with house.database.transaction() as connection:
            connection.execute("UPDATE channel SET stopped_why = '\"the camera\"' WHERE sha256 IS NOT NULL")
        expect(page.locator(".halt")).to_contain_text(f"{RELEASE} was stopped: the camera")
        page.get_by_text("Try again…").click()
        assert barriers(page) == []
        page.get_by_role("button", name="Yes, go on").click()
        expect(page.locator(".halt")).to_have_count(0)
        page.get_by_text("Withdraw the release…").click()
        page.get_by_role("button", name="Yes, withdraw it").click()
        expect(first).to_contain_text("No release")
    names = ("put", "fill", "move", "move", "again", "withdraw")
    done = [what for _, what, *_ in house.acts() if what.startswith("channels")]
    assert done == [f"channels.{name}" for name in names]


@pytest.mark.sampled
@pytest.mark.browser
def test_an_open_question_stays_open_while_the_page_brings_what_is_new(
    house: House, chromium: Browser
) -> None:
    add_channels(house.database, is_stopped=True)
    with house.database.transaction() as connection:
        connection.execute("UPDATE gaming_table SET channel = 'first' WHERE name = 'Table 1'")
        connection.execute("UPDATE channel_table SET mark = 'went_back', sha256 = %s", ("22" * 32,))
    with served(house, chromium, PitRole.OWNER) as page:
        page.goto("/channels")
        page.get_by_text("Try again…").click()
        page.locator(".sure input[name=without]").first.check()
        for _ in range(2):
            with page.expect_response("**/channels/part"):
                pass
        with house.database.transaction() as connection:
            connection.execute("UPDATE offered_file SET version = '0.9.0-new' WHERE version = %s", (RELEASE,))
        expect(page.locator(".channel .release").first).to_contain_text("0.9.0-new")
        expect(page.locator(".sure input[name=without]").first).to_be_checked()
        expect(page.get_by_role("button", name="Yes, go on")).to_be_visible()


@pytest.mark.sampled
@pytest.mark.browser
def test_a_stopped_release_is_said_over_the_floor(house: House, chromium: Browser) -> None:
    add_channels(house.database, is_stopped=True)
    with served(house, chromium) as page:
        page.goto("/")
        expect(page.locator("#sums .trouble")).to_contain_text(f"{RELEASE} was stopped")
        assert barriers(page) == []
