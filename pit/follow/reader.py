"""One record of the pit, as the table's own reader shows it: the review's pages need no other code.

The record ends, for this reader, before the hand that is open: the view `entry_finished` has no row of an open hand.
"""

import json
from pathlib import Path
from typing import Final, NoReturn

from firmware.record.journal.captures import CaptureStore, captures_in_json
from firmware.record.journal.reader import JournalReader, need_unchanged
from firmware.record.journal.row_index import END, RowQuery
from firmware.table import events as ev
from firmware.table.entry import COLUMNS, Entry, content_hash
from firmware.table.errors import CaptureError, JournalError
from firmware.uplink.wire import is_hash
from pit.store.database import Connection, Database
from pit.store.files import Files

NOWHERE: Final = Path("/nonexistent")


class PitReader(JournalReader):
    """Reads the finished hands of one record."""

    def __init__(self, database: Database, record_id: int) -> None:
        super().__init__(NOWHERE)
        self._database = database
        self.record_id = record_id

    def opened(self) -> NoReturn:
        """Raise JournalError: there is no SQLite here; every query is overridden."""
        raise JournalError("The pit has no journal of its own.")

    def events_since(self, seq: int, limit: int = 10_000) -> list[Entry]:
        """Return the entries after number `seq`, in order, at most `limit`."""
        with self._database.transaction() as connection:
            return self._entries(connection, "seq > %s ORDER BY seq LIMIT %s", seq, limit)

    def since_last_opened(self) -> list[Entry]:
        """Return the entries from the last opened hand on; all entries if no hand was opened."""
        opened = self._places(RowQuery({ev.HandOpened.type}, newest_first=True, limit=1))
        return self.events_since(opened[0] - 1 if opened else 0)

    def of_hand(self, hand: int) -> list[Entry]:
        """Return the entries of one hand."""
        places = self._places(RowQuery({ev.HandOpened.type}, (hand, hand + 2)))
        with self._database.transaction() as connection:
            opened = self._entries(connection, "seq = ANY(%s) ORDER BY seq", places)
            first = {entry.hand: entry.seq for entry in opened}
            if hand not in first:
                return []
            until = first.get(hand + 1, END)  # the opening of the next hand, which holds the last row's hash
            rows = self._entries(connection, "seq >= %s AND seq <= %s ORDER BY seq", first[hand], until)
        return [row for row in rows if row.seq < until]

    def head(self) -> tuple[int, str]:
        """Return the last row's number and hash; 0 and "" where there is none."""
        with self._database.transaction() as connection:
            found = self._entries(connection, "true ORDER BY seq DESC LIMIT 1")
        return (found[0].seq, found[0].hash) if found else (0, "")

    def content(self, digest: str) -> bytes | None:
        """Return the content with this hash, or None. Raises JournalError for content that was changed."""
        with self._database.transaction() as connection:
            row = connection.execute("SELECT bytes FROM content WHERE hash = %s", (digest,)).fetchone()
        if row is None:
            return None
        if content_hash(bytes(row[0])) != digest:
            raise JournalError(
                "The content %(digest)s was changed after it was written. Restore a backup.", digest=digest
            )
        return bytes(row[0])

    def _places(self, sought: RowQuery) -> list[int]:
        """Return the numbers of the rows that are sought, in the order of the index of a journal."""
        order = "DESC" if sought.newest_first else "ASC"
        types = sorted(sought.types)
        by = f"hand {order}, seq {order}" if len(types) == 1 else f"seq {order}"
        with self._database.transaction() as connection:
            found = connection.execute(
                "SELECT place.seq FROM place JOIN table_now USING (record_id) WHERE record_id = %s"
                " AND type = ANY(%s) AND hand >= %s AND hand < %s AND place.seq > %s AND place.seq <= finished"
                f" ORDER BY {by} LIMIT %s",
                (
                    self.record_id,
                    types,
                    *sought.hands,
                    sought.since,
                    None if sought.limit < 0 else sought.limit,
                ),
            )
            return [seq for (seq,) in found]

    def _find(self, sought: RowQuery) -> list[Entry]:
        places = self._places(sought)
        with self._database.transaction() as connection:
            rows = {row.seq: row for row in self._entries(connection, "seq = ANY(%s)", places)}
        return [rows[seq] for seq in places]

    def _entries(self, connection: Connection, where: str, *values: object) -> list[Entry]:
        found = connection.execute(
            f"SELECT {COLUMNS} FROM entry_finished WHERE record_id = %s AND {where}",
            (self.record_id, *values),
        )
        rows = [Entry(*row) for row in found]
        need_unchanged(rows)
        return rows


class PitCaptures(CaptureStore):
    """The images of one record's finished hands, as far as its table has sent them."""

    def __init__(self, reader: PitReader, files: Files, data: Path) -> None:
        """`data`: a folder for what is made of this record here, such as dispute files."""
        super().__init__(data)
        self._reader, self._files = reader, files
        self._named: tuple[int, dict[str, str]] = (0, {})

    def named(self, hand: int) -> dict[str, str]:
        """Return the images that the rows of a finished hand name, each with its hash."""
        if self._named[0] != hand:
            rows = [row for row in self._reader.of_hand(hand) if '"sha256":' in row.payload]
            found = (image for row in rows for image in captures_in_json(json.loads(row.payload)))
            self._named = hand, {image.name: image.sha256 for image in found}
        return self._named[1]

    def has(self, digest: str) -> bool:
        """Return whether an image is here."""
        return self._files.path(digest).is_file()

    def path(self, name: str) -> Path:
        """Return an image's path. Raises CaptureError for a name that no finished hand's row has."""
        folder, _, _ = name.partition("/")
        hand = int(folder) if folder.isascii() and folder.isdigit() and len(folder) < 12 else 0
        digest = self.named(hand).get(name, "")
        if not is_hash(digest):
            raise CaptureError("%(name)s is no capture's name.", name=f"{name!r}")
        return self._files.path(digest)
