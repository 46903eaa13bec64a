"""A repository's metadata, verified with python-tuf. A program that verifies nothing need not load it: `trust.py`."""

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
from firmware.update.trust import HISTORY, MAX_ROOT, GetFile, Target, UpdateRefused

_BASE: Final = "repository:"


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


def verified(folder: Path, anchor: bytes, get: GetFile, who: Message) -> dict[str, Target]:
    """Return the files that a repository names now, by their paths; for the arguments see `Trust`.

    Raises UpdateRefused, OSError, and what `get` raises.
    """
    make_folder(folder / HISTORY)
    try:
        updater = _Updater(
            str(folder),
            _BASE,
            fetcher=_Fetcher(get),
            config=UpdaterConfig(root_max_length=MAX_ROOT),
            bootstrap=anchor,
        )
        updater.refresh()
        named = Metadata[Targets].from_file(str(folder / "targets.json")).signed.targets
        return {
            path: Target(one.hashes["sha256"], one.length, one.custom or {}) for path, one in named.items()
        }
    except (tuf_error.RepositoryError, tuf_error.DownloadError, KeyError, RecursionError) as error:
        raise UpdateRefused(_reason(error, who)) from error


def _reason(error: Exception, who: Message) -> Message:
    match error:
        case tuf_error.ExpiredMetadataError():
            return Message(
                "What %(who)s signed has expired: here it is %(today)s. Get it again, or set the clock. Nothing was"
                " changed.",
                who=who,
                today=str(datetime.now(UTC).date()),
            )
        case tuf_error.BadVersionNumberError():
            return Message(
                "It is older than what %(who)s signed and was seen here before. Nothing was changed.", who=who
            )
        case tuf_error.DownloadHTTPError():
            return Message("It is not whole: what %(who)s signs is missing. Nothing was changed.", who=who)
        case _:
            return Message("It was not signed by %(who)s. Nothing was changed.", who=who)


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
