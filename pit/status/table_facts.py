"""What the pit knows of a table: what it does, and what it needs a person for. Nothing here names a card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firmware.messages import Text, text_of
from firmware.table.event import canonical


@dataclass(frozen=True)
class Need:
    """Something for which a table needs a person. `key` tells it from every other need of the table.

    `kind`: call, dispute, record, natural, question or fault. `detail`: the question's kind, or the device; `text`: the
    dispute's reason or the fault's message. Times are the table's UTC milliseconds.
    """

    key: str
    kind: str
    since_ms: int
    hand: int = 0
    seat: int | None = None
    row: str = ""
    detail: str = ""
    text: Text = ""
    by: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the need as JSON-able data."""
        text = self.text if isinstance(self.text, str) else self.text.to_json()
        return {**vars(self), "text": text}


@dataclass(frozen=True)
class TableFacts:
    """What a table does, as of its last row. Nothing here names a card.

    `since_ms`: when the phase began; `down_ms`: when the dealer's down did, None without a dealer. `last_ms` and
    `taken_ms` are the last row's times, the table's and the pit's. `taken`: seats that play.
    """

    phase: str = "idle"
    since_ms: int = 0
    hand: int = 0
    dealer: str = ""
    down: int = 0
    down_ms: int | None = None
    down_minutes: int = 0
    """How long a down lasts by the rules of the last hand; 0 where they say nothing."""
    taken: int = 0
    reopened: int = 0
    last_ms: int = 0
    taken_ms: int = 0
    synchronised: bool = False
    table: str = ""
    profile: str = ""
    needs: tuple[Need, ...] = ()
    joined: Mapping[str, int] = field(default_factory=dict)
    """The minute of the down at which each player joined, for the collection."""
    seats: int = 0
    """Seats that have a player, those that sit out included."""

    @property
    def offset_ms(self) -> int:
        """Milliseconds to add to the table's times for the pit's: a table without a set clock may be years off."""
        return 0 if self.synchronised else self.taken_ms - self.last_ms

    def to_text(self) -> str:
        """Return the facts as JSON."""
        return canonical({**vars(self), "needs": [need.to_json() for need in self.needs]})

    @classmethod
    def from_text(cls, text: str) -> TableFacts:
        """Return the facts that `to_text` wrote."""
        data = json.loads(text)
        needs = tuple(Need(**{**need, "text": text_of(need["text"])}) for need in data.pop("needs"))
        return cls(**data, needs=needs)
