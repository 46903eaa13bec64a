"""Single pages of the set-up by touch: a session's end, the clock, PINs that are wrong or refused."""

from __future__ import annotations

import json
import os
import re
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.services import services
from firmware.access.sessions import SESSION_S
from firmware.record.journal.journal import JournalReader
from tests.browser.conftest import FreshWindow, Show
from tests.browser.dealer import PIN, key_pin
from tests.dealer_ui.house import config as small_table
from tests.dealer_ui.panel import Panel
from tests.dealer_ui.served import served
from tests.firmware.running_table import Table

pytestmark = pytest.mark.browser


def sign_on(page: Page) -> None:
    """Key the PIN on the page that asks for it."""
    key_pin(page, PIN, "ada")
    expect(page).to_have_url(re.compile("/set-up$"))


@pytest.mark.sampled
def test_a_session_is_warned_of_before_it_is_over_and_then_the_screen_is_the_dealers(
    fresh_window: FreshWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time passes only as told, for the sessions and for the page, which asks for them every twenty seconds."""
    now = [0.0]
    with running(tmp_path) as (table, app, port):
        table.do(f'{{"do":"list_person","person":"Ada","role":"technician","new_pin":"{PIN}"}}')
        monkeypatch.setattr(services(app).sessions, "_clock", lambda: now[0])
        page = fresh_window(port)
        page.clock.install()
        page.goto(f"http://127.0.0.1:{port}/set-up")
        sign_on(page)
        expect(page.locator("#session")).to_contain_text("Ada")
        warned = page.locator("#session-ends")
        expect(warned).to_be_hidden()
        now[0] += SESSION_S - 9
        page.reload()
        expect(warned).to_be_visible()
        page.locator("[data-stay]").tap()
        expect(warned).to_be_hidden()
        page.locator("[data-lock]").first.tap()
        expect(page).to_have_url(re.compile(f":{port}/$"))
        expect(page.locator("#session")).to_be_hidden()
        page.goto(f"http://127.0.0.1:{port}/set-up")
        sign_on(page)
        expect(page.locator("#session")).to_contain_text("Ada")
        now[0] += SESSION_S
        page.clock.fast_forward(20_000)  # no timer fires twice: a request's limit begins with its request
        expect(page).to_have_url(re.compile("/pin"))


@pytest.fixture
def clock_unit(tmp_path: Path) -> Iterator[tuple[Path, list[dict[str, str]]]]:
    """What stands where the root unit stands: it takes every time but one."""
    asked: list[dict[str, str]] = []

    class Unit(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(json.loads(self.rfile.readline()))
            sound = not asked[-1]["date"].startswith("2026-13")
            self.wfile.write(json.dumps({"ok": sound, "why": "" if sound else "time"}).encode())

    path = tmp_path / "clock.sock"
    zone = os.environ.get("TZ")
    with socketserver.ThreadingUnixStreamServer(str(path), Unit) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield path, asked
        server.shutdown()
        thread.join()
    os.environ.pop("TZ", None)
    if zone is not None:
        os.environ["TZ"] = zone
    time.tzset()


def test_date_time_and_zone_are_set_by_touch_and_the_record_says_who_set_what(
    show: Show, clock_unit: tuple[Path, list[dict[str, str]]]
) -> None:
    unit, asked = clock_unit
    screen = show(lambda felt: Panel(felt, clock_unit=unit), own=True, set_up=False)
    page, felt = screen.page, screen.felt
    root = page.url.partition("/set-up")[0]
    page.goto(f"{root}/set-up/clock")
    for keyed in ("202613012130", "202611222130"):
        page.locator("[data-open=wrong]").tap()
        for figure in keyed:
            page.locator(f"#wrong [data-key='{figure}']").tap()
        page.locator("#wrong [data-done]").tap()
        if keyed.startswith("202613"):
            expect(page.locator("#error")).to_contain_text("That is no date and time")
            assert lies_on_top(page, "#error"), "the reason lies above the dialog"
            page.locator("#wrong [data-close]").tap()
            page.reload()
    screen.until(lambda: len(asked) == 2)
    assert asked[1] == {"date": "2026-11-22", "time": "21:30", "zone": ""}
    expect(page.locator("#wrong")).to_be_hidden()
    page.locator("a[href='/set-up/clock/zone']").tap()
    page.locator("a[href$='of=Europe']").tap()
    madrid = page.locator("[data-zone='Europe/Madrid']")
    madrid.wait_for()
    page.wait_for_load_state()  # its script hears touches then
    madrid.tap()
    expect(page.locator(".foot a[href$=zone]")).to_contain_text("Europe/Madrid")
    rows = [entry for entry in JournalReader(felt.folder).events_since(0) if entry.type == "clock_set"]
    assert len(rows) == 2
    assert rows[-1].event.to_zone == "Europe/Madrid"  # type: ignore[attr-defined]
    assert not any("timedatectl" in text for text in (page.content(),))


@contextmanager
def running(tmp_path: Path) -> Iterator[tuple[Table, Flask, int]]:
    """Yield a table process, its page's application, and where that is served."""
    table = Table(small_table(tmp_path))
    try:
        app = create_app(Settings(table.config.data, table.config.socket))
        with served(app) as port:
            yield table, app, port
    finally:
        table.stop()


def lies_on_top(page: Page, selector: str) -> bool:
    """Say whether what is painted there is this: what lies outside a dialog takes no touch, but may be above it."""
    part = page.locator(selector)
    seen = cv2.imdecode(np.frombuffer(part.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    assert seen is not None
    colour = part.evaluate("(e) => getComputedStyle(e).backgroundColor.match(/[0-9]+/g).map(Number)")
    off = np.abs(seen.astype(int) - np.array(colour[2::-1])).max(axis=2)
    return float((off < 12).mean()) > 0.4


@pytest.mark.sampled
def test_a_camera_job_that_does_not_end_is_given_up_with_a_sentence(show: Show) -> None:
    page = show(Panel, own=True, set_up=False).page
    page.route("**/command", lambda route: route.fulfill(json={"ok": True, "job": 7}))
    page.route("**/setup/look", lambda route: route.fulfill(json={"ok": False, "error": "no picture"}))
    page.route(
        "**/setup/job/7",
        lambda route: route.fulfill(json={"ok": True, "state": "running", "done": 1, "of": 3}),
    )
    page.clock.install()
    page.goto(page.url.partition("/set-up")[0] + "/setup/camera")
    with page.expect_response("**/setup/job/7"):
        page.locator("[data-order].go").tap()
    expect(page.locator("#error")).to_be_hidden()
    page.clock.fast_forward(121_000)
    expect(page.locator("#error")).to_contain_text("could not reach the table")
    expect(page.locator("body[data-sending]")).to_have_count(0)


@pytest.mark.sampled
def test_why_a_new_pin_is_refused_is_read_above_the_keypad_that_asks_again(
    fresh_window: FreshWindow, tmp_path: Path
) -> None:
    with running(tmp_path) as (_table, _app, port):
        page = fresh_window(port)
        page.goto(f"http://127.0.0.1:{port}/set-up/people")
        page.locator("[data-add=technician]").tap()
        page.locator("#letters [data-letter=a]").tap()
        page.locator("#letters-done").tap()
        for _figure in range(6):
            page.locator("#new-pin [data-key='1']").tap()
        page.locator("#new-pin [data-done]").tap()
        expect(page.locator("#error")).to_contain_text("too easy to guess")  # before it is keyed once more
        expect(page.locator("#new-pin-title")).to_contain_text("A PIN for")
        assert lies_on_top(page, "#error")


@pytest.mark.sampled
def test_a_wrong_pin_is_counted_down_on_the_page(fresh_window: FreshWindow, tmp_path: Path) -> None:
    with running(tmp_path) as (table, _app, port):
        table.do(f'{{"do":"list_person","person":"Ada","role":"technician","new_pin":"{PIN}"}}')
        page = fresh_window(port)
        page.goto(f"http://127.0.0.1:{port}/set-up")
        waits: Any = page.locator("#pin-waits")
        page.locator("#who").tap()
        for letter in "ada":
            page.locator(f"#letters [data-letter='{letter}']").tap()
        page.locator("#letters-done").tap()
        for left in (2, 1, 0):
            for _ in range(4):
                page.locator("[data-key='1']").tap()
            page.locator("[data-done]").tap()
            expect(page.locator("#error")).to_contain_text("30 s" if left == 0 else f"has to wait: {left}")
        expect(waits).to_be_visible()
        before = waits.inner_text()
        expect(waits).not_to_have_text(before)
        expect(page.locator("[data-key='1']")).to_be_disabled()
        page.reload()
        expect(waits).to_be_visible()
        assert [e.type for e in table.reader.events_since(0)].count("pin_tried") == 3
