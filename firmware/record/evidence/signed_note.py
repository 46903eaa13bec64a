"""The note of the last signed head, in the key's folder: outside the record, and in no backup.

An older copy of a whole record, a day or one hand old, fits its own witness file. It does not fit this note: the head
that the box signed last is not in the copy. The note is one anchor. It is written durably after the head's row, so the
record may be one head ahead of the note, and never behind it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.record.evidence.anchors import Anchor, NoAnchor
from firmware.record.evidence.presence import presence
from firmware.record.journal.disk import read_plain, write_private
from firmware.record.journal.reader import JournalReader
from firmware.table.errors import TableError
from firmware.table.events import HeadSigned, RecordFault

FILE: Final = "signed-head"
_MAX_NOTE_BYTES: Final = 1000
"""Bytes of a note; a longer file is not a note."""


class NoteUnusable(TableError, OSError):
    """The note is damaged, of another key, or cannot be read or written."""


def read_note(key_folder: Path, public: bytes) -> Anchor | None:
    """Return the head that the box with this key signed last; None if there is no note. Raises NoteUnusable."""
    path = key_folder / FILE
    try:
        anchor = Anchor.parse(read_plain(path, _MAX_NOTE_BYTES).decode("ascii", errors="replace"))
    except FileNotFoundError:
        return None
    except (NoAnchor, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise NoteUnusable(
            "The note of the last signed head, %(path)s, cannot be used: %(why)s", path=str(path), why=why
        ) from error
    if anchor.key != public.hex():
        raise NoteUnusable("The note of the last signed head, %(path)s, is of another key.", path=str(path))
    return anchor


def write_note(key_folder: Path, anchor: Anchor) -> None:
    """Replace the note durably. Raises NoteUnusable."""
    path = key_folder / FILE
    try:
        owner = key_folder.stat() if os.geteuid() == 0 else None
        write_private(path, f"{anchor.text}\n".encode(), owner=owner and (owner.st_uid, owner.st_gid))
    except OSError as error:
        raise NoteUnusable(
            "The note of the last signed head, %(path)s, cannot be written: %(why)s.",
            path=str(path),
            why=error.strerror or error,
        ) from error


def contradiction(reader: JournalReader, note: Anchor) -> RecordFault | None:
    """Return where a record differs from the head that this box signed last, or None. Raises JournalError."""
    end = reader.head()[0]
    rows = reader.events_since(note.seq - 1, 2)
    if rows and rows[0].seq == note.seq and rows[0].hash != note.hash:
        return RecordFault("forked", end, note.seq, note.hash)
    if end <= note.seq:
        return RecordFault("rolled_back", end, note.seq + 1, note.hash)
    head = rows[1] if len(rows) == 2 else None
    if head is None or head.type != HeadSigned.type or getattr(head.event, "signature", "") != note.signature:
        return RecordFault("forked", end, note.seq + 1, note.hash)
    return None


def doubt(reader: JournalReader, note: Anchor, public: bytes) -> RecordFault | None:
    """Return what contradicts the note, or which later signature is missing or wrong; None if all is well.

    Raises JournalError, sqlite3.Error.
    """
    if (found := contradiction(reader, note)) is not None:
        return found
    with reader.opened() as db:
        missing = presence(db, note.seq + 1).missing if db else ()
    later = [row.event for row in reader.anchors(note.seq + 1)]
    for event in later:
        if isinstance(event, HeadSigned) and (event.key != public.hex() or not Anchor.of(event).is_signed()):
            return _damage(
                reader, Message("The head of row %(row)s was not signed by this box.", row=event.seq)
            )
    if missing:
        end, due = missing[0]
        what = Message("Row %(end)s ends a hand and is NOT signed before row %(row)s.", end=end, row=due)
        return _damage(reader, what)
    return None


def _damage(reader: JournalReader, what: Message) -> RecordFault:
    return RecordFault("damaged", reader.head()[0], detail=what)
