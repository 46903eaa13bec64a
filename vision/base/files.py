"""Writes files so that a full disk costs no file that was there."""

from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file: afterwards it has the new content, or the old one. Raises OSError."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe or a device cannot be replaced
        return
    path = path.resolve()
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
