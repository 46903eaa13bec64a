"""What the service manager is told, and the sockets that it hands over: sd_notify(3), sd_listen_fds(3).

Our own few lines: python-systemd and its kin must be compiled on the box, and the protocol is one datagram.
Without a service manager nothing is told and nothing handed over.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, MutableMapping
from typing import Final, Self

log = logging.getLogger(__name__)

FIRST_FD: Final = 3
"""The first descriptor that is handed over, by sd_listen_fds(3)."""
BEATS_PER_LIMIT: Final = 4
"""So many beats in the time after which the service manager gives a process up."""


class ServiceManager:
    """Tells the service manager that this process works.

    >>> manager = ServiceManager("")  # no service manager: as at a developer's desk
    >>> manager.alive()
    """

    def __init__(
        self, address: str, watchdog_s: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`address`: its socket, "" where there is none; `watchdog_s`: after so long without a beat it kills us."""
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._every = watchdog_s / BEATS_PER_LIMIT
        self._clock = clock
        self._next: float | None = None

    @classmethod
    def from_environment(cls, environment: MutableMapping[str, str] = os.environ) -> Self:
        """Return the one that started this process; taken out of the environment, it is none of its children's."""
        address = environment.pop("NOTIFY_SOCKET", "")
        limit = environment.pop("WATCHDOG_USEC", "")
        environment.pop("WATCHDOG_PID", None)
        return cls(address, int(limit) / 1e6 if limit.isdecimal() else 0.0)

    def alive(self) -> None:
        """Say that the work goes on; the first time, that it has begun. Call it from the work itself, often."""
        now = self._clock()
        if self._next is None:
            self._notify("READY=1")
        elif now < self._next or not self._every:
            return
        else:
            self._notify("WATCHDOG=1")
        self._next = now + self._every

    def _notify(self, what: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
                out.sendto(what.encode(), self._address)
        except OSError as error:  # it restarts us where it hears nothing: that is its remedy, not ours
            log.warning("the service manager cannot be told %s: %s", what, error)


def handed_over(environment: MutableMapping[str, str] = os.environ) -> list[socket.socket]:
    """Return the listening sockets that the service manager opened for this process; none where it did not."""
    ours = environment.pop("LISTEN_PID", "") == str(os.getpid())
    count = environment.pop("LISTEN_FDS", "")
    environment.pop("LISTEN_FDNAMES", None)
    if not ours or not count.isdecimal():
        return []
    sockets = [socket.socket(fileno=FIRST_FD + number) for number in range(int(count))]
    for one in sockets:
        one.set_inheritable(False)
    return sockets
