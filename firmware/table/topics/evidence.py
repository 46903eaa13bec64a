"""Past hands and the record itself."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from firmware.messages import Message, Text
from firmware.table.checks import need_reason
from firmware.table.command import Command, Context, Reason
from firmware.table.errors import CommandRefused
from firmware.table.event import EVERY_PHASE, Event
from firmware.table.people import AT_TABLE, FLOOR, HOUSE, TECHNICIAN, Role
from firmware.table.phase import OPEN
from firmware.table.readings import Capture
from firmware.table.state import State
from firmware.table.values import RecordDamage


class HandDisputed(Event, leads=EVERY_PHASE, in_doubt=True):
    """A hand is under dispute: its images are kept until the dispute is closed, whatever the retention rule is."""

    type = "hand_disputed"
    title = Message("Hand disputed")
    hand: int
    reason: str

    def apply(self, state: State) -> State:
        _need_played(state, self.hand)
        need_reason(self.reason, Message("Say why the hand is disputed."))
        if self.hand in state.disputed:
            raise CommandRefused("Hand %(hand)s is under dispute already.", hand=self.hand)
        return replace(state, disputed=state.disputed | {self.hand})


class DisputeClosed(Event, leads=EVERY_PHASE, in_doubt=True):
    """A hand's dispute is closed; `reason` is the decision."""

    type = "dispute_closed"
    title = Message("Dispute closed")
    hand: int
    reason: str

    def apply(self, state: State) -> State:
        need_reason(self.reason, Message("Say why the dispute is closed."))
        if self.hand not in state.disputed:
            raise CommandRefused("Hand %(hand)s is not under dispute.", hand=self.hand)
        return replace(state, disputed=state.disputed - {self.hand})


class HandReviewed(Event, leads=EVERY_PHASE, in_doubt=True):
    """A floor person has reviewed a hand; the row's actor names the person."""

    type = "hand_reviewed"
    title = Message("Hand reviewed")
    hand: int
    note: str = ""

    def apply(self, state: State) -> State:
        _need_over(state, self.hand)
        return state


class ImagesDropped(Event, leads=EVERY_PHASE):
    """The tombstone of a hand's images: after this row their files are removed; their hashes stay in the record."""

    type = "images_dropped"
    title = Message("Images dropped")
    hand: int
    images: tuple[Capture, ...]
    reason: Text

    def apply(self, state: State) -> State:
        _need_over(state, self.hand)
        need_reason(self.reason, Message("Say why the images go."))
        if self.hand in state.disputed:
            raise CommandRefused("Hand %(hand)s is under dispute; its images stay.", hand=self.hand)
        return state


class ImagesLost(Event, leads=EVERY_PHASE, in_doubt=True):
    """A hand's images that a restore found missing or changed in the backup; a changed one is kept as it was found."""

    type = "images_lost"
    title = Message("Images lost")
    hand: int
    missing: tuple[Capture, ...] = ()
    changed: tuple[Capture, ...] = ()


class KeyAnnounced(Event, leads=EVERY_PHASE, in_doubt=True):
    """The box signs with this key from now on; `key` is the Ed25519 public key, 32 bytes in hex."""

    type = "key_announced"
    title = Message("Key announced")
    key: str


class HeadSigned(Event, leads=EVERY_PHASE, in_doubt=True):
    """The chain's head, the row right before this one, was signed: this is the anchor, which can be printed.

    `hands` is how many hands had been opened, `wall_ms` the time of signing; the public `key` and the `signature` are
    hex. The signed text is the anchor's (`firmware.record.evidence.anchors`).
    """

    type = "head_signed"
    title = Message("Head signed")
    seq: int
    hash: str
    hands: int
    wall_ms: int
    table: str
    key: str
    signature: str


class NoteBegun(Event, leads=EVERY_PHASE, in_doubt=True):
    """The record holds hands, but the box had no note of the head that it signed last. A note begins after row `seq`.

    `reason`: "missing": a new memory card or key, or an earlier release; "unusable": the note cannot be used.
    Nobody can say whether the rows up to `seq` are those that were signed last.
    """

    type = "note_begun"
    title = Message("Note of signed heads begun")
    seq: int
    hash: str
    reason: Literal["missing", "unusable"] = "missing"


