"""Restores the record from a backup.

The restored record is built next to the old one, verified, and then moved into its place; the old one is kept. A
backup's database file is never used itself: its rows and content are inserted into a new journal. After an interruption
at any point, the same command continues.
"""

import json
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from firmware.messages import Message
from firmware.record.backup import BackupError, Progress, copy_images, errors_as_sentences, no_plain
from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.differences import Difference, differences
from firmware.record.evidence.signed_note import write_note
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import Problem, Verification, verify
from firmware.record.journal.captures import FOLDER as CAPTURES
from firmware.record.journal.clocks import Clock
from firmware.record.journal.disk import (
    NotPlain,
    give_tree,
    make_folder,
    read_plain,
    sync_folder,
    write_whole,
)
from firmware.record.journal.journal import FILE, READY, RESTORING, Journal, JournalReader
from firmware.record.journal.lock import writing
from firmware.record.journal.witness import FILE as WITNESS
from firmware.table import events as ev
from firmware.table.entry import COLUMNS, Entry
from firmware.table.people import PINS_FOLDER

_MOVED: Final = "moved"
"""A file in the restore folder: the old record has been moved away."""
_RECORD: Final = (f"{FILE}-wal", f"{FILE}-shm", FILE, WITNESS, CAPTURES)
_RESTORED: Final = (CAPTURES, WITNESS, FILE)
_BATCH: Final = 2000
"""Rows in one transaction."""
_DEEPEST: Final = 40
"""Limit on nesting in a row's JSON; releases write far less."""
_READY: Final = re.compile(r"(replaced-[1-9][0-9]{0,5})(?: ([0-9]{1,15}))?")
"""What the file `READY` says: the folder for the old record, in the data folder, and the backup's last row."""


class RestoreResult(NamedTuple):
    """The folder with the replaced record, None if there was none; and the images that the backup did not hold."""

    replaced: Path | None
    lost: tuple[ev.ImagesLost, ...]


def restore(
    source: Path,
    data: Path,
    clock: Clock,
    *,
    key_folder: Path | None = None,
    agree: Callable[[tuple[Difference, ...]], None] = lambda found: None,
    on_progress: Progress = lambda rows, of: None,
) -> RestoreResult:
    """Replace the record by a backup.

    `agree` is called before anything is replaced, with what differs from the present record, and from what the box
    whose key is in `key_folder` signed last. If it raises, nothing is replaced. With a key the result is signed.
    The table must be stopped. Images that are missing or changed in the backup are lost; a row for each of their hands
    says so. Raises BackupError for a backup whose rows fail verification, JournalBusy, JournalError.
    """
    with errors_as_sentences("The restore"):
        make_folder(data)
        with writing(data):
            staging = data / RESTORING
            if (ready := _read_ready(staging)) is None:
                _prepare(source, staging, clock, key_folder, agree, on_progress)
                ready = _read_ready(staging)
                assert ready is not None
            name, seq = ready
            replaced = data / name
            _move_in(data, staging, replaced)
        _note(data, key_folder)
    events = [row.event for row in JournalReader(data).events_since(seq)] if seq is not None else []
    lost = tuple(event for event in events if isinstance(event, ev.ImagesLost))
    return RestoreResult(replaced if replaced.exists() else None, lost)


def _read_ready(staging: Path) -> tuple[str, int | None] | None:
    """Return where a prepared restore puts the old record, and the backup's last row; None if none is prepared.

    Root may run this in a folder of the table's user: no link of that user may make root write elsewhere.
    """
    if staging.is_symlink():
        staging.unlink()
    try:
        found = _READY.fullmatch(read_plain(staging / READY, 100).decode("ascii", errors="replace"))
    except (FileNotFoundError, NotADirectoryError, NotPlain):
        found = None
    if found is None or (staging.parent / found[1]).is_symlink():
        return None
    return found[1], int(found[2]) if found[2] else None


def _prepare(
    source: Path,
    staging: Path,
    clock: Clock,
    key_folder: Path | None,
    agree: Callable[[tuple[Difference, ...]], None],
    on_progress: Progress,
) -> None:
    shutil.rmtree(staging, ignore_errors=True)
    no_backup = BackupError("There is no backup in %(path)s.", path=str(source))
    if not (source / FILE).exists():
        raise no_backup
    for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", WITNESS):
        if os.path.lexists(source / name):
            _need_plain(source / name)
    if os.path.lexists(source / CAPTURES):
        _need_plain(source / CAPTURES, folder=True)
    try:
        _need_verified(verify(source, images=False, replayed=False, on_progress=on_progress), source)
        agree(differences(source, staging.parent, key_folder))
        hand = _insert(source, staging)
        copy_images(source, staging, hand)
        found = verify(staging, replayed=False, on_progress=on_progress)
        _need_verified(found, source)
        if not found.entries:
            raise no_backup
        with Journal(staging, clock) as journal:
            journal.append(
                [ev.RecordRestored(*journal.head), *_rows_of_lost_images(found, staging, hand)], "console"
            )
            _sign(journal, key_folder, clock)
        number = 1
        while os.path.lexists(staging.parent / f"replaced-{number}"):
            number += 1
        write_whole(staging / READY, f"replaced-{number} {found.entries}".encode())
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _sign(journal: Journal, key_folder: Path | None, clock: Clock) -> None:
    """Sign the restored record, so that the box knows it as the one that a person put there. Raises KeyUnusable."""
    key = DeviceKey.existing(key_folder) if key_folder else None
    if key is None:
        return  # the table's first start says that it has no note
    public = key.public.hex()
    last = JournalReader(journal.folder).last_key()
    if last is None or getattr(last.event, "key", "") != public:
        journal.append([ev.KeyAnnounced(public)], "console")
    state = journal.recover()
    seq, digest = journal.head
    event = sign_head(
        key, seq=seq, digest=digest, hands=state.last_hand, wall_ms=clock().wall_ms, table=state.house.table
    )
    journal.append([event], "console")


