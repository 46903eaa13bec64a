"""What channels are called, and how their tables are."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from firmware.messages import Message, Word
from pit.channels.judge import Failure, Mark

Name = StrEnum("Name", ["FIRST", "TENTH", "REST"])
"""A channel, in the order in which a release goes through them; stored."""
NAMES: Final = {Name.FIRST: Message("First"), Name.TENTH: Message("Tenth"), Name.REST: Message("Rest")}
MARKS: Final = {
    Mark.WAITS: Message("not asked"),
    Mark.ASKED: Message("asked"),
    Mark.RUNS: Message("started, no hand settled well yet"),
    Mark.UPDATED: Message("updated"),
    Mark.FAILED: Message("failed"),
}
FAILURES: Final = {
    Failure.SILENT: Message("not heard of"),
    Failure.LATE: Message("not updated in time"),
    Failure.WENT_BACK: Message("runs another release again"),
    Failure.REFUSED: Message("refused the release"),
    Failure.ASKS: Message("asks about twice as many cards"),
}


def several(names: Sequence[str]) -> Word:
    """Return some tables' names: three, and how many more there are."""
    shown = ", ".join(names[:3])
    return Message("%(name)s and %(count)s more", name=shown, count=len(names) - 3) if names[3:] else shown
