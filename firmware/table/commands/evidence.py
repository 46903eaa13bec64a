"""The commands about past hands and about the record."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from firmware.table import events as ev
from firmware.table.commands.people import SignedCommand
from firmware.table.commands.play import Reason
from firmware.table.events import Event


class Dispute(SignedCommand):
    """A past hand is under dispute."""

    do: Literal["dispute"] = "dispute"
    past: int
    reason: Reason


class CloseDispute(SignedCommand):
    """The dispute about a hand is decided."""

    do: Literal["close_dispute"] = "close_dispute"
    past: int
    reason: Reason


class MarkReviewed(SignedCommand):
    """A floor person looked at a past hand."""

    do: Literal["mark_reviewed"] = "mark_reviewed"
    past: int
    note: Annotated[str, Field(max_length=200)] = ""


class ReadRecordFault(SignedCommand):
    """A floor person has read what is wrong with the record."""

    do: Literal["read_record_fault"] = "read_record_fault"
    note: Annotated[str, Field(max_length=200)] = ""


class SignHead(SignedCommand):
    """Sign the chain's head; the answer carries the `anchor`, its text."""

    do: Literal["sign_head"] = "sign_head"


class ExportHand(SignedCommand):
    """Make a hand's dispute file; the answer carries the `file`, its name in the data folder's exports.

    `stick`: it is put on a USB stick, too; the answer carries the request's name as `stick`.
    """

    do: Literal["export_hand"] = "export_hand"
    past: int
    stick: bool = False


class DropImages(SignedCommand):
    """Remove images now as the house's rule says; the answer says how many hands it will be."""

    do: Literal["drop_images"] = "drop_images"
    days: Annotated[int, Field(ge=1)] | None = None
    megabytes: Annotated[int, Field(ge=1)] | None = None


EvidenceCommand = Dispute | CloseDispute | MarkReviewed | ReadRecordFault | SignHead | ExportHand | DropImages
RecordCommand = SignHead | ExportHand | DropImages
"""What needs the device's key or the images: the table process does it, `firmware.table.commands.decide` cannot."""


def decide_evidence(command: Dispute | CloseDispute | MarkReviewed | ReadRecordFault) -> tuple[Event, ...]:
    """Return the events that a command about a past hand is."""
    match command:
        case Dispute():
            return (ev.HandDisputed(command.past, command.reason),)
        case CloseDispute():
            return (ev.DisputeClosed(command.past, command.reason),)
        case MarkReviewed():
            return (ev.HandReviewed(command.past, command.note),)
        case ReadRecordFault():
            return (ev.RecordFaultRead(command.note),)
