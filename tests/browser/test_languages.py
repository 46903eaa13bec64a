"""The page's language by touch: of one browser, of all its tabs, and of the table."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Show
from tests.waiting import DEADLINE

pytestmark = pytest.mark.browser


def speaks(page: Page, language: str) -> None:
    """Wait until a page is in a language, and follows the table."""
    expect(page.locator("html")).to_have_attribute("lang", language)
    page.wait_for_selector("body[data-seq]")


def test_a_screens_own_language_holds_in_all_its_tabs(show: Show, chromium: Browser) -> None:
    screen = show(lambda felt: felt.to_setting())
    context = chromium.new_context(viewport={"width": 800, "height": 480}, has_touch=True)
    context.set_default_timeout(1000 * DEADLINE)
    page, other = context.new_page(), context.new_page()
    for tab in (page, other):
        tab.goto(screen.page.url)
    page.bring_to_front()  # a tab in the background is drawn once a second
    speaks(page, "en")
    page.locator("[data-open=more-dialog]").tap()
    page.locator("[data-open=screen-dialog]").tap()
    page.locator("[data-language=zh_Hant]").tap()
    speaks(page, "zh-Hant")
    speaks(other, "zh-Hant")
    screen.felt.do("next")
    expect(page.locator("#bar .stage")).to_have_text("攤牌")
    expect(other.locator("#bar .stage")).to_have_text("攤牌")
    page.locator("[data-open=more-dialog]").tap()
    page.locator("[data-open=screen-dialog]").tap()
    expect(page.locator("[data-language=zh_Hant]")).to_have_attribute("aria-pressed", "true")
    page.locator("[data-language='']").tap()
    speaks(page, "en")
    speaks(other, "en")
    context.close()
    assert screen.trouble == []


def test_a_screen_follows_the_tables_language(show: Show) -> None:
    screen = show()
    speaks(screen.page, "en")
    screen.felt.do("set_house", reason="The floor asked", language="es")
    speaks(screen.page, "es")
    screen.felt.deal()
    expect(screen.page.locator("#bar .stage")).to_have_text("Reparto")
    assert screen.trouble == []
