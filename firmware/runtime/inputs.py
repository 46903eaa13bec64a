"""What people put into the table process's queue. Devices and the reading process put messages of their own there."""

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
