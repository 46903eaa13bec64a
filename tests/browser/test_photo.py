"""A phone: from the code on the touchscreen to a settlement; how each state of its page looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dealer_ui.photo.codes import Codes
from dealer_ui.server.app import Settings, create_app
from firmware.record_folder import SOCKET
from tests.browser.axe import barriers, has_axe
from tests.browser.golden import MAX_DIFFERENCE, different, load
from tests.browser.photo_page import LOOKED_AT, phones_page, seen, sent
from tests.browser.visits import SIZES, misfits, small
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.photo_phone import SECRET, example, with_place
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE

pytestmark = pytest.mark.browser

LIKE_OTHERS = frozenset({"no cards", "settled further"})
"""States that have nothing in them but what another state has."""


@pytest.mark.parametrize("size", [LOOKED_AT[0], pytest.param(LOOKED_AT[1], marks=pytest.mark.exhaustive)])
def test_every_state_of_the_phones_page_fits_has_no_barrier_and_looks_as_it_is_meant_to(
    chromium: Browser, size: str
) -> None:
    found = {}
    for one in seen(chromium, size):
        unlike = different(small(one.picture()), load(one.path))
        wide = one.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        found[one.name] = {
            "barriers": barriers(one.page) if one.name not in LIKE_OTHERS and has_axe() else [],
            "wider than the screen, px": [wide] if wide > 0 else [],
            "share unlike the golden picture": [unlike] if unlike > MAX_DIFFERENCE else [],
        }
    assert {name: what for name, what in found.items() if any(what.values())} == {}


def test_a_phone_comes_from_the_touchscreens_code_to_the_settlement_of_a_photograph(
    chromium: Browser, tmp_path: Path
) -> None:
    felt = Felt(tmp_path / "felt")
    felt.journal.close()
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    with phones_page() as (address, _code):
        settings = Settings(felt.folder, felt.folder / SOCKET, photo=f"{address}/", photo_secret=secret)
        with served(create_app(settings)) as port:
            for size in ("kiosk", "desk"):
                width, height = SIZES[size]
                screen = chromium.new_page(viewport={"width": width, "height": height})
                screen.set_default_timeout(1000 * DEADLINE)
                screen.goto(f"http://127.0.0.1:{port}/menu")
                screen.locator("a[href^='/photo']").click()
                expect(screen.locator(".address")).to_have_text(f"{address}/")
                shown = screen.locator(".figures").inner_text()
                assert misfits(screen) == []
                assert not has_axe() or barriers(screen) == []
                screen.close()
        width, height = SIZES["phone"]
        context = chromium.new_context(viewport={"width": width, "height": height}, has_touch=True)
        context.set_default_timeout(1000 * DEADLINE)
        phone = context.new_page()
        phone.goto(address)
        for keyed in ("0000 0000" if shown != "0000 0000" else "1111 1111", shown):
            phone.fill("[name=code]", keyed)
            phone.locator("text=Go on").tap()
        sent(with_place(example("two-hands")), ".settled")(phone)
        expect(phone.locator(".settled h3")).to_contain_text("seat 1 pays seat 2")
        chip = phone.locator(".hands .card").first
        expect(chip).to_have_attribute("aria-label", "6♠ Card 21: six of spades, seat 1, front")
        chip.tap()
        phone.locator("#pad [data-card='4d']").first.tap()
        expect(phone.locator(".hands .text").first).to_contain_text("three fours")
        with phone.expect_download() as download:
            phone.locator("a[download]").first.tap()
        assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
        phone.locator("[data-forget]").tap()
        expect(phone.locator(".send h2")).to_be_visible()
        context.close()
    assert Codes(SECRET).matches(shown)
