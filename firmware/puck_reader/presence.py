"""From single scans to the tags present at each seat: a scan may miss a tag, and a moved disk is nowhere for a moment.

Times are milliseconds since the start. A tag is present once 2 of the last 3 scans of its antenna detected it. It is
absent after 5 scans without it, or after 2 if it has appeared at another antenna. The reported state changes once all
of it has been stable for 300 ms.
"""

SEEN, OF_LAST = 2, 3
MISSED, MISSED_MOVED = 5, 2
SETTLED_MS = 300
FAULTS = 3
"""Failed scans in a row after which an antenna counts as dead."""


class Antenna:
    """The recent scans of one antenna."""

    def __init__(self) -> None:
        self.ok = False
        """Whether it answers; False until its first successful scan."""
        self.there: set[str] = set()
        """The tags that are present."""
        self._scans: list[set[str]] = []
        self._missed: dict[str, int] = {}
        self._faults = 0

    def scanned(self, tags: set[str], elsewhere: set[str]) -> None:
        """Process a successful scan; `elsewhere` are the tags present at other antennas."""
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
        """Process a failed scan: nothing changes, until after some of them nothing is known here."""
        self._faults += 1
        if self._faults >= FAULTS:
            self.ok = False
            self.there = set()
            self._scans = []
            self._missed = {}


class Picture:
    """The state of all antennas together, reported once it is stable."""

    def __init__(self, seats: list[int]) -> None:
        self._antennas = {seat: Antenna() for seat in sorted(seats)}
        self.tags: list[tuple[int, list[str]]] = [(seat, []) for seat in sorted(seats)]
        """The reported tags at each seat, in the order of seats."""
        self.ok: set[int] = set()
        """The reported seats whose antenna answers."""
        self._next = (self.tags, self.ok)
        self._next_since = 0

    def scanned(self, seat: int, tags: set[str] | None, now_ms: int) -> bool:
        """Process a scan of one antenna (None: it failed). Return True if the reported state has changed."""
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
        died = self.ok - now[1]  # reported at once: its last state is no longer known
        if not died and now_ms - self._next_since < SETTLED_MS:
            return False
        self.tags, self.ok = now
        return True
