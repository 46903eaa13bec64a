"""Images that tables have sent, as files named by their hash."""

from __future__ import annotations

import os
from pathlib import Path

from firmware.pit.errors import PitError
from firmware.uplink.wire import is_hash


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
        """Store bytes durably under their hash; twice is once. Raises FilesError."""
        path = self.path(digest)
        if path.exists():
            return
        part = path.with_name(f".{digest}.{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.rename(path)
            for folder in (path.parent, self.folder):
                handle = os.open(folder, os.O_RDONLY)
                os.fsync(handle)
                os.close(handle)
        except OSError as error:
            raise FilesError(
                "The image cannot be stored (%(why)s). Look at the disk.", why=error.strerror or str(error)
            ) from error
