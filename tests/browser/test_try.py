"""`feltwatch try` as a person meets it: the command, a camera in the network, a finger that has read no manual."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from firmware.devices.camera.spoil import Spoil, spoil_picture
from firmware.record.journal.journal import JournalReader
from tests.browser.axe import barriers, has_axe
from tests.browser.conftest import own_window, pausing
from tests.firmware.devices.camera.mjpeg_server import MjpegServer
from tests.processes import free_port
from tests.sheets_table import picture, table_with_sheets
from tests.waiting import until
from vision.base.arrays import Image

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HANDS: Final = {
    "A": {"front": "Qs Qd 4c", "middle": "9c 9d 5h 5c 2s", "back": "Ah Kh 8h 6h 3h"},
    "D": {"front": "Kc Jd 7s", "middle": "8c 8d Tc 6s 2d", "back": "9s Ts Js Qh Kd"},
}
OFFERED: Final = ".choices button:visible, .strip button:has(.lamp-white):visible"
"""What stands out: answers to what is asked, else the white field."""
LOOK_AGAIN: Final = ".question footer button:has-text('Look again')"
ANSWERED: Final = "body:not([data-sending]) :is(#said:not(:empty), #error:not([hidden]))"
RATE: Final = 4.0
"""Pictures a second: each costs the processor."""
ADVICE: Final = "#live .advice, #live .waits-for.ill"


class WebcamTable:
    """A table that a camera sees: bare, with two hands, or spoilt."""

    def __init__(self) -> None:
        layout = table_with_sheets()
        laid = {place: {row: cards.split() for row, cards in rows.items()} for place, rows in HANDS.items()}
        self.bare, self.dealt = (self._seen(picture(layout, hands)) for hands in ({}, laid))
        self.seen = self.bare
        self.camera = MjpegServer(lambda: self.seen, rate=RATE)

    @staticmethod
    def _seen(table: Image) -> Image:
        """Return the table with something around it, as a camera sees it that hangs high enough."""
        around = cv2.copyMakeBorder(table, 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=(60, 70, 80))
        return np.asarray(around, np.uint8)

    def clear(self) -> None:
        self.seen = self.bare

    def lay(self) -> None:
        self.seen = self.dealt

    def dark(self) -> None:
        self.seen = spoil_picture(self.seen, Spoil(light=0.15), 0.0)

    def sleeve(self) -> None:
        seen = self.bare.copy()
        seen[:450, :450] = 70
        self.seen = seen

    def cover(self) -> None:
        self.seen = np.full_like(self.bare, 12)

    def knock(self) -> None:
        self.seen = np.roll(self.seen, 20, axis=0)

    def pull(self) -> None:
        self._port = self.camera.port
        self.camera.stop()

    def plug(self) -> None:
        self.clear()
        self.camera = MjpegServer(lambda: self.seen, rate=RATE)
        self.camera.start(self._port)


class Player:
    """A finger on the page that `feltwatch try` opens; it touches what stands out, and counts."""

    def __init__(self, page: Page, data: Path) -> None:
        self.page = page
        self.data = data
        self.touches = 0

    def touch(self, what: str) -> None:
        expect(self.page.locator(".fresh")).to_have_count(0)
        self.page.locator(what).first.tap()
        self.touches += 1

    def until(self, so: Callable[[], object]) -> None:
        until(so, pausing(self.page))

    def lay_felt(self, back: bool = True) -> None:
        """Calibrate what the live picture shows, again where its camera was late, and go back to the table."""
        while "felt" not in JournalReader(self.data).recover()[0].calibrations:
            self.touch("[data-order].go")
            self.until(self.page.locator(ANSWERED).count)
        expect(self.page.locator(".where")).to_have_text(re.compile("^calibrated "))
        if back:
            self.back()

    def back(self) -> None:
        """Leave the camera's page for the table."""
        self.touch(".head a")
        self.page.wait_for_selector("body[data-phase='idle']")

    def play(self, lay: Callable[[], None], then: Callable[[], None] = lambda: None) -> None:
        """Play to what blocks or ends the hand; once the players set them the cards are laid, and `then` follows."""
        while self.phase not in ("settled", "review"):
            if self.phase == "setting":
                lay()
                then()
            seq = self.page.get_attribute("body", "data-seq")
            self.touch(OFFERED)
            self.until(lambda old=seq: self.page.get_attribute("body", "data-seq") != old)  # type: ignore[misc]
            self.until(lambda: self.phase not in ("showdown", "reading"))

    @property
    def phase(self) -> str:
        return str(self.page.get_attribute("body", "data-phase"))

    def says(self, words: str) -> None:
        """Wait until the camera's page says so."""
        expect(self.page.locator(ADVICE)).to_contain_text(words)


