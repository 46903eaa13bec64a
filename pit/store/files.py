"""Images that tables have sent, and files that tables fetch, each named by its hash."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firmware.record.journal.disk import FILE_MODE, make_folder, sync_folder
from firmware.uplink.wire import is_hash
from pit.errors import PitError


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
        """Store bytes durably under their hash, if they are not there yet. Raises FilesError.

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

    @contextmanager
    def part(self) -> Iterator[Path]:
        """Yield a temporary path: write a file there, then give it to `take`. What is left there is removed."""
        make_folder(self.folder)
        with tempfile.TemporaryDirectory(prefix=".offered-", dir=self.folder) as folder:
            yield Path(folder) / "part"

    def take(self, part: Path, digest: str) -> None:
        """Move a file from `part` to its place under its hash. The caller has synced it to the disk. Raises OSError."""
        path = self.path(digest)
        make_folder(path.parent)
        part.chmod(FILE_MODE)
        part.rename(path)
        sync_folder(path.parent)

    def remove(self, digest: str) -> None:
        """Remove a file, if it is there. Raises FilesError."""
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
