"""What reaches the table process's queue from people; devices and the reading process put their own messages."""

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
class Stop:
    """End the table process."""
