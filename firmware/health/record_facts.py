"""Health facts from the record. Read only; works whether the table runs or not."""

from pathlib import Path
from typing import Any, Final

from firmware.record.evidence.chain import check_rows
from firmware.record.evidence.presence import presence_of
from firmware.record.evidence.signed_note import NoteUnusable, contradiction, read_note
from firmware.record.evidence.signing import DeviceKey, KeyUnusable
from firmware.record.evidence.verify import no_journal, problems_of_file
from firmware.record.journal.file import as_journal_errors, could_not_be_read
from firmware.record.journal.ground import find_links
from firmware.record.journal.journal import JournalReader
from firmware.table.entry import content_hash
from firmware.table.errors import JournalError
from firmware.table.events import CameraCalibrated, ReadingFailed, ReadingTaken
from firmware.table.state import State

LAST_ROWS: Final = 5000
"""How many of the chain's last rows are checked by default: it takes some tens of milliseconds."""


def record_facts(reader: JournalReader, now_ms: int, rows: int | None = LAST_ROWS) -> dict[str, Any]:
    """Return the fields of `firmware.health.checks.Facts` that come from the record; none if it cannot be read.

    `now_ms`: the wall clock. `rows`: how many of the chain's last rows are checked; None for all.
    """
    folder = reader.path.parent
    if link := find_links(folder, reader.path.name):
        return {"rows": 1, "checked": 0, "record_wrong": link}
    try:
        chain = _chain(reader, rows)
    except JournalError:
        return {}
    if not chain["checked"]:  # no row says anything of people or of what was signed
        return chain
    try:
        state, _ = reader.recover()
        return {
            "faults": dict(state.faults),
            "short_pins": sum(person.short for person in state.people),
            "fault": state.record_fault.problem if state.record_fault else "",
            **chain,
            **_picture(reader),
            **_calibration(reader, state, now_ms),
            **_anchor(reader, now_ms),
            **_profile(reader, state),
        }
    except JournalError:  # a row of this hand was changed; the facts of the chain name it
        return chain


def _chain(reader: JournalReader, rows: int | None) -> dict[str, Any]:
    end = reader.head()[0]
    if not end:
        return _emptied(reader)
    first = max(1, end - rows + 1) if rows else 1
    folder: Path = reader.path.parent
    with reader.opened() as db, as_journal_errors(could_not_be_read(reader.path)):
        if db is None:
            return _emptied(reader)
        wrong = next(problems_of_file(db, folder, pages=rows is None), None)
        found = check_rows(db, first, end)
    there = presence_of(found.proof)
    none = not there.signed and there.ended > 1  # the last one may be about to be signed
    return {
        "record_wrong": wrong.what if wrong else "",
        "rows": end,
        "checked": found.rows,
        "unsigned": there.ended if none else len(there.missing),
        "broken_at": found.problems[0][0] if found.problems else None,
    }


def _emptied(reader: JournalReader) -> dict[str, Any]:
    """Return the facts of a record without rows: there is none yet, or it was lost."""
    with as_journal_errors(could_not_be_read(reader.path)):
        lost = next(no_journal(reader.path.parent), None)
    return {"rows": 1, "checked": 0, "record_wrong": lost.what} if lost else {"rows": 0, "checked": 0}


def note_facts(reader: JournalReader, key_folder: Path) -> dict[str, Any]:
    """Return whether the record is the one that this box signed last; nothing where that cannot be seen."""
    try:
        key = DeviceKey.existing(key_folder)
        note = None if key is None else read_note(key_folder, key.public)
        found = None if note is None else contradiction(reader, note)
    except NoteUnusable as error:
        return {"note": error.sentence}
    except (KeyUnusable, JournalError):
        return {}
    return {} if note is None else {"note": found.problem if found else ""}


def _picture(reader: JournalReader) -> dict[str, Any]:
    """Return the picture's verdicts from the last reading of this hand or the one before; none if that one failed."""
    entries = reader.since_last_opened()
    hand = entries[-1].hand if entries else 0
    for rows in (entries, reader.of_hand(hand - 1) if hand > 1 else []):
        for entry in reversed(rows):
            if entry.type == ReadingFailed.type:  # of a later picture than any that says how it was
                return {}
            if entry.type == ReadingTaken.type:
                event = entry.event
                assert isinstance(event, ReadingTaken)
                return {"picture": dict(event.verdicts)} if event.verdicts else {}
    return {}


def _calibration(reader: JournalReader, state: State, now_ms: int) -> dict[str, Any]:
    felt = state.calibrations.get("felt")
    if felt is None:
        return {"calibrated": False}
    made = [entry for entry in reader.of_set_up() if entry.type == CameraCalibrated.type]
    for entry in reversed(made):
        event = entry.event
        if isinstance(event, CameraCalibrated) and event.calibration.hash == felt.hash:
            return {"calibrated": True, "felt_age_ms": now_ms - entry.wall_ms}
    return {"calibrated": True}


def _anchor(reader: JournalReader, now_ms: int) -> dict[str, Any]:
    last = reader.last_anchor()
    return {"anchored": False} if last is None else {"anchored": True, "anchor_age_ms": now_ms - last.wall_ms}


def _profile(reader: JournalReader, state: State) -> dict[str, Any]:
    named = state.house.profile_hash or (state.opened.profile_hash if state.opened else "")
    if not named:
        return {}
    try:
        kept = reader.content(named)
    except JournalError:  # the content was changed
        kept = None
    return {"profile_named": named, "profile_hash": content_hash(kept) if kept is not None else ""}
