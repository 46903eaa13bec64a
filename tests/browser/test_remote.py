"""Somebody at another machine reads a past hand, in a browser with its own rules about TLS, forms and cookies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dealer_ui.remote import app as remote
from tests.browser.visits import SIZES
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import played
from tests.dealer_ui.remote_house import NAME, PASSPHRASE, remote_app, served
from tests.waiting import DEADLINE

pytestmark = pytest.mark.browser


@contextmanager
def visit(chromium: Browser, folder: Path) -> Iterator[tuple[Page, str]]:
    felt = Felt(folder / "felt")
    played(felt)
    felt.deal()
    felt.journal.close()
    width, height = SIZES["desk"]
    with served(remote_app(felt.folder, folder / "secrets"), folder / "secrets") as there:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, ignore_https_errors=True, java_script_enabled=False
        )
        context.set_default_timeout(1000 * DEADLINE)
        yield context.new_page(), f"https://127.0.0.1:{there.port}"
        context.close()


def test_a_person_logs_in_reads_a_hand_and_logs_out_in_a_browser_without_scripts(
    chromium: Browser, tmp_path: Path
) -> None:
    with visit(chromium, tmp_path) as (page, address):
        page.goto(address)
        for passphrase in ("a wrong passphrase", PASSPHRASE):
            page.fill("[name=name]", NAME)
            page.fill("[name=passphrase]", passphrase)
            page.locator("text=Log in").click()
            if passphrase != PASSPHRASE:
                expect(page.locator("[role=alert]")).to_have_text("Name or passphrase is wrong.")
        expect(page).to_have_url(f"{address}/review")
        expect(page.locator(".hands li")).to_have_count(1)
        page.locator(".hands a").click()
        page.locator("text=Pictures").click()
        image = page.locator("svg.frame image").first
        box = image.bounding_box()
        assert box
        assert box["width"] > 300
        assert page.request.get(f"{address}{image.get_attribute('href')}").status == 200
        page.locator("text=Log out").click()
        expect(page).to_have_url(f"{address}/log-in")
        page.goto(f"{address}/review/1")
        expect(page).to_have_url(f"{address}/log-in")


def test_a_page_of_another_site_cannot_log_anybody_in(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with visit(chromium, tmp_path) as (page, address):
        lure = (
            f"<form method=post action='{address}/log-in'><input name=name value='{NAME}'>"
            f"<input name=passphrase value='{PASSPHRASE}'><button>A prize</button></form>"
        )
        for refused in (True, False):
            if not refused:
                monkeypatch.setattr(remote, "need_own_site", lambda: None)
            page.goto("about:blank")
            page.set_content(lure)
            page.locator("text=A prize").click()
            expect(page).to_have_url(f"{address}/log-in")
            page.wait_for_load_state()
            said = page.locator("text=This request comes from another site.")
            expect(said).to_have_count(int(refused))
