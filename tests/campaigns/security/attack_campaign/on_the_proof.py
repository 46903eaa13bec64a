"""Attacks on what proves a record: signatures left out, rows added, a folder put back, figures forged."""

from __future__ import annotations

import shutil
from pathlib import Path

from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.evidence.verify import verify
from firmware.record.journal import witness
from firmware.record.journal.journal import Journal, JournalReader
from firmware.table import events as ev
from tests.campaigns.security.attack_campaign.attack import Result, Room
from tests.campaigns.security.attack_campaign.records import start, ticking


def forged(source: Path, to: Path, *, heads: bool, upto: int = 1 << 60, bent: bool = True) -> Path:
    """Make a record again, without any key: right hashes, a witness that agrees, no index; one payment is another."""
    is_bent = not bent
    with Journal(to, ticking()) as journal, JournalReader(source).opened() as db:
        assert db is not None
        for kind, kept in db.execute("SELECT kind, bytes FROM content"):
            journal.keep(kind, kept)
        for row in JournalReader(source).events_since(0, 1_000_000):
            if row.seq > upto or (row.type == ev.HeadSigned.type and not heads):
                continue
            event = row.event
            if isinstance(event, ev.HandSettled) and not is_bent and event.settlement.get("stacks"):
                event, is_bent = ev.HandSettled({**event.settlement, "stacks": {"Ann": 50_000}}), True
            journal.append([event], row.actor, command=row.command)
    shutil.copytree(source / "captures", to / "captures", dirs_exist_ok=True)
    return to


def _restored(room: Room, backup: Path, data: Path) -> Result:
    key = shutil.copytree(room.ground.key, room.work / "key")
    words = ["restore", backup, "--data", data, "--key-folder", key, "--yes"]
    done = CliRunner().invoke(main, [str(word) for word in words])
    return Result(done.exit_code == 0, done.output.strip().splitlines()[0])


def laundered(room: Room) -> Result:
    """A backup whose signatures were left out and in which another stack stands, restored."""
    data = room.copy()
    backup = forged(data, room.work / "backup", heads=False)
    return _restored(room, backup, data)


def without_heads(room: Room) -> Result:
    """The same, verified."""
    found = verify(forged(room.copy(), room.work / "bare", heads=False, bent=False), replayed=False)
    return Result(found.holds, str((*found.problems, *found.unproven, "all of it holds")[0]))


def put_back_a_day(room: Room) -> Result:
    """The whole folder as it was half a record ago."""
    data = room.copy()
    upto = JournalReader(data).head()[0] // 2
    return _started(room, forged(data, room.work / "older", heads=True, upto=upto, bent=False))


def put_back_a_hand(room: Room) -> Result:
    """The whole folder as it was one signed head ago."""
    data = room.copy()
    upto = JournalReader(data).anchors()[-2].seq
    return _started(room, forged(data, room.work / "older", heads=True, upto=upto, bent=False))


def rows_added(room: Room) -> Result:
    """25 rows with right hashes, and the witness as it was."""
    data = room.copy()
    shutil.copy(data / witness.FILE, room.work / "head")
    with Journal(data, ticking()) as journal:
        for _ in range(25):
            journal.append([ev.DeviceRecovered("puck")], "table")
    shutil.copy(room.work / "head", data / witness.FILE)
    return _started(room, data)


def forged_in_place(room: Room) -> Result:
    """The record made again with another stack, in its place: witness and index fit."""
    return _started(room, forged(room.copy(), room.work / "forged", heads=True))


def _started(room: Room, data: Path) -> Result:
    begun = start(data, room.ground.key)
    return Result(begun.is_silent, begun.refused or begun.fault or "the table goes on and says nothing")


def settled_otherwise(room: Room) -> Result:
    """A settled row that was changed, the hashes made again, `--replay`."""
    data = forged(room.copy(), room.work / "settled", heads=False)
    wrong = verify(data, settled=True).problems
    return Result(not wrong, str(wrong[0].what) if wrong else "every hand settles as recorded")
