"""How long `feltwatch try` takes: to its first answer, to its page, and from the cards laid open to the settlement.

python -m tests.campaigns.browser.try_time --times 3
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from playwright.sync_api import Page, expect, sync_playwright

from firmware.terminal import say
from tests.browser.chrome import launched
from tests.browser.conftest import own_window
from tests.browser.test_try import Player, WebcamTable, tried
from tests.waiting import until


def one(page: Page, folder: Path) -> tuple[float, float, float]:
    """Play from the command to the first settled hand.

    Returns:
        Seconds to the first answer, to the page itself, and from the touch that says the cards lie open to the
        settlement on the page.
    """
    table = WebcamTable()
    table.camera.start()
    opened = 0.0

    def lay() -> None:
        nonlocal opened
        table.lay()
        opened = time.monotonic()

    try:
        began = time.monotonic()
        with tried(folder, table.camera.address) as address:
            answered = time.monotonic() - began
            until(lambda: _is_there(address))
            there = time.monotonic() - began
            page.goto(address)
            finger = Player(page, folder)
            finger.says("All is well: the felt can be calibrated.")
            finger.lay_felt()
            finger.play(lay)
            expect(page.locator(".amount b")).to_have_text("$3")
            return answered, there, time.monotonic() - opened
    finally:
        table.camera.stop()


def _is_there(address: str) -> bool:
    try:
        urlopen(address).close()
    except HTTPError:
        return False
    return True


def main() -> None:
    """Measure as often as is asked, and print each time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=3, help="how often")
    times = parser.parse_args().times
    say(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    with (
        sync_playwright() as playwright,
        launched(playwright) as browser,
        tempfile.TemporaryDirectory() as room,
    ):
        for number in range(times):
            page = own_window(browser, "desk")
            answered, there, settled = one(page, Path(room) / str(number))
            page.close()
            say(
                f"first answer {answered:.1f} s, page {there:.1f} s, cards laid to settlement {settled:.1f} s"
            )


if __name__ == "__main__":
    main()
