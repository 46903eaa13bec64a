"""What comes down from the pit: a file that a technician takes, a release that the box begins to install."""

from typing import Literal

from pydantic import Field

from firmware.messages import Message
from firmware.table.command import Command
from firmware.table.event import Event, stays
from firmware.table.people import TECHNICIAN
from firmware.table.phase import BETWEEN_HANDS


class UpdateBegun(Event, leads=stays(BETWEEN_HANDS)):
    """The box began to install a release that came from the pit; the next `table_started` says what runs.

    `hash` is the SHA-256 of its archive. The row's actor is the technician who ordered it, or `pit:` and who offered
    it.
    """

    type = "update_begun"
    title = Message("Update begun")
    release: str
    hash: str


class TakeFile(Command, roles=TECHNICIAN):
    """Take a file from the pit that lies in the inbox: use a profile or a deck, install a release.

    It is named by its request's number and its SHA-256: what a page showed is what is taken.
    """

    do: Literal["take_file"] = "take_file"
    number: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
