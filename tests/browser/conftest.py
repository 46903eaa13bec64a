"""A real Chromium, a real journal, a real page server, and the table's socket."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from dealer_ui.app import Settings, create_app
from dealer_ui.command import SOCKET
from tests.browser.chrome import ABSENT, CHROMIUM, launched
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.served import served
from tests.patience import A_MINUTE, patience, until

expect.set_options(timeout=A_MINUTE / 2 * 1000)  # what is promised sooner says so itself

SIZES = {"kiosk": (800, 480), "desk": (1280, 720)}


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(ABSENT)
    with sync_playwright() as playwright, launched(playwright) as browser:
        yield browser


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
        self.process = subprocess.Popen([sys.executable, "-m", "firmware.app", *arguments])
        deadline = time.monotonic() + patience(20)
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(self.address, timeout=5):
                    return
            except OSError:  # nobody listens yet, or answers too slowly
                time.sleep(0.05)
        pytest.fail("the page did not start")

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

    def wait_for(self, selector: str, within: float = 5.0) -> None:
        """Wait until something is there. (A script to wait on would be refused by the page's own policy.)"""
        self.page.wait_for_selector(selector, state="attached", timeout=patience(within) * 1000)

    def until(self, so: Callable[[], object], within: float = 5.0) -> None:
        """Wait until something is so, while the page goes on."""
        until(so, within, lambda seconds: self.page.wait_for_timeout(seconds * 1000))

    def wait_for_phase(self, phase: str) -> None:
        self.wait_for(f"body[data-phase='{phase}']")

    def wait_for_amount(self, amount: str) -> None:
        self.wait_for(f".amount b:text-is('{amount}')")


Show = Callable[..., Screen]


@pytest.fixture
def show(chromium: Browser, tmp_path: Path) -> Iterator[Show]:
    """Opens a window on a felt: `show(prepare, size=..., **felt)`, where `prepare` plays the felt to a state.

    `killable`: the server is `feltwatch ui` as a process of its own.
    """
    undo = ExitStack()

    def open_window(
        prepare: Callable[[Felt], object] = lambda felt: None,
        size: str = "kiosk",
        killable: bool = False,
        **made: Any,
    ) -> Screen:
        felt = Felt(tmp_path / "felt", **made)
        undo.callback(felt.journal.close)
        prepare(felt)
        came = undo.enter_context(felt.answering())
        process = PageServer(felt.folder) if killable else None
        if process:
            undo.callback(process.kill)
            process.start()
            address = process.address
        else:
            app = create_app(Settings(felt.folder, felt.folder / SOCKET))
            address = f"http://127.0.0.1:{undo.enter_context(served(app))}/"
        width, height = SIZES[size]
        page = chromium.new_page(viewport={"width": width, "height": height}, has_touch=True)
        undo.callback(page.close)
        screen = Screen(felt, page, came, process=process)
        page.on("pageerror", lambda error: screen.trouble.append(str(error)))
        page.on("console", lambda said: screen.trouble.append(said.text) if said.type == "error" else None)
        page.goto(address)
        return screen

    with undo:
        yield open_window
