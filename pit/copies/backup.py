"""Backups on a second disk: a whole copy each night, PostgreSQL's log as it is written, certificates and images.

    base/20261124T033000Z/   a copy of PostgreSQL's data, as pg_basebackup makes it; verified
    wal/                     PostgreSQL's log since the oldest copy, as pg_receivewal receives it
    files/20261124T033000Z.tar   the pit's folders: authority, keys, repository; without the images
    images/                  the images by hash; none is removed here

The log comes over a replication slot. `max_slot_wal_keep_size` bounds what the server keeps for a disk that is away:
the slot is then lost, and `receiver` begins another. The copies before it stay good, each by itself.
"""

import json
import os
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psycopg

from pit.errors import BackupError
from pit.store.database import LONG_JOB, first_line
from pit.store.temporary_postgres import DEBIAN, binaries

SLOT: Final = "feltwatch_backup"
KEPT: Final = 2
"""Copies that are kept."""
LATE_S: Final = 25 * 3600
"""Seconds after which a backup is late: one is made each night."""
_NEW: Final = ".new"
_ELSEWHERE: Final = ".tablespaces"
_PIECE: Final = re.compile("[0-9A-F]{24}")
"""A whole piece of PostgreSQL's log: eight digits of its timeline, then its place."""


@dataclass(frozen=True)
class Backup:
    """One that was made."""

    name: str
    at: float
    """When it was begun, in seconds since 1970: what was stored until then is in it."""
    seconds: float
    size: int
    """Bytes of the copy of the database."""


def make(url: str, disk: Path, state: Path, folders: Iterable[Path], images: Path) -> Backup:
    """Copy the database server's data, the pit's folders and its images; remove what is too old. Raises BackupError.

    `folders` that are not there are left out; `images` may lie in one of them.
    """
    if not (disk / "base").is_dir():
        raise BackupError("No disk for backups is mounted at %(disk)s.", disk=str(disk))
    began = time.time()
    name = datetime.fromtimestamp(began, UTC).strftime("%Y%m%dT%H%M%SZ")
    try:
        programs = _programs(url)
        _remove_cut_off(disk)
        part = disk / "base" / (name + _NEW)
        copying = ("--checkpoint=fast", "--wal-method=stream", "--no-password", f"--dbname={url}")
        elsewhere = [
            f"--tablespace-mapping={place}={disk / 'files' / (name + _ELSEWHERE) / str(oid)}"
            for oid, place in _tablespaces(url)
        ]
        _run(programs / "pg_basebackup", f"--pgdata={part}", *copying, *elsewhere)
        _run(programs / "pg_verifybackup", "--quiet", str(part))
        _pack(disk / "files" / f"{name}.tar", folders, images)
        _mirror(images, disk / "images")
        part.rename(disk / "base" / name)
        os.sync()
        size = _size(disk / "base" / name) + _size(disk / "files" / (name + _ELSEWHERE))
        made = Backup(name, began, time.time() - began, size)
        _prune(disk)
        _write(state, json.dumps(asdict(made)))
    except OSError as error:
        raise _failure(disk, error.strerror or str(error)) from error
    return made


