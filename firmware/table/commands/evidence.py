"""The commands about past hands and about the record."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from firmware.table import events as ev
from firmware.table.commands.people import SignedCommand
from firmware.table.commands.play import Reason
from firmware.table.events import Event


class Dispute(SignedCommand):
    """Put a past hand under dispute."""

    do: Literal["dispute"] = "dispute"
    past: int
    reason: Reason


class CloseDispute(SignedCommand):
    """Close the dispute about a hand."""

    do: Literal["close_dispute"] = "close_dispute"
    past: int
    reason: Reason


class MarkReviewed(SignedCommand):
    """Mark a past hand as reviewed by a floor person."""

    do: Literal["mark_reviewed"] = "mark_reviewed"
    past: int
    note: Annotated[str, Field(max_length=200)] = ""


class ReadRecordFault(SignedCommand):
    """Mark a record fault as read by a floor person."""

    do: Literal["read_record_fault"] = "read_record_fault"
    note: Annotated[str, Field(max_length=200)] = ""


class SignHead(SignedCommand):
    """Sign the chain's head; the answer contains the text of the `anchor`."""

    do: Literal["sign_head"] = "sign_head"


class ExportHand(SignedCommand):
    """Export a hand's dispute file; the answer contains `file`, its name in the data folder's exports.

    `stick`: also copy it to a USB stick; the answer contains the request's id as `stick`.
    """

    do: Literal["export_hand"] = "export_hand"
    past: int
    stick: bool = False


class DropImages(SignedCommand):
    """Apply the retention rule to the images now; the answer contains the number of hands affected."""

    do: Literal["drop_images"] = "drop_images"
    days: Annotated[int, Field(ge=1)] | None = None
    megabytes: Annotated[int, Field(ge=1)] | None = None


EvidenceCommand = Dispute | CloseDispute | MarkReviewed | ReadRecordFault | SignHead | ExportHand | DropImages
RecordCommand = SignHead | ExportHand | DropImages
"""Commands that need the device's key or the images. The table process handles them itself, without `decide`."""


def decide_evidence(command: Dispute | CloseDispute | MarkReviewed | ReadRecordFault) -> tuple[Event, ...]:
    """Return the events of a command about a past hand."""
    match command:
        case Dispute():
            return (ev.HandDisputed(command.past, command.reason),)
        case CloseDispute():
            return (ev.DisputeClosed(command.past, command.reason),)
        case MarkReviewed():
            return (ev.HandReviewed(command.past, command.note),)
        case ReadRecordFault():
            return (ev.RecordFaultRead(command.note),)
