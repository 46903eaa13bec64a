"""Stores images as evidence: each is synced to disk before an event names it."""

import dataclasses
import hashlib
import os
import re
from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, cast

from firmware.messages import Message
from firmware.record.journal.disk import FILE_MODE, NotPlain, make_folder, read_plain, sync_folder
from firmware.table.errors import CaptureError
from firmware.table.events import Capture, Event

FOLDER: Final = "captures"
MAX_BYTES: Final = 64 << 20
"""Bytes of a capture; a camera's have a few million."""
CaptureState = Literal["ok", "missing", "changed", "unreadable"]
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*)*\.(jpg|png)")


def is_capture_name(text: str) -> bool:
    """Return whether a text has the form of a capture's name."""
    return _NAME.fullmatch(text) is not None


def hand_folder(hand: int) -> str:
    """Return the folder of a hand's captures; their names begin with it."""
    return f"{hand:06}"


IMAGE_STATES: Final = {
    "missing": Message("missing"),
    "changed": Message("changed"),
    "unreadable": Message("unreadable"),
}
"""What `CaptureStore.check` may find wrong, in words."""


class CaptureStore:
    """The captures folder of a data folder. Names are relative paths such as "000012/showdown-1.jpg"."""

    def __init__(self, data: Path) -> None:
        self.folder = data / FOLDER
        self._real = os.path.realpath(self.folder)

    def path(self, name: str) -> Path:
        """Return a capture's path. Raises CaptureError for an invalid name, or for one that leads through a link.

        Through a symbolic link in this folder the page would serve any file that it can read.
        """
        if not is_capture_name(name):
            raise CaptureError("%(name)s is no capture's name.", name=f"{name!r}")
        if os.path.realpath(self.folder / name) != os.path.join(self._real, name):  # noqa: PTH118 -- as realpath says it
            raise CaptureError("The capture %(name)s is a link to elsewhere; no capture is one.", name=name)
        return self.folder / name

    def read(self, name: str) -> bytes:
        """Return a capture's bytes, unchecked. Raises CaptureError as `path` does, OSError.

        Only regular files are opened: a record from a stick may name a pipe, and opening a pipe can block forever.
        """
        path = self.path(name)
        try:
            return read_plain(path, MAX_BYTES)
        except NotPlain as error:
            raise CaptureError(
                "The capture %(name)s is no plain file; every capture is one.", name=name
            ) from error

    def save(self, name: str, data: bytes) -> Capture:
        """Write an image durably, and return its reference for an event.

        Raises CaptureError if it cannot be written, or if the name exists: evidence is never overwritten.
        """
        path = self.path(name)
        temporary = path.with_name(f".{path.name}.part")
        try:
            make_folder(path.parent)
            if path.exists():
                raise CaptureError(
                    "The capture %(name)s exists already; evidence is never overwritten.", name=name
                )
            with temporary.open("wb") as file:
                os.fchmod(file.fileno(), FILE_MODE)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
            sync_folder(path.parent)
        except CaptureError:
            raise
        except OSError as error:
            raise CaptureError(
                "The capture %(name)s could not be stored (%(error)s); check the disk.",
                name=name,
                error=error,
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
            raise CaptureError(
                "The capture %(name)s is %(state)s: it is not what was stored.",
                name=capture.name,
                state=IMAGE_STATES[state],
            )
        return self.read(capture.name)

    def check(self, capture: Capture) -> CaptureState:
        """Return whether the image is there and unchanged."""
        return self.check_named(capture.name, capture.sha256)

    def check_named(self, name: str, sha256: str) -> CaptureState:
        """Return whether the image of this name is there and has this SHA-256 (hex). Neither need be trusted.

        An image that this user may not read, or that the disk fails to read, counts as "unreadable", not as "missing".
        """
        try:
            data = self.read(name)
        except (CaptureError, FileNotFoundError, NotADirectoryError):
            return "missing"  # a link or a device is not a capture
        except OSError:
            return "unreadable"
        return "ok" if hashlib.sha256(data).hexdigest() == sha256 else "changed"


def captures_in(event: Event) -> Iterator[Capture]:
    """Yield the captures anywhere inside an event; one that occurs twice is yielded twice."""
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


def captures_in_json(payload: Any) -> Iterator[Capture]:
    """Yield the captures in the JSON of any payload; it need not be trusted."""
    stack = [payload]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            if isinstance(part.get("name"), str) and isinstance(part.get("sha256"), str):
                size = part.get("size")
                yield Capture(part["name"], part["sha256"], size if type(size) is int else 0)
                continue
            inner: Iterable[Any] = part.values()
        elif isinstance(part, list):
            inner = part
        else:
            continue
        stack += [one for one in inner if one.__class__ not in _SCALARS]


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""Types of values that cannot contain a capture."""


@cache
def _fields(kind: Hashable) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cast(Any, kind)))
