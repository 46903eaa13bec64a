"""Debian's Chromium, headless: its engine by itself where that is installed, else the whole browser, as in the kiosk.

Both are built from one source. The engine takes two thirds of the processor time for a state of the page, and a third
for a new window. `make test-all` and `make golden` take the whole browser.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright

WHOLE: Final = Path("/usr/bin/chromium")
ENGINE: Final = Path("/usr/bin/chromium-headless-shell")
CHROMIUM: Final = Path(os.environ.get("FELTWATCH_CHROMIUM") or (ENGINE if ENGINE.exists() else WHOLE))
ARGUMENTS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-lcd-text",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--process-per-site",  # no process of its own for each page that is opened after another
]

LOADING: Final = """
const asleep = new CSSStyleSheet();
asleep.replaceSync("@media (scripting: enabled) { * { pointer-events: none !important } }");
document.adoptedStyleSheets.push(asleep);
document.addEventListener("DOMContentLoaded", () => {
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== asleep);
});
"""
"""A page's script is there before this event; a touch before it would do nothing. Playwright waits with each touch."""


def _guard(context: BrowserContext) -> None:
    context.add_init_script(LOADING)


@contextmanager
def launched(playwright: Playwright) -> Iterator[Browser]:
    """Start the browser, and end it."""
    browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
    browser.on("context", _guard)
    try:
        yield browser
    finally:
        browser.close()
