"""A pit with its door, a table's uplink with its inbox, and that table's running process, each as in a house."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware.record.journal.clocks import ClockState, Timestamp
from firmware.record.journal.journal import Journal
from firmware.runtime.config import Config, PitConfig
from firmware.runtime.inbox.desk import EVERY_S
from firmware.runtime.inbox.desk import Inbox as TableInbox
from firmware.runtime.inbox.install_request import InstallDesk
from firmware.runtime.pit_desk import PitDesk
from firmware.table.event import Event
from firmware.update.house import HouseFile
from firmware.uplink.client import Client
from firmware.uplink.errors import PitUnreachable
from firmware.uplink.follow import HEARTBEAT_S, Follower
from firmware.uplink.inbox.fetching import AGAIN_S, PIECE, Inbox
from firmware.uplink.inbox.requests import NOTES, FileRequest, inbox_path, read_list
from firmware.uplink.join_request import JoinDesk
from firmware.uplink.settings import HOUSE, load
from pit.files.offers import offer
from pit.files.requests import TableRequest, ask, requests
from pit.status.tables import Table as Enrolled
from pit.store.database import Connection
from tests.firmware.devices.conftest import Clock
from tests.firmware.running_table import Table
from tests.pit.conftest import Pit

TECHNICIAN = {"by": "Tran", "pin": "913753"}
RUNNING = "0.2.0-00000000"
NEWER = "0.3.0-11112222"
NIGHT_MS = 1_790_000_000_000
"""A moment; what hour it is there depends on the machine's zone, so the tests name the hours by it."""


def state_of(connection: Connection, table_id: int, sha256: str) -> TableRequest | None:
    """Return a table's newest request for a file, with what it said last; None if it was never asked."""
    return next((one for one in requests(connection, table_id) if one.sha256 == sha256), None)


class Cut(Client):
    """A client whose line is cut after so many pieces, and which may be given other bytes than the pit's."""

    pieces = 0
    cut_after: int | None = None
    bend: Callable[[bytes], bytes] | None = None

    def piece(self, path: str, first: int, end: int) -> tuple[bytes, int]:
        if self.cut_after is not None and self.pieces >= self.cut_after:
            self.close()
            raise PitUnreachable("The pit cannot be reached (the cable is out).")
        self.pieces += 1
        data, size = super().piece(path, first, end)
        return (self.bend(data) if self.bend is not None else data), size


def take_file(number: int, sha256: str, **who: str) -> str:
    """Return the command that takes a file, in the technician's name or another's."""
    return json.dumps({"do": "take_file", "number": number, "sha256": sha256, **(who or TECHNICIAN)})


@dataclass
class Rig:
    """One table at a pit. `turn` lets the uplink and the table do what is due."""

    pit: Pit
    folder: Path
    release_key: Path
    enrolled: Enrolled
    enrolment: Path
    table: Table
    client: Cut
    follower: Follower
    uplink: Inbox
    now: list[float]
    free: list[int]
    wall: list[Timestamp]

    def offer(self, name: str, data: str | Path) -> HouseFile:
        """Offer a text, or an archive, as the technician Ines."""
        path = data if isinstance(data, Path) else self.folder / name
        if not isinstance(data, Path):
            path.write_text(data)
        root = self.folder / "root.json"
        return offer(self.pit.database, self.pit.house, path, "Ines", maker_root=root)

    def ask(self, one: HouseFile) -> None:
        with self.pit.database.transaction() as connection:
            ask(connection, self.enrolled.table_id, one.sha256, "Ines")

    def request(self, name: str, data: str | Path) -> HouseFile:
        """Offer a file, and ask the table to fetch it."""
        one = self.offer(name, data)
        self.ask(one)
        return one

    def at_pit(self, one: HouseFile) -> TableRequest:
        """Return what the pit knows of a request."""
        with self.pit.database.transaction() as connection:
            found = state_of(connection, self.enrolled.table_id, one.sha256)
        assert found is not None
        return found

    def here(self, one: HouseFile) -> FileRequest:
        """Return what the table's page shows of it."""
        return next(i for i in read_list(self.table.config.data / NOTES) if i.sha256 == one.sha256)

    @property
    def inbox(self) -> Path:
        return self.folder / "inbox"

    def fetch(self) -> None:
        """Let the uplink do what is due, a heartbeat included, until it has nothing more to do."""
        self.now[0] += max(HEARTBEAT_S, AGAIN_S)
        quiet = 0
        while quiet < 3:  # the pit's answer, a piece, what the table says: each may follow the other
            quiet = quiet + 1 if self.follower.step() else 0

    def turn(self) -> None:
        """Fetch, let the table decide, and let the pit know."""
        self.fetch()
        self.table.let_pass(EVERY_S + 0.2)
        self.fetch()

    def take(self, one: HouseFile) -> dict[str, Any]:
        """Take a file in the technician's name."""
        return self.table.ask(take_file(*self.here(one).key))

    def moves(self, minutes: float, clock: ClockState = "synchronised") -> None:
        """Set the table's clock so many minutes after the rig's moment."""
        ms = int(minutes * 60_000)
        self.wall[0] = Timestamp(self.wall[0].boot, ms * 1_000_000, NIGHT_MS + ms, clock)

    def starts_again(self, release: str, boot: str | None = None, meanwhile: tuple[Event, ...] = ()) -> None:
        """Start the table and its uplink again, as another release or after a power cut.

        `meanwhile`: what is recorded before that.
        """
        self.table.stop()
        if meanwhile:
            with Journal(self.table.config.data) as journal:
                journal.recover()
                journal.append(list(meanwhile), "dealer:Lin")
        if boot is not None:
            self.wall[0] = Timestamp(boot, 0, self.wall[0].wall_ms, "synchronised")
        config = self.table.config
        desk = desk_of(self.folder, self.enrolment, config, lambda: self.wall[0], release)
        self.table = Table(config, desk=desk, wall=lambda: self.wall[0])
        self.uplink = self.made_uplink()
        self.follower = Follower(
            config.data,
            self.client,
            release=release,
            clock=lambda: self.now[0],
            rng=random.Random(1),
            inbox=self.uplink,
        )

    def made_uplink(self) -> Inbox:
        return uplink_of(self.folder, self.enrolment, self.table.config.data, self.now, self.free)

    def noise(self, pieces: int) -> bytes:
        """Return bytes that do not deflate, of more than so many pieces less one."""
        return random.Random(7).randbytes((pieces - 1) * PIECE + 1000)

    def rows(self, kind: str) -> list[Any]:
        return [entry for entry in self.table.reader.events_since(0) if entry.type == kind]


