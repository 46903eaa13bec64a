"""What every event is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Event:
    """Something that happened. Who did it and when stands in its journal row."""

    type: ClassVar[str]
