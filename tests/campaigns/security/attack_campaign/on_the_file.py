"""Attacks on the record's files: points 1 to 4 of "What was broken"."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from firmware.record.archive import Archive
from firmware.record.backup import BackupError
from firmware.record.journal import witness
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.record.restore import restore
from firmware.rules import load_profile, profile_toml
from firmware.table.entry import content_hash
from firmware.table.errors import CommandRefused, TableError
from tests.campaigns.security.attack_campaign.attack import Result, Room, bend
from tests.campaigns.security.attack_campaign.pages import WAL
from tests.campaigns.security.attack_campaign.records import (
    PROFILE,
    at_table,
    give,
    named,
    seen,
    start,
    ticking,
)
from tests.firmware.record.test_end_mark import failing

HIDDEN: Final = 4
PLAYER: Final = "Ann"
ADDED: Final = 50_000


def _held_off(room: Room, data: Path) -> Result | None:
    """Return how a bent record was found: named by `verify`, and no start goes on with it silently."""
    said = named(data)
    if not said:
        return None
    begun = start(Path(shutil.copytree(data, room.work / "started")), room.ground.key)
    return None if begun.is_silent else Result(False, said)


def planted_index(room: Room) -> Result:
    """An index that leaves a hand out, and says that it does not; the cache that would tell is gone."""
    data = room.copy()
    text = "CREATE INDEX journal_opened ON journal (type)"
    with closing(sqlite3.connect(data / FILE)) as db:
        db.execute(f"{text} WHERE hand <> {HIDDEN}")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'journal_opened'", (text,))
        db.commit()
    if found := _held_off(room, data):
        return found
    try:
        Archive(data).hand(HIDDEN)
    except CommandRefused as error:
        return Result(True, f"verify names nothing; hands show {HIDDEN}: {error}")
    return Result(False, "shown all the same")


def bit_in_an_index(room: Room) -> Result:
    """There is none to flip a bit in."""
    for record in room.ground.records:
        with closing(sqlite3.connect(room.copy(record) / FILE)) as db:
            kinds = db.execute(
                "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'trigger')"
            ).fetchall()
            pages = {name for (name,) in db.execute("SELECT DISTINCT name FROM dbstat")}
        if kinds or pages != {"sqlite_schema", "journal", "content"}:
            return Result(True, f"{record}: {kinds or pages}")
    return Result(False, "every page of the file is of the schema, of journal, of content or free")


def other_content(room: Room) -> Result:
    """One profile's text under another's hash: a reopened hand would be settled by it."""
    data = room.copy()
    own, other = (profile_toml(load_profile(name)).encode() for name in (PROFILE, "traditional"))
    for digest, text in ((content_hash(own), other), (content_hash(other), own)):
        bend(data, f"UPDATE content SET bytes = x'{text.hex()}' WHERE hash = '{digest}'")
    wanted = content_hash(own)
    if found := _held_off(room, data):
        return found
    try:
        given = JournalReader(data).content(wanted)
    except TableError as error:
        return Result(False, str(error))
    return Result(given == other, "verify names nothing; a hand's rules are another profile's text")


def row_below_one(room: Room) -> Result:
    """A row before the first: verified from 1 on, and shown."""
    data = room.copy()
    before = seen(room.copy(), room.ground.hands)
    columns = "hand, boot, monotonic_ns, wall_ms, clock, actor, command, type, payload, previous, hash"
    bend(
        data,
        f"INSERT INTO journal (seq, {columns}) SELECT -5, {columns} FROM journal WHERE type = 'settled' LIMIT 1",
    )
    if found := _held_off(room, data):
        return found
    other = seen(data, room.ground.hands).differs_from(before)
    return Result(bool(other), f"verify names nothing; {other or 'nothing'} is shown otherwise")


def _swallowing(data: Path) -> None:
    """A trigger whose name looks like SQLite's own."""
    text = "BEFORE INSERT ON journal WHEN NEW.type = 'added_on' BEGIN SELECT RAISE(IGNORE); END"
    with closing(sqlite3.connect(data / FILE)) as db:
        db.execute(f"CREATE TRIGGER swallows {text}")
        db.execute("PRAGMA writable_schema = ON")
        db.execute(
            "UPDATE sqlite_master SET name = 'sqlite_swallows', sql = ? WHERE name = 'swallows'",
            (f"CREATE TRIGGER sqlite_swallows {text}",),
        )
        db.commit()


def _stack(room: Room, data: Path) -> int | None:
    """Return what the player has, as a table tells it that starts now; None where none does."""
    state = start(data, room.ground.key).state
    return state.stacks.get(PLAYER) if state else None


def swallowing_trigger(room: Room) -> Result:
    """A trigger named `sqlite_…` swallows an add-on that was acknowledged."""
    data = room.copy()
    _swallowing(data)
    if found := _held_off(room, data):
        return found
    before = _stack(room, data)
    answer = _add(room, data)
    after = _stack(room, data)
    lost = bool(answer and answer["ok"]) and after == before
    return Result(lost, f"an add-on was answered {answer}; the stack is {after}, and was {before}")


