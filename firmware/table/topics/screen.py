"""The screen at the table, and whether the table process answers: commands that change nothing in the record."""

from typing import Annotated, Literal

from pydantic import Field

from firmware.table.command import Command
from firmware.table.people import ANYBODY


class Heartbeat(Command, roles=ANYBODY):
    """Ask for an answer from the table's own thread; the answer says the last row and whether the screen shows it."""

    do: Literal["heartbeat"] = "heartbeat"


class AcknowledgePaint(Command, roles=ANYBODY):
    """The screen at the table has painted the view of row `seq`; None: it is alive and shows something else.

    `leaving`: it has begun to load another page, and acknowledges again once that is painted. `at_ms`: when it was
    painted, by the box's wall clock, which screen and table share.
    """

    do: Literal["painted"] = "painted"
    seq: Annotated[int, Field(ge=0)] | None = None
    leaving: bool = False
    at_ms: Annotated[int, Field(ge=0, lt=10**15)]


ScreenCommand = Heartbeat | AcknowledgePaint
"""Commands about liveness. The table process answers them itself; a browser gives none of them."""
LIVENESS_COMMANDS = frozenset({"heartbeat", "painted"})
