"""A copy of the database that only answers searches and reports, while it is not behind.

The pit's processes write each second that they are there (`workers.py`). What the copy has of that, against what the
database itself has, is how far the copy is behind: also one whose line hangs while nothing else is written.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from pit.errors import DatabaseError
from pit.store.database import Database

MAX_LAG_S: Final = 10.0
"""Seconds that a copy may be behind: beyond, the database itself is asked."""
LOOK_EVERY_S: Final = 2.0
"""Seconds for which what was found of the copy holds."""
_SEEN: Final = "SELECT coalesce(extract(epoch FROM max(seen)), 0)::float8 FROM worker"
log = logging.getLogger(__name__)


class Replica:
    """Says which database to ask: the copy, or the one that is copied. For several threads."""

    def __init__(
        self, database: Database, copy: Database | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`copy`: open, of a standby; None where there is none."""
        self._database, self._copy, self._clock = database, copy, clock
        self._lock = threading.Lock()
        self._looked = float("-inf")
        self._is_used = False

    def database(self) -> Database:
        """Return what answers a search now. Raises DatabaseError if the database itself is away."""
        if self._copy is None:
            return self._database
        with self._lock:
            if self._clock() - self._looked >= LOOK_EVERY_S:
                why = self._why_not(self._copy)
                if self._is_used == bool(why):
                    log.warning("Searches ask %s", f"the database itself: {why}" if why else "the copy")
                self._is_used, self._looked = not why, self._clock()
            return self._copy if self._is_used else self._database

    def _why_not(self, copy: Database) -> str:
        """Return why the copy is not to be asked."""
        (own,) = self._database.at_once(_SEEN, ()) or (0.0,)
        try:
            (copied,) = copy.at_once(_SEEN, ()) or (0.0,)
        except DatabaseError as error:
            return str(error)
        behind = own - copied
        return f"the copy is {behind:.0f} s behind" if behind > MAX_LAG_S else ""
