"""Turns for long requests: tables that catch up are taken one by one, so that tables in play are answered meanwhile."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pit.errors import ServerBusy

LONG_BYTES: Final = 128 << 10
"""A body that inflates to this length or more is a long one: a whole hand is 18 kB."""
PLACES: Final = 8
"""Long requests that are in work or wait for their turn; further ones get a 503."""


class Turns:
    """One turn at a time. The door has more threads than `PLACES`, so that waiting takes none from short requests."""

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(PLACES)
        self._turn = threading.Lock()

    @contextmanager
    def of(self, length: int) -> Iterator[None]:
        """Do the work of a request whose body inflates to this length when it is its turn. Raises ServerBusy."""
        if length < LONG_BYTES:
            yield
            return
        if not self._places.acquire(blocking=False):
            raise ServerBusy("Many tables are sending what they have. Later.")
        try:
            with self._turn:
                yield
        finally:
            self._places.release()
