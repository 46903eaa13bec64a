"""Files that the house offers to its tables: profiles, decks, releases. Offering a file asks no table for anything."""

from __future__ import annotations

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
    """Return an offered file, None if there is none of this hash."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM offered_file WHERE sha256 = %s", (sha256,)).fetchone()
    return Offered(*row) if row else None


def listed(connection: Connection) -> list[Offered]:
    """Return all files that were offered, the newest first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM offered_file ORDER BY offered_at DESC, sha256")
    return [Offered(*row) for row in rows]


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
    if not text or len(text) > LONGEST_TEXT:
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
            " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (digest, kind, name, version, size, signature, by),
        )
        stored = found(connection, digest)
    assert stored is not None
    return stored
