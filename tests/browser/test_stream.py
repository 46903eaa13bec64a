"""The stream in a real Chromium: one a browser however many tabs, and what happens when it breaks."""

from __future__ import annotations

import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.services import StreamLimiter, services
from dealer_ui.web.stream import HEARTBEAT_S
from firmware.record_folder import SOCKET
from tests.browser.conftest import PageServer, Show, own_window, pausing
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.browser


class CountingLimiter(StreamLimiter):
    """Counts the streams that are open."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.open = 0
        self.begun = 0

    def take(self, person: str = "") -> bool:
        taken = super().take(person)
        self.open += taken
        self.begun += taken
        return taken

    def give_back(self, person: str = "") -> None:
        super().give_back(person)
        self.open -= 1


class Table:
    """A felt, its page's server, and a browser with as many tabs as are wanted."""

    def __init__(self, felt: Felt, address: str, streams: CountingLimiter, context: BrowserContext) -> None:
        self.felt = felt
        self.address = address
        self.streams = streams
        self.context = context

    def tab(self) -> Page:
        page = self.context.new_page()
        page.goto(self.address)
        page.wait_for_selector(f"body[data-seq='{self.felt.seq}']")
        return page


Lay = Callable[[int], Table]


@pytest.fixture
def lay(chromium: Browser, tmp_path: Path) -> Iterator[Lay]:
    with ExitStack() as stack:

        def lay_out(most: int) -> Table:
            felt = Felt(tmp_path / "felt")
            stack.callback(felt.journal.close)
            felt.to_settled()
            stack.enter_context(felt.answering())
            app = create_app(Settings(felt.folder, felt.folder / SOCKET))
            streams = CountingLimiter(most)
            object.__setattr__(services(app), "streams", streams)
            port = stack.enter_context(served(app))
            context = chromium.new_context(viewport={"width": 800, "height": 480}, has_touch=True)
            stack.callback(context.close)
            context.set_default_timeout(1000 * DEADLINE)
            return Table(felt, f"http://127.0.0.1:{port}/", streams, context)

        yield lay_out


def one_stream(table: Table) -> bool:
    """Say whether all follow by one stream. On a busy machine it may break for a moment, and begin again."""
    return table.streams.open == 1


def test_five_tabs_follow_by_one_stream_that_outlives_the_tab_that_began_it_and_ends_with_the_last(
    lay: Lay,
) -> None:
    table = lay(32)
    tabs = [table.tab() for _ in range(5)]
    until(lambda: one_stream(table), pausing(tabs[1]))
    table.felt.pay()
    for tab in tabs:
        tab.wait_for_selector(f"body[data-seq='{table.felt.seq}']")
    tabs[0].close()
    tabs[2].close()
    table.felt.pay()
    for tab in (tabs[1], tabs[3], tabs[4]):
        tab.wait_for_selector(f"body[data-seq='{table.felt.seq}']")
        expect(tab.locator("#notlive")).to_be_hidden()
    late = table.tab()
    late.wait_for_timeout(3000)
    expect(late.locator("#notlive"), "the heart beats for a tab that came later, too").to_be_hidden()
    until(lambda: one_stream(table), pausing(tabs[1]))
    for tab in (tabs[1], tabs[3], tabs[4], late):
        tab.close()
    until(lambda: table.streams.open == 0)


def test_a_browser_for_which_there_is_no_stream_says_why_and_comes_in_once_there_is(lay: Lay) -> None:
    table = lay(1)
    assert table.streams.take()
    page = table.context.new_page()
    page.goto(table.address)
    page.wait_for_selector("#notlive", state="visible")
    expect(page.locator("#notlive")).to_contain_text("Too many screens follow this table. Close one.")
    table.streams.give_back()
    page.wait_for_selector("#notlive", state="hidden")
    table.felt.pay()
    page.wait_for_selector(f"body[data-seq='{table.felt.seq}']")


def test_a_browser_without_shared_workers_follows_too(lay: Lay) -> None:
    table = lay(32)
    table.context.add_init_script("delete window.SharedWorker")
    page = table.tab()
    assert page.evaluate("typeof SharedWorker") == "undefined"
    table.felt.pay()
    page.wait_for_selector(f"body[data-seq='{table.felt.seq}']")


def test_a_page_says_that_it_is_not_live_after_less_than_three_seconds_of_silence() -> None:
    script = (files("dealer_ui") / "static" / "stream.js").read_text(encoding="utf-8")
    (limit,) = re.findall(r"QUIET_LIMIT_MS = (\d+);", script)
    assert 2 * 1000 * HEARTBEAT_S < int(limit) < 3000


def becomes_not_live(page: Page, after: Callable[[], object]) -> None:
    """Do something; the page must say "not live"."""
    after()
    page.wait_for_selector("#notlive", state="visible")


@pytest.mark.exhaustive  # test_glance.py kills one, too
def test_a_page_process_that_is_killed_is_told_at_once_and_what_was_missed_is_caught_up(show: Show) -> None:
    screen = show(Felt.to_settled, killable=True)
    page, process = screen.page, screen.process
    assert process is not None
    screen.wait_for_news()
    becomes_not_live(page, process.kill)
    for _ in range(3):
        screen.felt.pay()
    process.start()
    screen.wait_for(f"body[data-seq='{screen.felt.seq}']:not([data-notlive])")
    expect(page.locator("#notlive")).to_be_hidden()


@pytest.mark.sampled
def test_a_page_process_that_hangs_is_told(show: Show) -> None:
    screen = show(Felt.to_settled, killable=True)
    page, server = screen.page, screen.process
    assert server is not None
    assert server.process is not None
    process = server.process
    screen.wait_for_news()
    try:
        becomes_not_live(page, lambda: process.send_signal(signal.SIGSTOP))
        screen.felt.pay()
    finally:
        process.send_signal(signal.SIGCONT)
    screen.wait_for(f"body[data-seq='{screen.felt.seq}']:not([data-notlive])")


@pytest.mark.sampled
def test_a_line_that_swallows_everything_is_told(chromium: Browser, tmp_path: Path) -> None:
    """Between browser and server stands a line that stays open and carries nothing any more."""
    felt = Felt(tmp_path / "felt")
    felt.to_settled()
    server = PageServer(felt.folder)
    server.start()
    with felt.answering(), Line(server.port) as line:
        page = own_window(chromium)
        page.goto(f"http://127.0.0.1:{line.port}/")
        page.wait_for_selector(f"body[data-seq='{felt.seq}']")
        becomes_not_live(page, line.swallow)
        felt.pay()
        line.carry()
        page.wait_for_selector(f"body[data-seq='{felt.seq}']:not([data-notlive])")
        page.close()
    server.kill()
    felt.journal.close()


class Line:
    """Carries bytes between a browser and a server's port, until it is told to swallow them."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._carries = threading.Event()
        self._carries.set()
        self._open: list[socket.socket] = []

    def swallow(self) -> None:
        """Carry nothing from now on; nobody is told."""
        self._carries.clear()

    def carry(self) -> None:
        """Carry again."""
        self._carries.set()

    def __enter__(self) -> Line:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._carries.set()
        self._listening.close()
        for one in self._open:
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                return
            self._open += [near, far]
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=ends, daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self._carries.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return
