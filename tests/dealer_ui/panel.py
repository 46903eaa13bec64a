"""The devices of a felt, as somebody tries them: the real trials on a panel that only remembers what was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from firmware.access.control import Sender
from firmware.devices.clock import SystemClock
from firmware.devices.panel.interface import Bounce, ButtonName, Press
from firmware.devices.puck.reading import NO_DISK, Disks, PuckReading, PuckState
from firmware.devices.puck.simulated import ACTION_TAG, DEALER_TAG, SimulatedPuck
from firmware.runtime.device_tests import DeviceTestCommand, DeviceTests
from firmware.table import CommandRefused
from firmware.table.people import Role
from firmware.table.topics.camera import AskJob, Look
from tests.dealer_ui.felt import Felt

NOON_MS = 1_772_366_400_000
"""The first of March 2026, noon in Greenwich."""


class Panel:
    """Buttons, lamps and a buzzer, and what a technician tries of them. `picture` is what the camera takes."""

    def __init__(
        self, felt: Felt, picture: dict[str, Any] | None = None, clock_unit: Path = Path("/no/such/unit")
    ) -> None:
        self.buttons: Any = self
        self.lamps: Any = object()
        self.buzzer: Any = self
        self.power: Callable[[], Mapping[str, bool | float | None]] = lambda: {"mains": True, "celsius": 51.0}
        self.disks = SimulatedPuck.disks
        self.felt = felt
        self.picture = picture
        self.troubles: dict[str, str] = {}
        self.device_tests = DeviceTests(
            felt.folder,
            self,
            lambda: 1000.0,
            SystemClock(felt.folder, lambda: 0, lambda: NOON_MS * 1_000_000),
            lambda folder: 57_300_000_000,
            clock_unit,
        )
        felt.device_tests = self.answer

    def answer(self, command: DeviceTestCommand) -> dict[str, Any]:
        """Do a command of the trial."""
        return self.device_tests.handle(command, self, Sender("technician:Ada", Role.TECHNICIAN, "Ada"))

    @property
    def state(self) -> Any:
        """The felt's."""
        return self.felt.state

    def write(self, events: Any, actor: str) -> int:
        """Make events happen."""
        return self.felt.write(events, actor)

    def use(self, disks: Disks) -> None:
        """Know these disks."""
        self.disks = disks

    def beep(self, times: int) -> None:
        """Sound, for nobody."""

    def take_bounces(self) -> list[Bounce]:
        """Return none: these contacts are ideal."""
        return []

    def relight(self) -> None:
        """Light nothing."""

    def trouble_of(self, device: str) -> str | None:
        """Return what the test broke."""
        return self.troubles.get(device, "")

    def camera(self, command: Look | AskJob, sender: Sender) -> dict[str, Any]:
        """Take the picture, if there is one."""
        if self.picture is None:
            raise CommandRefused("The camera is busy.")
        return {"ok": True, "job": 1} if isinstance(command, Look) else {"ok": True, **self.picture}

    def lay_disks(self, *seats: int) -> None:
        """Lay both disks at one seat after another."""
        for seat in seats:
            every = frozenset(range(1, 6))
            ours = ((seat, DEALER_TAG), (seat, ACTION_TAG))
            self.device_tests.puck(
                PuckReading(PuckState.SEAT, seat, "", every, 0.0, (seat,), (seat,), ours=ours)
            )

    def lay_unknown(self, seat: int, tag: str, known: Disks | None = None) -> None:
        """Know no disk, or these, and lay some tag down."""
        self.disks = known or Disks()
        every = frozenset(range(1, 6))
        self.device_tests.puck(
            PuckReading(PuckState.FAULT, None, NO_DISK, every, 0.0, strangers=((seat, tag),))
        )

    def press(self, *names: ButtonName) -> None:
        """Press one button after another."""
        for name in names:
            self.device_tests.takes(Press(name, 0.0), self.felt.state)
