"""Files that the house offers to its tables: profiles, decks, releases. Offering a file asks no table for anything.

Each is named by the house's signed repository (`firmware.update`), which the pit's nginx serves as plain files: the
house's metadata, the maker's, and the files by their hash.
"""

from __future__ import annotations

import logging
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from firmware.names import NameRefused, check_name
from firmware.record.evidence.signing import DeviceKey
from firmware.rules.profiles.library import LONGEST_TEXT
from firmware.table.entry import content_hash
from firmware.table.errors import CommandRefused
from firmware.table.topics.profiles import KeepProfile, kept_text, sent_profile
from firmware.update.files import read_plain, sha256_of
from firmware.update.house import FOLDER as HOUSE
from firmware.update.house import LASTS, MOST_NAME, HouseFile
from firmware.update.install import Release, choose
from firmware.update.release import MAKER, TARGETS
from firmware.update.repository import Repository, ends
from firmware.update.trust import HISTORY, MOST_ROOT, Trust, UpdateRefused, folder_files
from firmware.update.trust import MAKER as THE_MAKER
from firmware.uplink.inbox.texts import deck_of
from firmware.uplink.inbox.wire import MOST_BYTES, Kind
from pit.authority import Authority
from pit.errors import PitError
from pit.options import MAKER_ROOT
from pit.store.database import Connection, Database
from pit.store.facts import set_fact
from pit.store.files import Files, FilesError

log = logging.getLogger(__name__)
REPOSITORY: Final = "repository"
"""The folder of the repository, in the pit's own."""
GOOD_UNTIL: Final = "files good until"
"""The pit's fact of when the repository expires, for pages that may not see its folder; "": it cannot be signed."""
_LOCK: Final = 0x52_45_50_4F
"""The advisory lock of anyone who signs the repository: there may be several processes, and commands."""
_COLUMNS: Final = "sha256, kind, name, version, size, offered_by, offered_at"


@dataclass(frozen=True)
class Offered:
    """A file that tables may be asked to fetch.

    `version` is a release's name, "" for other kinds; `size` is in bytes.
    """

    sha256: str
    kind: Kind
    name: str
    version: str
    size: int
    offered_by: str
    offered_at: datetime

    @property
    def file(self) -> HouseFile:
        """The same as the house's repository names it."""
        return HouseFile(self.sha256, self.size, self.kind, self.name, self.version, self.offered_by)


class HouseRepository:
    """What a pit offers: files by their hash, and the signed metadata that names them."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        """`folder`: the pit's own."""
        self.folder = folder / REPOSITORY
        self.files = Files(self.folder / TARGETS)
        self._authority = authority

    def renew(self, connection: Connection) -> None:
        """Sign again what would expire soon, and write down for the pages until when it is good.

        What cannot be signed is logged: the door serves all the same.
        """
        good_until = None
        try:
            self.publish(connection)
            good_until = ends(self.folder / HOUSE)
        except (UpdateRefused, OSError) as error:
            log.warning("%s", error)
        set_fact(connection, GOOD_UNTIL, good_until.isoformat() if good_until else "")

    def publish(self, connection: Connection, *, add: HouseFile | None = None, remove: str = "") -> None:
        """Sign what is offered, with one more or without one, by its SHA-256; or sign it again before it expires.

        What was signed before counts, and no row of the database. Raises FilesError.
        """
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        try:
            online = DeviceKey.open(self._authority.folder / REPOSITORY)
            signer = Repository(self.folder / HOUSE, self._authority.house, online, LASTS)
            if add is None and not remove:
                signer.renew()
                return
            before = signer.published()
            after = {key: one for key, one in before.items() if key != remove}
            if add is not None:
                after[add.sha256] = add.target
            if after != before:
                signer.publish(after)
        except (UpdateRefused, OSError) as error:
            raise FilesError("The house's repository cannot be signed: %(why)s", why=str(error)) from error

    def take_release(self, source: Path, maker_root: Path, machine: str | None) -> Release:
        """Store the newest release in a repository's folder, and the maker's metadata; return it.

        `machine`: what it has to be for. Raises PitError.
        """
        try:
            trust = Trust(self.folder / MAKER, read_plain(maker_root, MOST_ROOT), who=THE_MAKER)
            named = trust.refresh(folder_files(source / MAKER))
            for root in (self.folder / MAKER / HISTORY).iterdir():
                shutil.copy(root, self.folder / MAKER / root.name)  # as a repository serves it
            lying = {path: one for path, one in named.items() if (source / TARGETS / path).is_file()}
            machines = sorted({str(one.about.get("machine")) for one in lying.values()})
            if machine is None and len(machines) > 1:
                raise PitError(
                    "It is for %(machines)s. Say which with --machine.", machines=", ".join(machines)
                )
            release = choose(lying, machine or "".join(machines))
            file, target = source / TARGETS / release.file, release.target
            is_signed = sha256_of(file, target.size) == target.sha256
            if not is_signed or self.files.keep_copy(file, target.size)[0] != target.sha256:
                raise PitError(
                    "%(path)s is not the file that the maker signed. Copy it again.", path=release.file
                )
        except (UpdateRefused, FilesError, OSError) as error:
            raise PitError("%(path)s cannot be offered: %(why)s", path=source.name, why=str(error)) from error
        return release


