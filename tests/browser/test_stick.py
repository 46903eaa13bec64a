"""A dispute file goes on a USB stick by touch, and the picture that is disputed is looked at closely.

A folder stands where a stick would be; the program that writes it is the one that the service manager starts.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.services import KIOSK
from firmware.access.pins import PinStore
from firmware.record.evidence.dispute_verifier import check
from firmware.record.stick_request import StickDesk, read_request
from firmware.runtime.sticks.disks import FolderStick
from firmware.runtime.sticks.write import Teller, put
from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.conftest import Show, own_window
from tests.browser.dealer import key_pin
from tests.browser.state import STICK
from tests.browser.test_dispute import running
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.house import NO_FANTASY_LAND, config
from tests.dealer_ui.past import played, ticking
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE

pytestmark = pytest.mark.browser

PIN = "258053"


@dataclass
class Table:
    """A box whose hand 1 is over and whose hand 2 is settled; the writer of sticks is started when it is asked for."""

    page: Page
    address: str
    folder: Path
    """The stick, once it is there."""
    touches: int = 0

    def touch(self, selector: str) -> None:
        """Touch once, and count it."""
        self.page.locator(selector).first.tap()
        self.touches += 1

    def key_pin(self) -> None:
        """Sign a floor person on; that is not counted, as it is asked once for all that they do."""
        key_pin(self.page, PIN, "moreno")

    def to_dispute(self) -> None:
        """Go from the table's page to hand 1's dispute."""
        self.page.goto(self.address)
        self.page.wait_for_selector("body[data-phase='settled']")
        self.touch("[data-open=more-dialog]")
        self.touch("#more a[href='/review/1']")
        self.touch(".tabs a[href$='/dispute']")
        self.key_pin()
        self.page.wait_for_selector("body[data-ready] [data-stick]")

    @property
    def says(self) -> Locator:
        """What is said of the file."""
        return self.page.locator("#exported")

    def until_there(self) -> Path:
        """Wait until the file is on the stick."""
        expect(self.says).to_contain_text("take the stick out")
        (file,) = self.folder.iterdir()
        return file


class Unit(threading.Thread):
    """Stands where the service manager waits for the request's file, and begins the program."""

    def __init__(self, data: Path, asked: Path, told: Path, stick: Path) -> None:
        super().__init__()
        self._data, self._asked, self._told, self._stick = data, asked, told, stick
        self.stop = threading.Event()

    def run(self) -> None:
        """Wait, and write; a stick is there once its folder is."""
        while not self.stop.wait(0.05):
            if self._asked.exists() and (request := read_request(self._asked)):
                self._asked.unlink()
                find = lambda: FolderStick(self._stick) if self._stick.is_dir() else None  # noqa: E731
                put(request, self._data, find, Teller(request, self._told), DEADLINE)


@pytest.fixture
def table(chromium: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Table]:
    with ExitStack() as stack:
        data, asked, told = tmp_path / "d", tmp_path / "asked.json", tmp_path / STICK
        felt = Felt(data, clock=ticking())
        felt.say(ev.PersonListed("Moreno F.", Role.FLOOR, PinStore(data).keep(PIN)))
        played(felt)
        felt.to_settled()
        felt.journal.close()
        made = config(
            data, profile="california-face-up", options={**felt.options, **NO_FANTASY_LAND}, unit=500
        )
        stack.enter_context(running(made, tmp_path / "key", StickDesk(asked, told)))
        if getattr(request, "param", True):
            unit = Unit(data, asked, told, tmp_path / "stick")
            unit.start()
            stack.callback(unit.join)
            stack.callback(unit.stop.set)
        port = stack.enter_context(served(create_app(Settings(made.data, made.socket, stick=told))))
        page = own_window(chromium)
        stack.callback(page.close)
        yield Table(page, f"http://127.0.0.1:{port}", tmp_path / "stick")


def test_from_the_settled_page_it_takes_four_touches_and_the_pin_to_have_the_dispute_file_on_a_stick(
    table: Table,
) -> None:
    table.folder.mkdir()
    table.to_dispute()
    table.touch("[data-stick]")
    file = table.until_there()
    assert table.touches <= 4
    assert file.name == "feltwatch-hand-1.zip"
    assert check(str(file)).wrong == []
    expect(table.says).to_contain_text(file.name)
    expect(table.page.locator("#on-its-way")).to_be_hidden()


