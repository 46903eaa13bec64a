"""Files that the house offers to its tables: profiles, decks, releases. No table fetches a file because it is offered.

The house's signed repository (`firmware.update`) names each. The pit's nginx serves it as plain files: the house's
metadata, the maker's, and the files by their hash.
"""

import logging
import shutil
from datetime import datetime
from pathlib import Path
from typing import Final

from firmware.names import NameRefused, check_name
from firmware.record.evidence.signing import DeviceKey
from firmware.rules.profiles.toml_text import LONGEST_TEXT
from firmware.table.entry import content_hash
from firmware.table.errors import CommandRefused
from firmware.table.topics.inbox import deck_of, profile_of
from firmware.update.files import read_plain
from firmware.update.house import FOLDER as HOUSE
from firmware.update.house import LASTS, MAX_BYTES, MAX_NAME, HouseFile
from firmware.update.install import Release, choose, fetch
from firmware.update.release import MAKER, TARGETS
from firmware.update.repository import Repository, ends
from firmware.update.trust import HISTORY, MAKER_NAME, MAX_ROOT, Trust, UpdateRefused, folder_files
from pit.authority import Authority
from pit.errors import PitError
from pit.options import MAKER_ROOT
from pit.store.database import Connection, Database
from pit.store.facts import set_fact
from pit.store.files import Files, FilesError

log = logging.getLogger(__name__)
REPOSITORY: Final = "repository"
"""The repository's folder in the pit's own folder."""
GOOD_UNTIL: Final = "files good until"
"""The pit's fact of when the repository expires, for pages that may not read its folder; "": it cannot be signed."""
_LOCK: Final = 0x52_45_50_4F
"""The advisory lock that is held while the repository is signed."""
COLUMNS: Final = "sha256, size, kind, f.name, version, offered_by"
"""The columns of a `HouseFile` in the database table `offered_file`, here `f`."""


class HouseRepository:
    """What a pit offers: files by their hash, and the signed metadata that names them."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        """`folder`: the pit's own."""
        self.folder = folder / REPOSITORY
        self.files = Files(self.folder / TARGETS)
        self._authority = authority

    def renew(self, connection: Connection) -> None:
        """Sign again what would expire soon. A failure is logged, and the door goes on serving."""
        try:
            self.publish(connection)
        except FilesError as error:
            log.warning("%s", error)
            set_fact(connection, GOOD_UNTIL, "")

    def publish(self, connection: Connection, *, add: HouseFile | None = None, remove: str = "") -> None:
        """Sign the list of files with one added or removed (by its SHA-256), or sign it again before it expires.

        The list is what was signed before; the database is not asked. The date of expiry is stored for the pages.
        Raises FilesError.
        """
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        try:
            online = DeviceKey.open(self._authority.folder / REPOSITORY)
            signer = Repository(self.folder / HOUSE, self._authority.house, online, LASTS)
            before = signer.published()
            after = {key: one for key, one in before.items() if key != remove}
            if add is not None:
                after[add.sha256] = add.target
            if after == before:
                signer.renew()
            else:
                signer.publish(after)
            if until := ends(self.folder / HOUSE):
                set_fact(connection, GOOD_UNTIL, until.isoformat())
        except (UpdateRefused, OSError) as error:
            raise FilesError("The house's repository cannot be signed: %(why)s", why=error) from error

    def take_release(self, source: Path, maker_root: Path, machine: str | None) -> Release:
        """Store the newest release in a repository's folder, and the maker's metadata; return it.

        `machine`: for which machine, where there are several. Raises PitError.
        """
        try:
            trust = Trust(self.folder / MAKER, read_plain(maker_root, MAX_ROOT), who=MAKER_NAME)
            named = trust.refresh(folder_files(source / MAKER))
            for root in (self.folder / MAKER / HISTORY).iterdir():
                shutil.copy(root, self.folder / MAKER / root.name)  # as a repository serves it
            present = {path: one for path, one in named.items() if (source / TARGETS / path).is_file()}
            machines = sorted({str(one.about.get("machine")) for one in present.values()})
            if machine is None and len(machines) > 1:
                raise PitError(
                    "It is for %(machines)s. Say which with --machine.", machines=", ".join(machines)
                )
            release = choose(present, machine or "".join(machines))
            with self.files.part() as part:
                fetch(source, release, part)
                self.files.take(part, release.target.sha256)
        except (UpdateRefused, OSError) as error:
            raise PitError("%(path)s cannot be offered: %(why)s", path=source.name, why=error) from error
        return release


