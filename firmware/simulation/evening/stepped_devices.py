"""Simulated devices on a stepped clock: puck reader, buttons and lamps.

The product's own code reads them: `PuckLine` the bytes, `PressedButtons` the contacts. Only its threads and ports are
not covered here; `--pixels` and the tests of `firmware.devices` cover those.
"""

import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from firmware.devices.panel.debounce import PressedButtons
from firmware.devices.panel.interface import BUTTONS, Bounce, ButtonName, LampName, Light, Press
from firmware.devices.panel.simulated import bounces
from firmware.devices.puck.protocol import VERSION, PuckLine, encode
from firmware.devices.puck.reading import STALE_AFTER, Disks, PuckReading
from firmware.devices.puck.simulated import ACTION_TAG, DEALER_TAG, READER_ID, SNAPSHOT_EVERY, SimulatedPuck
from firmware.messages import Message
from firmware.simulation.evening.faults import Faults

SEATS: Final = range(1, 6)
UNPLUGGED: Final = "The puck reader is not connected: plug it in, or key the seat."
UNREADABLE: Final = Message(
    "The push-buttons cannot be read (%(error)s): use the page.", error="the panel is unplugged"
)
GLITCH: Final = 0.004
"""Seconds of a glitch: shorter than a contact must be stable to count."""


class ProcessKilled(BaseException):
    """The simulated process was killed: none of its code may run any more."""


class SteppedPuck:
    """A puck reader as the table sees it, with a simulated line, antennas and the two disks."""

    def __init__(self, faults: Faults, rng: random.Random) -> None:
        self._faults = faults
        self._rng = rng
        self._seat: int | None = None
        self._past_seats: deque[tuple[float, int | None]] = deque([(0.0, None)], maxlen=8)
        self._now = 0.0
        self.wrong_seats = 0
        """Number of times that the product reported a seat where the disks had not been recently."""
        self._line = self._new_line()
        self._put: Callable[[PuckReading], None] | None = None
        self._reported: PuckReading | None = None
        self._open = False
        self._silent = False
        self._snapshot_at = 0.0

    @staticmethod
    def _new_line() -> PuckLine:
        return PuckLine(SimulatedPuck.disks, SEATS)

    def move_to(self, seat: int | None) -> None:
        """Lay both disks at this seat; None: pick them up."""
        self._past_seats.append((self._now, self._seat))
        self._seat = seat

    @property
    def seat(self) -> int | None:
        """The seat of the disks."""
        return self._seat

    def start(self, put: Callable[[PuckReading], None]) -> None:
        """Start; see `PuckReader.start`."""
        self._line, self._put, self._reported, self._open = self._new_line(), put, None, False

    def use(self, disks: Disks) -> None:
        """Change the disks; see `PuckReader.use`."""
        self._line.use(disks)

    def close(self) -> None:
        """Stop; see `PuckReader.close`."""
        self._put = None

    def step(self, now: float) -> None:
        """Advance the line and its reading to this time."""
        self._now = now
        if self._put is None:
            return
        if self._faults.on("puck-unplugged"):
            self._unplug(now)
        elif not self._open:
            self._line.opened(now)
            self._open, self._silent = True, False
        if self._open and not self._silent:
            self._send_frames(now)
        reading = self._line.reading(now)
        recent = {seat for until, seat in self._past_seats if now - until <= STALE_AFTER + 2 * SNAPSHOT_EVERY}
        if reading.seat not in (None, self._seat, *recent):
            self.wrong_seats += 1
        elif self._faults.on("puck-babble") and self._open:
            self._faults.notice("puck-babble")
        if not reading.same_as(self._reported):
            self._reported = reading
            self._put(reading)

    def _unplug(self, now: float) -> None:
        """Unplug the cable; one time in three the reader falls silent with the cable in."""
        if not self._open or self._silent:
            return
        self._faults.strike("puck-unplugged")
        if self._rng.random() < 1 / 3:
            self._silent = True
        self._open = False
        if not self._silent:
            self._line.forget(UNPLUGGED)

    def _send_frames(self, now: float) -> None:
        if self._line.due(now):
            self._line.feed(encode("HELLO", "puckd", VERSION, READER_ID), now)
            self._snapshot_at = now
        if self._faults.on("puck-babble"):
            self._babble(now)
        if now >= self._snapshot_at:
            self._snapshot_at = now + SNAPSHOT_EVERY
            self._line.feed(self._snapshot(now, self._seat), now)

    def _snapshot(self, now: float, seat: int | None) -> bytes:
        tags = f"{ACTION_TAG}+{DEALER_TAG}"
        antennas = [f"{at}:{tags if at == seat else ''}" for at in SEATS]
        return encode("STATE", int(now * 2), int(now * 1000), *antennas, "1f")

    def _babble(self, now: float) -> None:
        """Send noise, and frames about another seat: cut off, with a byte changed, and one valid sweep."""
        self._faults.strike("puck-babble")
        rng = self._rng
        known = {self._seat, self._reported.seat if self._reported else None}
        wrong = self._snapshot(now - 0.001, rng.choice([seat for seat in SEATS if seat not in known]))
        spot = rng.randrange(1, len(wrong) - 2)
        changed = wrong[:spot] + bytes([wrong[spot] ^ (1 << rng.randrange(7))]) + wrong[spot + 1 :]
        for noise in (rng.randbytes(rng.randrange(1, 200)), wrong[:spot], b"\n", changed):
            self._line.feed(noise, now)
        if now >= self._snapshot_at:  # a single wrong sweep: a true one follows at once
            self._line.feed(wrong, now)


