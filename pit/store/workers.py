"""Divides the work behind the door among the processes of the pit that use one database.

Each process renews its row in the table `worker` every second. The processes that did so within `LEASE_S` are alive.
They divide the records among them by number. The oldest of them also keeps the log and runs the channels. A process
that is frozen or gone loses its share, and gets one again when it is back.

For a moment two processes may both believe that they own the same share. This does no harm: each record, the log and
the channels are locked in the database while a process works on them.
"""

import secrets
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from pit.store.database import Connection

LEASE_S: Final = 15.0
"""Seconds since its last renewal after which a process loses its share."""
FORGOTTEN: Final = "1 hour"
"""Time since its last renewal after which the row of a process may be deleted."""
LEFT_S: Final = 5.0
"""Seconds after which any process may follow rows that are still waiting, because their owner may be unclear."""
OURS: Final = f"(record_id %% %s = %s OR coalesce(head.taken_at < now() - interval '{LEFT_S:g} s', true))"
"""An SQL condition: the record belongs to a share, or its rows have waited for `LEFT_S`. Values: `Share.values`."""


class Share(NamedTuple):
    """The records that a process follows: those whose id modulo `of` is `number`."""

    number: int = 0
    of: int = 1

    @property
    def values(self) -> tuple[int, int]:
        """The values for the placeholders of `OURS`."""
        return self.of, self.number


class Membership:
    """This process as a member of the group that shares a database.

    Call `renew` from one thread only. `leads` may be read from any thread.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = secrets.token_hex(8)
        self._clock = clock
        self._share: Share | None = None
        self._renewed = float("-inf")

    def renew(self, connection: Connection) -> Share:
        """Renew the row of this process. Return its share from now on."""
        if self._share is None:
            connection.execute("DELETE FROM worker WHERE seen < now() - %s::interval", (FORGOTTEN,))
        began = self._clock()
        connection.execute(
            "INSERT INTO worker (worker) VALUES (%s) ON CONFLICT (worker) DO UPDATE SET seen = now()",
            (self._name,),
        )
        # abs(): a row is later than now if the database's clock was set back after it was written.
        living = connection.execute(
            "SELECT worker FROM worker WHERE abs(extract(epoch FROM now() - seen)) < %s ORDER BY since, worker",
            (LEASE_S,),
        ).fetchall()
        names = [name for (name,) in living]
        self._share, self._renewed = Share(names.index(self._name), len(names)), began
        return self._share

    @property
    def leads(self) -> bool:
        """Whether this process keeps the log and runs the channels. False as soon as another process may take over."""
        return self._share is not None and not self._share.number and self._clock() - self._renewed < LEASE_S
