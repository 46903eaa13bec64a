"""A real Chromium, a real journal, a real page server, and the table's socket."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect

from dealer_ui.server.app import Settings, create_app
from firmware.record_folder import SOCKET
from tests.browser.shared_server import EMPTY, OWN_WORKER, SharedServer, shared_server
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE, until

expect.set_options(timeout=1000 * DEADLINE)

SIZES = {"kiosk": (800, 480), "desk": (1280, 720)}
each_size = pytest.mark.parametrize("size", ["kiosk", pytest.param("desk", marks=pytest.mark.exhaustive)])


class Window:
    """One browser window at one address, for one test after another: a window of its own costs seconds of processor.

    Nothing of a test is left to the next one but the static files in the cache. A test that installs a clock or a
    script in its window, or ends its server, opens a window of its own: `own_window`.
    """

    def __init__(self, browser: Browser, server: SharedServer) -> None:
        self._server = server
        self._context = browser.new_context(has_touch=True)
        self._context.set_default_timeout(1000 * DEADLINE)
        self._context.add_init_script(OWN_WORKER)
        self._page = self._context.new_page()

    @contextmanager
    def on(self, app: Flask, size: str = "kiosk") -> Iterator[tuple[Page, str]]:
        """Serve an application; yields the window, which is still elsewhere, and the application's address."""
        if self._page.is_closed():
            self._page = self._context.new_page()
        page = self._page
        width, height = SIZES[size]
        with self._server.serving(app) as port:
            page.set_viewport_size({"width": width, "height": height})
            try:
                yield page, f"http://127.0.0.1:{port}/"
            finally:
                self._clear(port)

    def _clear(self, port: int) -> None:
        if self._page.is_closed():
            return
        self._page.unroute_all()
        self._page.goto(f"http://127.0.0.1:{port}{EMPTY}")
        self._page.mouse.up()
        self._page.mouse.move(0, 0)
        self._page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self._context.clear_cookies()


@contextmanager
def listening_for_trouble(page: Page, trouble: list[str]) -> Iterator[None]:
    """Gather what the browser's console complains of."""

    def failed(error: Error) -> None:
        trouble.append(str(error))

    def said(message: ConsoleMessage) -> None:
        if message.type == "error":
            trouble.append(message.text)

    page.on("pageerror", failed)
    page.on("console", said)
    yield
    page.remove_listener("pageerror", failed)
    page.remove_listener("console", said)


def pausing(page: Page) -> Callable[[float], object]:
    """Return how to wait some seconds while a page's events come in."""
    return lambda seconds: page.wait_for_timeout(1000 * seconds)


def own_window(browser: Browser, size: str = "kiosk") -> Page:
    """Open a window with a profile of its own; anyone who opens it closes it."""
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, has_touch=True)
    page.set_default_timeout(1000 * DEADLINE)
    return page


@pytest.fixture(scope="session")
def window(chromium: Browser) -> Iterator[Window]:
    with shared_server() as server:
        yield Window(chromium, server)


FreshWindow = Callable[[int], Page]


@pytest.fixture
def fresh_window(chromium: Browser) -> Iterator[FreshWindow]:
    """Opens a window on a port; nothing in its console may complain."""
    said: list[str] = []
    with ExitStack() as undo:

        def open_window(port: int) -> Page:
            page = own_window(chromium)
            undo.callback(page.close)
            page.on("pageerror", lambda error: said.append(str(error)))
            page.goto(f"http://127.0.0.1:{port}/")
            return page

        yield open_window
    assert said == []


@dataclass
class PageServer:
    """`feltwatch ui` as a process of its own."""

    data: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        if not self.port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
        arguments = ["ui", "--data", str(self.data), "--port", str(self.port)]
        self.process = subprocess.Popen([sys.executable, "-m", "firmware.cli", *arguments])
        until(self._answers)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "the page's process ended"
        try:
            with urllib.request.urlopen(self.address, timeout=DEADLINE):
                return True
        except OSError:  # nobody listens yet
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


@dataclass
class Screen:
    """A browser window on the page of a felt, with a table that answers."""

    felt: Felt
    page: Page
    came: list[dict[str, Any]]
    """The commands that reached the table."""
    trouble: list[str] = field(default_factory=list)
    """What the browser's console complained of."""
    process: PageServer | None = None
    """The server, where it is a process of its own."""

    def wait_for(self, selector: str) -> None:
        """Wait until something is there. (A script to wait on would be refused by the page's own policy.)"""
        self.page.wait_for_selector(selector, state="attached")

    def until(self, so: Callable[[], object]) -> None:
        """Wait until something is so, while the page goes on."""
        until(so, pausing(self.page))

    def wait_for_news(self) -> None:
        """Wait until the page shows all that is in the record."""
        self.wait_for(f"body[data-seq='{self.felt.seq}']")

    def wait_for_phase(self, phase: str) -> None:
        self.wait_for(f"body[data-phase='{phase}']")

    def wait_for_amount(self, amount: str) -> None:
        self.wait_for(f".amount b:text-is('{amount}')")


Show = Callable[..., Screen]


@pytest.fixture
def show(chromium: Browser, window: Window, tmp_path: Path) -> Iterator[Show]:
    """Opens a window on a felt: `show(prepare, size=..., **felt)`, where `prepare` plays the felt to a state.

    `own`: a browser window of its own, for a test that changes more of it than the next test may find.
    `killable`: the server is `feltwatch ui` as a process of its own.
    """
    undo = ExitStack()

    def open_window(
        prepare: Callable[[Felt], object] = lambda felt: None,
        size: str = "kiosk",
        own: bool = False,
        killable: bool = False,
        **made: Any,
    ) -> Screen:
        felt = Felt(tmp_path / "felt", **made)
        undo.callback(felt.journal.close)
        prepare(felt)
        came = undo.enter_context(felt.answering())
        process = PageServer(felt.folder) if killable else None
        app = create_app(Settings(felt.folder, felt.folder / SOCKET))
        if process:
            undo.callback(process.kill)
            process.start()
            address = process.address
        elif own:
            address = f"http://127.0.0.1:{undo.enter_context(served(app))}/"
        if own or killable:
            page = own_window(chromium, size)
            undo.callback(page.close)
        else:
            page, address = undo.enter_context(window.on(app, size))
        screen = Screen(felt, page, came, process=process)
        undo.enter_context(listening_for_trouble(page, screen.trouble))
        page.goto(address)
        screen.wait_for("body[data-seq]")
        return screen

    with undo:
        yield open_window
