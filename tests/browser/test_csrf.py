"""Another site, open in the same browser, tries to give commands and to read the page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Show, own_window
from tests.dealer_ui.felt import Felt
from tests.waiting import until

pytestmark = pytest.mark.browser


class EvilSite(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>a nice site</title><form method=post target=_self></form>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def elsewhere(chromium: Browser) -> Iterator[Page]:
    """A page of another site: `localhost` is none of 127.0.0.1's."""
    with ThreadingHTTPServer(("127.0.0.1", 0), EvilSite) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        page = own_window(chromium)
        page.goto(f"http://localhost:{server.server_port}/")
        yield page
        page.close()
        server.shutdown()


ASKS = """async (address) => {
  const order = JSON.stringify({ do: "next" });
  const asked = [];
  for (const given of [
    { mode: "no-cors", headers: { "Content-Type": "text/plain" } },
    { mode: "cors", headers: { "Content-Type": "application/json" } },
    { mode: "cors", headers: { "Content-Type": "application/json", "X-CSRF-Token": "guessed" } },
  ]) {
    try {
      const post = { method: "POST", body: order, credentials: "include" };
      asked.push((await fetch(address + "command", { ...post, ...given })).type);
    } catch { asked.push("refused"); }
  }
  return asked;
}"""

READS = """async (address) => {
  const read = [];
  for (const path of ["", "view.json", "events", "openapi.json"]) {
    try {
      const response = await fetch(address + path, { credentials: "include" });
      read.push((await response.text()).length);
    } catch { /* hidden */ }
  }
  return read;
}"""


def test_another_site_gives_no_command_and_reads_nothing(show: Show, elsewhere: Page) -> None:
    screen = show(Felt.to_settled)
    before = screen.felt.seq
    address = screen.page.url
    assert elsewhere.evaluate(ASKS, address) == ["refused"] * 3
    assert elsewhere.evaluate(READS, address) == []
    assert screen.came == []
    assert screen.felt.seq == before


def test_another_sites_form_is_refused(show: Show, elsewhere: Page) -> None:
    screen = show(Felt.to_settled)
    elsewhere.evaluate(
        """(address) => { const form = document.forms[0]; form.action = address; form.enctype = "text/plain";
        form.innerHTML = `<input name='{"do":"next","x":"' value='"}'>`; form.submit(); }""",
        f"{screen.page.url}command",
    )
    elsewhere.wait_for_url(f"{screen.page.url}command")
    assert "another site" in elsewhere.inner_text("body")
    assert screen.came == []


def test_the_page_is_shown_in_no_other_sites_frame(show: Show, elsewhere: Page) -> None:
    screen = show(Felt.to_settled)
    elsewhere.evaluate(
        "(address) => { const f = document.createElement('iframe'); f.src = address; document.body.append(f); }",
        screen.page.url,
    )
    frame = elsewhere.frames[-1]
    until(lambda: frame.url.startswith("chrome-error:"), lambda s: elsewhere.wait_for_timeout(1000 * s))
    assert frame.locator("[data-command]").count() == 0
