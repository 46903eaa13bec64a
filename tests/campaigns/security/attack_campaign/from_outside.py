"""Attacks on what is printed, signed, named, backed up and listed: points 5 to 8 of "What was broken"."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.archive import Archive
from firmware.record.backup import BackupError, back_up
from firmware.record.dispute_file import write_dispute_file
from firmware.record.evidence import dispute_verifier
from firmware.record.evidence.dispute_verifier import HASH, PAYLOAD, SEQ, TYPE, canonical, row_hash
from firmware.record.journal.journal import FILE, Entry, Journal, JournalReader
from firmware.record.journal.row_index import index_paths, index_to_write
from firmware.record.restore import restore
from firmware.table import events as ev
from tests.campaigns.security.attack_campaign.attack import Result, Room
from tests.campaigns.security.attack_campaign.records import seen, ticking
from tests.firmware.access.gate import logged_on
from tests.firmware.record.test_dispute_file import KEY, contents, rows_of, signed

OBEYED: Final = "\x1b[2K\x1b[1A\x9b8m\nAll of it holds.\n\u202e"
"""Wipes the line before, hides what follows, and says what nobody found."""
OWNER: Final = 12_345


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def _obeyed(shown: str) -> Result:
    bad = [line for line in shown.split("\n") if not line.isprintable()]
    inner = shown.rstrip("\n").split("\n")[1:-1]
    through = bool(bad) or "All of it holds." in inner
    return Result(through, f"{len(bad)} lines a terminal obeys" if through else "every line is plain text")


# ---- 5: what is printed ----


def _dispute_file(room: Room) -> Path:
    """A dispute file of the hand that was decided, of the record's own key."""
    archive = Archive(room.copy())
    hand = next(line.hand for line in archive.hands(limit=10_000) if line.disputes)
    return write_dispute_file(archive, hand, KEY, room.work / "hand.zip")


def name_in_a_zip(room: Room) -> Result:
    """A file in a dispute file, with a verdict for a name."""
    forged = _dispute_file(room)
    with zipfile.ZipFile(forged, "a") as archive:
        archive.writestr(OBEYED, b"")
    told = "\n".join(dispute_verifier.check(str(forged)).lines())
    return _worst(_obeyed(told), _obeyed(_run("hands", "verify", forged).output))


def note_in_a_hand(room: Room) -> Result:
    """A note and a name in the record that `hands show` prints."""
    data = room.copy()
    with Journal(data, ticking()) as journal:
        journal.append([ev.HandReviewed(1, OBEYED)], f"floor:{OBEYED}")
    return _obeyed(_run("hands", "show", 1, "--data", data).output)


def text_in_settle(room: Room) -> Result:
    """A hand to settle with line ends and escapes where its errors quote it."""
    file = room.work / "hands.json"
    file.write_text(json.dumps({"profile": OBEYED, "seats": []}))
    return _obeyed(_run("settle", file).output)


def _worst(*results: Result) -> Result:
    return next((one for one in results if one.through), results[0])


# ---- 6: an anchor that vouches for nothing ----


def sealed_again(room: Room) -> Result:
    """A hand's rows sealed again with the device's key, without the rows that lead up to the slip."""
    file = _dispute_file(room)
    slip = contents(file)["anchors.txt"].decode().splitlines()[0]
    rows = rows_of(file)
    ends = next(row[SEQ] for row in rows if row[TYPE] == "hand_archived")
    own = [row for row in rows if row[SEQ] <= ends]
    before = own[0][HASH]
    for number, row in enumerate(own):
        row[PAYLOAD] = row[PAYLOAD].replace("9c", "9z")
        if number:
            row[dispute_verifier.PREVIOUS] = before
        row[HASH] = before = row_hash(row)
    text = "".join(canonical(row) + "\n" for row in own).encode()
    files = contents(file) | {"rows.jsonl": text, "anchors.txt": b""}
    head = {"seq": ends, "hash": "0" * 64}
    report = dispute_verifier.check(str(signed(files, room.work / "x.zip", last=ends, head=head)), (slip,))
    wrong = [what for what in report.wrong if "anchor" in what]
    return Result(not wrong, wrong[-1] if wrong else "nothing is said against the slip")


# ---- 7: names without proof ----


def in_anothers_name(room: Room) -> Result:
    """Somebody at the table signs with the name of a dealer who is not logged on."""
    with logged_on(room.work / "people") as table:
        answer = table.give("log_off", by="Bert")
        return Result(answer["ok"], answer.get("error") or f"on record as {table.actors()[-1][1]}")


def floor_without_a_pin(room: Room) -> Result:
    """A floor person is logged on without the PIN."""
    with logged_on(room.work / "people") as table:
        answer = table.give("log_on", person="Moreno")
        return Result(answer["ok"], answer.get("error") or f"on record as {table.actors()[-1][1]}")


