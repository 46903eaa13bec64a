"""A table whose journal's rows come to the pit, as its uplink would send them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firmware.record.journal.reader import JournalReader
from firmware.uplink.wire import MAX_ROWS, Head, Offer, texts_named
from pit.door.take import take
from pit.follow.follower import Follower
from pit.follow.projector import project
from pit.status.table_facts import TableFacts
from pit.status.tables import Table, enrol
from pit.store.database import Database


@dataclass
class FollowedTable:
    """One table, and what the pit makes of it."""

    database: Database
    data: Path
    name: str = "Table 1"
    health: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reader = JournalReader(self.data)
        self.table: Table = enrol(self.database, self.name, abs(hash(self.name)) % 2**63)
        self.follower = Follower(self.database)
        self.have = 0

    def copied(self, database: Database, data: Path) -> FollowedTable:
        """Return the same table at a copy of the pit's database, over a copy of its record."""
        made = copy(self)
        made.database, made.data, made.health = database, data, dict(self.health)
        made.reader, made.follower = JournalReader(data), Follower(database)
        return made

    def send(self) -> None:
        """Send what is new, with the texts that it names, and let the pit follow it."""
        first = self.reader.events_since(0, 1)[0]
        seq, digest = self.reader.head()
        while True:
            rows = tuple(self.reader.events_since(self.have, MAX_ROWS))
            offer = Offer(first.hash, Head(seq, digest), "0.2.0", self.health, (), rows)
            self.have = take(self.database, self.table, offer).seq
            with self.database.transaction() as connection:
                for name in {name for row in rows for name in texts_named(row.type, row.payload)}:
                    connection.execute(
                        "INSERT INTO content VALUES (%s, %s) ON CONFLICT DO NOTHING",
                        (name, self.reader.content(name)),
                    )
            if self.have == seq:
                break
        while self.follower.follow() + project(self.database):
            pass

    @property
    def record_id(self) -> int:
        return int(self._one("SELECT max(record_id) FROM record WHERE table_id = %s", self.table.table_id))

    @property
    def facts(self) -> TableFacts:
        return TableFacts.from_text(
            str(self._one("SELECT facts FROM table_now WHERE record_id = %s", self.record_id))
        )

    @property
    def finished(self) -> int:
        return int(self._one("SELECT finished FROM table_now WHERE record_id = %s", self.record_id))

    def _one(self, query: str, *values: Any) -> Any:
        with self.database.transaction() as connection:
            row = connection.execute(query, values).fetchone()
        assert row is not None
        return row[0]