@contextmanager
def tried(folder: Path, camera: str | Path) -> Iterator[str]:
    """Run the command; yields the address of its page, from the first moment that its port answers."""
    port = free_port()
    address = f"http://127.0.0.1:{port}/try"
    options = ["--no-browser", "--port", port, "--data", folder, "--camera", camera]
    running = subprocess.Popen([sys.executable, "-m", "firmware.cli", "try", *map(str, options)])

    said: list[str] = []

    def answers() -> bool:
        assert running.poll() is None, "the command has ended"
        try:
            urlopen(address).close()
        except HTTPError as error:
            said.append(error.read().decode())
        except OSError:
            return False
        return True

    try:
        until(answers)
        assert all("The table is starting" in page and "正在启动" in page for page in said)
        yield address
    finally:
        running.send_signal(signal.SIGINT)
        running.wait()
    assert running.returncode == 0


@pytest.fixture
def table() -> Iterator[WebcamTable]:
    made = WebcamTable()
    made.camera.start()
    yield made
    made.camera.stop()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    page = own_window(chromium, "desk")
    yield page
    page.close()


def test_whoever_starts_it_without_a_manual_has_real_cards_settled_by_twelve_touches_at_most(
    table: WebcamTable, page: Page, tmp_path: Path
) -> None:
    with tried(tmp_path / "try", table.camera.address) as address:
        finger = Player(page, tmp_path / "try")
        page.goto(address)  # says that the table is starting, and goes on by itself
        finger.says("All is well: the felt can be calibrated.")
        assert not has_axe() or barriers(page) == []
        finger.lay_felt()
        finger.play(table.lay)
        expect(page.locator(".amount b")).to_have_text("$3")
    # Six: calibrate, back, open, cards out, where the puck is, showdown; one more where a busy machine reads too early.
    assert 6 <= finger.touches <= 12
    state = JournalReader(tmp_path / "try").recover()[0]
    assert state.settlement is not None
    assert [(pair["a"], pair["b"], pair["paid"]) for pair in state.settlement["pairs"]] == [(2, 1, -300)]


@pytest.mark.exhaustive
def test_a_camera_that_is_pulled_covered_moved_or_in_the_dark_is_said_in_a_sentence_until_it_is_over(
    table: WebcamTable, page: Page, tmp_path: Path
) -> None:
    with tried(tmp_path / "try", table.camera.address) as address:
        finger = Player(page, tmp_path / "try")
        page.goto(address)
        finger.says("All is well")
        table.sleeve()
        finger.says(
            "Not seen of the four sheets: 1. Each must lie flat, whole in the picture, and uncovered."
        )
        table.clear()
        finger.says("All is well")
        table.dark()
        finger.says("The picture is too dark: turn the lamps up or lengthen the exposure.")
        table.clear()
        finger.says("All is well")
        table.pull()
        finger.says("is the camera on, and in this network?")
        table.plug()
        finger.says("All is well")
        finger.lay_felt(back=False)
        table.knock()
        finger.says(
            "The camera or the felt has moved since it was calibrated: fasten it and calibrate the felt."
        )
        table.clear()
        finger.says("All is well")
        finger.back()

        finger.play(table.lay, then=table.dark)
        question = page.locator(".question")
        expect(question).to_contain_text(
            "The picture is too dark: turn the lamps up or lengthen the exposure."
        )
        table.cover()
        finger.touch(LOOK_AGAIN)
        expect(question).to_contain_text("the whole felt must be in view, lit and in focus")
        table.pull()
        expect(page.locator("body")).to_contain_text("The camera sees nothing")
        table.plug()
        expect(page.locator("body")).not_to_contain_text("The camera sees nothing")
        table.lay()
        finger.touch(LOOK_AGAIN)
        expect(page.locator(".amount b")).to_have_text("$3")


@pytest.mark.exhaustive
def test_a_folder_of_pictures_is_played_one_a_hand(table: WebcamTable, page: Page, tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number, seen in enumerate((table.dealt, table.bare)):
        assert cv2.imwrite(str(pictures / f"{number}.png"), seen)
    with tried(tmp_path / "try", pictures) as address:
        finger = Player(page, tmp_path / "try")
        page.goto(address)
        finger.says("All is well")
        finger.lay_felt()
        finger.play(table.lay)
        expect(page.locator(".amount b")).to_have_text("$3")
