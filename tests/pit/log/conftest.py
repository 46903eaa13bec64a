"""A log over a real database, and tables that sign, send and witness."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.table import events as ev
from firmware.uplink.wire import MAX_ROWS, Head, Offer, decode, encode
from firmware.uplink.witness import Witness
from pit.door.take import take_from
from pit.log.answers import Answers
from pit.log.keeper import Keeper
from pit.log.keys import accept
from pit.status.tables import Table, enrol
from pit.store.database import Database

_SERIALS = itertools.count(1)


@dataclass
class SigningTable:
    """A table whose journal grows, whose key signs heads, and whose uplink witnesses the log."""

    folder: Path
    database: Database
    table: Table
    key: DeviceKey
    witness: Witness
    data: Path
    have: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)

    def deal(self, hands: int = 1, sign: DeviceKey | None = None) -> int:
        """Sign the head so often, as at a hand's end; return the number of the last signed row."""
        key = sign or self.key
        with Journal(self.data) as journal:
            if getattr(_last_key(self.data), "key", "") != key.public.hex():
                journal.append([ev.KeyAnnounced(key.public.hex())], "table")
            for _ in range(hands):
                seq, digest = journal.head
                event = sign_head(
                    key, seq=seq, digest=digest, hands=1, wall_ms=1_790_000_000_000 + seq, table="12"
                )
                journal.append([event], "table")
        return seq

    def send(self) -> None:
        """Send what is new, without asking for proofs."""
        reader = JournalReader(self.data)
        genesis, head = reader.events_since(0, 1)[0].hash, Head(*reader.head())
        while self.have < head.seq:
            rows = tuple(reader.events_since(self.have, MAX_ROWS))
            self.have = take_from(self.database, self.table.serial, Offer(genesis, head, rows=rows)).head.seq

    def ask(self, answers: Answers) -> dict[str, Any]:
        """Show what is held, and receive what is new in the log, as the uplink does; return the pit's answer."""
        reader = JournalReader(self.data)
        genesis, head = reader.events_since(0, 1)[0].hash, Head(*reader.head())
        offer = decode(encode(Offer(genesis, head, holds=self.witness.holds())))
        taken = take_from(self.database, self.table.serial, offer)
        assert offer.holds is not None
        answer = answers.to(taken.table_id, taken.record_id, offer.holds) or {}
        self.witness.receive(answer, self.anchor_at)
        return answer

    def anchor_at(self, seq: int) -> tuple[str, Anchor] | None:
        rows = JournalReader(self.data).events_since(seq, 1)
        genesis = JournalReader(self.data).events_since(0, 1)[0].hash
        event = rows[0].event if rows else None
        return (genesis, Anchor.of(event)) if isinstance(event, ev.HeadSigned) else None


def _last_key(data: Path) -> Any:
    last = JournalReader(data).last_key()
    return last.event if last else None


@dataclass
class LogHouse:
    """A pit's log and its tables."""

    database: Database
    folder: Path
    keeper: Keeper
    answers: Answers
    tables: list[SigningTable] = field(default_factory=list)

    def add(self, *, accepted: bool = True) -> SigningTable:
        """Enrol a table whose record says which key signs it."""
        number = len(self.tables) + 1
        folder = self.folder / f"table-{number}"
        folder.mkdir()
        table = enrol(self.database, f"Table {number}", next(_SERIALS))
        key = DeviceKey.open(folder / "key")
        with Journal(folder / "data") as journal:
            journal.append([ev.KeyAnnounced(key.public.hex())], "table")
        made = SigningTable(folder, self.database, table, key, Witness(folder / "witness"), folder / "data")
        if accepted:
            accept(self.database, table.name, key.public)
        self.tables.append(made)
        return made

    def restarted(self, **given: Any) -> LogHouse:
        """The same pit's log after a restart of its process."""
        keeper = Keeper(self.database, self.folder, **given)
        return LogHouse(self.database, self.folder, keeper, Answers(self.database, keeper), self.tables)

    def round(self) -> None:
        """One hand at each table, all the way: signed, sent, logged, checked, cosigned, counted."""
        for table in self.tables:
            table.deal()
            table.send()
        self.keeper.turn()
        for _ in range(2):  # the second time each shows what it has cosigned
            for table in self.tables:
                table.ask(self.answers)
        self.keeper.turn()

    def one(self, query: str, *values: Any) -> Any:
        with self.database.transaction() as connection:
            row = connection.execute(query.encode(), values).fetchone()
        return row[0] if row and len(row) == 1 else row


def set_back(owned: str, size: int) -> None:
    """Take what was added to the log after `size` leaves out of the database, as an older backup would."""
    with psycopg.connect(owned) as connection:
        for table in ("proven", "cosignature", "checkpoint", "node", "leaf"):
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
            column = "number >=" if table in ("leaf", "node") else "size >"
            if table != "node":
                connection.execute(f"DELETE FROM {table} WHERE {column} %s".encode(), (size,))
            connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER".encode())
        connection.execute("UPDATE log_mark SET seq = 0")


def made_house(database: Database, folder: Path) -> LogHouse:
    """Make a log without tables."""
    keeper = Keeper(database, folder)
    return LogHouse(database, folder, keeper, Answers(database, keeper))


@pytest.fixture
def house(database: Database, tmp_path: Path) -> LogHouse:
    return made_house(database, tmp_path)
