"""Several processes of the pit on one database share the work behind the door, and notice by themselves who is away.

Every process says each second that it is there. Those that did within `LEASE_S` share the records among them by number;
the one that has been there longest keeps the log and takes the channels' turns. A process that is frozen or away loses
its share, and gets one again when it is back. What is written stays right even where two believe that they share alike:
each record, the log and the channels are locked in the database while they are worked on.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from pit.store.database import Connection

LEASE_S: Final = 15.0
"""Seconds after which a process that was not heard of has no share any more."""
FORGOTTEN: Final = "1 hour"
"""After this time a process that is gone is no longer listed."""
LEFT_S: Final = 5.0
"""Seconds after which rows that nobody has followed are everybody's: whose share they are, may be in dispute."""
OURS: Final = f"(record_id %% %s = %s OR coalesce(head.taken_at < now() - interval '{LEFT_S:g} s', true))"
"""The condition on a record and its head that it is of a share, or left; its values are `Share.values`."""


class Share(NamedTuple):
    """Which records a process follows: those whose number leaves `number` when it is divided by `of`."""

    number: int = 0
    of: int = 1

    @property
    def values(self) -> tuple[int, int]:
        """The values of `OURS`."""
        return self.of, self.number


class Membership:
    """This process among those that share a database. `renew` on one thread; the rest from any."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = secrets.token_hex(8)
        self._clock = clock
        self._share: Share | None = None
        self._renewed = float("-inf")

    def renew(self, connection: Connection) -> Share:
        """Say that this process is there; return its share from now on."""
        if self._share is None:
            connection.execute("DELETE FROM worker WHERE seen < now() - %s::interval", (FORGOTTEN,))
        began = self._clock()
        connection.execute(
            "INSERT INTO worker (worker) VALUES (%s) ON CONFLICT (worker) DO UPDATE SET seen = now()",
            (self._name,),
        )
        # Seen later than now: before the database's clock was set back.
        living = connection.execute(
            "SELECT worker FROM worker WHERE abs(extract(epoch FROM now() - seen)) < %s ORDER BY since, worker",
            (LEASE_S,),
        ).fetchall()
        names = [name for (name,) in living]
        self._share, self._renewed = Share(names.index(self._name), len(names)), began
        return self._share

    @property
    def leads(self) -> bool:
        """Whether this process keeps the log and the channels. False as soon as another one may think that it does."""
        return self._share is not None and not self._share.number and self._clock() - self._renewed < LEASE_S