def _add(room: Room, data: Path, name: str = "") -> dict[str, Any] | None:
    with Journal(data, ticking()) as journal, at_table(data, journal, room.ground.key) as table:
        return give(table, "add_on", player=PLAYER, amount=ADDED, **({"id": name} if name else {}))


def restored_trigger(room: Room) -> Result:
    """The same trigger on a stick, put back by a restore."""
    stick, box = room.copy(), room.work / "box"
    _swallowing(stick)
    try:
        restore(stick, box, ticking())
    except BackupError as error:
        return Result(False, str(error))
    with closing(sqlite3.connect(box / FILE)) as db:
        left = db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'sqlite_sw%'").fetchall()
    return Result(bool(left), f"restored; of the trigger is left: {left or 'nothing'}")


def put_in_place(source: Path, staging: Path) -> int:
    staging.mkdir()
    shutil.copy(source / FILE, staging / FILE)
    return 1 << 30


def later_version(room: Room) -> Result:
    """A file without guards that says it is of a later release: who knows what that one guards with?"""
    data = room.copy()
    with closing(sqlite3.connect(data / FILE)) as db:
        db.execute("DROP TRIGGER journal_no_update")
        db.execute("PRAGMA user_version = 99")
        db.commit()
    found = _held_off(room, data)
    return found or Result(True, "verify names nothing, and the table goes on without the guard")


def bit_in_the_wal(room: Room) -> Result:
    """One bit in a frame of the `-wal`: SQLite drops it and all that follow."""
    data = room.copy("killed")
    return _without_an_end(room, data)


def bit_in_the_wal_without_a_witness(room: Room) -> Result:
    """The same, and the witness of the end is deleted: the captures of the hands that are gone tell of it."""
    data = room.copy("killed")
    (data / witness.FILE).unlink()
    return _without_an_end(room, data)


def _without_an_end(room: Room, data: Path) -> Result:
    before = JournalReader(data).head()[0]
    raw = bytearray((data / WAL).read_bytes())
    size = struct.unpack_from(">I", raw, 8)[0] + 24
    frames = (len(raw) - 32) // size
    raw[32 + size * (frames // 2) + 300] ^= 1
    (data / WAL).write_bytes(raw)
    if found := _held_off(room, data):
        return found
    return Result(True, f"verify names nothing, and {before - JournalReader(data).head()[0]} rows are gone")


def refused_and_true(room: Room) -> Result:
    """The sync of a commit fails after its frames are in the file: refused, and there after the next start."""
    data = room.copy()
    before = _stack(room, data)
    with (
        Journal(data, ticking()) as journal,
        at_table(data, journal, room.ground.key) as table,
        failing(journal, done=True),
    ):
        answer = give(table, "add_on", player=PLAYER, amount=ADDED)
    after = _stack(room, data)
    bent = answer["ok"] == (after == before)
    return Result(bent, f"answered {answer.get('error', 'ok')!r}; the stack was {before} and is {after}")


def added_twice(room: Room) -> Result:
    """An add-on whose answer was lost is touched again, and the table was started again in between."""
    data = room.copy()
    before = _stack(room, data) or 0
    for _ in range(2):
        _add(room, data, "a-touch-0001")
    after = _stack(room, data)
    return Result(after != before + ADDED, f"the stack was {before} and is {after}")


def changed_while_running(name: str, how: str) -> Any:
    """Return an attack that has a file removed, replaced or cut while the table goes on."""

    def attack(room: Room) -> Result:
        data = room.copy()
        path = data / name
        key = room.ground.key
        # A reader of the replaced file in this process cuts SQLite's shared memory (-shm) under the journal: SIGBUS may
        # end the process. A table is started again then; here it would be the tests' worker.
        with Journal(data, ticking()) as journal, at_table(data, journal, key, is_kept=False) as table:
            give(table, "add_on", player=PLAYER, amount=1)
            raw = path.read_bytes()
            if how == "cut":
                path.write_bytes(raw[: len(raw) // 2])
            else:
                path.unlink()
                if how == "replaced":
                    path.write_bytes(raw)
            answers = [give(table, "add_on", player=PLAYER, amount=ADDED) for _ in range(2)]
            if path.name == FILE and how == "replaced":  # what SQLite does by itself every thousand pages
                journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            killed = Path(shutil.copytree(data, room.work / "killed"))
        acknowledged = sum(answer["ok"] for answer in answers)
        there = min(map(_rows_of_adding, (killed, data)))  # after a kill, after a stop
        words = f"{acknowledged} acknowledged, {there} of them in the named files afterwards"
        return Result(acknowledged > there, words if acknowledged else str(answers[0]["error"]))

    return attack


def _rows_of_adding(data: Path) -> int:
    try:
        rows = JournalReader(data).events_since(0, 1_000_000)
        return sum(row.type == "added_on" and str(ADDED) in row.payload for row in rows)
    except (TableError, sqlite3.Error):
        return 0
