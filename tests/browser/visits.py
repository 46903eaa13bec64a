"""One look at each state in a real Chromium, shared by all tests that look at it."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from unittest.mock import patch

import numpy as np
from playwright.sync_api import Browser, ConsoleMessage, Response

from dealer_ui.app import Settings, create_app
from dealer_ui.command import SOCKET
from dealer_ui.i18n import COOKIE as LANGUAGE
from dealer_ui.services import services
from dealer_ui.sessions import COOKIE
from firmware.table import State as TableState
from firmware.table.events import PersonListed
from tests.browser.axe import barriers
from tests.browser.state import State
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.pseudo import unsaid
from tests.dealer_ui.served import served
from tests.patience import A_MINUTE
from vision.arrays import Image

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
})()"""
"""No time passes in the page's own scripts: what counts down stands still, in a picture, too."""
SETTLED: Final = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
)


@dataclass
class Visit:
    """What was seen of one state."""

    misfits: dict[str, list[str]] = field(default_factory=dict)
    """By size: what overflows, is cut or lies on something."""
    barriers: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    """What the browser's console complained of."""
    weight: int = 0
    """Bytes that the page took over the line, without camera pictures."""
    unsaid: list[str] = field(default_factory=list)
    """What of the page stands in no catalogue."""
    table: TableState | None = None
    """What the record says there."""
    picture: bytes = b""
    """The kiosk's screen as PNG."""


class Visitor:
    """Goes to states with one browser window."""

    def __init__(self, browser: Browser) -> None:
        self._context = browser.new_context(has_touch=True, reduced_motion="reduce")
        self._context.add_init_script(FROZEN)
        self._context.set_default_timeout(
            A_MINUTE * 1000
        )  # no promise is tried here: the machine may be busy
        self._seen: dict[str, Visit] = {}
        self._visit = Visit()
        self._taken: list[Response] = []
        self._page = (
            self._context.new_page()
        )  # one for all states: a tab of its own for each takes as long again
        self._page.on("pageerror", lambda error: self._visit.trouble.append(str(error)))
        self._page.on("console", self._heard)
        self._page.on("response", lambda response: self._taken.append(response))

    def _heard(self, said: ConsoleMessage) -> None:
        if is_trouble(said):
            self._visit.trouble.append(said.text)

    def _leave(self) -> None:
        self._visit = Visit()  # what a page complains of as it is left is nobody's
        self._page.goto("about:blank")

    def close(self) -> None:
        """Close the window."""
        self._context.close()

    def visit(self, state: State, *, axe: bool = True) -> Visit:
        """Look at a state, or remember what was seen of it."""
        if state.name not in self._seen:
            with ExitStack() as stack:
                self._seen[state.name] = self._look(state, stack, axe)
        return self._seen[state.name]

    def _look(self, state: State, stack: ExitStack, axe: bool) -> Visit:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=MEMORY)))
        felt = Felt(folder, **state.table)
        stack.callback(felt.journal.close)
        if state.role:
            felt.say(PersonListed(SIGNED_ON, state.role, "0" * 16))
        state.play(felt)
        if state.answers:
            stack.enter_context(felt.answering())
        serving = stack.enter_context(ExitStack())
        app = create_app(Settings(folder, folder / SOCKET, training=state.training))
        port = serving.enter_context(served(app))
        token = ""
        if state.role:
            stack.enter_context(
                patch.object(services(app).sessions, "_clock", lambda: 0.0)
            )  # so the picture is one
            answer = {"session": "s", "role": state.role, "name": SIGNED_ON, "expires_s": 120}
            token = services(app).sessions.begin(answer)
            self._context.add_cookies([{"name": COOKIE, "value": token, "domain": "127.0.0.1", "path": "/"}])
            stack.callback(self._context.clear_cookies)
        if state.language:
            self._context.add_cookies(
                [{"name": LANGUAGE, "value": state.language, "domain": "127.0.0.1", "path": "/"}]
            )
            stack.callback(self._context.clear_cookies)
        page = self._page
        stack.callback(self._leave)
        visit = self._visit = Visit(unsaid=unsaid(app, state.path, token), table=felt.state)
        self._taken.clear()
        width, height = SIZES["kiosk"]
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"http://127.0.0.1:{port}{state.path}")
        page.wait_for_selector(f"body[data-seq='{felt.seq}']")
        visit.weight = sum(_weight(response) for response in self._taken if not _is_picture(response))
        if not state.live:
            visit.trouble.clear()
            page.evaluate("() => thaw()")
            serving.close()
            page.wait_for_selector("#notlive", state="visible")
        state.act(page)
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(SETTLED)
            visit.misfits[size] = page.evaluate(LAYOUT, {"scrolls": size in SCROLLS})
            if size == "kiosk":
                page.wait_for_timeout(50)
                visit.picture = page.screenshot(animations="disabled", caret="hide")
                if axe:
                    visit.barriers = barriers(page)
        if not state.live:
            visit.trouble.clear()  # that the server is gone
        return visit


def is_trouble(said: ConsoleMessage) -> bool:
    """Say whether the browser complained; that the table refused a command, or a look, is no trouble."""
    refused = ("/command", "/setup/look", "/trial", "/profiles/traditional", "/profiles/friday-game")
    return said.type == "error" and not said.location["url"].endswith(refused)


def _is_picture(response: Response) -> bool:
    return "/captures/" in response.url or "/setup/picture/" in response.url


def _weight(response: Response) -> int:
    sizes = response.request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]


def small(png: bytes) -> Image:
    """Return a screen at half its size, as it is kept."""
    import cv2

    picture = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA).astype(np.uint8)
