"""The page of waves in a real Chromium: pictures in two languages, and a wave begun, stopped and continued by hand."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from dealer_ui.pit.people import PitRole
from tests.browser.axe import barriers
from tests.browser.pit_floor import NOW_MS, RELEASE, add_waves
from tests.browser.test_pit import SIZES, floor, look_as_meant, served
from tests.dealer_ui.pit.conftest import House, database, house, owned, postgres

__all__ = ["database", "floor", "house", "owned", "postgres"]


@pytest.mark.browser
@pytest.mark.parametrize("phase", ["running", "stopped"])
@pytest.mark.parametrize("language", ["en", "zh_Hans"])
def test_a_wave_looks_as_it_is_meant_to_at_each_size(
    floor: House, chromium: Browser, language: str, phase: str
) -> None:
    """Where there is no picture yet, it is taken, and the test fails: look at it before you commit it."""
    add_waves(floor.database, phase)
    with served(floor, chromium, PitRole.TECHNICIAN) as page:
        page.clock.set_fixed_time(NOW_MS)
        page.goto("/log-in")
        page.evaluate(f"document.cookie = 'language={language}; path=/'")
        taken = look_as_meant(page, "/waves", f"waves-{phase}-{language}")
    assert taken == [], "look at these before you commit them"


@pytest.mark.browser
def test_a_wave_is_begun_stopped_and_continued_each_after_a_question(house: House, chromium: Browser) -> None:
    with house.database.transaction() as connection:
        connection.execute(
            "INSERT INTO offered_file VALUES (%s, 'release', 'feltwatch', %s, 1000, 'Ines')",
            ("22" * 32, RELEASE),
        )
    with served(house, chromium, PitRole.TECHNICIAN) as page:
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.goto("/waves")
            expect(page.locator("main")).to_contain_text("No release was sent in a wave yet.")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert barriers(page) == []
        page.get_by_label("First table").select_option("Table 2")
        page.get_by_role("button", name="Look what it does").click()
        expect(page.locator(".lane").first).to_contain_text("Table 2")
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[-1][0]
        assert barriers(page) == []
        page.get_by_role("button", name="Yes, begin").click()
        expect(page.locator(".wave.running")).to_have_count(1)
        page.get_by_text("Stop the wave…").click()
        assert barriers(page) == []
        page.get_by_role("button", name="Yes, stop it").click()
        expect(page.locator(".wave.stopped")).to_contain_text("The wave was stopped by Technician.")
        page.get_by_text("Let it go on…").click()
        assert barriers(page) == []
        page.get_by_role("button", name="Yes, go on").click()
        expect(page.locator(".wave.running")).to_have_count(1)
    assert [what for _, what, *_ in house.acts() if what.startswith("waves")] == [
        *("waves.start", "waves.stop", "waves.resume"),
    ]


@pytest.mark.browser
def test_a_page_of_a_wave_follows_what_happens_and_offers_what_can_be_done_then(
    house: House, chromium: Browser
) -> None:
    add_waves(house.database, "running")
    with served(house, chromium, PitRole.OWNER) as page:
        page.goto("/waves")
        expect(page.locator(".wave.running")).to_have_count(1)
        with house.database.transaction() as connection:
            connection.execute("UPDATE wave SET phase = 'stopped', phase_by = 'Bo' WHERE phase = 'running'")
        expect(page.locator(".wave.stopped")).to_contain_text("stopped by Bo")
        expect(page.get_by_text("Begin a wave")).to_have_count(1)


@pytest.mark.browser
def test_an_open_question_stays_open_while_the_page_brings_what_is_new(
    house: House, chromium: Browser
) -> None:
    add_waves(house.database, "stopped")
    with house.database.transaction() as connection:
        connection.execute(
            "UPDATE wave_table SET mark = 'failed', failure = 'went_back' WHERE mark = 'waits'"
        )
    with served(house, chromium, PitRole.OWNER) as page:
        page.goto("/waves")
        page.get_by_text("Let it go on…").click()
        page.locator(".sure input[name=without]").first.check()
        for _ in range(2):
            with page.expect_response("**/waves/part"):
                pass
        with house.database.transaction() as connection:
            connection.execute("UPDATE wave SET release = '0.9.0-new' WHERE phase = 'stopped'")
        expect(page.locator(".wave h2").first).to_contain_text("0.9.0-new")
        expect(page.locator(".sure input[name=without]").first).to_be_checked()
        expect(page.get_by_role("button", name="Yes, go on")).to_be_visible()


@pytest.mark.browser
def test_a_stopped_wave_is_said_over_the_floor(house: House, chromium: Browser) -> None:
    add_waves(house.database, "stopped")
    with served(house, chromium) as page:
        page.goto("/")
        expect(page.locator("#sums .trouble")).to_contain_text("The wave was stopped")
        assert barriers(page) == []
