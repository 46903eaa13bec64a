"""A puck reader on a serial port, on one thread: the port is opened, and opened again after every loss."""

import errno
import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

import serial

from firmware.devices.puck.reading import SAYS_NOTHING, Disks, PuckReading, PuckState
from firmware.messages import Message, Text
from firmware.threads import start_thread

log = logging.getLogger(__name__)

STABLE_NAME = "/dev/feltwatch-puck"
"""The reader's name from the udev rule, whatever its ttyACM number."""
RETRY_FIRST, RETRY_LONGEST = 0.1, 0.8
"""Seconds between two attempts to open: doubled each time, limited so that a returned reader is open within 2 s."""
SETTLED_AFTER = 2.0
"""Seconds that a connection must last for the next loss to be retried at once."""
SILENT_TOO_LONG = 5.0
"""Seconds without a frame after which the port is opened again."""
HELD_UP = 1.0
"""If this thread itself was delayed by this many seconds, the port's buffered bytes are out of date and dropped."""


class Link(Protocol):
    """A protocol as used by the thread below. Pure: bytes and times in, bytes and readings out."""

    baud: int

    def use(self, disks: Disks) -> None:
        """Use these disks from now on; the only method that may be called from another thread."""

    def opened(self, now: float) -> None:
        """The port was just opened; nothing is known."""

    def forget(self, why: Text) -> None:
        """The port is lost; `why` is the message for the dealer."""

    def feed(self, data: bytes, now: float) -> bool:
        """Process received bytes; return True if they prove that the device is alive."""

    def due(self, now: float) -> bytes:
        """Return the bytes to send now, if any."""

    def reading(self, now: float) -> PuckReading:
        """Return the current reading."""


class SerialPuck:
    """A `PuckReader` on a serial port, with any `Link` protocol.

    >>> link = PuckLine(Disks(frozenset({"04A1B2C3D4E580"})), seats=range(1, 6))  # doctest: +SKIP
    >>> puck = SerialPuck(link)  # doctest: +SKIP
    >>> puck.start(queue.put)  # doctest: +SKIP
    """

    def __init__(
        self, link: Link, port: str = STABLE_NAME, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._link = link
        self._name = port
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._put: Callable[[PuckReading], None] = lambda reading: None
        self._reported: PuckReading | None = None

    def start(self, put: Callable[[PuckReading], None]) -> None:
        """Start; see `PuckReader.start`."""
        if self._thread is not None:
            raise RuntimeError("This puck reader was started before.")
        self._put = put
        self._thread = start_thread(self._run, name="puck")

    def use(self, disks: Disks) -> None:
        """Change the disks; see `PuckReader.use`."""
        self._link.use(disks)

    def close(self) -> None:
        """Stop; see `PuckReader.close`."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        wait = RETRY_FIRST
        while not self._stop.is_set():
            began = self._clock()
            try:
                self._converse()
            except OSError as error:  # SerialException is one
                self._link.forget(_message(error, self._name))
            except Exception:
                log.exception("puck: a fault of ours; starting over")
                self._link.forget(
                    Message("The puck reader's program failed and starts over: key the seat meanwhile.")
                )
            self._report()
            wait = RETRY_FIRST if self._clock() - began > SETTLED_AFTER else min(2 * wait, RETRY_LONGEST)
            self._stop.wait(wait)

    def _converse(self) -> None:
        """Open the port and communicate until it breaks or the reader falls silent. Raises OSError."""
        with serial.Serial(
            self._name, self._link.baud, timeout=0.1, write_timeout=0.5, exclusive=True
        ) as port:
            self._link.opened(self._clock())
            alive_at = turn_at = self._clock()
            while not self._stop.is_set():
                now = self._clock()
                if now - turn_at > HELD_UP:
                    port.reset_input_buffer()
                    self._link.opened(now)
                turn_at = now
                if question := self._link.due(now):
                    port.write(question)
                self._report()
                data = port.read(max(1, port.in_waiting))
                now = self._clock()
                if data and self._link.feed(data, now):
                    alive_at = now
                elif now - alive_at > SILENT_TOO_LONG:
                    raise TimeoutError(errno.ETIMEDOUT, "silent")

    def _report(self) -> None:
        reading = self._link.reading(self._clock())
        if self._stop.is_set() or reading.same_as(self._reported):
            return
        known = reading.state is not PuckState.UNKNOWN
        if self._reported is None or known != (self._reported.state is not PuckState.UNKNOWN):
            log.log(
                logging.INFO if known else logging.WARNING,
                "puck: %s %s",
                reading.state,
                reading.detail or reading.seat,
            )
        self._reported = reading
        self._put(reading)


def _message(error: OSError, port: str) -> Message:
    match error.errno:
        case errno.ENOENT | errno.ENXIO | errno.ENODEV:
            return Message(
                "The puck reader is not connected (%(port)s): plug it in, or key the seat.", port=port
            )
        case errno.EACCES | errno.EPERM:
            return Message(
                "The puck reader may not be opened (%(port)s): this user needs the group of the port.",
                port=port,
            )
        case errno.EAGAIN | errno.EBUSY:
            return Message("Another program holds the puck reader (%(port)s): stop it.", port=port)
        case errno.ETIMEDOUT:
            return SAYS_NOTHING
        case _:
            return Message("The connection to the puck reader broke off: check its cable, or key the seat.")
