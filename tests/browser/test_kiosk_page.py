"""The page as the screen at the table has it: what only that screen does."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Show

pytestmark = pytest.mark.browser

LEAVE = """(address) => {
  const link = document.createElement("a");
  link.href = address;
  document.body.append(link);
  addEventListener("click", (event) => event.preventDefault());
  link.click();
  return link.href;
}"""


def test_the_screen_stays_the_screen_on_the_other_page_of_this_machine(show: Show) -> None:
    """Training has a name and cookies of its own: without being told, its page would acknowledge nothing."""
    screen = show(own=True)
    here = re.sub(r"\?.*", "", screen.page.url)
    assert screen.page.evaluate(LEAVE, "http://localhost:8014/") == "http://localhost:8014/", "not at a desk"
    screen.page.goto(f"{here}?kiosk")
    screen.wait_for("body[data-seq]")
    assert screen.page.evaluate(LEAVE, "http://localhost:8014/") == "http://localhost:8014/?kiosk="
    assert screen.page.evaluate(LEAVE, f"{here}menu") == f"{here}menu", "a page of its own has the cookie"
