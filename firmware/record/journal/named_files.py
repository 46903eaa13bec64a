"""Detects that an open file was removed or replaced.

A process can go on writing to a file that its path no longer leads to; nothing would ever read those rows.
"""

import os
from pathlib import Path

from firmware.table.errors import JournalError

_FileMark = tuple[int, int, int] | None


class NamedFiles:
    """Remembers device, inode and size of a database and its `-wal`; only a commit may change them."""

    def __init__(self, path: Path) -> None:
        self._paths = (str(path), f"{path}-wal")
        self._known: list[_FileMark] = [None, None]

    def note(self) -> None:
        """Remember both files as they are now. Raises JournalError if one was removed or replaced."""
        self._note(0)
        self._note(1)

    def note_commit(self) -> None:
        """Remember the `-wal` after a commit, which does not change the database file itself.

        Raises JournalError if it was removed or replaced.
        """
        self._note(1)

    def _note(self, which: int) -> None:
        known, now = self._known[which], _look(self._paths[which])
        if known is not None and (now is None or known[:2] != now[:2] or now[2] < known[2]):
            raise _other(self._paths[which])
        self._known[which] = now

    def compare(self) -> None:
        """Raise JournalError if a file has changed since the last commit."""
        for path, known in zip(self._paths, self._known, strict=True):
            if known is not None and _look(path) != known:
                raise _other(path)

    def is_same_file(self) -> bool:
        """Return whether the database's path still leads to the same file, whatever its size."""
        known, now = self._known[0], _look(self._paths[0])
        return known is None or (now is not None and known[:2] == now[:2])

    def forget(self) -> None:
        """Remember nothing, because the files are opened again."""
        self._known = [None, None]


def _look(path: str) -> _FileMark:
    try:
        stat = os.stat(path)  # noqa: PTH116 -- called before and after every commit; Path takes four times as long
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_size


def _other(path: str) -> JournalError:
    return JournalError(
        "The file %(path)s was removed, replaced or changed by something else. Nothing more is recorded: "
        "stop the table, keep the folder, and start the table again or restore a backup.",
        path=path,
    )
