"""Requests to copy a dispute file to a USB stick, or to read the profiles on one, and their progress.

The table and the page may not mount disks. The table writes a request file. A program that runs as root
(`firmware.runtime.sticks.write`, started by systemd/units/feltwatch-stick.path) does the work and writes its progress
to a second file. Both are small JSON files, and each side treats the other's file as untrusted input.
"""

import json
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from firmware.record.journal.disk import NotPlain, read_plain, write_private, write_whole
from firmware.table.errors import CommandRefused

REQUEST: Final = Path("/run/feltwatch/stick.json")
"""Written by the table, removed by the program that does the work."""
PROGRESS: Final = Path("/run/feltwatch-stick/progress.json")
PROFILES: Final = "profiles.json"
"""The name of the file with the profiles found, in the folder of the progress."""
MAX_PROFILES: Final = 20
_MAX_PROFILE_BYTES: Final = 1 << 23
SILENT_S: Final = 60.0
"""Seconds without progress after which a copy counts as dead; a slow stick needs some for a few megabytes."""
MAX_BYTES: Final = 4096

Step = Literal["asked", "waiting", "copying", "checking", "done", "failed"]
OVER: Final = frozenset({"done", "failed"})


@dataclass(frozen=True)
class Request:
    """A request to copy one dispute file to a stick, or to read the profiles on one."""

    id: str
    hand: int
    """Whose dispute file is copied; 0: none, the profiles are read."""
    table: str
    """The table's number, as the house wrote it."""


@dataclass(frozen=True)
class Progress:
    """The progress of a request; `refusal` is the `Message` JSON that says why it failed."""

    id: str
    hand: int
    step: Step = "asked"
    at: int = 0
    of: int = 0
    """Bytes."""
    name: str = ""
    """The file's name on the stick."""
    refusal: Mapping[str, Any] = field(default_factory=dict)
    beat_s: float = 0.0
    """When this was written, by the monotonic clock."""

    def goes_on(self, now_s: float) -> bool:
        """Return whether the copy is still running."""
        return self.step not in OVER and 0 <= now_s - self.beat_s <= SILENT_S

    def write(self, path: Path) -> None:
        """Write it atomically to a file that all users may read. Raises OSError."""
        part = path.with_name(f".{path.name}.part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
            os.fchmod(file.fileno(), 0o644)
            json.dump(asdict(replace(self, beat_s=time.monotonic())), file)
        part.replace(path)


def read_request(path: Path) -> Request | None:
    """Return the request in a file; None if it is not valid. Raises OSError."""
    fields = read_small(path)
    request, hand, table = fields.get("id"), fields.get("hand"), fields.get("table")
    if not (isinstance(request, str) and isinstance(table, str) and type(hand) is int and 0 <= hand < 10**9):
        return None
    return Request(request[:64], hand, table[:64])


def read_progress(path: Path = PROGRESS) -> Progress | None:
    """Return the progress of the last request; None without a valid file."""
    try:
        progress = Progress(**read_small(path))
    except (OSError, TypeError):
        return None
    numbers = (progress.hand, progress.at, progress.of, progress.beat_s)
    fits = (
        progress.step in get_args(Step)
        and all(isinstance(text, str) for text in (progress.id, progress.name))
        and all(map(is_figure, numbers))
        and isinstance(progress.refusal, dict)
    )
    return progress if fits else None


def is_figure(value: object) -> bool:
    """Return whether a value from JSON is a number to count with: not infinite, and not of a thousand digits."""
    return isinstance(value, int | float) and -1e15 < value < 1e15


def read_small(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one for anything else. Raises OSError where there is no file."""
    try:
        parsed = json.loads(read_plain(path, MAX_BYTES))
    except (NotPlain, ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


@dataclass(frozen=True)
class StickProfile:
    """A file on a stick whose name says that it is a profile; `text` is None for one that is too long or no text."""

    name: str
    text: str | None


def write_profiles(progress: Path, job: str, found: Sequence[StickProfile]) -> None:
    """Write the profiles found for a request to a world-readable file next to its progress. Raises OSError."""
    data = json.dumps({"id": job, "files": [asdict(one) for one in found]})
    write_private(progress.with_name(PROFILES), data.encode(), mode=0o644)


def read_profiles(progress: Path, job: str) -> tuple[StickProfile, ...]:
    """Return the profiles found for a request; empty without a valid file."""
    try:
        found = json.loads(read_plain(progress.with_name(PROFILES), _MAX_PROFILE_BYTES))
        files = [StickProfile(**one) for one in found["files"]] if found["id"] == job else []
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return ()
    fit = all(isinstance(one.name, str) and isinstance(one.text, str | None) for one in files)
    return tuple(files[:MAX_PROFILES]) if fit else ()


class StickDesk:
    """The table's side: writes requests and reads their progress."""

    def __init__(self, request: Path = REQUEST, progress: Path = PROGRESS) -> None:
        self._request, self._progress = request, progress

    def need_free(self) -> None:
        """Raise CommandRefused while another file is being written."""
        before = read_progress(self._progress)
        if before is not None and before.goes_on(time.monotonic()):
            raise CommandRefused("The stick is at work already. Wait until that is done.")

    def ask(self, hand: int, table: str = "") -> str:
        """Ask for a hand's dispute file to be put on a stick; 0: for the profiles on it. Return the request's name.

        Raises CommandRefused.
        """
        request = Request(secrets.token_hex(8), hand, table)
        try:
            write_whole(self._request, json.dumps(asdict(request)).encode())
        except OSError as error:
            raise CommandRefused(
                "This box cannot ask for a stick (%(path)s: %(why)s).", path=str(self._request), why=error
            ) from error
        return request.id
