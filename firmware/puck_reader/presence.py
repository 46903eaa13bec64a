"""From single scans to what lies where: a scan may miss a tag that lies there, and a disk is moved in the air.

Times are milliseconds since the start. A tag is there once 2 of the last 3 scans of its antenna saw it, and gone
after 5 that did not, or after 2 if the same tag has turned up elsewhere. What is told changes once all of it has
been the same for 300 ms.
"""

SEEN, OF_LAST = 2, 3
MISSED, MISSED_MOVED = 5, 2
SETTLED_MS = 300
FAULTS = 3
"""Scans in a row that must fail before an antenna counts as dead."""


class Antenna:
    """What one antenna has seen lately."""

    def __init__(self) -> None:
        self.ok = False
        """Whether it answers; not before its first good scan."""
        self.there: set[str] = set()
        """The tags that are there."""
        self._scans: list[set[str]] = []
        self._missed: dict[str, int] = {}
        self._faults = 0

    def scanned(self, tags: set[str], elsewhere: set[str]) -> None:
        """Take in a good scan; `elsewhere` are the tags that are there at other antennas."""
        self.ok, self._faults = True, 0
        self._scans = (self._scans + [tags])[-OF_LAST:]
        for tag in tags:
            if len([1 for scan in self._scans if tag in scan]) >= SEEN:
                self.there.add(tag)
        missed = {}
        for tag in list(self.there):
            missed[tag] = 0 if tag in tags else self._missed.get(tag, 0) + 1
            if missed[tag] >= (MISSED_MOVED if tag in elsewhere else MISSED):
                self.there.discard(tag)
        self._missed = missed

    def failed(self) -> None:
        """Take in a scan that failed: no news, and after some of them nothing is known here."""
        self._faults += 1
        if self._faults >= FAULTS:
            self.ok = False
            self.there = set()
            self._scans = []
            self._missed = {}


class Picture:
    """What all antennas say together, told once it has settled."""

    def __init__(self, seats: list[int]) -> None:
        self._antennas = {seat: Antenna() for seat in sorted(seats)}
        self.tags: list[tuple[int, list[str]]] = [(seat, []) for seat in sorted(seats)]
        """What is told: the tags at each seat, seats ascending."""
        self.ok: set[int] = set()
        """What is told: the seats whose antenna answers."""
        self._next = (self.tags, self.ok)
        self._next_since = 0

    def scanned(self, seat: int, tags: set[str] | None, now_ms: int) -> bool:
        """Take in a scan of one antenna (None: it failed). True if what is told has changed by it."""
        if tags is None:
            self._antennas[seat].failed()
        else:
            elsewhere: set[str] = set()
            for other, antenna in self._antennas.items():
                if other != seat:
                    elsewhere |= antenna.there
            self._antennas[seat].scanned(tags, elsewhere)

        now = (
            [(at, sorted(self._antennas[at].there)) for at in sorted(self._antennas)],
            {at for at, antenna in self._antennas.items() if antenna.ok},
        )
        if now != self._next:
            self._next, self._next_since = now, now_ms
        if now == (self.tags, self.ok):
            return False
        died = self.ok - now[1]  # is told at once: what it knew is no longer known
        if not died and now_ms - self._next_since < SETTLED_MS:
            return False
        self.tags, self.ok = now
        return True
