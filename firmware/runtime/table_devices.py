"""The table's devices: starting, ending, lamps, buzzer, and the faults of each.

Used on the table's own thread. A device that fails is a fault with a message, and the table goes on without it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from firmware.devices.errors import DeviceError
from firmware.devices.panel.interface import Buttons, Buzzer, LampName, Lamps, Light
from firmware.devices.puck.reading import Disks, PuckReader, PuckReading, PuckState
from firmware.messages import Message, Text

PUCK_GRACE: Final = 2.0
"""Seconds that the puck reader may be unknown before it counts as a fault: opening it takes time."""


class Part(Protocol):
    """A device that only has to be started and closed."""

    def start(self) -> None:
        """Start. Raises DeviceError, and reports the fault itself."""

    def close(self) -> None:
        """End. May be called twice."""


@dataclass
class Devices:
    """The table's devices; None for a missing one. `trouble` returns faults that no device puts in the queue.

    `others` are only started and closed with the table; their creator reports their faults in `trouble`.
    """

    puck: PuckReader | None
    buttons: Buttons | None
    lamps: Lamps | None
    trouble: Callable[[], Mapping[str, Text]] = dict
    buzzer: Buzzer | None = None
    others: Sequence[Part] = ()
    mains_gone: Callable[[], bool] = lambda: False
    power: Callable[[], Mapping[str, bool | float | None]] = dict
    """The power supply's sensor values by name; None for one without a value."""
    disks: Disks = field(default_factory=Disks)
    """The tags that the puck reader recognises: the configuration's, until `use`."""
    _failed: dict[str, Text] = field(default_factory=dict, init=False)
    """By device: the error of its last command."""
    _puck_known_at: float | None = field(default=None, init=False)

    def start(self, put: Callable[[Any], None]) -> None:
        """Start the devices; `put` receives presses and puck readings. A device that fails becomes a fault."""
        if self.lamps is not None and not self._does("lamps", self.lamps.start):
            self.lamps = None
        if self.buzzer is not None and not self._does("buzzer", self.buzzer.start):
            self.buzzer = None
        for part in self.others:
            with suppress(DeviceError):  # `trouble` reports it
                part.start()
        buttons = self.buttons
        if buttons is not None:
            self._does("buttons", lambda: buttons.start(put))
        if self.puck is not None:
            self.puck.start(put)

    def use(self, disks: Disks) -> None:
        """Make the puck reader recognise these disks from now on. Its badges stay as they are."""
        self.disks = replace(disks, badges=self.disks.badges)
        if self.puck is not None:
            self.puck.use(self.disks)

    def know(self, badges: frozenset[str]) -> None:
        """Make the puck reader recognise these badges from now on. Raises DeviceSettings."""
        self.disks = replace(self.disks, badges=badges)
        if self.puck is not None:
            self.puck.use(self.disks)

    def show(self, lit: Mapping[LampName, Light], beeps: int) -> None:
        """Set the lamps, and beep this many times."""
        lamps, buzzer = self.lamps, self.buzzer
        if lamps is not None:
            self._does("lamps", lambda: lamps.show(lit))
        if buzzer is not None and beeps:
            self._does("buzzer", lambda: buzzer.beep(beeps))

    def faults(self, puck: PuckReading | None, now: float) -> dict[str, Text]:
        """Return the faults by device. `puck`: the reader's last reading; `now`: the monotonic clock."""
        found = {**self.trouble(), **self._failed}
        if self.puck is None:
            return found
        known = puck is not None and puck.state not in (PuckState.UNKNOWN, PuckState.FAULT)
        if known or self._puck_known_at is None:
            self._puck_known_at = now
        if now - self._puck_known_at > PUCK_GRACE:
            found["puck"] = puck.detail if puck else Message("The puck reader does not answer.")
        return found

    def close(self) -> None:
        """End them all. May be called twice."""
        for part in (self.puck, self.buttons, self.lamps, self.buzzer, *self.others):
            if part is not None:
                part.close()

    def _does(self, name: str, what: Callable[[], None]) -> bool:
        try:
            what()
        except DeviceError as error:
            self._failed[name] = error.sentence
            return False
        self._failed.pop(name, None)
        return True
