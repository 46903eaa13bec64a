"""Notifications to the service manager, and the sockets that it passes: sd_notify(3), sd_listen_fds(3).

Written here because python-systemd would have to be compiled on the box, and the protocol is one datagram. Without a
service manager nothing is sent and no sockets are passed.
"""

import logging
import os
import socket
import time
from collections.abc import Callable, MutableMapping
from typing import Final, Self

log = logging.getLogger(__name__)

FIRST_FD: Final = 3
"""The first file descriptor that is passed, by sd_listen_fds(3)."""
BEATS_PER_LIMIT: Final = 4
"""Keep-alive messages in one watchdog timeout."""


class ServiceManager:
    """Notifies the service manager that this process is ready and alive.

    >>> manager = ServiceManager("")  # no service manager: as at a developer's desk
    >>> manager.alive()
    """

    def __init__(
        self, address: str, watchdog_s: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`address`: its socket, "" without one; `watchdog_s`: its watchdog timeout in seconds, 0 without one."""
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._every = watchdog_s / BEATS_PER_LIMIT
        self._clock = clock
        self._next: float | None = None

    @classmethod
    def from_environment(cls, environment: MutableMapping[str, str] = os.environ) -> Self:
        """Return the one that started this process. Removes the variables, so that child processes do not use them."""
        address = environment.pop("NOTIFY_SOCKET", "")
        limit = environment.pop("WATCHDOG_USEC", "")
        environment.pop("WATCHDOG_PID", None)
        return cls(address, int(limit) / 1e6 if limit.isdecimal() else 0.0)

    def alive(self) -> None:
        """Notify that the process works; the first time, that it is ready. Call it often, from the work itself."""
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
        except OSError as error:  # without notifications the service manager restarts this process
            log.warning("the service manager cannot be told %s: %s", what, error)


def sockets_from_manager(environment: MutableMapping[str, str] = os.environ) -> list[socket.socket]:
    """Return the listening sockets that the service manager opened for this process."""
    ours = environment.pop("LISTEN_PID", "") == str(os.getpid())
    count = environment.pop("LISTEN_FDS", "")
    environment.pop("LISTEN_FDNAMES", None)
    if not ours or not count.isdecimal():
        return []
    sockets = [socket.socket(fileno=FIRST_FD + number) for number in range(int(count))]
    for one in sockets:
        one.set_inheritable(False)
    return sockets
