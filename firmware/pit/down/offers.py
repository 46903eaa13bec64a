"""Files that the house offers to its tables: profiles, decks, releases. Offering a file asks no table for anything."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from firmware.pit.authority import Authority
from firmware.pit.database import Connection, Database
from firmware.pit.errors import PitError
from firmware.pit.files import Files
from firmware.pit_options import RELEASE_KEY
from firmware.release_package import UpdateRefused, signed_release, trusted_key
from firmware.rules.profiles.library import LONGEST_TEXT
from firmware.table.entry import content_hash
from firmware.table.errors import CommandRefused
from firmware.table.topics.profiles import KeepProfile, kept_text, sent_profile
from firmware.uplink.inbox.texts import deck_of
from firmware.uplink.inbox.wire import MOST_BYTES, MOST_NAME, Kind, signed_text

log = logging.getLogger(__name__)
_COLUMNS: Final = "sha256, kind, name, version, size, signature, offered_by, offered_at"


@dataclass(frozen=True)
class Offered:
    """A file that tables may be asked to fetch. `version` is a release's name, "" for other kinds.

    `size` is in bytes; `signature` is the house's, hex, "" for a release: that carries the release key's.
    """

    sha256: str
    kind: Kind
    name: str
    version: str
    size: int
    signature: str
    offered_by: str
    offered_at: datetime


def offer(
    database: Database,
    files: Files,
    authority: Authority,
    path: Path,
    by: str,
    *,
    release_key: Path = RELEASE_KEY,
) -> Offered:
    """Store a file that tables may be asked to fetch; twice is once. What kind it is its content says.

    A profile is stored as its complete text, so that its hash is the one that hands name. Raises PitError with a
    sentence for a file that no table could use, FilesError where it cannot be stored.
    """
    if not path.is_file():
        raise PitError("%(path)s is no file.", path=str(path))
    if not 0 < len(by) <= MOST_NAME or not by.isprintable():
        raise PitError("Who offers a file is a name of 1 to %(most)s letters.", most=MOST_NAME)
    if path.name.endswith((".tar.gz", ".tgz")):
        version = _release(path, release_key)
        digest, size = files.keep_copy(path, MOST_BYTES["release"])
        return _store(database, ("release", "feltwatch", version, digest, size, ""), by)
    kind, name, data = _text(path)
    if len(data) > MOST_BYTES[kind]:
        raise PitError(
            "%(path)s is too large: %(most)s bytes at most.", path=path.name, most=MOST_BYTES[kind]
        )
    digest = content_hash(data)
    files.keep(digest, data)
    text = signed_text(kind, name, digest, len(data), by)
    return _store(database, (kind, name, "", digest, len(data), authority.house.sign(text).hex()), by)


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


def remove(database: Database, files: Files, one: Offered, by: str) -> None:
    """Remove an offered file's bytes; its row and what was asked of tables stay. Offered again it is back.

    Raises PitError while a table is still to fetch or to take it, or while the newest wave brings it and is not over;
    FilesError.
    """
    with database.transaction() as connection:
        # a request or a wave that begins at this moment waits for this row, or is seen here
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
        wave = connection.execute(
            "SELECT sha256 FROM wave WHERE wave_id = (SELECT max(wave_id) FROM wave) AND phase <> 'done'"
        ).fetchone()
        if wave is not None and wave[0] == one.sha256:
            raise PitError(
                "A wave of it is not over: it runs, or may go on. It stays until the next wave begins."
            )
        connection.execute(
            "UPDATE offered_file SET removed_at = now(), removed_by = %s WHERE sha256 = %s AND removed_at IS NULL",
            (by, one.sha256),
        )
    files.remove(one.sha256)
    log.info("%s %s was removed by %s", one.kind, one.version or one.name, by)


def _release(path: Path, key: Path) -> str:
    try:
        version = signed_release(path, trusted_key(key)).name
    except UpdateRefused as error:
        raise PitError("%(path)s cannot be offered: %(why)s", path=path.name, why=str(error)) from error
    if not 0 < len(version) <= MOST_NAME or not version.isprintable():
        raise PitError("%(path)s does not say which release it is.", path=path.name)
    return version


def _text(path: Path) -> tuple[Kind, str, bytes]:
    """Return kind, name and bytes of a profile or a deck. Raises PitError."""
    most = MOST_BYTES["deck"]
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
        text = data.decode()
    except (OSError, ValueError) as error:
        raise PitError(
            "%(path)s cannot be read as a profile (.toml), a deck (.json) or a release (.tar.gz): %(why)s.",
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
            "%(path)s is no file that goes down to tables: a profile ends in .toml, a deck in .json, a release in"
            " .tar.gz.",
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


def _store(database: Database, values: tuple[Kind, str, str, str, int, str], by: str) -> Offered:
    kind, name, version, digest, size, signature = values
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO offered_file (sha256, kind, name, version, size, signature, offered_by)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (sha256) DO UPDATE SET removed_at = NULL, removed_by = ''",
            (digest, kind, name, version, size, signature, by),
        )
        stored = found(connection, digest)
    assert stored is not None
    return stored
