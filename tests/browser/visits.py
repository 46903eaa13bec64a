"""One look at a state in a real Chromium, for all that is judged by it."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from unittest.mock import patch

import numpy as np
from flask import Flask
from playwright.sync_api import Browser, ConsoleMessage, Frame, Page, expect

from dealer_ui.server.app import Settings, create_app
from dealer_ui.text.i18n import COOKIE as LANGUAGE
from dealer_ui.web.services import services
from dealer_ui.web.sessions import COOKIE
from firmware import table_client
from firmware.record_folder import SOCKET
from firmware.table.events import PersonListed
from tests.browser.axe import barriers
from tests.browser.shared_server import OWN_WORKER, shared_server
from tests.browser.state import PIT, STICK, State
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.pseudo import unsaid
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE, until
from vision.base.arrays import Image

os.environ["TZ"] = "UTC"
time.tzset()  # pictures show times, by the zone of the box

MEMORY: Final = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where the records of the states are kept: nothing is asked of a disk here."""
SIZES: Final = {"kiosk": (800, 480), "desk": (1280, 720), "phone": (390, 844)}
SIGNED_ON: Final = "Moreno F."
SCROLLS: Final = frozenset({"phone"})
LAYOUT: Final = (Path(__file__).parent / "layout.js").read_text(encoding="utf-8")
FROZEN: Final = """(() => {
  const at = performance.now();
  performance.now = () => at;
  self.thaw = () => { delete performance.now; };
  Date.prototype.toTimeString = () => "21:46:08";
})()"""
"""No time passes in the page's own scripts: what counts down stands still, in a picture, too; "since" is one time."""
FORGET: Final = "try { localStorage.clear(); sessionStorage.clear(); } catch { /* about:blank has none */ }"
"""No settings and no drafts of the state before."""
SETTLED: Final = """() => document.fonts.ready.then(() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done()))))"""
WEIGHED: Final = """() => ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
  .map((entry) => [entry.name, entry.encodedBodySize])"""
HEADERS: Final = 600
"""Bytes that an answer's headers take, at the most: a browser does not tell them."""


@dataclass
class Visit:
    """What was seen of one state."""

    misfits: dict[str, list[str]] = field(default_factory=dict)
    """By size: what overflows, is cut or lies on something."""
    barriers: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    """What the browser's console complained of."""
    weight: int = 0
    """Bytes that the page takes over the line where nothing is cached, without camera pictures."""
    unsaid: list[str] = field(default_factory=list)
    """What of the page stands in no catalogue."""
    pictures: dict[str, bytes] = field(default_factory=dict)
    """By size: the screen as PNG."""


