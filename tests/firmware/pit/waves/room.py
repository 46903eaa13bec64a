"""A room of tables for waves: real records, real uplinks over TLS, a pit's door, its projector and its stepper.

A table's release is what its own process says: the row with which it starts, and its uplink's heartbeat.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from firmware.bench.generated_record import generate_record
from firmware.pit.database import Database
from firmware.pit.down.requests import keep_progress, requests
from firmware.pit.now import Follower as Floor
from firmware.pit.projector import project
from firmware.pit.waves.plan import Mark, Phase, Rules
from firmware.pit.waves.stepper import Stepper
from firmware.pit.waves.store import Wave, WaveTable, newest, start, tables_of
from firmware.record.journal.journal import Journal
from firmware.table import events as ev
from firmware.table.event import Event
from firmware.uplink.follow import Follower
from firmware.uplink.inbox.wire import Progress
from tests.firmware.pit.conftest import Pit

OLD, NEW = "0.2.0-aaaaaaaa", "0.3.0-bbbbbbbb"
SHA = "ab" * 32


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
            connection.execute(
                "INSERT INTO offered_file (sha256, kind, name, version, size, offered_by)"
                " VALUES (%s, 'release', 'feltwatch', %s, 1, 'test')",
                (SHA, NEW),
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
                if one.follower.heard.trouble or (wait and not one.follower.heard.behind):
                    break
        while self.floor.follow() + project(self.database):
            pass

    def turn(self) -> list[Mark]:
        """Let tables send, take a turn, and return each table's mark, in the order of the tables."""
        self.send()
        self.stepper.turn()
        found = {one.table_id: one.mark for one in self.shown()}
        return [found[one.table_id] for one in self.tables if one.table_id in found]

    def update(self, table: RoomTable) -> None:
        """Let a table start the new release, end its request, and play a hand: all that it takes."""
        table.start(NEW)
        if table.name in self.asked():
            self.says(table, "in_force")
        table.play(1)

    def later(self, seconds: float) -> None:
        """Let time pass: what is stored is older by so much, as is the pit's last start."""
        with psycopg.connect(self.owned) as connection:
            for table, columns in {
                "head": ("heard_at", "taken_at"),
                "wave": ("began_at", "phase_at"),
                "wave_table": ("reached_at", "since"),
                "file_request": ("asked_at", "state_at", "ends_at", "ended_at"),
            }.items():
                older = ", ".join(f"{name} = {name} - %(s)s * interval '1 second'" for name in columns)
                connection.execute(f"UPDATE {table} SET {older}", {"s": seconds})
        self.stepper._listening -= seconds

    def begin(self, *, rules: Rules | None = None, **more: Any) -> int:
        """Begin a wave."""
        return start(self.database, SHA, "Ines", rules=rules, **more)

    def wave(self) -> Wave:
        with self.database.transaction() as connection:
            found = newest(connection)
        assert found is not None
        return found

    @property
    def phase(self) -> Phase:
        return self.wave().phase

    def shown(self) -> list[WaveTable]:
        wave = self.wave()
        with self.database.transaction() as connection:
            return tables_of(connection, wave)

    def of(self, table: RoomTable) -> WaveTable:
        return next(one for one in self.shown() if one.table_id == table.table_id)

    def asked(self) -> list[str]:
        """The tables that are asked for the release now."""
        with self.database.transaction() as connection:
            return sorted(one.table for one in requests(connection) if one.ended_at is None)

    def says(self, table: RoomTable, state: str, why: Any = None) -> None:
        """Let a table say how far its request is."""
        with self.database.transaction() as connection:
            number = next(one.number for one in requests(connection, table.table_id))
            keep_progress(connection, table.table_id, table.follower._release, [Progress(number, state, why)])
