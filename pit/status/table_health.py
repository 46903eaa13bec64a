"""What a table's heartbeat says of its box: whether the table process answers, and its own health verdicts.

The verdicts are the table's; nothing is judged here. What came over the network may be of any shape: what cannot be
read is not known.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from firmware.messages import Message, message_of, text_of

MAX_CHECKS: Final = 40
MAX_SECONDS: Final = 1e9
"""Seconds that a table may report; more is not a time."""
LONGEST: Final = 300
"""Characters of a figure or a name that are kept."""
VERDICTS: Final = ("bad", "look", "waits", "unknown")
"""The verdicts of a check that is not well, the most serious first."""


@dataclass(frozen=True)
class TableCheck:
    """A health check that is not well, in the table's words. `verdict`: one of `VERDICTS`."""

    name: str
    verdict: str
    title: Message
    says: Message
    figure: str = ""


@dataclass(frozen=True)
class TableHealth:
    """What a heartbeat says.

    `table_s`: seconds since the table process had last answered, None if nothing says so; `row`: its last row then, 0
    if unknown. `checks`: what is not well, the gravest first; None if the table has not said. `well`: the figures of
    the checks that are, by their names.
    """

    table_s: float | None = None
    row: int = 0
    checks: tuple[TableCheck, ...] | None = None
    well: Mapping[str, str] = field(default_factory=dict)

    @property
    def troubles(self) -> tuple[TableCheck, ...]:
        """The checks that somebody should see to; not those that only nobody knows."""
        return tuple(one for one in self.checks or () if one.verdict in ("bad", "look"))

    def figure(self, name: str) -> str:
        """Return a check's figure; "" if there is none."""
        return next((one.figure for one in self.checks or () if one.name == name), self.well.get(name, ""))


@lru_cache(maxsize=4096)
def health_of(text: str) -> TableHealth:
    """Return what a heartbeat's health says, as the database has it."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict):
            return TableHealth()
        return TableHealth(_seconds(data.get("table_s")), _row(data.get("row")), *_verdicts(data))
    except (ValueError, RecursionError):  # the door read it, standing less deep in its own calls
        return TableHealth()


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < MAX_SECONDS else None  # NaN is none either


def _row(value: object) -> int:
    return value if type(value) is int and 0 <= value < 1 << 62 else 0


def _verdicts(data: Mapping[str, Any]) -> tuple[tuple[TableCheck, ...] | None, Mapping[str, str]]:
    checks, well = data.get("checks"), data.get("well")
    if not isinstance(checks, list) or not isinstance(well, dict):
        return None, {}
    try:
        found = [_check(one) for one in checks[:MAX_CHECKS]]
    except (ValueError, LookupError, TypeError, AttributeError):
        return None, {}
    figures = {name[:LONGEST]: str(figure)[:LONGEST] for name, figure in list(well.items())[:MAX_CHECKS]}
    return tuple(sorted(found, key=lambda one: VERDICTS.index(one.verdict))), figures


def _check(data: Mapping[str, Any]) -> TableCheck:
    if data["verdict"] not in VERDICTS:
        raise ValueError("This is no verdict.")
    title, says = (message_of(text_of(data[name])) for name in ("title", "says"))
    return TableCheck(
        str(data["name"])[:LONGEST], data["verdict"], title, says, str(data.get("figure", ""))[:LONGEST]
    )
