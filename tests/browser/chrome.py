"""Debian's Chromium, headless, as the kiosk has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Playwright

CHROMIUM: Final = Path(os.environ.get("FELTWATCH_CHROMIUM", "/usr/bin/chromium"))
ABSENT: Final = f"{CHROMIUM} is not installed (apt-get install chromium, or name one in FELTWATCH_CHROMIUM)"
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
]


@contextmanager
def launched(playwright: Playwright) -> Iterator[Browser]:
    """Start the browser, and end it."""
    browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
    try:
        yield browser
    finally:
        browser.close()
