"""The reader's program without its hardware: sweeps the antennas in turn and reports the tags."""

from .framing import VERSION, Questions, sentence, state
from .presence import Picture

SNAPSHOT_MS = 500
HEARTBEAT_MS = 1000


class ReaderFault(Exception):
    """An antenna's chip does not answer correctly."""


class Reader:
    """One antenna with its chip."""

    def scan(self) -> set[str]:
        """Switch the field on, return the tags' ids as upper-case hex, and always switch the field off again.

        Raises ReaderFault; the chip is then restarted at the next scan.
        """
        raise NotImplementedError


class Puckd:
    """Scans one antenna at each turn; only that antenna has a field. `readers`: by seat."""

    def __init__(self, readers: dict[int, Reader], reader_id: str) -> None:
        self._readers = readers
        self._seats = sorted(readers)
        self._reader_id = reader_id
        self._picture = Picture(self._seats)
        self._questions = Questions()
        self._turn = 0
        self._hello = True  # sent at the start without a request
        self._news = True
        self._snapshots = self._beats = 0
        self._snapshot_at = self._beat_at = 0

    def turn(self, now_ms: int, received: bytes) -> bytes:
        """Scan the next antenna, process the host's bytes, return the bytes to send. Takes about 30 ms."""
        if self._questions.feed(received):
            self._hello = self._news = True
        seat = self._seats[self._turn]
        try:
            tags = self._readers[seat].scan()
        except ReaderFault:
            tags = None
        self._news = self._picture.scanned(seat, tags, now_ms) or self._news
        self._turn = (self._turn + 1) % len(self._seats)

        text = b""
        if self._hello:
            self._hello = False
            text += sentence("HELLO", "puckd", VERSION, self._reader_id)
        if now_ms >= self._beat_at:
            self._beat_at = now_ms + HEARTBEAT_MS
            text += sentence("HB", self._beats)
            self._beats += 1
        # Only at the end of a sweep: a snapshot's time is valid for every antenna in it.
        if self._turn == 0 and (self._news or now_ms >= self._snapshot_at):
            self._news = False
            self._snapshot_at = now_ms + SNAPSHOT_MS
            text += state(self._snapshots, now_ms, self._picture.tags, self._picture.ok)
            self._snapshots += 1
        return text