class RecordRestored(Event, leads=EVERY_PHASE, in_doubt=True):
    """The record was restored from a backup whose last row was `seq`; later rows are not in it."""

    type = "record_restored"
    title = Message("Record restored")
    seq: int
    hash: str


class RecordFault(RecordDamage, Event, leads=EVERY_PHASE, in_doubt=True):
    """The record is damaged, or may be: nothing is played until a floor person has read this."""

    type = "record_fault"
    title = Message("Record fault")

    def apply(self, state: State) -> State:
        return replace(state, record_fault=self)


class RecordFaultRead(Event, leads=EVERY_PHASE, in_doubt=True):
    """A floor person has read a record fault, and play may continue. The row's actor names the person."""

    type = "record_fault_read"
    title = Message("Record fault read")
    note: str = ""

    def apply(self, state: State) -> State:
        if state.record_fault is None:
            raise CommandRefused("Nothing is wrong with the record that would have to be read.")
        return replace(state, record_fault=None)


class Dispute(Command, roles=FLOOR):
    """Put a past hand under dispute."""

    do: Literal["dispute"] = "dispute"
    past: int
    reason: Reason

    def decide(self, context: Context) -> tuple[Event, ...]:
        return (HandDisputed(self.past, self.reason),)


class CloseDispute(Command, roles=FLOOR):
    """Close the dispute about a hand."""

    do: Literal["close_dispute"] = "close_dispute"
    past: int
    reason: Reason

    def decide(self, context: Context) -> tuple[Event, ...]:
        return (DisputeClosed(self.past, self.reason),)


class MarkReviewed(Command, roles=FLOOR):
    """Mark a past hand as reviewed by a floor person."""

    do: Literal["mark_reviewed"] = "mark_reviewed"
    past: int
    note: Annotated[str, Field(max_length=200)] = ""

    def decide(self, context: Context) -> tuple[Event, ...]:
        return (HandReviewed(self.past, self.note),)


class ReadRecordFault(Command, roles=HOUSE, causes=RecordFaultRead):
    """Mark a record fault as read by a floor person."""

    do: Literal["read_record_fault"] = "read_record_fault"
    note: Annotated[str, Field(max_length=200)] = ""


class SignHead(Command, roles=AT_TABLE | TECHNICIAN):
    """Sign the chain's head; the answer contains the text of the `anchor`."""

    do: Literal["sign_head"] = "sign_head"


class ExportHand(Command, roles=HOUSE | {Role.AUDITOR}):
    """Export a hand's dispute file; the answer contains `file`, its name in the data folder's exports.

    `stick`: also copy it to a USB stick; the answer contains the request's id as `stick`.
    """

    do: Literal["export_hand"] = "export_hand"
    past: int
    stick: bool = False


class ReadStick(Command, roles=FLOOR):
    """Read the rule profiles on a USB stick; the answer contains the request's id as `stick`."""

    do: Literal["read_stick"] = "read_stick"


class DropImages(Command, roles=TECHNICIAN):
    """Delete old images by the house's retention rule now; the answer contains the number of hands affected."""

    do: Literal["drop_images"] = "drop_images"
    days: Annotated[int, Field(ge=1)] | None = None
    megabytes: Annotated[int, Field(ge=1)] | None = None


RecordCommand = SignHead | ExportHand | DropImages | ReadStick
"""Commands that need the device's key, the images or a stick. The table process handles them, without `decide`."""


def _need_played(state: State, hand: int) -> None:
    if not 1 <= hand <= state.last_hand:
        raise CommandRefused("Hand %(hand)s is not in the record.", hand=hand)


def _need_over(state: State, hand: int) -> None:
    _need_played(state, hand)
    if any(one is not None and one.phase in OPEN and hand == one.hand for one in (state, state.waiting)):
        raise CommandRefused("Hand %(hand)s is still open.", hand=hand)
