"""Images that tables have sent, and files that go down to tables, named by their hash."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from firmware.record.journal.disk import FILE_MODE, make_folder, sync_folder
from firmware.uplink.wire import is_hash
from pit.errors import PitError

_PIECE = 1 << 20


class FilesError(PitError, OSError):
    """A file cannot be stored or read."""


class Files:
    """A folder of files, each named by the SHA-256 of its bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Return where a file lies, or would."""
        assert is_hash(digest)
        return self.folder / digest[:2] / digest

    def keep(self, digest: str, data: bytes) -> None:
        """Store bytes durably under their hash; twice is once. Raises FilesError.

        A file that the disk has damaged is replaced.
        """
        path = self.path(digest)
        part = path.with_name(f".{digest}.{os.getpid()}")
        try:
            if path.exists() and path.read_bytes() == data:
                return
            make_folder(path.parent)
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), FILE_MODE)
                os.fsync(file.fileno())
            part.rename(path)
            sync_folder(path.parent)
        except OSError as error:
            raise _cannot(error) from error

    def keep_copy(self, source: Path, most: int) -> tuple[str, int]:
        """Store a copy of a file durably under its hash; return that and its size in bytes. Raises FilesError.

        It is read once: what changes meanwhile is stored as it was read. More than `most` bytes are not stored.
        """
        part: Path | None = None
        try:
            make_folder(self.folder)
            number, name = tempfile.mkstemp(prefix=".offered-", dir=self.folder)
            part, digest, size = Path(name), hashlib.sha256(), 0
            with os.fdopen(number, "wb") as file, source.open("rb") as read:
                while piece := read.read(_PIECE):
                    size += len(piece)
                    if size > most:
                        raise FilesError(
                            "%(path)s is too large: %(most)s bytes at most.", path=source.name, most=most
                        )
                    digest.update(piece)
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            path = self.path(digest.hexdigest())
            make_folder(path.parent)
            part.chmod(FILE_MODE)
            part.rename(path)
            sync_folder(path.parent)
        except OSError as error:
            if part is not None:
                part.unlink(missing_ok=True)
            if isinstance(error, FilesError):
                raise
            raise _cannot(error) from error
        return digest.hexdigest(), size

    def remove(self, digest: str) -> None:
        """Remove a file; twice is once. Raises FilesError."""
        try:
            self.path(digest).unlink(missing_ok=True)
        except OSError as error:
            raise FilesError(
                "The file cannot be removed (%(why)s).", why=error.strerror or str(error)
            ) from error


def _cannot(error: OSError) -> FilesError:
    return FilesError(
        "The file cannot be stored (%(why)s). Look at the disk.", why=error.strerror or str(error)
    )
