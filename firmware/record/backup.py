"""Backup and restore of the record: the journal by SQLite's backup call, the images file by file, both verified.

A backup leaves out the device's key and the PIN verifiers (secrets), the dispute files and the index. A restore is
built next to the record, verified, and then moved into place; the replaced record is kept. A backup's database file is
never used itself: its rows and content are inserted into a new journal. After an interruption at any point, the same
command continues.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from firmware.messages import Message
from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.differences import Difference, differences
from firmware.record.evidence.signed_note import write_note
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import Problem, Verification, verify
from firmware.record.journal import witness
from firmware.record.journal.captures import FOLDER as CAPTURES
from firmware.record.journal.captures import MOST_BYTES, is_name
from firmware.record.journal.clocks import Clock
from firmware.record.journal.disk import (
    FILE_MODE,
    FOLDER_MODE,
    NotPlain,
    give_tree,
    make_folder,
    read_plain,
    sync_folder,
    write_whole,
)
from firmware.record.journal.end_mark import end_fault
from firmware.record.journal.journal import FILE, READY, RESTORING, Journal, JournalReader
from firmware.record.journal.lock import writing
from firmware.record.journal.witness import FILE as WITNESS
from firmware.table import events as ev
from firmware.table.entry import COLUMNS, Entry
from firmware.table.errors import TableError
from firmware.table.people import PINS_FOLDER

_MOVED: Final = "moved"
"""A file in the restore folder: the old record has been moved away."""
_RECORD: Final = (
    f"{FILE}-wal",
    f"{FILE}-shm",
    FILE,
    WITNESS,
    CAPTURES,
)
_RESTORED: Final = (CAPTURES, WITNESS, FILE)
_PART: Final = ".feltwatch-", ".part"
"""How the name of an unfinished backup begins and ends."""
_BATCH: Final = 2000
"""Rows in one transaction."""
_DEEPEST: Final = 40
"""Limit on nesting in a row's JSON; releases write far less."""
_READY: Final = re.compile(r"(replaced-[1-9][0-9]{0,5})(?: ([0-9]{1,15}))?")
"""What the file `READY` says: the folder for the old record, in the data folder, and the backup's last row."""
Done = Callable[[int, int], None]


class BackupError(TableError, OSError):
    """A backup could not be made or used; the record is unchanged."""


def back_up(data: Path, to: Path, *, done: Done = lambda rows, of: None) -> Verification:
    """Copy the record to a new folder, verify the copy, and return the result. The table may keep running.

    A record with problems is copied too, because it is evidence. A copy made by root gets the record's owner. What
    backups that were killed have left in the parent folder is removed. Raises BackupError, JournalError; then no part
    of the copy remains.
    """
    if not JournalReader(data).head()[0]:
        raise BackupError("There is no record in %(path)s.", path=str(data))
    with suppress(FileNotFoundError):
        to.lstat()  # raises OSError with this path if the parent folder may not be searched
        raise BackupError("%(path)s is there already; name a new folder.", path=str(to))
    with _errors_as_sentences("The backup"), _part_beside(to) as part:
        part.chmod(FOLDER_MODE)
        _copy(data, part)
        found = verify(part, replayed=False, done=done)
        if os.geteuid() == 0:
            with suppress(PermissionError):  # a stick's file system may have no owners
                give_tree(part, data.stat())
        part.rename(to)
        sync_folder(to.absolute().parent)
    return found


@contextmanager
def _part_beside(to: Path) -> Iterator[Path]:
    """Create the temporary folder that is renamed to `to` in the `with` block; remove those of killed backups.

    It is locked while it is in use. Raises OSError, whose file name is `to`.
    """
    parent = to.absolute().parent
    for left in parent.glob(f"{_PART[0]}*{_PART[1]}"):
        with suppress(OSError), _lock(left):
            shutil.rmtree(left, ignore_errors=True)
    try:
        # A random name: on a prepared stick, a link could wait under a predictable one.
        part = Path(tempfile.mkdtemp(prefix=_PART[0], suffix=_PART[1], dir=parent))
    except OSError as error:
        error.filename = str(to)
        raise
    with _lock(part):
        try:
            yield part
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold a folder's lock in the `with` block. Raises OSError for a link, or if another process holds it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


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
    agreed: Callable[[tuple[Difference, ...]], None] = lambda found: None,
    done: Done = lambda rows, of: None,
) -> RestoreResult:
    """Replace the record by a backup.

    `agreed` is called with what differs from the present record, and from what the box whose key is in `key_folder`
    signed last, before anything is replaced; nothing is if it raises. With a key there the restored record is signed.
    The table must be stopped. Images that are missing or changed in the backup are lost; a row for each of their hands
    says so. Raises BackupError for a backup whose rows fail verification, JournalBusy, JournalError.
    """
    with _errors_as_sentences("The restore"):
        make_folder(data)
        with writing(data):
            staging = data / RESTORING
            if (ready := _ready(staging)) is None:
                _prepare(source, staging, clock, key_folder, agreed, done)
                ready = _ready(staging)
                assert ready is not None
            name, seq = ready
            replaced = data / name
            _move_in(data, staging, replaced)
        _note(data, key_folder)
    events = [row.event for row in JournalReader(data).events_since(seq)] if seq is not None else []
    lost = tuple(event for event in events if isinstance(event, ev.ImagesLost))
    return RestoreResult(replaced if replaced.exists() else None, lost)