def offer(
    database: Database,
    house: HouseRepository,
    path: Path,
    by: str,
    *,
    maker_root: Path = MAKER_ROOT,
    machine: str | None = None,
) -> Offered:
    """Store what tables may be asked to fetch; twice is once. What kind a file is its content says.

    A profile is stored as its complete text, so that its hash is the one that hands name. Raises PitError with a
    sentence for a file that no table could use, FilesError where it cannot be stored.
    """
    by = name_of_sender(by)
    if path.is_dir():
        release = house.take_release(path, maker_root, machine)
        target = release.target
        return _store(database, house, ("release", "feltwatch", release.name, target.sha256, target.size), by)
    if not path.is_file():
        raise PitError("%(path)s is no file.", path=str(path))
    kind, name, data = _text(path)
    if len(data) > MOST_BYTES[kind]:
        raise PitError(
            "%(path)s is too large: %(most)s bytes at most.", path=path.name, most=MOST_BYTES[kind]
        )
    digest = content_hash(data)
    house.files.keep(digest, data)
    return _store(database, house, (kind, name, "", digest, len(data)), by)


def name_of_sender(by: str) -> str:
    """Return the name of who offers or removes a file, as it is stored. Raises PitError."""
    try:
        return check_name(by, MOST_NAME)
    except NameRefused as error:
        raise PitError("Who does it has no name (--by): %(why)s", why=error.sentence) from error


def found(connection: Connection, sha256: str) -> Offered | None:
    """Return an offered file, None if there is none of this hash, or if it was removed."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM offered_file WHERE sha256 = %s AND removed_at IS NULL", (sha256,)
    ).fetchone()
    return Offered(*row) if row else None


def listed(connection: Connection) -> list[Offered]:
    """Return all files that are offered, the newest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM offered_file WHERE removed_at IS NULL ORDER BY offered_at DESC, sha256"
    )
    return [Offered(*row) for row in rows]


def removed(connection: Connection) -> list[tuple[Offered, datetime, str]]:
    """Return the files that were removed, the last one first: each with when, and who it was."""
    rows = connection.execute(
        f"SELECT {_COLUMNS}, removed_at, removed_by FROM offered_file WHERE removed_at IS NOT NULL"
        " ORDER BY removed_at DESC, sha256"
    )
    return [(Offered(*row[:-2]), *row[-2:]) for row in rows]


def named(connection: Connection, name: str) -> Offered:
    """Return the offered file of a name, of a release's name, or of a hash's first eight or more digits.

    Raises PitError where there is none, or more than one.
    """
    match = [
        one
        for one in listed(connection)
        if name in (one.version or one.name, one.sha256) or (len(name) >= 8 and one.sha256.startswith(name))
    ]
    if not match:
        raise PitError("No file %(name)s is offered. See: feltwatch pit files", name=name)
    if len(match) > 1:
        raise PitError(
            "There are %(count)s files %(name)s. Say which by its SHA-256: %(files)s",
            count=len(match),
            name=name,
            files=", ".join(one.sha256[:12] for one in match),
        )
    return match[0]


