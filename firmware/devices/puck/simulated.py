"""A puck reader on a pty: it implements the line protocol, and its methods simulate what people do to it.

with SimulatedPuck() as reader:
    host = SerialPuck(PuckLine(reader.disks, seats=range(1, 6)), reader.port)
    host.start(queue.put)
    reader.move_to(3)
    reader.unplug()

The port is a symbolic link, like the stable name of a real one under udev: each time the reader is plugged in, the link
points to another pty.
"""

import os
import pty
import tempfile
import threading
import time
import tty
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from firmware.devices.puck.protocol import ASK, VERSION, encode
from firmware.devices.puck.reading import Disks
from firmware.threads import start

DEALER_TAG = "04D1A2B3C4E580"
ACTION_TAG = "04AC71B2C3E580"
"""The tags of its disks; `lay` accepts any other tag too."""
READER_ID = "53494D5055434B"
SNAPSHOT_EVERY, HEARTBEAT_EVERY = 0.5, 1.0
_TURN = 0.01  # seconds between two polls of the line; a sweep takes longer


@dataclass(frozen=True, slots=True)
class PuckReaderState:
    """The state of a simulated reader."""

    plugged: bool
    frozen: bool
    stuck: bool
    dead: frozenset[int]
    """Seats whose antenna does not answer."""
    tags: frozenset[tuple[int, str]]
    """(seat, tag) of every tag on an antenna."""


class SimulatedPuck:
    """The reader, its antennas and the two disks. Every method may be called from any thread."""

    disks = Disks(frozenset({DEALER_TAG}), frozenset({ACTION_TAG}))

    def __init__(self, seats: Iterable[int] = range(1, 6)) -> None:
        self._seats = tuple(sorted(seats))
        self._folder = tempfile.TemporaryDirectory(prefix="feltwatch-puck-")
        self._link = Path(self._folder.name) / "feltwatch-puck"
        self._lock = threading.RLock()
        self._tags: set[tuple[int, str]] = set()
        self._dead: set[int] = set()
        self._version = VERSION
        self._frozen = self._stuck = False
        self._line: int | None = None  # our end of the pty; None while unplugged
        self._born = self._snapshot_at = self._beat_at = 0.0
        self._snapshots = self._beats = 0
        self._swept = b""
        self._received = b""
        self.replug()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="simulated-puck", daemon=True)
        start(self._thread)

    @property
    def port(self) -> str:
        """The port's stable name; it exists while the reader is plugged in."""
        return str(self._link)

    @property
    def standing(self) -> PuckReaderState:
        """The current state."""
        with self._lock:
            return PuckReaderState(
                self._line is not None,
                self._frozen,
                self._stuck,
                frozenset(self._dead),
                frozenset(self._tags),
            )

    @property
    def snapshots(self) -> int:
        """The number of snapshots sent since it was plugged in."""
        return self._snapshots

    # ---- disks ----

    def move_to(self, seat: int) -> None:
        """Lay both disks at this seat."""
        with self._changing():
            self.take(DEALER_TAG)
            self.take(ACTION_TAG)
            self._tags |= {(seat, DEALER_TAG), (seat, ACTION_TAG)}

    def lift(self) -> None:
        """Remove everything from the antennas."""
        with self._changing():
            self._tags.clear()

    def lay(self, tag: str, seat: int) -> None:
        """Lay one disk, or any other tag, at this seat; a copy of it elsewhere stays there."""
        with self._changing():
            self._tags.add((seat, tag))

    def take(self, tag: str) -> None:
        """Remove one disk, or any other tag, wherever it lies."""
        with self._changing():
            self._tags = {(at, other) for at, other in self._tags if other != tag}

    # ---- faults of the reader ----

    def unplug(self) -> None:
        """Pull the cable: the port disappears while the host has it open."""
        with self._lock:
            self._link.unlink(missing_ok=True)
            if self._line is not None:
                os.close(self._line)
                self._line = None

    def replug(self) -> None:
        """Plug it in (again): it restarts, on another pty under the same stable name."""
        with self._lock:
            self.unplug()
            self._line, far_end = pty.openpty()
            tty.setraw(self._line)
            os.set_blocking(self._line, False)
            self._link.symlink_to(os.ttyname(far_end))
            os.close(far_end)
            self._frozen = self._stuck = False
            self._born = self._snapshot_at = self._beat_at = time.monotonic()
            self._snapshots = self._beats = 0
            self._received = b""
            self._send_hello()

    def babble(self, noise: bytes) -> None:
        """Send these bytes, valid or not."""
        with self._lock:
            self._send(noise)

    def freeze(self) -> None:
        """Stop sending, with the cable plugged in."""
        with self._lock:
            self._frozen = True

    def stick(self) -> None:
        """Keep sending but stop sweeping, as with a hung bus: every snapshot repeats the last one."""
        with self._lock:
            self._stuck = True

    def thaw(self) -> None:
        """End `freeze` or `stick`."""
        with self._changing():
            self._frozen = self._stuck = False

    def break_antenna(self, seat: int) -> None:
        """Make this seat's antenna fail."""
        with self._changing():
            self._dead.add(seat)

    def mend_antenna(self, seat: int) -> None:
        """Make this seat's antenna work again."""
        with self._changing():
            self._dead.discard(seat)

    def carry_version(self, version: str) -> None:
        """Run firmware of this protocol version from the next start on."""
        with self._lock:
            self._version = version

    def close(self) -> None:
        """Unplug it and clean up. May be called twice."""
        self._stop.set()
        self._thread.join()
        self.unplug()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- the firmware ----

    def _run(self) -> None:
        while not self._stop.wait(_TURN):
            with self._lock:
                self._turn(time.monotonic())

    def _turn(self, now: float) -> None:
        if self._line is None:
            return
        with suppress(OSError):  # nobody has the port open (EIO), or there are no bytes (EAGAIN)
            self._received += os.read(self._line, 4096)
        *asked, self._received = self._received[-256:].split(b"\n")
        if ASK.strip() in (line.strip() for line in asked):
            self._send_hello()
            self._snapshot_at = now
        if now >= self._beat_at:
            self._beat_at += HEARTBEAT_EVERY
            self._send(encode("HB", self._beats))
            self._beats += 1
        if now >= self._snapshot_at:
            self._snapshot_at = now + SNAPSHOT_EVERY
            self._send(self._snapshot(now))

    def _send_hello(self) -> None:
        self._send(encode("HELLO", "puckd", self._version, READER_ID))

    def _snapshot(self, now: float) -> bytes:
        if not (self._stuck and self._swept):
            antennas = [
                f"{seat}:"
                + "+".join(sorted(tag for at, tag in self._tags if at == seat and at not in self._dead))
                for seat in self._seats
            ]
            ok = sum(1 << (seat - 1) for seat in self._seats if seat not in self._dead)
            uptime_ms = int((now - self._born) * 1000)
            self._swept = encode("STATE", self._snapshots, uptime_ms, *antennas, f"{ok:x}")
            self._snapshots += 1
        return self._swept

    def _send(self, data: bytes) -> None:
        if self._line is None or self._frozen:
            return
        with suppress(OSError):  # nobody reads and the buffer is full: the firmware drops it, never waits
            os.write(self._line, data)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock:
            yield
            self._snapshot_at = 0.0
