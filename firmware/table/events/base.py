"""The base class of all events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Event:
    """Something that happened. Its journal row holds the actor and the time."""

    type: ClassVar[str]
