"""The pit's service: the door on a Unix socket, and in other threads the projections, the log and the channels."""

import ctypes
import gc
import logging
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from flask import Flask
from waitress import create_server  # type: ignore[attr-defined]
from waitress.server import BaseWSGIServer

from firmware.request_threads import RequestThreads
from firmware.stop_signals import stop_at_signals
from firmware.table.entry import Entry
from firmware.threads import start
from pit.door.turns import PLACES
from pit.follow.follower import Follower
from pit.follow.news import BATCH, News, Rows, Source
from pit.follow.projector import project_in, retry
from pit.store.background import BackgroundThread
from pit.store.database import Connection, Database
from pit.store.months import make_months
from pit.store.workers import Membership, Share

THREADS: Final = 8 + PLACES
"""Requests at once; each is some milliseconds of work and one commit, or waits in `Turns`."""
SWITCH_S: Final = 0.001
"""Seconds after which a thread lets others compute: a request waits for a long one or the projector some ten times."""
_M_ARENA_MAX: Final = -8
"""glibc's number for how many heaps threads allocate from: one, else each keeps what the others could use."""
CONNECTIONS: Final = 1000
"""Connections from nginx, which keeps few open; more only while many tables come at once."""
FOLLOW_EVERY_S: Final = 0.1
"""Seconds between two updates of the floor from the rows that the door has taken."""
LOOK_EVERY_S: Final = 1.0
"""Seconds between two scans of all records, also for the list of hands: another process may have taken rows."""
SHARED_LOOK_EVERY_S: Final = 0.25
"""The same where other processes take rows of the records that this one follows."""
HOUR_S: Final = 3600.0
"""Seconds between two checks whether the next month has its partition."""
RENEW_EVERY_S: Final = 1.0
"""Seconds between two renewals of a process's membership."""
STOPS_S: Final = 8
"""Seconds that the service may take to end, within TimeoutStopSec of its unit."""
log = logging.getLogger(__name__)


def listen_on(path: Path) -> socket.socket:
    """Open the door's Unix socket. Raises OSError."""
    path.unlink(missing_ok=True)  # of a process that was killed
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    path.chmod(0o660)
    return listening


def server(app: Flask, listening: socket.socket) -> BaseWSGIServer:
    """Return the server of the door on a socket; `run` serves until it is closed."""
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()  # objects loaded by now stay: the garbage collector ignores them from here on
    with suppress(AttributeError):  # a C library without it
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    # a long queue is normal when all tables come back
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    made: BaseWSGIServer = create_server(
        app,
        sockets=[listening],
        map={},  # its own: by default all servers of a process poll the same
        _dispatcher=RequestThreads(THREADS),
        connection_limit=CONNECTIONS,
        backlog=4096,
        channel_timeout=120,
        clear_untrusted_proxy_headers=True,
        ident=None,
    )
    return made


class Projector(BackgroundThread):
    """Follows the records in the background. A database that is away is waited for."""

    def __init__(
        self,
        database: Database,
        news: News,
        membership: Membership | None = None,
        hourly: Callable[[Connection], object] = make_months,
    ) -> None:
        """`news`: what this process's door takes; the rows of others' doors are found in the database.

        `membership`: among the processes that share the records; without it this one follows all. `hourly`: what else
        is to be done.
        """
        super().__init__("projector", "The list of hands waits", again_s=1.0)
        self._database, self._news, self._membership = database, news, membership
        self._hourly = hourly
        self._share = Share()
        self._renewed = self._made = self._looked = float("-inf")
        self._recent: dict[int, list[tuple[Entry, int]]] = {}
        self._is_first = True
        self._follower = Follower(database)

    def turn(self) -> float:
        """Process the rows that have arrived; return the seconds until the next call. Raises DatabaseError."""
        try:
            return self._turn()
        except Exception:
            self._looked = float("-inf")
            self._recent.clear()
            raise

    def _turn(self) -> float:
        if self._is_first:
            retry(self._database)
            self._follower.retry()
            self._is_first = False
        self._renew()
        news = self._news.taken()
        for record_id, rows in news.items():
            self._recent.setdefault(record_id, []).extend(rows)
        every_s = LOOK_EVERY_S if self._share.of == 1 else SHARED_LOOK_EVERY_S
        if time.monotonic() - self._looked > every_s or not all(news.values()):
            followed = self._look(self._recent)
            self._looked = time.monotonic()
            self._recent.clear()
            return 0.0 if followed >= BATCH else FOLLOW_EVERY_S  # there may be more
        if news:
            self._follow(news)
        return FOLLOW_EVERY_S

    def _renew(self) -> None:
        """Say that this process is there, and learn its share; do what is due each hour."""
        now = time.monotonic()
        if self._membership is not None and now - self._renewed > RENEW_EVERY_S:
            with self._transaction() as connection:
                self._share = self._membership.renew(connection)
            self._renewed = now
        if now - self._made > HOUR_S:
            with self._database.transaction() as connection:
                self._hourly(connection)
            self._made = now

    def _follow(self, news: Mapping[int, Rows]) -> None:
        """Follow what has just come, for the floor."""
        with self._transaction() as connection:
            self._follower.follow_in(Source(connection, news, only_known=True, share=self._share))

    def _look(self, known: Mapping[int, Rows]) -> int:
        """Follow all records, for the floor and the list of hands; return how many rows."""
        with self._transaction() as connection:
            source = Source(connection, known, share=self._share)
            return self._follower.follow_in(source) + project_in(source)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """All of it can be made again, so nobody waits for the disk."""
        with self._database.transaction() as connection:
            connection.execute("SET LOCAL synchronous_commit = off")
            yield connection


def serve(url: str, folder: Path, listening: socket.socket, is_ready: Callable[[], object]) -> None:
    """Serve the door on a socket until SIGTERM or SIGINT; call `is_ready` when it does.

    `folder`: the pit's own. Raises AuthorityError, DatabaseError, KeyUnusable, and SystemExit at the end.
    """
    from pit.authority import Authority
    from pit.channels.stepper import Stepper
    from pit.door.enrolment import remember
    from pit.door.routes import make_door
    from pit.files.offers import HouseRepository
    from pit.log.keeper import Keeper, KeeperThread
    from pit.store.files import Files

    authority = Authority(folder / "authority")
    house = HouseRepository(folder, authority)

    def hourly(connection: Connection) -> None:
        """See that the next month has its place, and that the house's repository does not expire."""
        make_months(connection)
        house.renew(connection)

    with Database(url) as database:
        remember(database, authority)
        with database.transaction() as connection:
            house.renew(connection)
        news, membership = News(), Membership()
        keeper = Keeper(database, folder, leads=lambda: membership.leads)
        background = (
            Projector(database, news, membership, hourly),
            KeeperThread(keeper),
            Stepper(database, leads=lambda: membership.leads),
        )
        for thread in background:
            start(thread)
        files = Files(folder / "images")
        door = make_door(database, files, news=news, keeper=keeper, authority=authority, house=house)
        serving = server(door, listening)
        is_ready()
        with stop_at_signals(sys.exit, STOPS_S):
            try:
                serving.run()
            finally:
                serving.close()
                for thread in background:
                    thread.stop()
