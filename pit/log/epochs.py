"""Epochs: each is a log of its own. A database that was set back must never sign a second history.

Anyone who has signed a checkpoint that this database does not know has signed it before the database was set back. So
that log ends there, and the next epoch begins; its first leaf is that checkpoint. The newest checkpoint also lies in a
file next to the key: a database that lacks it was set back, and no table has to say so.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware.record.evidence.merkle import leaf_hash
from firmware.record.evidence.notes import Checkpoint, NoNote, epoch_entry, epoch_of, open_note, origin_of
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.disk import write_whole
from pit.store.database import Connection

FILE: Final = "newest-checkpoint"


@dataclass(frozen=True)
class Epoch:
    """A log: its number, from 1 on, its origin, and how many leaves it has."""

    number: int
    origin: str
    size: int = 0


def current(connection: Connection) -> Epoch | None:
    """Return the epoch in use, None in a database that has none."""
    row = connection.execute("SELECT epoch, origin FROM epoch ORDER BY epoch DESC LIMIT 1").fetchone()
    if row is None:
        return None
    last = connection.execute(
        "SELECT number + 1 FROM leaf WHERE epoch = %s ORDER BY number DESC LIMIT 1", row[:1]
    )
    return Epoch(row[0], row[1], (last.fetchone() or (0,))[0])


def begin(connection: Connection, key: DeviceKey, unknown: str = "") -> Epoch:
    """Open the next epoch; `unknown` is the checkpoint that this database does not know, its first leaf."""
    found = current(connection)
    claimed = epoch_of(unknown.partition("\n")[0], key.public) if unknown else 0
    number = max(found.number if found else 0, claimed) + 1
    origin = origin_of(key.public, number)
    connection.execute(
        "INSERT INTO epoch (epoch, origin, key, unknown) VALUES (%s, %s, %s, %s)",
        (number, origin, key.public, unknown),
    )
    if not unknown:
        return Epoch(number, origin)
    connection.execute(
        "INSERT INTO leaf (epoch, number, hash) VALUES (%s, 0, %s)", (number, leaf_hash(epoch_entry(unknown)))
    )
    return Epoch(number, origin, 1)


def is_known(connection: Connection, checkpoint: Checkpoint) -> bool:
    """Return whether this database has a checkpoint."""
    row = connection.execute(
        "SELECT root FROM checkpoint JOIN epoch USING (epoch) WHERE origin = %s AND size = %s",
        (checkpoint.origin, checkpoint.size),
    ).fetchone()
    return row is not None and bytes(row[0]) == checkpoint.root


def newest(connection: Connection) -> str:
    """Return the newest checkpoint's note, "" without one."""
    row = connection.execute("SELECT note FROM checkpoint ORDER BY epoch DESC, size DESC LIMIT 1").fetchone()
    return row[0] if row else ""


class NewestFile:
    """The newest checkpoint, in a file next to the log's key."""

    def __init__(self, folder: Path, key: DeviceKey) -> None:
        self._path, self._key = folder / FILE, key
        self._checked = ""

    def read(self) -> str:
        """Return the note; "" without a file, or if the file is not this key's. Another process may have written it."""
        try:
            note = self._path.read_text(encoding="utf-8")
            if note != self._checked:
                open_note(note, self._key.public)
        except (OSError, ValueError, NoNote):
            return ""
        self._checked = note
        return note

    def write(self, note: str) -> None:
        """Replace it. Raises OSError."""
        write_whole(self._path, note.encode())
