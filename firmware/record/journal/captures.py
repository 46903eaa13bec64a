"""Images as evidence: on disk and synced before any event names them."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import stat
from collections.abc import Hashable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, cast

from firmware.record.journal.disk import FILE_MODE, make_folder, sync_folder
from firmware.table.errors import CaptureError
from firmware.table.events import Capture, Event

FOLDER: Final = "captures"
Stored = Literal["ok", "missing", "changed", "unreadable"]
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*)*\.(jpg|png)")


def hand_folder(hand: int) -> str:
    """Return the folder in which a hand's captures lie; their names begin with it."""
    return f"{hand:06}"


class CaptureStore:
    """The captures folder of a data folder. Names are relative paths such as "000012/showdown-1.jpg"."""

    def __init__(self, data: Path) -> None:
        self.folder = data / FOLDER
        self._real = os.path.realpath(self.folder)

    def path(self, name: str) -> Path:
        """Return where a capture lies. Raises CaptureError for a name that no capture has, or one that leads elsewhere.

        Anyone who could lay a symbolic link into the folder would have the page read out any file that it may read.
        """
        if not _NAME.fullmatch(name):
            raise CaptureError(f"{name!r} is no capture's name.")
        if os.path.realpath(self.folder / name) != os.path.join(self._real, name):  # noqa: PTH118 -- as realpath says it
            raise CaptureError(f"The capture {name} is a link to elsewhere; no capture is one.")
        return self.folder / name

    def read(self, name: str) -> bytes:
        """Return what lies under a name, whatever it is. Raises OSError; CaptureError, which is one, as `path` does.

        A record that comes on a stick may name anything, and have a pipe lie there: who opens that waits for ever.
        """
        path = self.path(name)
        if not stat.S_ISREG(path.stat().st_mode):
            raise CaptureError(f"The capture {name} is no plain file; every capture is one.")
        return path.read_bytes()

    def save(self, name: str, data: bytes) -> Capture:
        """Write an image so that it outlives a power cut, and return how an event names it.

        Raises CaptureError if it cannot be written, or the name is taken: evidence is never overwritten.
        """
        path = self.path(name)
        temporary = path.with_name(f".{path.name}.part")
        try:
            make_folder(path.parent)
            if path.exists():
                raise CaptureError(f"The capture {name} exists already; evidence is never overwritten.")
            with temporary.open("wb") as file:
                os.fchmod(file.fileno(), FILE_MODE)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
            sync_folder(path.parent)
        except OSError as error:
            if isinstance(error, CaptureError):
                raise
            raise CaptureError(
                f"The capture {name} could not be stored ({error}); check the disk."
            ) from error
        return Capture(name, hashlib.sha256(data).hexdigest(), len(data))

    def load(self, capture: Capture) -> bytes:
        """Return the image. Raises CaptureError if it is missing or not what was stored."""
        state = self.check(capture)
        if state == "unreadable":
            raise CaptureError(
                "The capture %(name)s cannot be read; look at the disk, and at who may read it.",
                name=capture.name,
            )
        if state != "ok":
            raise CaptureError(f"The capture {capture.name} is {state}: it is not what was stored.")
        return self.read(capture.name)

    def check(self, capture: Capture) -> Stored:
        """Say whether the image is there and is what was stored."""
        return self.check_named(capture.name, capture.sha256)

    def check_named(self, name: str, sha256: str) -> Stored:
        """Say the same of a name and a SHA-256, in hex, that may be anybody's.

        What this user may not look at, or a disk does not give, is not taken for missing: nobody has removed it.
        """
        try:
            data = self.read(name)
        except (CaptureError, FileNotFoundError, NotADirectoryError):
            return "missing"  # what is a link or a device is no capture
        except OSError:
            return "unreadable"
        return "ok" if hashlib.sha256(data).hexdigest() == sha256 else "changed"


def named_by(event: Event) -> Iterator[Capture]:
    """Yield the captures that an event names, wherever in it; an image named twice comes twice."""
    left: list[Any] = [event]
    while left:
        part = left.pop()
        if isinstance(part, Capture):
            yield part
            continue
        if isinstance(part, tuple):
            inner = part
        elif isinstance(part, dict):
            inner = tuple(part.values())
        elif dataclasses.is_dataclass(part):
            inner = tuple(getattr(part, name) for name in _fields(part.__class__))
        else:
            continue
        left += [one for one in reversed(inner) if one.__class__ not in _SCALARS]


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""What most of an event is made of, and names nothing."""


@cache
def _fields(kind: Hashable) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cast(Any, kind)))
