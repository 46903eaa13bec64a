"""The book's search, asked as its page asks the built index: what people call a thing leads to the page that has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

from tests.waiting import DEADLINE

SOUGHT: Final = {
    "undo": "dealer/hand",
    "take back": "dealer/hand",
    "mistake": "dealer/hand",
    "wrong card": "dealer/questions",
    "frozen screen": "dealer/questions",
    "buy in": "dealer/between",
    "mute": "dealer/between",
    "reset PIN": "floor/pins",
    "forgot PIN": "floor/pins",
    "locked out": "floor/pins",
    "replay": "floor/disputes",
    "USB stick": "floor/disputes",
    "reopen a hand": "floor/correction",
    "house rules": "floor/rules",
    "order list": "technician/parts",
    "cut list": "technician/assembly",
    "GPIO": "technician/wiring",
    "update": "install",
    "roll back": "install",
    "time zone": "technician/first-run",
    "camera moved": "calibration",
    "missing card": "calibration",
    "self-test": "technician/acceptance",
    "backup": "technician/maintenance",
    "disk full": "technician/maintenance",
    "verify": "auditor/check",
    "threat model": "security",
}
"""What is typed, and the page that the first result is on."""
FIRST: Final = (
    "(all) => all.map((words) => Search._performSearch(...Search._parseQuery(words)).at(-1)?.[0] ?? '')"
)
"""What the page lists first of what it finds: it takes its results from the end."""
FOUND: Final = (
    "() => /found|did not match/i.test(document.querySelector('.search-summary')?.textContent ?? '')"
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
]


@pytest.fixture(scope="module")
def search_page(chromium: Browser) -> Iterator[Page]:
    with closing(chromium.new_page()) as page:
        page.set_default_timeout(1000 * DEADLINE)
        yield page


def _results(page: Page, book: Path, words: str) -> list[str]:
    """Return the pages that are found, the best first."""
    page.goto(f"{(book / 'search.html').as_uri()}?q={quote(words)}")
    page.wait_for_function(FOUND)
    links = page.locator("ul.search > li > a").evaluate_all("(all) => all.map((a) => a.getAttribute('href'))")
    return [re.sub(r"\.html.*", "", link) for link in links]


def test_what_people_call_a_thing_leads_to_its_page(book: Path, search_page: Page) -> None:
    asked = next(iter(SOUGHT))
    assert _results(search_page, book, asked)[0] == SOUGHT[asked]
    first = search_page.evaluate(FIRST, list(SOUGHT))  # a page that lists them all costs half a second
    assert dict(zip(SOUGHT, first, strict=True)) == SOUGHT


def test_a_task_is_found_before_reports_and_folders(book: Path, search_page: Page) -> None:
    found = _results(search_page, book, "camera")
    behind = [page.startswith(("developer/", "security")) or page.endswith("-report") for page in found]
    assert found
    assert any(behind)
    assert not any(behind[:5])


def test_a_command_is_read_whole_and_can_be_copied(book: Path, search_page: Page) -> None:
    search_page.set_viewport_size({"width": 390, "height": 844})
    search_page.goto((book / "technician/pit.html").as_uri())
    search_page.wait_for_selector("button.copybtn")
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
    assert search_page.locator(".highlight-none pre").evaluate_all(cut) == []
    commands = search_page.locator(".highlight-none").count()
    assert search_page.locator(".highlight-none button.copybtn").count() == commands > 10
