"""What a repository names, verified (`metadata.py`): signed, no older than seen before, not expired.

The folder of a `Trust` remembers the newest state that was seen: an older one is refused from then on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message
from firmware.table.errors import TableError
from firmware.update.files import read_plain

ROOT: Final = "root.json"
MAX_ROOT: Final = 512_000
"""Bytes of a root's metadata."""
HISTORY: Final = "root_history"
"""Where python-tuf keeps the roots that it has verified."""
GetFile = Callable[[str, int], bytes | None]
"""Returns a metadata file by its name, so many bytes of it at most; None where there is none."""


MAKER_NAME: Final = Message("the maker")
HOUSE_NAME: Final = Message("the house")


class UpdateRefused(TableError, ValueError):
    """What was sent is not taken; the message is the reason."""


@dataclass(frozen=True)
class Target:
    """A file that a repository names. `size` is in bytes; `about` is what the signer says of it."""

    sha256: str
    size: int
    about: Mapping[str, Any] = field(default_factory=dict)


class Trust:
    """A repository as far as it was verified."""

    def __init__(self, folder: Path, anchor: bytes, *, who: Message) -> None:
        """`folder`: keeps what was verified; only this user may write there.

        `anchor`: root metadata that is trusted already.

        `who` signs, for messages: `MAKER_NAME` or `HOUSE_NAME`. Nothing is read before `refresh`.
        """
        self._folder, self._anchor, self._who = folder, anchor, who

    def refresh(self, get: GetFile) -> dict[str, Target]:
        """Verify a repository's state now; return the files that it names, by their paths.

        Raises UpdateRefused, OSError, and what `get` raises.
        """
        from firmware.update.metadata import verified  # python-tuf, which most programs never need

        return verified(self._folder, self._anchor, get, self._who)

    @property
    def words(self) -> str:
        """The newest root's keys, each in words. Raises OSError, UpdateRefused."""
        from firmware.update.metadata import words_of

        return words_of(read_plain((self._folder / ROOT).resolve(), MAX_ROOT))


def folder_files(folder: Path) -> GetFile:
    """Return a function that reads metadata from a repository's folder, or that of another program's `Trust`."""

    def get(name: str, most: int) -> bytes | None:
        for path in (folder / name, folder / HISTORY / name):
            try:
                return read_plain(path, most)
            except FileNotFoundError:
                continue
        return None

    return get
