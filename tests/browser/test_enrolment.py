"""A table is enrolled at the pit, in a real Chromium on both sides: the pit's page shows the code, the table's camera
sees it, both show five words, both technicians confirm, and the rows arrive.

The camera is simulated and everything behind it is the product; the programs are those that the service manager starts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, Route, expect

from dealer_ui.server.app import Settings, create_app
from firmware.access.pins import PinStore
from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.runtime.config import NO_SCREEN, Config
from firmware.runtime.pit_desk import PitDesk
from firmware.simulation.live.table import SimulatedTable
from firmware.table import events as ev
from firmware.table.people import Role
from firmware.uplink.cli import command
from firmware.uplink.join_request import REQUEST, JoinDesk
from firmware.uplink.settings import FILE
from pit.authority import Authority
from pit.door.enrolment import give_up, make_code, remember
from pit.files.offers import HouseRepository
from pit.pages.people import PitRole
from pit.store.database import Database
from tests.browser.conftest import own_window
from tests.browser.dealer import key_pin
from tests.browser.test_pit import served as served_pit
from tests.dealer_ui.served import served
from tests.pit.conftest import Pit, without_nginx
from tests.pit.pages.conftest import House, database, house, owned
from tests.pit.test_uplink import send_all
from tests.waiting import until
from vision.base.arrays import Image

__all__ = ["database", "house", "owned"]
pytestmark = pytest.mark.browser
PIN = "258053"


class Unit(threading.Thread):
    """Stands where the service manager waits for the table's request, and starts the programs for it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.stop = threading.Event()

    def run(self) -> None:
        """Do for each request what feltwatch-join.service does."""
        asked, new = self.folder / "asked", self.folder / "new"
        while not self.stop.wait(0.05):
            if not (asked / REQUEST).exists():
                continue
            joined = ["join", "--asked", asked, "--into", new, "--progress", self.folder / "progress"]
            joined += ["--witness", self.folder / "witness"]
            done = CliRunner().invoke(command, list(map(str, joined)))
            (asked / REQUEST).unlink()
            if done.exit_code == 0:
                placed = [
                    "enrol",
                    new,
                    "--into",
                    self.folder / "own",
                    "--drop-in",
                    self.folder / "drop-in" / "pit",
                ]
                CliRunner().invoke(command, list(map(str, placed)))


@dataclass
class Room:
    """Both screens, the table between them, and the pit's door."""

    at_table: Page
    at_pit: Page
    table: SimulatedTable
    pit: Pit
    folder: Path
    data: Path

    def make_code(self, name: str) -> None:
        """Make a code at the pit's page, as its technician does."""
        page = self.at_pit
        page.goto("/tables")
        page.get_by_role("link", name="Enrol a table").click()
        page.get_by_label("New table").fill(name)
        page.get_by_label("The pit's address").fill(f"127.0.0.1:{self.pit.address[1]}")
        page.get_by_role("button", name="Make a code").click()
        expect(page.locator(".qr svg")).to_be_visible()

    def photograph(self) -> Image:
        """Return the pit's QR code as its screen shows it."""
        pictures: list[Image] = []

        def taken() -> bool:
            place = self.at_pit.locator(".qr").bounding_box()
            if place is None:
                return False  # the page is drawn again
            shot = self.at_pit.screenshot(full_page=True, clip=place)
            picture = cv2.imdecode(np.frombuffer(shot, np.uint8), cv2.IMREAD_COLOR)
            assert picture is not None
            pictures.append(picture.astype(np.uint8))
            # the page may still be laid out
            return bool(cv2.QRCodeDetectorAruco().detectAndDecode(picture)[0])

        until(taken)
        return pictures[-1]

    def to_the_pit(self) -> None:
        """Go to the page at the table, as its technician does."""
        page = self.at_table
        page.get_by_role("link", name="The pit").tap()
        expect(page.locator("#live")).to_be_visible()


@pytest.fixture
def room(house: House, database: Database, chromium: Browser, tmp_path: Path) -> Iterator[Room]:
    config = Config(data=tmp_path / "data", table="7", screen=NO_SCREEN)
    with Journal(config.data) as journal:
        journal.append([ev.SetUpEnded(skipped=True)], "console")
        journal.append([ev.PersonListed("Ada", Role.TECHNICIAN, PinStore(config.data).keep(PIN))], "console")
    for name in ("room", "asked"):
        (tmp_path / name).mkdir()
    authority = Authority(tmp_path / "pit" / "authority")
    authority.door()
    remember(database, authority)
    files = HouseRepository(tmp_path / "pit", authority)
    with ExitStack() as stack:
        address = stack.enter_context(without_nginx(database, authority, files, tmp_path / "pit"))
        desk = PitDesk(JoinDesk(tmp_path / "asked", tmp_path / "progress"))
        table = stack.enter_context(SimulatedTable(config, tmp_path / "room", seed=1, scale=0.5, pit=desk))
        unit = Unit(tmp_path)
        unit.start()
        stack.callback(unit.join)
        stack.callback(unit.stop.set)
        app = create_app(Settings(config.data, config.socket, join=tmp_path / "progress"))
        port = stack.enter_context(served(app))
        at_pit = stack.enter_context(served_pit(house, chromium, PitRole.TECHNICIAN))
        at_table = own_window(chromium)
        stack.callback(at_table.close)
        trouble: list[str] = []
        at_table.on("pageerror", lambda error: trouble.append(str(error)))
        at_table.goto(f"http://127.0.0.1:{port}/set-up")
        key_pin(at_table, PIN, "ada")
        pit = Pit(house.database, authority, address, tmp_path, files)
        yield Room(at_table, at_pit, table, pit, tmp_path, config.data)
        for client in pit.clients:
            client.close()
    assert trouble == []


