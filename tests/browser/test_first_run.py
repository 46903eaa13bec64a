"""From a box just mounted to the first settled hand, by touch alone: real processes, simulated devices, two languages.

The finger knows the buttons by what they do, not by their words: so it goes the same way in every language.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from dealer_ui.server.app import Settings, create_app
from dealer_ui.text.i18n import html_language
from firmware.devices.panel.interface import LAMPS, LampName
from firmware.devices.puck.reading import Disks
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import JournalReader
from firmware.runtime.config import NO_SCREEN, Config, SeatConfig
from firmware.runtime.liveness.presses import SEEN_S
from firmware.simulation.live.table import SimulatedTable
from firmware.table import Ask, Phase
from firmware.table import events as ev
from tests.browser.conftest import FreshWindow
from tests.browser.dealer import PIN, Dealer
from tests.browser.visits import misfits
from tests.dealer_ui.felt import HANDS
from tests.dealer_ui.served import served
from tests.waiting import DEADLINE, until
from vision.felt.layout import TableLayout
from vision.reading.enrolment import spread

pytestmark = pytest.mark.browser

CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")


class Finger:
    """Somebody who has never seen this box."""

    def __init__(self, page: Page, table: SimulatedTable, record: JournalReader, code: str) -> None:
        self.page = page
        self.record = record
        self.table = table
        self.code = code
        self.seen: list[str] = []

    def at(self, path: str) -> None:
        """Wait for a page, and look at it: it fits, and it speaks the language."""
        expect(self.page).to_have_url(re.compile(f"{path}$"))
        self.page.wait_for_load_state()
        self.seen.append(path)
        assert misfits(self.page) == []
        if self.code.startswith("zh") and path != "/set-up/language":
            assert self.page.get_attribute("html", "lang") == html_language(self.code)
            assert CHINESE.search(self.page.locator("h1").inner_text())

    def tap(self, selector: str) -> None:
        """Touch something, on a page that has loaded: before its script runs a touch says nothing to it."""
        self.page.locator(selector).first.wait_for()
        self.page.wait_for_load_state()
        self.page.locator(selector).first.tap()

    def shown(self, selector: str) -> None:
        """Wait until something is there."""
        expect(self.page.locator(selector).first).to_be_visible()

    def name(self, letters: str) -> None:
        """Key a name."""
        for letter in letters:
            self.tap(f"[data-letter='{letter}']")
        self.tap("#letters-done")

    def figures(self, keyed: str, within: str = "main") -> None:
        """Key figures and hand them in."""
        for figure in keyed:
            self.tap(f"{within} [data-key='{figure}']")
        self.tap(f"{within} [data-keys] [data-done]")

    def next(self, path: str) -> None:
        """Take a device for well, and go on."""
        self.shown(".found.pass")
        self.tap("[data-act*=keep]")
        self.at(path)

    # ---- the steps ----

    def language(self) -> None:
        self.at("/set-up/language")
        self.tap(f'[data-commands*=\'"language": "{self.code}"\']')
        self.at("/set-up/people")

    def person(self, role: str, name: str, pin: str) -> None:
        """List somebody, with a PIN."""
        self.tap(f"[data-add={role}]")
        self.name(name)
        self.figures(pin, "#new-pin")
        self.figures(pin, "#new-pin")

    def people(self) -> None:
        for role, name, pin in (("technician", "ada", PIN), ("floor", "bo", "139724")):
            self.person(role, name, pin)
            self.shown(f".listed li:has-text('{name.capitalize()}')")
        self.shown("#session")
        self.tap("#settle")
        self.at("/set-up/table")

    def table_and_clock(self) -> None:
        self.figures("12")
        self.at("/set-up/clock")
        self.shown(".measure")
        self.tap("[data-act*=keep]")
        self.at("/set-up/game")

    def game_and_seats(self) -> None:
        self.tap("[data-commands*='\"washington-1-6\"']")
        self.shown(".game[aria-pressed=true][data-commands*='washington-1-6']")
        self.figures("500")
        self.shown("#settle:has-text('$5')")
        self.tap("#settle")
        self.at("/set-up/seats")
        self.tap("[data-letters=name]")
        self.name("mei")
        self.shown(".listed li:has-text('Mei')")
        self.tap("#settle")
        self.at("/set-up/camera")

    def camera_and_puck(self) -> None:
        self.next("/set-up/puck")
        for seat in range(1, 6):
            self.table.puck.move_to(seat)
            self.shown(f".spots .been >> nth={seat - 1}")
        self.next("/set-up/buttons")

    def buttons_and_lamps(self) -> None:
        self.shown(".found.waits")
        for number, button in enumerate(("next", "confirm", "reject"), start=1):
            self.table.panel.press(button)  # type: ignore[arg-type]
            self.shown(f".measure:has-text('{number}')")
        self.next("/set-up/lamps")
        for number, lamp in enumerate(LAMPS, start=1):
            self.tap(f"[data-act*='\"{lamp}\"']")
            self.until(partial(self.only_lights, lamp))
            self.tap("[data-act*='true']")
            self.shown(f".measure:has-text('{number}')")
        self.next("/set-up/buzzer")

    def the_rest(self) -> None:
        self.tap("[data-act*=ring]")
        self.until(self.table.panel.sounds)
        self.tap("[data-act*='true']")
        self.next("/set-up/disk")
        self.next("/set-up/power")
        self.next("/set-up/calibration")

    def calibration(self) -> None:
        self.tap(".foot a.go")
        self.shown("#live[data-job=done]")
        self.tap("[data-order*=calibrate_felt]")
        self.until(lambda: bool(self.record.of_type(ev.CameraCalibrated.type)))
        self.tap(".head a")
        self.at("/set-up/calibration")
        self.tap(".foot a.go")
        self.at("/set-up/deck")

    def deck(self) -> None:
        self.table.lay(spread(TableLayout.load()))
        self.tap(".foot a.go")
        for _ in range(2):
            self.tap("[data-order*='\"view\"']")
            self.page.wait_for_selector("body[data-sending]", state="detached")
            self.table.lay(spread(TableLayout.load()))
        self.tap("[data-open-dialog=learn]")
        self.tap("#learn [data-order*=commit]")
        self.until(lambda: bool(self.record.of_type(ev.DeckEnrolled.type)))
        self.table.clear()
        self.page.wait_for_selector("body[data-sending]", state="detached")
        self.tap(".head a")
        self.at("/set-up/deck")
        self.tap(".foot a.go")
        self.at("/set-up/ready")

    def only_lights(self, lamp: LampName) -> bool:
        """Say whether this lamp is lit, and no other."""
        return self.table.panel.lit() == {lamp}

    def until(self, so: Callable[[], bool]) -> None:
        """Wait for something in the room."""
        until(so, lambda seconds: self.page.wait_for_timeout(1000 * seconds))


def first_hand(dealer: Dealer, table: SimulatedTable) -> None:
    """Deal, set and show a hand; answer what the camera is not sure of."""
    table.puck.move_to(2)
    dealer.until(lambda state: state.puck.seat == 2)
    dealer.page.wait_for_timeout(1000 * SEEN_S)  # a press counts for what has stood so long
    table.panel.press("next")
    dealer.until_phase("dealing")
    dealer.page.wait_for_timeout(1000 * SEEN_S)  # a press counts for what has stood so long
    table.panel.press("next")
    dealer.until_phase("setting")
    places = {seat.seat: seat.place for seat in dealer.state.seats}
    table.lay(
        {
            places[seat]: dict(zip(ev.ROWS, (row.split() for row in rows), strict=True))
            for seat, rows in HANDS.items()
        }
    )
    dealer.page.wait_for_timeout(1000 * SEEN_S)  # a press counts for what has stood so long
    table.panel.press("next")
    state = dealer.until(lambda state: state.phase in (Phase.REVIEW, Phase.SETTLED))
    while state.phase is Phase.REVIEW:
        question = state.questions[0]
        assert question.what is Ask.CARD, question
        assert question.seat is not None
        assert question.row is not None
        assert question.index is not None
        lies = HANDS[question.seat][list(ev.ROWS).index(question.row)].split()[question.index]
        dealer.touch(do="set_card", seat=question.seat, row=question.row, index=question.index, card=lies)
        asked = len(state.questions)
        state = dealer.until(lambda state, asked=asked: len(state.questions) < asked)  # type: ignore[misc]


@pytest.mark.parametrize("code", ["en", pytest.param("zh_Hans", marks=pytest.mark.exhaustive)])
def test_a_box_just_mounted_is_set_up_to_its_first_settled_hand(
    fresh_window: FreshWindow, tmp_path: Path, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the disk is well, however busy
    monkeypatch.setattr("firmware.runtime.device_tests.SLOW_MS", 1000 * DEADLINE)
    seats = [{"seat": n, "place": "ABCD"[n - 1]} for n in (1, 2, 3, 4)]
    config = Config(
        data=tmp_path / "data", seats=tuple(map(SeatConfig.model_validate, seats)), screen=NO_SCREEN
    )
    (tmp_path / "room").mkdir()
    with (
        served(create_app(Settings(config.data, config.socket))) as port,
        ExitStack() as table_programs,
    ):
        # The browser is there first: the page waits, and leads on once the table answers.
        page = fresh_window(port)
        expect(page.locator("body.glance")).to_be_visible()
        room = SimulatedTable(config, tmp_path / "room", seed=1, fresh=True, scale=0.5)
        table = table_programs.enter_context(room)
        finger = Finger(page, table, JournalReader(config.data), code)
        finger.language()
        finger.people()
        finger.table_and_clock()
        finger.game_and_seats()
        finger.camera_and_puck()
        finger.buttons_and_lamps()
        finger.the_rest()
        finger.calibration()
        finger.deck()
        finger.tap(".foot button[data-then='/']")
        page.wait_for_selector("body.glance")
        dealer = Dealer(page, config.data)
        first_hand(dealer, table)
        state = dealer.until_phase("settled")
        assert page.get_attribute("html", "lang") == html_language(code)
        assert (state.house.table, state.house.unit, state.house.profile) == ("12", 500, "washington-1-6")
        assert {seat.player for seat in state.seats} >= {"Mei"}
        assert state.settlement
        assert page.locator(".figure.total, .inall").count() == 4
        assert table.failure is None
    rows = JournalReader(config.data).of_set_up()
    tried = {
        entry.event.device: entry.event.verdict for entry in rows if isinstance(entry.event, ev.DeviceTried)
    }
    assert {device for device, verdict in tried.items() if verdict == "pass"} >= {
        "camera",
        "puck",
        "buttons",
        "lamps",
        "buzzer",
        "power",
    }
    assert {entry.actor for entry in rows if entry.type == "device_tried"} == {"technician:Ada"}
    assert verify(config.data).ok


MAX_TOUCHES: Final = 25


@pytest.mark.sampled
def test_a_fresh_box_deals_its_first_hand_within_25_touches(
    fresh_window: FreshWindow, tmp_path: Path
) -> None:
    """Every touch from the first page to the hand that is opened counts, a name of three letters and a PIN, too."""
    config = Config(data=tmp_path / "data", screen=NO_SCREEN)
    (tmp_path / "room").mkdir()
    with (
        SimulatedTable(config, tmp_path / "room", seed=1, fresh=True, scale=0.5) as table,
        served(create_app(Settings(config.data, config.socket))) as port,
    ):
        page = fresh_window(port)
        page.add_init_script(
            "addEventListener('click', () => sessionStorage.setItem('touches', "
            "1 + Number(sessionStorage.getItem('touches') || 0)), true)"
        )
        page.reload()
        finger = Finger(page, table, JournalReader(config.data), "en")
        finger.language()
        finger.person("technician", "ada", PIN)
        finger.shown("#session")
        finger.tap("a[href='/set-up/proposed']")
        finger.at("/set-up/proposed")
        finger.tap(".foot button[data-then='/']")
        page.wait_for_selector("body.glance")
        table.puck.move_to(2)
        dealer = Dealer(page, config.data)
        dealer.until(lambda state: state.puck.seat == 2)
        dealer.touch(do="next")
        state = dealer.until_phase("dealing")
        touches = int(page.evaluate("sessionStorage.getItem('touches')"))
        assert touches <= MAX_TOUCHES
        told = Path("docs/technician/first-run.md").read_text()
        assert f"in {touches} touches" in told, "the book tells the count"
        assert (state.house.table, state.hand) == ("1", 1)
        settled = [
            e.event.step
            for e in JournalReader(config.data).of_set_up()
            if isinstance(e.event, ev.StepSettled)
        ]
        assert set(settled) == {
            "language",
            "people",
            "table",
            "clock",
            "game",
            "seats",
            "calibration",
            "deck",
        }


UNKNOWN_TAG: Final = "04FEED00C0FFEE"


@pytest.mark.sampled
def test_an_unknown_disk_is_laid_down_named_by_touch_and_found_after_a_restart(
    fresh_window: FreshWindow, tmp_path: Path
) -> None:
    config = Config(data=tmp_path / "data", screen=NO_SCREEN)

    def start(room: str, fresh: bool) -> SimulatedTable:
        (tmp_path / room).mkdir()
        return SimulatedTable(config, tmp_path / room, seed=1, fresh=fresh, scale=0.5, disks=Disks())

    record = JournalReader(config.data)
    with (
        start("room", True) as table,
        served(create_app(Settings(config.data, config.socket))) as port,
    ):
        page = fresh_window(port)
        finger = Finger(page, table, record, "en")
        finger.language()
        finger.person("technician", "ada", PIN)
        finger.shown("#session")
        page.goto(f"http://127.0.0.1:{port}/set-up/puck")
        finger.shown(".found.waits:has-text('Lay the disk that says DEALER')")
        assert "tag id" not in page.inner_text("body")
        table.puck.lay(UNKNOWN_TAG, 2)
        finger.shown(f".tags li:has-text('{UNKNOWN_TAG}'):has-text('Seat 2'):has-text('not ours')")
        assert misfits(page) == []
        finger.tap(f"li:has-text('{UNKNOWN_TAG}') [data-commands*='\"dealer\"']")
        finger.shown(".tags [data-disk=dealer]")
        finger.shown(".spots .here:has-text('2')")
        finger.until(lambda: record.recover()[0].puck.seat == 2)
        (row,) = record.of_type("disks_named")
        assert (row.actor, row.event) == ("technician:Ada", ev.DisksNamed((UNKNOWN_TAG,), (), (), ()))
        page.goto("about:blank")
    with start("room-2", False) as table:
        table.puck.lay(UNKNOWN_TAG, 4)
        until(lambda: record.recover()[0].puck.seat == 4)