def offer(
    database: Database,
    house: HouseRepository,
    path: Path,
    by: str,
    *,
    maker_root: Path = MAKER_ROOT,
    machine: str | None = None,
) -> HouseFile:
    """Store a file that tables may be asked to fetch. Its ending says its kind; a folder is a release.

    A profile is stored as its complete text, so that its hash is the one that hands name. Raises PitError for a file
    that no table could use, FilesError if it cannot be stored.
    """
    by = check_sender(by)
    if path.is_dir():
        release = house.take_release(path, maker_root, machine)
        target = release.target
        file = HouseFile(target.sha256, target.size, "release", "feltwatch", release.name, by)
    else:
        kind, name, data = _text(path)
        file = HouseFile(content_hash(data), len(data), kind, name, "", by)
        house.files.keep(file.sha256, data)
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO offered_file (sha256, size, kind, name, version, offered_by)"
            " VALUES (%(sha256)s, %(size)s, %(kind)s, %(name)s, %(version)s, %(by)s)"
            " ON CONFLICT (sha256) DO UPDATE SET removed_at = NULL, removed_by = ''",
            vars(file),
        )
        stored = find_offered(connection, file.sha256)
        assert stored is not None
        house.publish(connection, add=stored)
    return stored


def check_sender(by: str) -> str:
    """Return the name of the person who offers or removes a file, as it is stored. Raises PitError."""
    try:
        return check_name(by, MAX_NAME)
    except NameRefused as error:
        raise PitError("Who does it has no name (--by): %(why)s", why=error.sentence) from error


def find_offered(connection: Connection, sha256: str) -> HouseFile | None:
    """Return an offered file; None if none has this hash, or if it was removed."""
    return next((one for one in list_offered(connection) if one.sha256 == sha256), None)


def list_offered(connection: Connection) -> list[HouseFile]:
    """Return all files that are offered, the newest first."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM offered_file f WHERE removed_at IS NULL ORDER BY offered_at DESC, sha256"
    )
    return [HouseFile(*row) for row in rows]


def list_removed(connection: Connection) -> list[tuple[HouseFile, datetime, str]]:
    """Return the files that were removed, the last one first: each with when, and by whom."""
    rows = connection.execute(
        f"SELECT removed_at, removed_by, {COLUMNS} FROM offered_file f WHERE removed_at IS NOT NULL"
        " ORDER BY removed_at DESC, sha256"
    )
    return [(HouseFile(*row), at, by) for at, by, *row in rows]


def _text(path: Path) -> tuple[str, str, bytes]:
    """Return kind, name and bytes of a profile or a deck. Raises PitError."""
    kind = {".toml": "profile", ".json": "deck"}.get(path.suffix)
    if kind is None:
        raise PitError(
            "%(path)s is no file that goes down to tables: a profile ends in .toml, a deck in .json; a release"
            " is a folder with maker and targets in it.",
            path=path.name,
        )
    most = LONGEST_TEXT if kind == "profile" else MAX_BYTES[kind]
    try:
        data = read_plain(path.resolve(), most + 1)
        if not data:
            raise PitError("%(path)s is empty.", path=path.name)
        if len(data) > most:
            raise PitError("%(path)s is too large: %(most)s bytes at most.", path=path.name, most=most)
        if kind == "deck":
            return kind, deck_of(data, "")[0], data
        name, text = profile_of(data)
        return kind, name, text.encode()
    except (CommandRefused, OSError) as error:
        raise PitError("%(path)s cannot be offered: %(why)s", path=path.name, why=error) from error
