"""The states of the phones' page for photographs, and their golden pictures.

python -m tests.browser.photo_page     take them again; look at each before you commit it
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from dealer_ui.photo.app import create_app, desk
from dealer_ui.photo.codes import Codes
from firmware.photo.reading_process import PhotoReading
from tests.browser.chrome import launched
from tests.browser.golden import FOLDER as ALL_GOLDEN
from tests.browser.golden import keep
from tests.browser.visits import SETTLED, SIZES, small
from tests.dealer_ui.photo_phone import SECRET, example, read_here
from tests.dealer_ui.served import listening
from tests.waiting import DEADLINE

FOLDER: Final = ALL_GOLDEN / "photo"
LOOKED_AT: Final = ("phone", "desk")
Act = Callable[[Page], object]


@contextmanager
def phones_page() -> Iterator[tuple[str, str]]:
    """Serve the page as `feltwatch photo-page` does; yield its address and the code."""
    app = create_app(Codes(SECRET), secure=False, read=_read)
    with listening(app) as port:
        yield f"http://127.0.0.1:{port}", desk(app).codes.shown().code


def _read(data: bytes) -> PhotoReading:
    """Read the book's photograph, where its first byte says so as one in which less was seen."""
    reading = read_here(example())
    cards = list(reading.cards)
    if data == b"none":
        return replace(reading, cards=())
    if data == b"asked":
        cards[6] = replace(cards[6], sure=False)
        del cards[15]
        return replace(reading, cards=tuple(cards))
    return reading if data == b"settled" else read_here(data)


def sent(data: bytes, until: str) -> Act:
    """Send a picture, and wait for what comes of it."""

    def act(page: Page) -> None:
        field = page.locator("input[type=file]").nth(1)
        field.set_input_files({"name": "a.jpg", "mimeType": "image/jpeg", "buffer": data})
        page.wait_for_selector(until)
        page.wait_for_function("[...document.images].every((image) => image.complete)")

    return act


def _pad(page: Page) -> None:
    sent(b"asked", ".questions")(page)
    page.locator(".questions [data-number]").first.tap()


def _further(page: Page) -> None:
    sent(b"settled", ".settled")(page)
    page.evaluate("document.querySelector('main').scrollTop = 1e6")


STATES: Final[dict[str, Act]] = {
    "enter": lambda page: page.goto(f"{page.url}log-in"),
    "empty": lambda page: None,
    "refused": sent(b"no picture", "#error:not([hidden])"),
    "no cards": sent(b"none", ".warn"),
    "asked": sent(b"asked", ".questions"),
    "pad": _pad,
    "settled": sent(b"settled", ".settled"),
    "settled further": _further,
}


@dataclass(frozen=True)
class PageState:
    """One state in one size."""

    name: str
    page: Page
    path: Path

    def picture(self) -> bytes:
        """Return the screen as PNG."""
        self.page.evaluate(SETTLED)
        return self.page.screenshot(animations="disabled", caret="hide")


def seen(browser: Browser, size: str) -> Iterator[PageState]:
    """Go to each state."""
    width, height = SIZES[size]
    with phones_page() as (address, code):
        context = browser.new_context(
            viewport={"width": width, "height": height}, has_touch=True, reduced_motion="reduce"
        )
        context.set_default_timeout(1000 * DEADLINE)
        page = context.new_page()
        page.goto(f"{address}/log-in#{code}")
        page.wait_for_selector("#photo")  # once: only so many tries are let through
        for name, act in STATES.items():
            page.goto(address)
            if page.locator("[data-forget]").count():
                page.locator("[data-forget]").click()
                page.wait_for_selector(".send h2")
            act(page)
            yield PageState(name, page, FOLDER / f"{size}-{name.replace(' ', '-')}.png")
        context.close()


def main() -> None:
    """Take all golden pictures again."""
    with sync_playwright() as playwright, launched(playwright) as browser:
        for size in LOOKED_AT:
            for one in seen(browser, size):
                keep(one.path, small(one.picture()), (256,))


if __name__ == "__main__":
    main()
