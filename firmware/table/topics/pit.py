"""The pit: how this table is brought in there. What comes down from it is in `inbox.py`."""

from typing import Annotated, Literal

from pydantic import Field

from firmware.messages import Message
from firmware.table.command import Command
from firmware.table.event import EVERY_PHASE, Event
from firmware.table.people import TECHNICIAN

LONGEST_CODE = 400
"""Characters of a code with the pit's addresses."""


class PitWordsCompared(Event, leads=EVERY_PHASE, in_doubt=True):
    """A technician has compared the five words of an enrolment at the pit; the row's actor names the person."""

    type = "pit_words_compared"
    title = Message("The pit's words compared")
    words: str
    same: bool


class JoinPit(Command, roles=TECHNICIAN):
    """Ask the pit that made this code to enrol the table: a QR code's text, or 26 letters and an address."""

    do: Literal["join_pit"] = "join_pit"
    code: Annotated[str, Field(min_length=1, max_length=LONGEST_CODE)]


class ComparePitWords(Command, roles=TECHNICIAN):
    """Return whether the pit shows the same five words as this table."""

    do: Literal["compare_pit_words"] = "compare_pit_words"
    same: bool


PitCommand = JoinPit | ComparePitWords
"""Commands that need the device's key, or files of other programs. The table process handles them itself."""
