"""The errors of the pit. Each message says what to do."""

from typing import Final

from firmware.messages import Message, MessageError, Word


class PitError(MessageError):
    """Root of this package's errors."""


class DatabaseError(PitError, OSError):
    """The database cannot be used: it is away, of a later release, or without its tables."""


class LockTimeout(DatabaseError):
    """Something else held what was needed for longer than a lock is waited for. Nothing was changed."""


class StatementTimeout(DatabaseError):
    """A statement, or a transaction without one, took longer than it may. Nothing was changed."""


class ServerBusy(PitError):
    """The pit has too much to do now; a later try succeeds."""


class NotEnrolledError(PitError):
    """Nobody who may send: no table has this certificate, or it was struck off."""


class EnrolmentRefused(PitError):
    """A table is not brought in; the message says why, on both screens."""


class Fork(PitError):
    """What a table sends does not continue what the pit has of its record; `seq` is the row that differs."""

    def __init__(self, message: str | Message, /, *, seq: int, **args: Word) -> None:
        super().__init__(message, seq=seq, **args)
        self.seq = seq


class AuthorityError(PitError, OSError):
    """The pit's certificate authority cannot be made, read or used."""


class BackupError(PitError, OSError):
    """No backup can be made, or none is where it should be."""


class ChainError(PitError):
    """A house cannot publish, or a head office cannot subscribe."""


UNREADABLE: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
)
"""What following a row that no release wrote may raise; it stops its own record, and no other."""


MAX_REASON: Final = 500
"""Characters of a reason that are stored: the rest of it came from the row."""


def reason(why: Message | str) -> str:
    """Return why a record waits as text that the database takes, whatever the row holds."""
    text = str(why).replace("\0", "\\0").encode(errors="backslashreplace").decode()
    return text[:MAX_REASON]


def not_taken(after: int, upto: int) -> Message:
    """Say that what the rows after one number, up to another, hold cannot be written to the projections."""
    return Message(
        "Rows %(first)s to %(last)s hold a value of no release. Show it to a technician.",
        first=after + 1,
        last=upto,
    )


def of_no_state(seq: int) -> Message:
    """Say that a record's state cannot be made again from its rows."""
    return Message("The state after row %(seq)s cannot be made again. Show it to a technician.", seq=seq)


def of_no_release(seq: int, kind: str) -> Message:
    """Say that a row cannot be followed."""
    return Message("Row %(seq)s (%(type)s) is of no release. Show it to a technician.", seq=seq, type=kind)
