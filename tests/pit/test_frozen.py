"""Real processes, frozen and killed: a table process beside a living uplink, the uplink, the pit's door and follower.

Nothing is green later than fifteen seconds after, on any page, and all is well again once the process goes on. A look
that finds the tile green is proof that it was, however seldom a busy machine lets this process look.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from flask import Flask

from firmware.pulse import read_pulse
from firmware.record_folder import SOCKET
from firmware.table_client import TableLink
from pit.pages.app import create_app
from pit.pages.floor import TableTile
from pit.pages.people import PitRole
from pit.pages.services import pit
from pit.pages.tile import Tone
from pit.store.database import Database
from tests.pit.house import House, Part, house
from tests.pit.pages.conftest import House as Visited
from tests.tools import NGINX, POSTGRESQL, needs
from tests.waiting import DEADLINE, until

LATEST_S = 15.0
PROGRAM = "from firmware.cli.__main__ import main; main()"
pytestmark = [
    pytest.mark.slow,
    needs(NGINX, POSTGRESQL),
]


@dataclass
class Room:
    """One table that plays, its uplink, the pit, and its pages."""

    house: House
    table: Part
    pulse: Path
    app: Flask
    database: Database

    def tile(self) -> TableTile:
        (one,) = pit(self.app).live.now().tiles
        return one

    def is_green(self) -> bool:
        """Whether it is live and whole: green, where it needs nobody."""
        tile = self.tile().tile
        assert not (tile.silent and tile.tone is Tone.WELL)
        return not tile.silent

    def green_after(self, do: Callable[[], object]) -> float:
        """Do something to a well table; return for how many seconds a look still found it green."""
        until(self.is_green)
        do()
        began = last = time.monotonic()

        def look() -> bool:
            nonlocal last
            if green := self.is_green():
                last = time.monotonic()
            return not green

        until(look)
        return last - began

    def page(self, address: str) -> str:
        return Visited(self.app, self.database).logged_in(PitRole.OWNER).get(address).text


@contextmanager
def furnished(folder: Path) -> Iterator[Room]:
    """Start a room; its table keeps its temporary files in `folder`."""
    with house(durable=False) as made, Database(made.url, connections=6) as database:
        made.add_tables(1)
        made.start()
        log = made.folder / "table.log"
        play = ("demo", "--headless", "--hands", "100000", "--speed", "3", "--data", str(made.data[0]))
        started = [f"TMPDIR={folder}", sys.executable, "-m", "firmware.cli", *play]
        table = Part(["/usr/bin/env", *started], log)
        table.start()
        try:
            until(lambda: list(folder.glob("*/pulse.json")))
            (pulse,) = folder.glob("*/pulse.json")
            until(lambda: read_pulse(pulse))
            made.uplinks[0].arguments += ["--pulse", str(pulse)]
            made.uplinks[0].start()
            app = create_app(database, made.folder / "pages", secure=False)
            yield Room(made, table, pulse, app, database)
        finally:
            table.kill()


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with furnished(tmp_path_factory.mktemp("table")) as room:
        yield room


def freeze(part: Part) -> Callable[[], None]:
    assert part.process is not None
    group = part.process.pid
    return lambda: os.killpg(group, signal.SIGSTOP)


def thaw(part: Part) -> None:
    assert part.process is not None
    os.killpg(part.process.pid, signal.SIGCONT)


@pytest.mark.parametrize("which", ["table process", "uplink", "pit"])
def test_a_frozen_process_leaves_nothing_green_and_all_is_well_once_it_goes_on(
    room: Room, which: str
) -> None:
    part = {"table process": room.table, "uplink": room.house.uplinks[0], "pit": room.house.pit}[which]
    try:
        assert room.green_after(freeze(part)) < LATEST_S
        for page in ("/tables", "/proof"):
            text = room.page(page)
            assert re.search("not heard of now|the table process does not answer|rows not followed", text)
            assert ">well<" not in text
        assert re.search(r"Table 1 missing since \d\d:\d\d", room.page("/reports"))
        assert 'feltwatch_pit_well{table="Table 1"} 0.0' in room.page("/metrics")
    finally:
        thaw(part)
    until(room.is_green)
    assert ">well<" in room.page("/tables")


def test_a_killed_uplink_leaves_nothing_green(room: Room) -> None:
    uplink = room.house.uplinks[0]
    assert room.green_after(uplink.kill) < LATEST_S
    assert "not heard of now" in room.page("/tables")
    uplink.start()
    until(room.is_green)


def test_a_killed_pit_leaves_nothing_green(room: Room) -> None:
    assert room.green_after(room.house.pit.kill) < LATEST_S
    room.house.pit.start()
    until(room.is_green)


def test_a_locked_row_of_the_follower_leaves_nothing_green(room: Room) -> None:
    until(room.is_green)
    link = TableLink(room.house.data[0] / SOCKET)
    with psycopg.connect(room.house.url) as holder:
        # there is none before its first row
        until(lambda: holder.execute("SELECT FROM table_now FOR UPDATE").rowcount)
        assert link.send({"do": "call_floor"}, within=DEADLINE)["ok"], "a row, whether anybody deals or not"
        until(lambda: "rows not followed" in " ".join(map(str, room.tile().tile.notes)))
        assert not room.is_green()
        row = re.search(r"Table 1</a>.*?</tr>", room.page("/tables"), re.DOTALL)
        assert row is not None
        assert "rows not followed" in row[0]
        assert "Table 1 missing since" in room.page("/reports")
        holder.rollback()
    assert link.send({"do": "end_floor_call", "answered": False}, within=DEADLINE)["ok"]
    until(room.is_green)


@pytest.mark.sampled
def test_a_killed_table_process_beside_a_living_uplink_leaves_nothing_green_and_needs_somebody(
    tmp_path: Path,
) -> None:
    """In a room of its own, since its table does not come back."""
    with furnished(tmp_path) as room:
        assert room.green_after(room.table.kill) < LATEST_S
        assert "the table process does not answer" in room.page("/tables")
        assert "the table process does not answer" in room.page("/proof")
        until(lambda: "The table process does not answer" in room.page("/"))
        assert room.tile().tile.tone is Tone.ALARM