def last(state: Path) -> Backup | None:
    """Return the last backup; None if there is none, or nobody may know."""
    try:
        return Backup(**json.loads(state.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def receiver(url: str, disk: Path) -> list[str]:
    """Return the command that receives PostgreSQL's log, and see to its slot. Raises BackupError.

    After a slot was lost the log has a gap: what was received before it is set aside.
    """
    wal = disk / "wal"
    if not wal.is_dir():
        raise BackupError("No disk for backups is mounted at %(disk)s.", disk=str(disk))
    try:
        with psycopg.connect(url, autocommit=True, options=LONG_JOB.options) as connection:
            row = connection.execute(
                "SELECT wal_status FROM pg_replication_slots WHERE slot_name = %s", (SLOT,)
            ).fetchone()
            if row and row[0] == "lost":
                connection.execute("SELECT pg_drop_replication_slot(%s)", (SLOT,))
            if not row or row[0] == "lost":
                connection.execute("SELECT pg_create_physical_replication_slot(%s, true)", (SLOT,))
                if any(wal.iterdir()):
                    aside = disk / "wal.before-gap"
                    _remove(aside)
                    wal.rename(aside)
                    wal.mkdir(mode=0o700)
    except psycopg.Error as error:
        raise _failure(disk, first_line(error)) from error
    except OSError as error:
        raise _failure(disk, error.strerror or str(error)) from error
    program = _programs(url) / "pg_receivewal"
    return [
        str(program),
        f"--directory={wal}",
        f"--slot={SLOT}",
        "--no-loop",
        "--no-password",
        f"--dbname={url}",
    ]


def _programs(url: str) -> Path:
    """Return the folder of the server's own release's programs. Raises BackupError."""
    try:
        with psycopg.connect(url, options=LONG_JOB.options) as connection:
            version = connection.info.server_version // 10_000
    except psycopg.Error as error:
        raise BackupError("PostgreSQL does not answer (%(why)s).", why=first_line(error)) from error
    found = DEBIAN / str(version) / "bin"
    programs = found if found.is_dir() else binaries()
    if programs is None:
        raise BackupError("PostgreSQL's programs are not installed: sudo apt-get install postgresql")
    return programs


def _tablespaces(url: str) -> list[tuple[int, str]]:
    """Return where rows lie outside PostgreSQL's own folder: months that were moved. Raises BackupError."""
    try:
        with psycopg.connect(url, options=LONG_JOB.options) as connection:
            return connection.execute(  # pg_basebackup wants each "=" behind a backslash
                r"SELECT oid, replace(pg_tablespace_location(oid), '=', '\=') FROM pg_tablespace"
                " WHERE pg_tablespace_location(oid) <> ''"
            ).fetchall()
    except psycopg.Error as error:
        raise BackupError("PostgreSQL does not answer (%(why)s).", why=first_line(error)) from error


def _remove_cut_off(disk: Path) -> None:
    """Remove what a backup that was cut off has left."""
    for part in (*(disk / "base").glob(f"*{_NEW}"), *(disk / "files").glob(f"*{_NEW}")):
        _remove(part)
    for rows in (disk / "files").glob(f"*{_ELSEWHERE}"):
        if not (disk / "base" / rows.name.removesuffix(_ELSEWHERE)).is_dir():
            _remove(rows)


def _run(program: Path, *arguments: str) -> None:
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        why = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise BackupError("%(program)s: %(why)s", program=program.name, why=why[-1])


def _pack(path: Path, folders: Iterable[Path], images: Path) -> None:
    part = path.with_name(path.name + _NEW)

    def wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        inside = Path("/", member.name)
        return None if inside == images else member

    part.touch(mode=0o600)
    with tarfile.open(part, mode="w") as packed:
        for folder in folders:
            if folder.is_dir():
                packed.add(folder, filter=wanted)
    part.rename(path)


def _mirror(images: Path, to: Path) -> None:
    """Copy the images that are not there yet: each is named by its hash and never changes."""
    for image in images.rglob("*") if images.is_dir() else ():
        target = to / image.relative_to(images)
        if image.is_file() and not image.name.startswith(".") and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(target.name + _NEW)
            shutil.copyfile(image, part)
            part.rename(target)


def _prune(disk: Path) -> None:
    names = sorted(path.name for path in (disk / "base").iterdir() if not path.name.endswith(_NEW))
    for name in names[:-KEPT]:
        _remove(disk / "base" / name)
        (disk / "files" / f"{name}.tar").unlink(missing_ok=True)
        _remove(disk / "files" / (name + _ELSEWHERE))
    # The log of before a PostgreSQL upgrade is another one: it was set aside, and places in it do not compare.
    version = _version(disk / "base" / names[-1])
    oldest = next(name for name in names[-KEPT:] if _version(disk / "base" / name) == version)
    label = (disk / "base" / oldest / "backup_label").read_text(encoding="utf-8")
    first = label.split("(file ", 1)[1].split(")", 1)[0]
    # Whole pieces only: a .partial is being written, and pg_archivecleanup would take it, too.
    for piece in (disk / "wal").iterdir():
        if _PIECE.fullmatch(piece.name) and piece.name[8:] < first[8:]:  # whatever the timeline
            piece.unlink()


def _version(copy: Path) -> str:
    return (copy / "PG_VERSION").read_text(encoding="ascii")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _write(path: Path, text: str) -> None:
    part = path.with_name(path.name + _NEW)
    part.write_text(text + "\n", encoding="utf-8")
    part.chmod(0o644)  # the floor's pages read it
    part.rename(path)


def _failure(disk: Path, why: str) -> BackupError:
    return BackupError("No backup was made on %(disk)s (%(why)s).", disk=str(disk), why=why)