class SteppedButtons:
    """The contacts of the three buttons, debounced by the product's own class."""

    def __init__(self, faults: Faults, rng: random.Random) -> None:
        self._faults = faults
        self._rng = rng
        self._down: dict[ButtonName, bool] = dict.fromkeys(BUTTONS, False)
        self._panel = PressedButtons(self._down)
        self._put: Callable[[Press], None] | None = None
        self._stuck: ButtonName | None = None
        self.fault: Message | None = None

    def start(self, put: Callable[[Press], None]) -> None:
        """Start; see `Buttons.start`."""
        self._panel, self._put = PressedButtons(self._contacts()), put

    def take_bounces(self) -> list[Bounce]:
        """Return none."""
        return []

    def close(self) -> None:
        """Stop; see `Buttons.close`."""
        self._put = None

    def set(self, button: ButtonName, down: bool, now: float) -> None:
        """Push a button down or release it; its contact bounces."""
        self._down[button] = down
        if button == self._stuck:
            return
        if self._faults.on("buttons-unplugged"):
            self._faults.strike("buttons-unplugged")
            return
        at, level = now, down
        self._edge(button, level, at)
        for gap in bounces(self._rng):
            at, level = at + gap, not level
            self._edge(button, level, at)

    def step(self, now: float) -> None:
        """Sample the contacts, as the product does every tenth of a second."""
        if self._faults.on("buttons-unplugged"):
            self._faults.strike("buttons-unplugged")
            self.fault = UNREADABLE
            return
        if self._faults.on("buttons-babble"):
            self._babble(now)
        else:
            self._stuck = None
        self._report(self._panel.sample(self._contacts(), now))
        stuck = ", ".join(sorted(self._panel.stuck(now)))
        self.fault = (
            Message("Stuck down: %(stuck)s. Free the push-button; meanwhile use the page.", stuck=stuck)
            if stuck
            else None
        )

    def _babble(self, now: float) -> None:
        """Hold one button down, which is a press before it counts as stuck; the others glitch."""
        if self._stuck is None:
            self._faults.strike("buttons-babble")
            self._stuck = stuck = self._rng.choice(BUTTONS)
            self._edge(stuck, True, now)
        for button in BUTTONS:
            if button != self._stuck and not self._down[button]:
                self._edge(button, True, now)
                self._edge(button, False, now + GLITCH)

    def _contacts(self) -> dict[ButtonName, bool]:
        return {name: down or name == self._stuck for name, down in self._down.items()}

    def _edge(self, button: ButtonName, down: bool, at: float) -> None:
        self._report(self._panel.edge(button, down, at))

    def _report(self, presses: list[Press]) -> None:
        for press in presses:
            if self._put is not None:
                self._put(press)


class SteppedLamps:
    """The panel's lamps. `kills`: the process is killed when it sets them, just after its event was written."""

    def __init__(self) -> None:
        self.lit: dict[LampName, Light] = {}
        self.kills = False

    def start(self) -> None:
        """Switch off; see `Lamps.start`."""
        self.lit = {}

    def show(self, lights: Mapping[LampName, Light]) -> None:
        """Set the panel; see `Lamps.show`."""
        if self.kills:
            raise ProcessKilled
        self.lit = dict(lights)

    def close(self) -> None:
        """Switch off; see `Lamps.close`."""
        self.lit = {}
