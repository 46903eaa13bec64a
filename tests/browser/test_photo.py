"""How each state of the phones' page for photographs looks, and whether everybody can use it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.axe import barriers, has_axe
from tests.browser.golden import MOST, different, load
from tests.browser.photo_page import LOOKED_AT, seen
from tests.browser.visits import small

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("size", LOOKED_AT)
def test_every_state_of_the_phones_page_fits_has_no_barrier_and_looks_as_it_is_meant_to(
    chromium: Browser, size: str
) -> None:
    found = {}
    for one in seen(chromium, size):
        unlike = different(small(one.picture()), load(one.path))
        wide = one.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        found[one.name] = {
            "barriers": barriers(one.page) if has_axe() else [],
            "wider than the screen, px": [wide] if wide > 0 else [],
            "share unlike the golden picture": [unlike] if unlike > MOST else [],
        }
    assert {name: what for name, what in found.items() if any(what.values())} == {}