class Visitor:
    """Goes to states with one browser window: a window or an address of its own for each costs twice as much."""

    def __init__(self, browser: Browser) -> None:
        self._end = ExitStack()
        self._server = self._end.enter_context(shared_server())
        self._context = self._end.enter_context(browser.new_context(has_touch=True, reduced_motion="reduce"))
        self._context.add_init_script(OWN_WORKER)
        self._context.add_init_script(FORGET)
        self._context.add_init_script(FROZEN)
        self._context.set_default_timeout(1000 * DEADLINE)
        self._visit = self._next = Visit()
        self._page = self._context.new_page()
        self._page.on("framenavigated", self._arrived)
        self._page.on("pageerror", lambda error: self._visit.trouble.append(str(error)))
        self._page.on("console", self._heard)

    def _arrived(self, frame: Frame) -> None:
        self._visit = self._next  # what a page complains of while it is left does not count

    def _heard(self, said: ConsoleMessage) -> None:
        if is_trouble(said):
            self._visit.trouble.append(said.text)

    def close(self) -> None:
        """Close the window."""
        self._end.close()

    def visit(self, state: State, sizes: Sequence[str] = ("kiosk",), *, axe: bool = False) -> Visit:
        """Look at a state in these sizes."""
        with ExitStack() as stack:
            return self._look(state, stack, sizes, axe)

    def _look(self, state: State, stack: ExitStack, sizes: Sequence[str], axe: bool) -> Visit:
        felt = played(state, stack)
        app = create_app(
            Settings(
                felt.folder,
                felt.folder / SOCKET,
                training=state.training,
                pit=felt.folder / PIT,
                stick=felt.folder / STICK,
            )
        )
        self._page.goto("about:blank")  # the page of the state before follows this one no more
        serving = stack.enter_context(ExitStack())
        # a server that ends has an address of its own
        port = serving.enter_context(self._server.serving(app) if state.live else served(app))
        cookies = {LANGUAGE: state.language, COOKIE: signed_on(app, state, stack)}
        stack.callback(self._context.clear_cookies)
        self._context.add_cookies(
            [
                {"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}
                for name, value in cookies.items()
                if value
            ]
        )
        visit = self._next = Visit(unsaid=unsaid(app, state.path, cookies[COOKIE]))
        page = self._page
        self._resize(sizes[0])
        page.goto(f"http://127.0.0.1:{port}{state.path}")
        page.wait_for_selector(f"body[data-seq='{felt.seq}']")
        if cookies[COOKIE]:
            expect(page.locator("#session[hidden]")).to_have_count(0)  # who is signed on has come
        visit.weight = sum(
            size + HEADERS for address, size in page.evaluate(WEIGHED) if not _is_picture(address)
        )
        if not state.live:
            visit.trouble.clear()
            page.evaluate("() => thaw()")
            serving.close()
            page.wait_for_selector("#notlive", state="visible")
        state.act(page)
        expect(page.locator("dialog[open] [data-load]:empty")).to_have_count(0)  # the rules have come
        for size in sizes:
            self._resize(size)
            visit.misfits[size] = misfits(page, scrolls=size in SCROLLS)
            visit.pictures[size] = page.screenshot(animations="disabled", caret="hide")
        if axe:
            self._resize("kiosk")
            visit.barriers = barriers(page)
        if not state.live:
            visit.trouble.clear()  # that the server is gone
        return visit

    def _resize(self, size: str) -> None:
        width, height = SIZES[size]
        if self._page.viewport_size != {"width": width, "height": height}:
            self._page.set_viewport_size({"width": width, "height": height})


def misfits(page: Page, *, scrolls: bool = False) -> list[str]:
    """Return what of a page does not fit, a sentence each, once its styles and fonts have loaded.

    A link's page has its words before its styles. `scrolls`: the page may be longer than the screen.
    """
    page.wait_for_load_state()
    page.evaluate(SETTLED)
    return list(page.evaluate(LAYOUT, {"scrolls": scrolls}))


def played(state: State, stack: ExitStack) -> Felt:
    """Play a felt to a state, until the stack is closed."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    stack.callback(until, lambda: _removed(folder))  # a page that is being left may still be answered
    felt = Felt(folder, **state.table)
    stack.callback(felt.journal.close)
    if state.role:
        felt.say(PersonListed(SIGNED_ON, state.role, "0" * 16))
    state.play(felt)
    if state.answers:
        # on a machine that stands still for a second it answers late, and the page would close what a state has opened
        stack.enter_context(patch.object(table_client, "HEARTBEAT_WITHIN_S", DEADLINE))
        stack.enter_context(felt.answering())
    return felt


def _removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def signed_on(app: Flask, state: State, stack: ExitStack) -> str:
    """Return the token of the session that a state has, if any. Its time stands still, so that its picture is one."""
    if not state.role:
        return ""
    sessions = services(app).sessions
    stack.enter_context(patch.object(sessions, "_clock", lambda: 0.0))
    return sessions.begin({"session": "s", "role": state.role, "name": SIGNED_ON, "expires_s": 120})


def is_trouble(said: ConsoleMessage) -> bool:
    """Say whether the browser complained; that the table refused a command, or a look, is not trouble."""
    refused = (
        "/command",
        "/setup/look",
        "/trial",
        "/profiles/traditional",
        "/profiles/friday-game",
        "/profiles/_file",
    )
    return said.type == "error" and not said.location["url"].endswith(refused)


def _is_picture(address: str) -> bool:
    return "/captures/" in address or "/setup/picture/" in address


def small(png: bytes) -> Image:
    """Return a screen as it is kept: 400 pixels wide."""
    import cv2

    picture = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    share = 400 / picture.shape[1]
    return cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA).astype(np.uint8)