def _note(data: Path, key_folder: Path | None) -> None:
    """Note in the key's folder what `_sign` signed. Raises NoteUnusable."""
    key = DeviceKey.existing(key_folder) if key_folder else None
    row = JournalReader(data).last_anchor()
    if (
        key
        and key_folder
        and row
        and isinstance(row.event, ev.HeadSigned)
        and row.event.key == key.public.hex()
    ):
        write_note(key_folder, Anchor.of(row.event))


def _need_verified(found: Verification, source: Path) -> None:
    """Raise BackupError unless all but the images is as it was written."""
    first = next((problem for problem in found.problems if problem.image is None), None)
    if first is None:
        return
    where = "" if first.seq is None else Message("Row %(row)s: ", row=first.seq)
    raise BackupError(
        "The backup does not hold, and nothing was replaced. %(where)s%(what)s What can be saved of it goes to a new "
        "folder: feltwatch restore %(path)s --salvage NEW",
        where=where,
        what=first.what,
        path=str(source),
    )


def _rows_of_lost_images(found: Verification, staging: Path, last: int) -> list[ev.ImagesLost]:
    """Return the rows that say which images a restored record lacks, one for each hand."""
    hands: dict[int, list[Problem]] = {}
    for problem in found.problems:
        if problem.image is not None and problem.seq is not None:
            number = problem.image.name.partition("/")[0]
            hand = int(number) if number.isdecimal() else 0
            if not 1 <= hand <= last:
                hand = JournalReader(staging, are_checked=False).events_since(problem.seq - 1, 1)[0].hand
            hands.setdefault(hand, []).append(problem)
    return [
        ev.ImagesLost(
            hand,
            tuple(one.image for one in problems if one.image and not one.is_changed),
            tuple(one.image for one in problems if one.image and one.is_changed),
        )
        for hand, problems in sorted(hands.items())
    ]


def _insert(source: Path, staging: Path) -> int:
    """Insert a backup's rows and content into a new journal; return the last hand's number."""
    hand = 0
    with JournalReader(source).opened() as theirs, Journal(staging) as ours:
        if theirs is None:
            return 0
        for kind, data in theirs.execute("SELECT kind, bytes FROM content ORDER BY hash"):
            if type(kind) is not str or type(data) is not bytes:
                raise BackupError("The backup's content is no content of ours; nothing was replaced.")
            ours.keep(kind, data)
        rows = theirs.execute(f"SELECT {COLUMNS} FROM journal ORDER BY seq")
        while batch := rows.fetchmany(_BATCH):
            for row in batch:
                _need_row(Entry(*row))
            ours.append_sealed(batch)
            hand = batch[-1][1]
    return hand


def _need_row(entry: Entry) -> None:
    """Raise BackupError for a row whose JSON no release wrote. Its hash may be right, but readers would fail on it."""
    try:
        fields = json.loads(entry.payload)
    except (ValueError, TypeError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not _is_shallow(fields):
        raise BackupError(
            "Row %(row)s of the backup holds what no release wrote; nothing was replaced.", row=entry.seq
        )


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            part
            for whole in level
            if isinstance(whole, dict | list)
            for part in (whole.values() if isinstance(whole, dict) else whole)
        ]
        if not level:
            return True
    return False


def _move_in(data: Path, staging: Path, replaced: Path) -> None:
    """Move the old record out and the new one in. It may be interrupted at any step; the next call continues."""
    if not (staging / _MOVED).exists():
        old = [name for name in _RECORD if (data / name).exists()]
        if old:
            replaced.mkdir(mode=0o750, exist_ok=True)
            if (data / PINS_FOLDER).is_dir():
                shutil.copytree(data / PINS_FOLDER, replaced / PINS_FOLDER, dirs_exist_ok=True)
                (replaced / PINS_FOLDER).chmod(0o700)
        for name in old:
            (data / name).rename(replaced / name)
        if old:
            sync_folder(replaced)
        sync_folder(data)
        write_whole(staging / _MOVED, b"")
    for name in _RESTORED:
        if (staging / name).exists():
            (staging / name).rename(data / name)
    _give_to_owner(data, replaced)
    sync_folder(data)
    (staging / READY).unlink()
    sync_folder(staging)
    shutil.rmtree(staging)


def _need_plain(path: Path, *, folder: bool = False) -> None:
    """Raise BackupError for a link or a device: with a link, a stick could make root copy any file of the box."""
    mode = path.lstat().st_mode
    if not (stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)):
        raise no_plain(path)


def _give_to_owner(data: Path, replaced: Path) -> None:
    """Give a record that root restored to the folder's owner."""
    if os.geteuid() != 0:
        return
    owner = data.stat()
    for top in (*(data / name for name in _RESTORED), replaced):
        if os.path.lexists(top):
            give_tree(top, owner)
