"""What a repository names, verified with python-tuf's client: signed, no older than seen before, not expired.

The folder of a `Trust` remembers the newest state that was seen: an older one is refused from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tuf.api import exceptions as tuf_error
from tuf.api.metadata import Metadata, Root, Targets
from tuf.ngclient import Updater, UpdaterConfig
from tuf.ngclient.fetcher import FetcherInterface

from firmware.messages import Message
from firmware.record.evidence.signing import fingerprint
from firmware.record.journal.disk import FILE_MODE, make_folder, write_whole
from firmware.table.errors import TableError
from firmware.update.files import read_plain

ROOT: Final = "root.json"
MOST_ROOT: Final = 512_000
"""Bytes of a root's metadata."""
_BASE: Final = "repository:"
HISTORY: Final = "root_history"
"""Where python-tuf keeps the roots that it has verified."""
GetFile = Callable[[str, int], bytes | None]
"""Returns a metadata file by its name, so many bytes of it at most; None where there is none."""


MAKER: Final = Message("the maker")
HOUSE: Final = Message("the house")


class UpdateRefused(TableError, ValueError):
    """What was sent is not taken; the message is the reason."""


@dataclass(frozen=True)
class Target:
    """A file that a repository names. `size` is in bytes; `about` is what the signer says of it."""

    sha256: str
    size: int
    about: Mapping[str, Any] = field(default_factory=dict)


class _Fetcher(FetcherInterface):
    def __init__(self, get: GetFile) -> None:
        self._get = get

    def _fetch(self, url: str) -> Any:
        raise NotImplementedError  # files themselves are fetched elsewhere

    def download_bytes(self, url: str, max_length: int) -> bytes:
        data = self._get(url.removeprefix(f"{_BASE}/"), max_length + 1)
        if data is None:
            raise tuf_error.DownloadHTTPError("There is no such file.", 404)
        if len(data) > max_length:
            raise tuf_error.DownloadLengthMismatchError(url)
        return data


class _Updater(Updater):
    """Keeps what it has verified through a power cut, for the group to read."""

    def _persist_file(self, filename: str, data: bytes) -> None:
        write_whole(Path(filename), data)
        Path(filename).chmod(FILE_MODE)


class Trust:
    """A repository as far as it was verified."""

    def __init__(self, folder: Path, anchor: bytes, *, who: Message) -> None:
        """`folder`: for what was verified, of this user alone; `anchor`: root metadata that is trusted already.

        `who` signs, for messages: `MAKER` or `HOUSE`. Nothing is read before `refresh`.
        """
        self._folder, self._anchor, self._who = folder, anchor, who

    def refresh(self, get: GetFile) -> dict[str, Target]:
        """Verify a repository's state now; return the files that it names, by their paths.

        Raises UpdateRefused, OSError, and what `get` raises.
        """
        make_folder(self._folder / HISTORY)
        try:
            updater = _Updater(
                str(self._folder),
                _BASE,
                fetcher=_Fetcher(get),
                config=UpdaterConfig(root_max_length=MOST_ROOT),
                bootstrap=self._anchor,
            )
            updater.refresh()
            named = Metadata[Targets].from_file(str(self._folder / "targets.json")).signed.targets
            return {
                path: Target(one.hashes["sha256"], one.length, one.custom or {})
                for path, one in named.items()
            }
        except (tuf_error.RepositoryError, tuf_error.DownloadError, KeyError, RecursionError) as error:
            raise UpdateRefused(self._reason(error)) from error

    @property
    def words(self) -> str:
        """The newest root's keys, each in words. Raises OSError, UpdateRefused."""
        return words_of(read_plain((self._folder / ROOT).resolve(), MOST_ROOT))

    def _reason(self, error: Exception) -> Message:
        match error:
            case tuf_error.ExpiredMetadataError():
                return Message(
                    "What %(who)s signed has expired: here it is %(today)s. Get it again, or set the clock. Nothing was"
                    " changed.",
                    who=self._who,
                    today=str(datetime.now(UTC).date()),
                )
            case tuf_error.BadVersionNumberError():
                return Message(
                    "It is older than what %(who)s signed and was seen here before. Nothing was changed.",
                    who=self._who,
                )
            case tuf_error.DownloadHTTPError():
                return Message(
                    "It is not whole: what %(who)s signs is missing. Nothing was changed.", who=self._who
                )
            case _:
                return Message("It was not signed by %(who)s. Nothing was changed.", who=self._who)


def folder_files(folder: Path) -> GetFile:
    """Return what gets metadata from a folder: a repository's own, or that of another program's `Trust`."""

    def get(name: str, most: int) -> bytes | None:
        for path in (folder / name, folder / HISTORY / name):
            try:
                return read_plain(path, most)
            except FileNotFoundError:
                continue
        return None

    return get


def words_of(root: bytes) -> str:
    """Return the keys that sign root metadata, each in words to be compared. Raises UpdateRefused."""
    try:
        signed = Metadata[Root].from_bytes(root).signed
        keys = [signed.get_key(one) for one in signed.roles[Root.type].keyids]
        return ", ".join(fingerprint(bytes.fromhex(one.keyval["public"])) for one in keys)
    except (tuf_error.RepositoryError, ValueError, KeyError, RecursionError) as error:
        raise UpdateRefused("This is no root metadata.") from error


def anchor_of(root: bytes, key: bytes) -> bytes:
    """Return root metadata if it is signed by `key` alone, 32 bytes of Ed25519. Raises UpdateRefused."""
    try:
        metadata = Metadata[Root].from_bytes(root)
        role = metadata.signed.roles[Root.type]
        keys = [metadata.signed.get_key(one) for one in role.keyids]
        metadata.verify_delegate(Root.type, metadata)
        if role.threshold == 1 and [(one.keytype, one.keyval.get("public")) for one in keys] == [
            ("ed25519", key.hex())
        ]:
            return root
    except (tuf_error.RepositoryError, ValueError, KeyError, RecursionError) as error:
        raise UpdateRefused("The first root of the repository cannot be used.") from error
    raise UpdateRefused("The first root of the repository is signed by another key.")