def remove(database: Database, house: HouseRepository, one: Offered, by: str) -> None:
    """Remove an offered file's bytes; its row and what was asked of tables stay. Offered again it is back.

    Raises PitError while a table is still to fetch or to take it, or while a channel holds it;
    FilesError.
    """
    by = name_of_sender(by)
    with database.transaction() as connection:
        # a request, or a channel that takes it at this moment waits for this row, or is seen here
        connection.execute("SELECT FROM offered_file WHERE sha256 = %s FOR UPDATE", (one.sha256,))
        tables = connection.execute(
            "SELECT name FROM file_request JOIN gaming_table USING (table_id) WHERE sha256 = %s AND ended_at IS NULL"
            " AND ends_at > now() ORDER BY length(name), name",
            (one.sha256,),
        ).fetchall()
        if tables:
            raise PitError(
                "%(tables)s: still to be fetched or taken there. Withdraw it first: feltwatch pit send FILE --withdraw",
                tables=", ".join(name for (name,) in tables),
            )
        if connection.execute("SELECT FROM channel WHERE sha256 = %s", (one.sha256,)).fetchone() is not None:
            raise PitError(
                "A channel holds %(release)s. Withdraw it first: feltwatch pit channels withdraw %(release)s",
                release=one.version,
            )
        connection.execute(
            "UPDATE offered_file SET removed_at = now(), removed_by = %s WHERE sha256 = %s AND removed_at IS NULL",
            (by, one.sha256),
        )
        house.publish(connection, remove=one.sha256)
    house.files.remove(one.sha256)
    log.info("%s %s was removed by %s", one.kind, one.version or one.name, by)


def _text(path: Path) -> tuple[Kind, str, bytes]:
    """Return kind, name and bytes of a profile or a deck. Raises PitError."""
    most = MOST_BYTES["deck"]
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
        text = data.decode()
    except (OSError, ValueError) as error:
        raise PitError(
            "%(path)s cannot be read as a profile (.toml) or a deck (.json): %(why)s.",
            path=path.name,
            why=getattr(error, "strerror", None) or str(error),
        ) from error
    if len(data) > most:
        raise PitError("%(path)s is too large: %(most)s bytes at most.", path=path.name, most=most)
    if path.suffix == ".json":
        try:
            return "deck", deck_of(data, "")[0], data
        except CommandRefused as error:
            raise PitError("%(path)s is no enrolled deck.", path=path.name) from error
    if path.suffix != ".toml":
        raise PitError(
            "%(path)s is no file that goes down to tables: a profile ends in .toml, a deck in .json; a release"
            " is a folder with maker and targets in it.",
            path=path.name,
        )
    if not text:
        raise PitError("%(path)s is empty.", path=path.name)
    if len(text) > LONGEST_TEXT:
        raise PitError("%(path)s is too large: %(most)s bytes at most.", path=path.name, most=LONGEST_TEXT)
    try:
        whole = kept_text(KeepProfile(text=text, reason="offered"))
        return "profile", sent_profile(whole).name, whole.encode()
    except (CommandRefused, ValidationError) as error:
        raise PitError("%(path)s cannot be offered: %(why)s", path=path.name, why=str(error)) from error


def _store(
    database: Database, house: HouseRepository, values: tuple[Kind, str, str, str, int], by: str
) -> Offered:
    kind, name, version, digest, size = values
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO offered_file (sha256, kind, name, version, size, offered_by)"
            " VALUES (%s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (sha256) DO UPDATE SET removed_at = NULL, removed_by = ''",
            (digest, kind, name, version, size, by),
        )
        stored = found(connection, digest)
        assert stored is not None
        house.publish(connection, add=stored.file)
    return stored
