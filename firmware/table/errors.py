"""The errors of the table and its record. Each message says what to do."""

from firmware.messages import Message, MessageError, Text


class TableError(MessageError):
    """Root of this package's errors.

    >>> str(CommandRefused("Seat %(seat)s does not play this hand.", seat=3))
    'Seat 3 does not play this hand.'
    """


class CommandRefused(TableError, ValueError):
    """An event or command that the state does not allow."""


class UnknownEvent(TableError, ValueError):
    """A row of the journal that this release cannot read."""


class JournalError(TableError, OSError):
    """The journal cannot be opened, written or read."""


class RowChanged(JournalError):
    """A row of the journal was changed after it was written; `row` is its number."""

    def __init__(self, row: int) -> None:
        super().__init__(
            Message(
                "Row %(row)s of the record was changed after it was written, so nothing that depends on it is "
                "shown. Keep the record for the dispute; feltwatch hands verify --all lists what was changed.",
                row=row,
            )
        )
        self.row = row


class JournalBusy(JournalError):
    """Another process already writes this journal."""


class JournalFull(JournalError):
    """The disk has no room left for the journal."""


class JournalDamaged(JournalError):
    """The journal's file is damaged so that nothing can be written to it."""


class JournalUncertain(JournalError):
    """A write failed, and it is not known yet whether it is in the journal."""


class PinError(TableError, OSError):
    """A PIN's verifier cannot be stored or read."""


class CommandNotAllowed(CommandRefused):
    """The sender may not give the command, or not yet.

    `roles` may give it; `wait_s` is the rest of the place's wait after wrong PINs in seconds, 0 without one.
    """

    def __init__(
        self, message: Text, /, *, roles: frozenset[str] = frozenset(), wait_s: float = 0.0, **args: object
    ) -> None:
        super().__init__(message, **args)
        self.roles = roles
        self.wait_s = wait_s


class CaptureError(TableError, OSError):
    """An image could not be stored, or is not what was stored."""