def _ready(staging: Path) -> tuple[str, int | None] | None:
    """Return where a prepared restore puts the old record, and the backup's last row; None if none is prepared.

    Root may restore in a folder of the table's user, who must not lead it elsewhere.
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
    agreed: Callable[[tuple[Difference, ...]], None],
    done: Done,
) -> None:
    shutil.rmtree(staging, ignore_errors=True)
    none = BackupError("There is no backup in %(path)s.", path=str(source))
    if not (source / FILE).exists():
        raise none
    for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", WITNESS):
        if os.path.lexists(source / name):
            _need_plain(source / name)
    if os.path.lexists(source / CAPTURES):
        _need_plain(source / CAPTURES, folder=True)
    try:
        _need_holds(verify(source, images=False, replayed=False, done=done), source)
        agreed(differences(source, staging.parent, key_folder))
        hand = _insert(source, staging)
        _copy_images(source, staging, hand)
        found = verify(staging, replayed=False, done=done)
        _need_holds(found, source)
        if not found.entries:
            raise none
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
        key,
        seq=seq,
        digest=digest,
        hands=state.last_hand,
        wall_ms=clock().wall_ms,
        table=state.house.table,
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


def _need_holds(found: Verification, source: Path) -> None:
    """Raise BackupError unless all but images is as it was written."""
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
                hand = JournalReader(staging).events_since(problem.seq - 1, 1)[0].hand
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


def _is_shallow(answer: object) -> bool:
    level = [answer]
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


def _copy(data: Path, to: Path) -> None:
    """Copy journal and images durably. Raises OSError, sqlite3.Error."""
    reader = JournalReader(data)
    # Before the rows, too: what the house's rule removes meanwhile has no tombstone among the rows that are copied.
    _copy_images(data, to)
    seen = witness.read(data)  # read before the rows: the witness is never ahead of them
    with (
        closing(sqlite3.connect(reader.uri(), uri=True)) as source,
        closing(sqlite3.connect(to / FILE)) as target,
    ):
        source.backup(target)
    (to / FILE).chmod(FILE_MODE)
    _sync(to / FILE)
    with JournalReader(to).opened() as copied:
        if copied is None:
            return
        end = copied.execute("SELECT seq, hash, hand FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
        seq, digest, hand = end or (0, "", 0)
        fault = end_fault(copied, to, seq, seen, hand)
    if seen is not None:
        with witness.Witness(to) as of_copy:  # if the record is too short, the copy's witness shows it, too
            of_copy.write(seen if fault is not None else (seq, digest))
    _copy_images(data, to, hand)
    sync_folder(to)


def _copy_images(data: Path, to: Path, hand: int | None = None) -> None:
    """Copy the images that are not there yet, except those of hands after `hand`, opened after the rows were copied.

    An image that cannot be read is left out: the copy's verification names it. So is what has no image's name: a stick
    may hold anything. Raises OSError.
    """
    top = data / CAPTURES
    if not top.exists():
        return
    for folder, below, names, at in os.fwalk(top, onerror=_refuse):
        if hand is not None and Path(folder) == top:
            below[:] = [name for name in below if not (name.isdecimal() and int(name) > hand)]
        inside = Path(folder).relative_to(top)
        below[:] = [name for name in below if is_name(f"{name}/a.jpg")]
        kept = to / CAPTURES / inside
        make_folder(kept)
        for name in names:
            if not is_name((inside / name).as_posix()) or (kept / name).exists():
                continue  # also what is incomplete: no event names it yet
            _copy_image(Path(folder) / name, at, kept / name)
        sync_folder(kept)


def _copy_image(path: Path, folder: int, to: Path) -> None:
    """Copy the image `path`, which lies in an open folder. With a link, a stick could make root copy any file."""
    try:
        image = read_plain(path.name, MOST_BYTES, folder)
    except NotPlain as error:
        if error.errno != errno.EFBIG:
            raise _no_plain(path) from error
        return
    except OSError:  # rotten, or removed by retention in the meantime
        return
    with to.open("xb") as file:
        os.fchmod(file.fileno(), FILE_MODE)
        file.write(image)
        file.flush()
        os.fsync(file.fileno())


def _refuse(error: OSError) -> None:
    """Raise an error from walking the images, except that a folder is missing: no image may be left out silently."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _need_plain(path: Path, *, folder: bool = False) -> None:
    """Raise BackupError for a link or a device: with a link, a stick could make root copy any file of the box."""
    mode = path.lstat().st_mode
    if not (stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)):
        raise _no_plain(path)


def _no_plain(path: Path) -> BackupError:
    return BackupError(
        "%(path)s is no plain file: no backup has such a thing, and nothing was copied.", path=str(path)
    )


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _give_to_owner(data: Path, replaced: Path) -> None:
    """Give a record that root restored to the folder's owner."""
    if os.geteuid() != 0:
        return
    owner = data.stat()
    for top in (*(data / name for name in _RESTORED), replaced):
        if os.path.lexists(top):
            give_tree(top, owner)


@contextmanager
def _errors_as_sentences(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, TableError):
            raise
        full = getattr(error, "errno", None) == errno.ENOSPC or "full" in str(error)
        why = "the disk is full" if full else getattr(error, "strerror", None) or str(error)
        named = getattr(error, "filename", None)
        why = f"{why} ({named})" if named and not full else why
        raise BackupError("%(what)s could not be made: %(why)s.", what=what, why=why) from error
