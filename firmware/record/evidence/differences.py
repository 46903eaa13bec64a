"""How a backup differs from the record that it would replace, and from what this box signed last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from firmware.messages import Message, Text
from firmware.record.evidence.anchors import Anchor
from firmware.record.evidence.presence import presence
from firmware.record.evidence.signed_note import NoteUnusable, contradiction, read_note
from firmware.record.evidence.signing import DeviceKey, KeyUnusable
from firmware.record.journal.journal import JournalReader
from firmware.table.errors import JournalError
from firmware.table.events import HeadSigned


@dataclass(frozen=True)
class Difference:
    """One sentence; `is_unproven`: with it a backup is only restored on a person's explicit word."""

    what: Text
    is_unproven: bool = False


def differences(source: Path, data: Path, key_folder: Path | None) -> tuple[Difference, ...]:
    """Compare a backup with the record in `data` and with the note in the key's folder. Raises JournalError."""
    backup, present = (JournalReader(folder, are_checked=False) for folder in (source, data))
    return (*_check_itself(backup), *_to_note(backup, key_folder), *_to_present(backup, present))


def _check_itself(backup: JournalReader) -> Iterator[Difference]:
    with backup.opened() as db:
        there = presence(db) if db else None
    if there is not None and there.unsigned:
        yield Difference(
            Message(
                "The backup is NOT signed: of %(ended)s hands that ended, %(count)s have no signed head.",
                ended=there.ended,
                count=there.unsigned,
            ),
            is_unproven=True,
        )


def _to_note(backup: JournalReader, key_folder: Path | None) -> Iterator[Difference]:
    try:
        key = DeviceKey.existing(key_folder) if key_folder else None
        note = read_note(key_folder, key.public) if key and key_folder else None
    except NoteUnusable as error:
        key, note = None, None
        yield Difference(error.sentence, is_unproven=True)
    except KeyUnusable as error:
        key, note = None, None
        yield Difference(error.sentence)
    if key is None:
        yield Difference(
            Message("This box has no key that can be read: nobody can say here who signed the backup.")
        )
        return
    row = backup.last_anchor()
    head = row.event if row else None
    if isinstance(head, HeadSigned) and (head.key != key.public.hex() or not Anchor.of(head).is_signed()):
        yield Difference(
            Message(
                "The backup's last signed head, of row %(row)s, was not signed by this box (%(words)s).",
                row=head.seq,
                words=key.words,
            ),
            is_unproven=True,
        )
    if note is None:
        yield Difference(
            Message("This box has no note of what it signed last: the backup is compared with none.")
        )
        return
    found = contradiction(backup, note)
    if found is not None and found.what == "forked":
        yield Difference(found.problem, is_unproven=True)
    elif found is not None:
        yield Difference(
            Message(
                "The backup ends at row %(end)s. This box signed row %(row)s last, of hand %(hands)s: "
                "what came after is not in the backup.",
                end=found.seq,
                row=note.seq,
                hands=note.hands,
            )
        )


def _to_present(backup: JournalReader, present: JournalReader) -> Iterator[Difference]:
    try:
        end, there = backup.head()[0], present.head()[0]
        if not there:
            return
        first = _first_other(backup, present, min(end, there))
    except JournalError as error:
        yield Difference(Message("The present record cannot be compared: %(error)s", error=error))
        return
    if first:
        yield Difference(
            Message(
                "The backup differs from the present record from row %(row)s on, of hand %(hand)s.",
                row=first,
                hand=backup.events_since(first - 1, 1)[0].hand,
            ),
            is_unproven=True,
        )
    if there > end:
        yield Difference(
            Message("The present record has %(count)s rows more than the backup.", count=there - end)
        )


def _first_other(one: JournalReader, other: JournalReader, end: int) -> int:
    """Return the first row up to `end` that differs, 0 if none does: rows that are equal follow equal rows."""

    def is_same(seq: int) -> bool:
        first, second = ([row.hash for row in reader.events_since(seq - 1, 1)] for reader in (one, other))
        return first == second

    if not end or is_same(end):
        return 0
    same, other_at = 0, end
    while other_at - same > 1:
        middle = (same + other_at) // 2
        same, other_at = (middle, other_at) if is_same(middle) else (same, middle)
    return other_at