# ---- 8: backup, restore, sealed rows, the index ----


def link_for_a_backup(room: Room) -> Result:
    """A link planted where a backup's folder is put together."""
    stick, victim = room.work / "stick", room.work / "victim"
    stick.mkdir()
    victim.mkdir()
    (stick / ".bk.part").symlink_to(victim)
    with suppress(BackupError):
        back_up(room.copy(), stick / "bk")
    written = sorted(path.name for path in victim.rglob("*"))
    return Result(bool(written), f"{len(written)} files were written where the link leads")


@contextmanager
def fixed_part(to: Path) -> Iterator[Path]:
    part = to.with_name(f".{to.name}.part")
    part.mkdir(exist_ok=True)
    yield part


def restored_by_root(room: Room) -> Result:
    """Root restores into the folder of the table's user, who must be able to open all of it."""
    box = room.work / "box"
    box.mkdir()
    if os.geteuid() != 0:
        return Result(False, "UNTESTED: needs root")
    os.chown(box, OWNER, OWNER)
    restore(room.copy(), box, ticking())
    others = sorted(path.name for path in box.rglob("*") if path.lstat().st_uid != OWNER)
    return Result(bool(others), f"root's own: {', '.join(others)}" if others else "all of it is the owner's")


def _poisoned(room: Room, payload: str) -> Path:
    data = room.copy()
    last = JournalReader(data).events_since(0, 1_000_000)[-1]
    row = last._replace(
        seq=last.seq + 1, hand=last.hand + 1, type="hand_opened", payload=payload, previous=last.hash
    )
    row = row._replace(hash=row.sealed())
    names = ", ".join(Entry._fields)
    with closing(sqlite3.connect(data / FILE)) as db, db:
        db.execute(f"INSERT INTO journal ({names}) VALUES ({', '.join('?' * len(Entry._fields))})", row)
    return data


DEEP: Final = '{"hand":' + "[" * 100_000 + "]" * 100_000 + "}"
LONG: Final = '{"hand":' + "9" * 6000 + "}"


def poisoned_restore(room: Room) -> Result:
    """Sealed rows of JSON without end, and of a number with 6,000 digits, on a stick."""
    taken = []
    for name, payload in (("deep", DEEP), ("long", LONG)):
        try:
            restore(_poisoned(room, payload), room.work / name, ticking())
        except BackupError as error:
            said = str(error)
        else:
            taken.append(name)
    return Result(bool(taken), f"restored: {' and '.join(taken)}" if taken else said)


def poisoned_list(room: Room) -> Result:
    """`hands list`, `show` and `doctor` over the same rows."""
    for payload in (DEEP, LONG):
        data = _poisoned(room, payload)
        for command in (("hands", "list"), ("hands", "show", room.ground.hands + 1), ("doctor",)):
            shown = _run(*command, "--data", data)
            if not isinstance(shown.exception, SystemExit | None):
                return Result(True, f"{' '.join(map(str, command))}: {type(shown.exception).__name__}")
    return Result(False, "each command ends in a sentence")


class BareError(Exception):
    """An error that no command turns into a sentence."""

    def __init__(self, message: str, **_: object) -> None:
        super().__init__(message)


def index_beside_the_record(room: Room) -> Result:
    """An index with another player's name, under every name that an index of this record has."""
    data = room.copy()
    intact = seen(data, room.ground.hands).list
    planted = index_to_write(data).read_bytes().replace(b"Carla", b"Clara")
    for name in ("index.sqlite", index_to_write(data).name):
        (data / name).write_bytes(planted)
    is_other = seen(data, 0).list != intact
    return Result(is_other, "another list is shown" if is_other else "the list is the same")


def beside_the_record(folder: Path) -> tuple[Path, Path]:
    """Return where an index would lie beside the record."""
    shared, own = index_paths(folder)
    return shared, folder / own.name


def list_beside_a_table(room: Room) -> Result:
    """`hands list` while somebody else has the index open for writing and takes their time."""
    data = room.copy()
    seen(data, 0)
    index = index_to_write(data)
    free, holds = threading.Event(), threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(index)) as db:
            db.execute("BEGIN IMMEDIATE")
            holds.set()
            free.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    holds.wait(10)
    file, began = index.stat().st_ino, time.monotonic()
    try:
        shown = _run("hands", "list", "--data", data)
    finally:
        took = time.monotonic() - began
        free.set()
        holder.join()
    taken = "" if index.stat().st_ino == file else ", and the index was taken away under the other"
    said = "the list" if shown.exit_code == 0 else shown.output.strip().splitlines()[-1]
    return Result(bool(taken or shown.exit_code), f"{said} after {took:.1f} s{taken}")
