"""The journal's clock on the box."""

from firmware.devices.clock import SystemClock
from firmware.record.journal.clocks import Clock, Timestamp


def box_clock(clock: SystemClock | None = None) -> Clock:
    """Return a clock with the system's time (or another's) and its quality."""
    clock = clock or SystemClock()

    def now() -> Timestamp:
        reading = clock.read()
        state = "stepped_back" if reading.jumped_ms < 0 else reading.state
        return Timestamp(reading.boot, reading.monotonic_ns, reading.wall_ms, state)

    return now