def test_the_camera_sees_the_code_both_confirm_five_words_and_the_rows_arrive(room: Room) -> None:
    room.make_code("Table 7")
    room.to_the_pit()
    room.table.hold(room.photograph())
    expect(room.at_table.locator(".five-words")).to_be_visible()
    expect(room.at_pit.locator(".five-words")).to_be_visible()
    words = room.at_table.locator(".five-words").inner_text()
    assert room.at_pit.locator(".five-words").inner_text() == words
    room.at_table.get_by_role("button", name="The same words").tap()
    expect(room.at_table.locator("#join")).to_contain_text("at the pit has to say so")
    room.at_pit.get_by_role("button", name="The same words").click()
    expect(room.at_pit.locator("#enrol")).to_contain_text("Table 7 is enrolled")
    expect(room.at_table.locator("#join")).to_contain_text("This table is enrolled")
    until(lambda: (room.folder / "own" / FILE).exists())
    send_all(room.pit.follower(room.folder / "own", room.data))
    rows = JournalReader(room.data).events_since(0)
    assert [row.event for row in rows if row.type == "pit_words_compared"] == [
        ev.PitWordsCompared(words, True)
    ]
    room.at_pit.goto("/tables")
    seen = room.at_pit.locator("tr", has_text="Table 7")
    expect(seen).to_contain_text(f"{len(rows)}")


@pytest.mark.sampled
def test_letters_that_are_typed_do_the_same_and_a_code_for_another_table_is_refused_on_both_screens(
    room: Room,
) -> None:
    room.make_code("Table 5")
    letters = "".join(room.at_pit.locator(".letters").first.inner_text().split())
    room.to_the_pit()
    room.table.clear()
    page = room.at_table
    page.get_by_role("button", name="Type the letters").tap()
    for letter in letters.lower():
        page.locator(f"#letters [data-letter='{letter}']").tap()
    page.locator("#letters-done").tap()
    page.locator("[data-others]").tap()
    keys = dict(zip("1234567890.", "qwertyuiop'", strict=True))
    for sign in f"127.0.0.1:{room.pit.address[1]}":
        if sign == ":":
            page.keyboard.press(":")
        else:
            page.locator(f'#letters [data-letter="{keys[sign]}"]').tap()
    page.locator("#letters-done").tap()
    why = "This code is for Table 5, and this table is number 7. Nothing was enrolled."
    expect(page.locator("#join")).to_contain_text(why)
    expect(room.at_pit.locator("#enrol")).to_contain_text(why)
    assert not (room.folder / "own").exists()


@pytest.mark.sampled
def test_others_on_the_tables_screen_ends_it_on_both_and_the_code_is_dead(room: Room) -> None:
    room.make_code("Table 7")
    picture = room.photograph()
    room.to_the_pit()
    room.table.hold(picture)
    room.at_table.get_by_role("button", name="Others").tap()
    why = "The technician at the table says that the words differ. Nothing was enrolled."
    expect(room.at_table.locator("#join")).to_contain_text(why)
    expect(room.at_pit.locator("#enrol")).to_contain_text(why)
    room.at_table.get_by_role("link", name="Another code").tap()
    expect(room.at_table.locator("#join")).to_contain_text(why)  # the camera still sees the dead code


def test_the_pits_page_shows_what_happened_before_it_asked_the_first_time(
    house: House, database: Database, chromium: Browser, tmp_path: Path
) -> None:
    remember(database, Authority(tmp_path / "authority"))
    number = make_code(house.database, "Table 7", ("127.0.0.1",), "Ines")
    with served_pit(house, chromium, PitRole.TECHNICIAN) as page:

        def end_first(route: Route) -> None:
            give_up(house.database, number)
            route.continue_()

        page.route("**/part", end_first)
        page.goto(f"/tables/enrol/{number}")
        expect(page.locator("#enrol")).to_contain_text("The code was given up at the pit.")
