"""What reaches the table process's queue, beside the devices' own `Press` and `PuckReading`."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    """A command's line, and where its answer goes."""

    line: bytes
    answer: Future[dict[str, Any]] = field(default_factory=Future)


@dataclass(frozen=True)
class ReadingJob:
    """Read the table once. Images are stored under `name`; `places` are those that play."""

    number: int
    name: str
    places: tuple[str, ...]


@dataclass(frozen=True)
class ReadingDone:
    """The table was read: `reading` is `TableReading.to_json()` with the captures' names.

    `reading["frame"]` and each zone's `capture` are `Capture` fields; their bytes are synced.
    """

    number: int
    reading: dict[str, Any]


@dataclass(frozen=True)
class ReadingLost:
    """The table could not be read. `fault`: the reading process or its camera is to blame, not the table."""

    number: int
    reason: str
    fault: bool
    frame: dict[str, Any] | None = None


@dataclass(frozen=True)
class ReaderState:
    """The reading process is there, or not: then `trouble` says why."""

    trouble: str = ""


@dataclass(frozen=True)
class Stop:
    """End the table process."""