def part_of(here: Rig, one: HouseFile) -> Path:
    """Return where a file lies, or as much of it as was fetched."""
    return inbox_path(here.inbox, one.sha256)


def desk_of(
    rig_folder: Path, enrolment: Path, config: Config, wall: Callable[[], Timestamp], running: str
) -> Any:
    """Return what makes the table's desk for the pit."""

    def desk(clock: Clock) -> PitDesk:
        run = rig_folder / "run"
        run.mkdir(exist_ok=True)
        inbox = TableInbox(
            *(config.data, rig_folder / "inbox", enrolment / HOUSE),
            *(InstallDesk(run, rig_folder / "result.json"), config.pit, wall),
            running=running,
            clock=clock,
        )
        return PitDesk(JoinDesk(run, run / "progress.json"), inbox)

    return desk


def uplink_of(folder: Path, enrolment: Path, data: Path, now: list[float], free: list[int]) -> Inbox:
    """Return an uplink's inbox; `now` holds its clock, `free` the free bytes of its disk."""
    return Inbox(
        folder / "inbox",
        data / NOTES,
        house_key=enrolment / HOUSE,
        maker_root=folder / "root.json",
        clock=lambda: now[0],
        free=lambda _: free[0],
    )


@contextmanager
def rig(pit: Pit, folder: Path, release_key: Path, pit_config: PitConfig | None = None) -> Iterator[Rig]:
    """Enrol a table and run it."""
    enrolled, enrolment = pit.enrol("Table 1")
    data = folder / "table"
    config = Config.model_validate_json(
        json.dumps({"data": str(data), "seats": [{"seat": 1, "place": "A"}, {"seat": 2, "place": "B"}]})
    )
    config = config.model_copy(update={"pit": pit_config or PitConfig()})
    wall = [Timestamp("boot-1", 0, NIGHT_MS, "synchronised")]
    data.mkdir()
    table = Table(
        config, desk=desk_of(folder, enrolment, config, lambda: wall[0], RUNNING), wall=lambda: wall[0]
    )
    person = {"do": "list_person", "person": "Tran", "role": "technician", "new_pin": "913753"}
    try:
        table.do(json.dumps(person))
        settings = load(enrolment)
        assert settings is not None
        client, now, free = Cut(settings), [0.0], [10**12]
        uplink = uplink_of(folder, enrolment, data, now, free)
        follower = Follower(
            data, client, release=RUNNING, clock=lambda: now[0], rng=random.Random(1), inbox=uplink
        )
        made = Rig(
            *(pit, folder, release_key, enrolled, enrolment, table, client, follower, uplink),
            *(now, free, wall),
        )
        try:
            yield made
        finally:
            client.close()
            table = made.table  # the one that runs now
    finally:
        table.stop()
