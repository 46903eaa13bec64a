"""A room of tables for channels: real records, real uplinks over TLS, a pit's door, its projector and its stepper.

A table's release is what its own process says: the row with which it starts, and its uplink's heartbeat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from firmware.record.journal.journal import Journal
from firmware.table import events as ev
from firmware.table.event import Event
from firmware.uplink.follow import Follower
from firmware.uplink.inbox.requests import FileRequest
from pit.channels.judge import Mark
from pit.channels.stepper import Stepper
from pit.channels.store import Channel, ChannelTable, Name, move, put, read_channels, try_again
from pit.files.requests import keep_progress, requests
from pit.follow.follower import Follower as Floor
from pit.follow.projector import project
from pit.store.database import Database
from tests.generated_record import generate_record
from tests.pit.conftest import Pit

OLD, NEW, NEWER = "0.2.0-aaaaaaaa", "0.3.0-bbbbbbbb", "0.4.0-cccccccc"
SHA, SHA_NEWER = "ab" * 32, "cd" * 32
FIRST, TENTH, REST = Name.FIRST, Name.TENTH, Name.REST


@dataclass
class RoomTable:
    """One table: its record, its uplink, and whether it is on."""

    name: str
    table_id: int
    data: Path
    follower: Follower
    is_on: bool = True

    def say(self, *events: Event) -> None:
        """Write rows, as the table's process does."""
        with Journal(self.data) as journal:
            journal.append(list(events), "table")

    def says_start(self, release: str) -> None:
        """Write the row with which the table's process starts, of a release."""
        self.say(ev.TableStarted(f"feltwatch {release}"))

    def start(self, release: str) -> None:
        """Start the table's process and its uplink, of a release."""
        self.says_start(release)
        self.follower._release = release

    def play(self, hands: int) -> None:
        """Open hands and settle them."""
        generate_record(self.data, hands, pool=1)


@dataclass
class Room:
    """The tables, and the pit that they send to."""

    pit: Pit
    owned: str
    tables: list[RoomTable] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.database: Database = self.pit.database
        self.stepper = Stepper(self.database)
        self.floor = Floor(self.database)
        with self.database.transaction() as connection:
            for sha256, release in ((SHA, NEW), (SHA_NEWER, NEWER)):
                connection.execute(
                    "INSERT INTO offered_file (sha256, kind, name, version, size, offered_by)"
                    " VALUES (%s, 'release', 'feltwatch', %s, 1, 'test')",
                    (sha256, release),
                )

    def add(self, count: int, hands: int = 1) -> None:
        """Enrol tables that run the old release and have played."""
        for _ in range(count):
            number = len(self.tables) + 1
            table, enrolment = self.pit.enrol(f"Table {number}")
            data = self.pit.folder / f"data-{number}"
            data.mkdir()
            follower = self.pit.follower(enrolment, data)
            one = RoomTable(table.name, table.table_id, data, follower)
            one.start(OLD)
            one.play(hands)
            self.tables.append(one)
        self.send()

    def send(self) -> None:
        """Let every table that is on send what it has, and be heard of; the pit follows all of it."""
        for one in self.tables:
            if not one.is_on:
                continue
            one.follower._spoke = None  # a heartbeat is due
            for _ in range(100):
                wait = one.follower.step()
                if one.follower.status.trouble or (wait and not one.follower.status.behind):
                    break
        while self.floor.follow() + project(self.database):
            pass

    def turn(self) -> list[Mark]:
        """Let tables send, take a turn, and return each table's mark, in the order of the tables."""
        self.send()
        self.stepper.turn()
        found = {table.table_id: table.mark for one in self.shown().values() for table in one.tables}
        return [found[one.table_id] for one in self.tables if one.table_id in found]

    def update(self, table: RoomTable, release: str = NEW) -> None:
        """Let a table start the new release, end its request, and play a hand: all that it takes."""
        table.start(release)
        if table.name in self.asked():
            self.says(table, "in_force")
        table.play(1)

    def later(self, seconds: float) -> None:
        """Let time pass: what is stored is older by so much, as is the pit's last start."""
        with psycopg.connect(self.owned) as connection:
            for table, columns in {
                "head": ("heard_at", "taken_at"),
                "channel": ("moved_at",),
                "channel_table": ("reached_at", "since"),
                "file_request": ("asked_at", "state_at", "ends_at", "ended_at"),
            }.items():
                older = ", ".join(f"{name} = {name} - %(s)s * interval '1 second'" for name in columns)
                connection.execute(f"UPDATE {table} SET {older}", {"s": seconds})
        self.stepper._listening -= seconds

    def put(self, to: Name, *names: str) -> None:
        """Put tables into a channel."""
        for name in names:
            put(self.database, name, to, "Ines")

    def move(self, to: Name = FIRST, sha256: str = SHA) -> None:
        """Move a release to a channel."""
        move(self.database, sha256, to, "Ines")

    def second_card(self, folder: str) -> RoomTable:
        """Return the first table as it runs on another card, with the record in this folder."""
        first, data = self.tables[0], self.pit.folder / folder
        data.mkdir(exist_ok=True)
        follower = self.pit.follower(self.pit.folder / first.name, data)
        self.tables.append(RoomTable(first.name, first.table_id, data, follower))
        return self.tables[-1]

    def begin(self, count: int = 0) -> None:
        """Put the first table into the channel First, and the release; `count` tables are added before."""
        if count:
            self.add(count)
        self.put(FIRST, self.tables[0].name)
        self.move()

    def again(self, *without: str) -> None:
        """Let the stopped release go on."""
        try_again(self.database, SHA, "Ines", without)

    def shown(self) -> Mapping[Name, Channel]:
        with self.database.transaction() as connection:
            return read_channels(connection)

    @property
    def stopped(self) -> str:
        """Why a release is stopped, "" if none is."""
        return next((str(one.stopped) for one in self.shown().values() if one.stopped), "")

    def of(self, table: RoomTable) -> ChannelTable:
        tables = [its for one in self.shown().values() for its in one.tables]
        return next(one for one in tables if one.table_id == table.table_id)

    def asked(self) -> list[str]:
        """The tables that are asked for the release now."""
        with self.database.transaction() as connection:
            return sorted(one.table for one in requests(connection) if not one.is_over)

    def says(self, table: RoomTable, state: str, why: Any = None) -> None:
        """Let a table say how far its request is."""
        with self.database.transaction() as connection:
            one = requests(connection, table.table_id)[0]
            said = FileRequest(*one.key, state, why)
            keep_progress(connection, table.table_id, table.follower._release, [said])
