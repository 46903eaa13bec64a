"""The errors of the uplink."""

from firmware.messages import Message
from firmware.table.errors import TableError


class UplinkError(TableError, OSError):
    """Root of this package's errors: the pit cannot be reached, refuses, or is set up wrongly."""


class PitUnreachable(UplinkError):
    """The pit cannot be reached now, or answers that a later try may succeed."""


class PitBusy(PitUnreachable):
    """The pit answers that it is too busy, or without its database: the connection and what it has said hold."""


class PitRefusal(UplinkError):
    """The pit takes nothing from this table; a person has to look."""


class NotThere(PitRefusal):
    """The pit has no such file."""


class ForkError(UplinkError):
    """The pit has another row `seq` than this record."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(
            Message("The pit has another row %(seq)s than this table (%(text)s).", seq=seq, text=why)
        )
        self.seq = seq
