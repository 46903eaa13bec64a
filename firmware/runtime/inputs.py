"""Commands from users in the table process's queue. Devices and the reading process add their own message types."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    """A command line and the future for its answer."""

    line: bytes
    answer: Future[dict[str, Any]] = field(default_factory=Future)


@dataclass(frozen=True)
class Stop:
    """Stops the table process."""