@pytest.mark.sampled
def test_hash_and_words_on_the_page_are_the_files_and_the_keys_and_so_says_the_qr_code(table: Table) -> None:
    table.folder.mkdir()
    table.to_dispute()
    assert table.page.locator("#proof").inner_text() == ""
    table.touch("[data-stick]")
    file = table.until_there()
    proof = table.page.locator("#proof")
    words = proof.locator("code").nth(1).inner_text()
    assert check(str(file), key=words).wrong == []
    shot = proof.locator("figure").screenshot(scale="css")
    picture = cv2.imdecode(np.frombuffer(shot, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    told, *_ = cv2.QRCodeDetectorAruco().detectAndDecode(cv2.resize(picture, None, fx=4, fy=4))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert "".join(proof.locator("code").first.inner_text().split()) == digest
    assert told == f"FELTWATCH HAND 1 SHA256 {digest} KEY {words}".upper()


@pytest.mark.sampled
def test_without_a_stick_it_asks_for_one_and_goes_on_once_it_is_in_also_on_a_page_loaded_again(
    table: Table,
) -> None:
    table.to_dispute()
    table.touch("[data-stick]")
    expect(table.says).to_have_text("Put a stick into the box.")
    expect(table.page.locator("#on-its-way")).to_be_visible()
    table.page.reload()
    expect(table.says).to_have_text("Put a stick into the box.")
    table.folder.mkdir()
    table.until_there()


@pytest.mark.sampled
def test_a_stick_that_cannot_be_written_is_told_and_the_next_touch_tries_again(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.folder.mkdir()
    table.to_dispute()
    with monkeypatch.context() as patch:
        patch.setattr("firmware.runtime.sticks.write.SPARE", 1 << 60)
        table.touch("[data-stick]")
        expect(table.says).to_contain_text("The stick is full: ")
    table.touch("[data-stick]")
    table.until_there()


@pytest.mark.sampled
@pytest.mark.parametrize("table", [False], indirect=True)
def test_a_box_on_which_nobody_takes_the_request_up_says_so(table: Table) -> None:
    table.to_dispute()
    table.touch("[data-stick]")
    expect(table.says).to_have_text("Looking for the stick…")
    table.page.evaluate("() => { const at = performance.now(); performance.now = () => at + 1e6; }")
    expect(table.says).to_contain_text("The box writes no stick now.")


@pytest.mark.sampled
def test_the_screen_at_the_table_is_offered_no_file_that_it_cannot_keep(table: Table) -> None:
    context = table.page.context
    context.add_cookies([{"name": KIOSK, "value": "1", "url": table.address}])
    table.to_dispute()
    table.touch("[data-export]")
    expect(table.says).to_contain_text("the review on other machines gives it")
    assert table.says.locator("a").count() == 0


# ---- the picture ----


def looked_at(show: Show, path: str) -> Page:
    """Open a page of hand 1, which is the last one: the dealer may see its pictures."""
    page = show(played, own=True, clock=ticking()).page
    page.goto(page.url.rstrip("/") + path)
    page.wait_for_selector("body[data-ready] svg.frame")
    return page


def width(page: Page) -> float:
    """How much of the picture is shown, in its pixels."""
    return float(str(page.locator("svg.frame").get_attribute("viewBox")).split()[2])


def middle(page: Page) -> tuple[float, float]:
    box = page.locator("svg.frame").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def spread(page: Page, to: int) -> None:
    """Lay two fingers on the picture and draw them apart."""
    x, y = middle(page)
    session = page.context.new_cdp_session(page)

    def fingers(kind: str, apart: int) -> None:
        points = [{"x": x - apart, "y": y}, {"x": x + apart, "y": y}] if apart else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 20)
    for apart in range(30, to + 1, 10):
        fingers("touchMove", apart)
    fingers("touchEnd", 0)


@pytest.mark.sampled
def test_what_was_read_is_taken_off_the_picture_and_drawn_again(show: Show) -> None:
    page = looked_at(show, "/review/1/look")
    drawn = page.locator("svg.frame text, svg.frame polygon:not(.touch)")
    assert drawn.first.is_visible()
    page.locator("[data-marks=off]").tap()
    assert not any(one.is_visible() for one in drawn.all())
    assert page.locator("svg.frame image").is_visible()
    page.reload()
    assert not drawn.first.is_visible(), "as the address says"
    page.locator("[data-marks=on]").tap()
    assert drawn.first.is_visible()


TAP_TWICE = """([x, y]) => {
  const there = document.elementFromPoint(x, y);
  const at = { bubbles: true, cancelable: true, detail: 1, clientX: x, clientY: y, pointerId: 1 };
  for (let tap = 0; tap < 2; tap++) {
    there.dispatchEvent(new PointerEvent("pointerdown", at));
    there.dispatchEvent(new PointerEvent("pointerup", at));
    there.dispatchEvent(new PointerEvent("click", at));
  }
}"""


def tap_twice(page: Page, x: float, y: float) -> None:
    """Tap twice within the time that counts as one gesture, however busy this machine is."""
    page.evaluate(TAP_TWICE, [x, y])


@pytest.mark.sampled
def test_two_fingers_and_two_taps_bring_the_picture_near_and_a_finger_moves_it(show: Show) -> None:
    page = looked_at(show, "/review/1/look?marks=off")
    whole = width(page)
    spread(page, 60)
    assert width(page) == pytest.approx(whole / 3, rel=0.02)
    before = page.locator("svg.frame").get_attribute("viewBox")
    x, y = middle(page)
    session = page.context.new_cdp_session(page)
    for kind, left in (("touchStart", 0), ("touchMove", 40), ("touchMove", 80), ("touchEnd", None)):
        points = [] if left is None else [{"x": x - left, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    after = page.locator("svg.frame").get_attribute("viewBox")
    assert before != after
    assert width(page) == pytest.approx(whole / 3, rel=0.02)
    page.wait_for_timeout(400)
    for near in (whole, whole / 3, whole):
        tap_twice(page, x, y)
        assert width(page) == pytest.approx(near, rel=0.02)
        page.wait_for_timeout(400)  # two taps more are two more, and no four


@pytest.mark.sampled
def test_one_tap_on_a_card_still_leads_to_it_and_two_bring_it_near(show: Show) -> None:
    page = looked_at(show, "/review/1/look")
    card = page.locator("svg.frame a[href$='card=46']")
    whole, address = width(page), page.url
    box = card.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tap_twice(page, x, y)
    page.wait_for_timeout(600)
    assert page.url == address
    assert width(page) == pytest.approx(whole / 3, rel=0.02)
    card.tap()
    expect(page.locator(".looking h2").first).to_have_text("seat 4, middle, 5th card")


def test_a_dispute_begins_with_the_picture_alone(table: Table) -> None:
    table.to_dispute()
    page = table.page
    frame = page.locator(".evidence svg.frame")
    assert frame.locator("image").is_visible()
    assert frame.locator("polygon:visible, text:visible").count() == 0
    page.locator(".evidence a").tap()
    page.wait_for_selector("[data-marks=off][aria-current]")
