"""Parts of a running table are frozen and killed: nothing stays green, and nothing can be confirmed unseen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.services import services
from firmware.record.journal.journal import JournalReader
from firmware.table_client import TableLink
from tests.appliance.simulated_table import Hands, simulated_table
from tests.browser.conftest import PageServer
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.served import served
from tests.processes import children, command_line
from tests.waiting import DEADLINE, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ENDINGS = (signal.SIGSTOP, signal.SIGKILL)
"""Frozen, then killed: at the same table, which takes ten seconds of processor time to set up."""

OFFERED = "[data-command], [data-pad], [data-amount]"


class Box:
    """A simulated table, its page and its screen, each in processes of its own."""

    def __init__(self, folder: Path, browser: Browser, stack: ExitStack) -> None:
        self.data, self.room = folder / "data", folder / "room"
        self.room.mkdir()
        self._browser, self._stack = browser, stack
        self.table = self.start_table()
        self.hands = Hands(self.room, DEADLINE)
        self.reader = JournalReader(self.data)
        self.link = TableLink(self.data / "table.sock", timeout=DEADLINE)
        self.server = PageServer(self.data)
        stack.callback(self.server.kill)
        until(lambda: (self.room / "hands.sock").exists())
        self.server.start()
        self.pids_before = self.renderers()
        self._context = browser.new_context(viewport={"width": 800, "height": 480}, has_touch=True)
        self._context.set_default_timeout(1000 * DEADLINE)
        stack.callback(self._context.close)
        self.page = self.open()

    def start_table(self) -> subprocess.Popen[bytes]:
        return self._stack.enter_context(simulated_table(self.data, self.room, 1))

    def open(self) -> Page:
        """Open the kiosk's page, and wait until the table is well."""
        page = self._context.new_page()
        page.goto(f"{self.server.address}?kiosk")
        page.wait_for_selector("body[data-seq]:not([data-notlive])")
        return page

    def restart_screen(self) -> None:
        """Open the page again, as the kiosk's supervisor does."""
        with suppress(Exception):
            self.page.close()
        self.page = self.open()

    def renderers(self) -> list[int]:
        session = self._browser.new_browser_cdp_session()
        found = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        return [int(one["id"]) for one in found if one["type"] == "renderer"]

    def reading(self) -> int:
        (pid,) = [pid for pid in children(self.table.pid) if "spawn_main" in command_line(pid)]
        return pid

    def healthz(self) -> tuple[int, dict[str, Any]]:
        try:
            with urllib.request.urlopen(f"{self.server.address}healthz", timeout=DEADLINE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.load(refused)

    def check(self, name: str) -> dict[str, Any]:
        """Return what `feltwatch doctor --json` says of something."""
        command = [sys.executable, "-m", "firmware.cli", "doctor", "--json", "--data", str(self.data)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)
        found: list[dict[str, Any]] = json.loads(said.stdout)["checks"]
        return next(one for one in found if one["name"] == name)

    def log(self) -> str:
        return (self.room / "table.log").read_text(encoding="utf-8")

    def phase(self) -> str:
        return str(self.reader.recover()[0].phase)

    def devices(self) -> dict[str, bool | None]:
        """Return what the page shows of each device: well, not well, or unknown."""
        with urllib.request.urlopen(f"{self.server.address}view.json", timeout=DEADLINE) as answer:
            return {one["name"]: one["ok"] for one in json.load(answer)["devices"]}

    def goes_on(self) -> None:
        """The page is live again, and a press of white counts: it comes again where the screen was not yet there."""
        before = self.phase()

        def went_on() -> bool:
            if self.phase() != before:
                return True
            self.hands.press("next")
            return False

        self.page.wait_for_selector("body:not([data-notlive])")
        until(went_on, lambda seconds: self.page.wait_for_timeout(1000 * max(seconds, 0.6)))

    def press_in_vain(self, said: str) -> None:
        """White is pressed: the table says that it did nothing, and is where it was."""
        before, often = self.phase(), self.log().count(said)
        self.hands.press("next")
        until(lambda: self.log().count(said) > often)
        assert self.phase() == before

    def shows_not_live(self) -> None:
        """The page is grey, says since when, and offers nothing."""
        self.page.wait_for_selector("body[data-notlive]")
        self.page.wait_for_selector("#notlive", state="visible")
        bar = self.page.locator("#notlive")
        assert "Not live since" in (bar.text_content() or "")
        assert not [one for one in self.page.locator(OFFERED).all() if one.is_visible()]


@pytest.fixture
def box(feltwatch: list[str], chromium: Browser, tmp_path: Path) -> Iterator[Box]:
    with ExitStack() as stack:
        yield Box(tmp_path, chromium, stack)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Freeze a process until the context ends."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        _go_on(pid)


def _go_on(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def nothing_of_the_table_is_well(box: Box) -> None:
    box.shows_not_live()
    assert True not in box.devices().values()
    status, said = box.healthz()
    assert (status, said["ok"], said["table"]) == (503, False, False)


def test_a_frozen_or_killed_table_process_greys_the_page_until_it_or_another_goes_on(box: Box) -> None:
    with stopped(box.table.pid):
        nothing_of_the_table_is_well(box)
        assert box.check("table")["verdict"] == "bad"
    box.goes_on()
    until(lambda: box.healthz()[0] == 200)
    box.table.kill()
    nothing_of_the_table_is_well(box)
    box.start_table()
    box.goes_on()


@pytest.mark.sampled
def test_a_lost_page_process_greys_the_page_and_its_screen_confirms_nothing(box: Box) -> None:
    for ending in ENDINGS:
        assert box.server.process is not None
        process = box.server.process
        process.send_signal(ending)
        box.shows_not_live()
        until(lambda: "fault" in box.hands.lit())
        seq = box.reader.recover()[1]
        box.press_in_vain("next does nothing")
        assert all(entry.type != "hand_opened" for entry in box.reader.events_since(seq))
        if ending == signal.SIGSTOP:
            process.send_signal(signal.SIGCONT)
        else:
            process.wait()
            box.server.start()
        box.goes_on()


def test_a_follower_that_hangs_makes_the_page_not_live(chromium: Browser, tmp_path: Path) -> None:
    with ExitStack() as stack:
        felt = Felt(tmp_path / "felt")
        stack.callback(felt.journal.close)
        felt.to_settled()
        stack.enter_context(felt.answering())
        app = create_app(Settings(felt.folder, felt.folder / "table.sock"))
        port = stack.enter_context(served(app))
        page = chromium.new_page()
        stack.callback(page.close)
        page.set_default_timeout(1000 * DEADLINE)
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector("body[data-seq]:not([data-notlive])")
        live = services(app).live
        assert live._refreshing.acquire(timeout=DEADLINE)  # anyone who looks at the record hangs
        try:
            page.wait_for_selector("body[data-notlive='page']")
            assert page.locator("#notlive").is_visible()
        finally:
            live._refreshing.release()
        page.wait_for_selector("body:not([data-notlive])")


@pytest.mark.sampled
def test_a_lost_reading_process_is_a_fault_of_the_camera_until_it_is_replaced(box: Box) -> None:
    until(lambda: box.devices()["camera"] is True)
    for ending in ENDINGS:
        pid = box.reading()
        seq = box.reader.recover()[1]
        os.kill(pid, ending)
        until(partial(told_of_the_camera, box, seq))
        if ending == signal.SIGSTOP:
            until(lambda: box.devices()["camera"] is False)
            assert "fault" in box.hands.lit()
            _go_on(pid)
        until(lambda: box.devices()["camera"] is True)


def told_of_the_camera(box: Box, seq: int) -> bool:
    rows = box.reader.events_since(seq)
    return any(entry.type == "device_fault" and '"camera"' in entry.payload for entry in rows)


def test_a_lost_renderer_takes_no_press_lights_the_fault_lamp_and_is_told_once_the_screen_is_back(
    box: Box,
) -> None:
    nothing = "next does nothing: A push-button did nothing: the screen had shown nothing"
    for ending in ENDINGS:
        until(lambda: box.healthz()[1]["screen"] == "well")
        lost = [pid for pid in box.renderers() if pid not in box.pids_before]
        for pid in lost:
            os.kill(pid, ending)
        until(lambda: "fault" in box.hands.lit())
        assert "ready" not in box.hands.lit()
        box.press_in_vain(nothing)
        status, said = box.healthz()
        assert (status, said["screen"]) == (503, "silent")
        assert box.check("screen")["verdict"] != "ok"
        for pid in lost:
            _go_on(pid)
        if ending == signal.SIGKILL:
            box.restart_screen()
        box.page.wait_for_selector(".alert b:text-is('Not done')")
        box.goes_on()
        box.page.wait_for_selector(".alert b:text-is('Not done')", state="detached")


def more(page: Page) -> None:
    page.locator("[data-open=more-dialog]").tap()
    page.wait_for_selector("#more-dialog[open]")


def health(page: Page) -> None:
    page.goto(page.url.partition("?")[0] + "health")


def asleep(page: Page) -> None:
    page.evaluate("document.getElementById('asleep').showPopover()")


def acknowledges_no_view(response: Response) -> bool:
    if not response.url.endswith("/painted"):
        return False
    said: dict[str, Any] = response.request.post_data_json or {}
    return said.get("seq") is None and not said.get("leaving")


@pytest.mark.sampled
def test_a_screen_that_shows_something_else_takes_no_press(box: Box) -> None:
    until(lambda: None not in box.devices().values())  # later news would wake the screen
    for cover in (more, health, asleep):
        takes_no_press_under(box, cover)
        box.restart_screen()
    box.goes_on()


def takes_no_press_under(box: Box, cover: Callable[[Page], object]) -> None:
    def told() -> int:
        return box.log().count("did not show the table")

    with box.page.expect_response(acknowledges_no_view):
        cover(box.page)
    before, often = box.reader.recover()[0], told()
    box.hands.press("next")
    until(lambda: told() > often, lambda s: box.page.wait_for_timeout(1000 * s))
    after = box.reader.recover()[0]
    assert (after.hand, after.phase) == (before.hand, before.phase)
