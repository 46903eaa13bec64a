"""What does not work at a table, gathered from its parts: devices, record, screen, camera, PINs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from firmware.messages import Message, Text
from firmware.rules import Profile
from firmware.runtime.liveness.screen_watch import ScreenWatch
from firmware.runtime.maintenance import RecordMaintenance
from firmware.runtime.puck_calm import CalmPuck
from firmware.runtime.reading.calibrations import CameraCalibration
from firmware.runtime.reading.scheduler import ReadingScheduler
from firmware.runtime.record_faults import RecordWatch
from firmware.runtime.table_devices import Devices
from firmware.table import State
from firmware.table.house import contradictory
from firmware.table.people import is_alarming

ALARM: Final = Message(
    "Wrong PINs were entered again and again. Look who is at the screen. "
    "This ends with the right PIN of the person who was tried, or with a new one."
)
"""The alarm after wrong PINs: always the same words, so that it is one event."""


@dataclass(frozen=True)
class TableFaults:
    """The parts that may have a fault; `clock` returns seconds."""

    devices: Devices
    puck: CalmPuck
    record: RecordWatch
    maintenance: RecordMaintenance | None
    screen: ScreenWatch
    calibration: CameraCalibration
    scheduler: ReadingScheduler
    rules: Callable[[], Profile]
    """The rules of the next hand."""
    clock: Callable[[], float]

    def of(self, state: State) -> dict[str, Text]:
        """Return why each part that does not work does not, by its name."""
        now = self.clock()
        faults = self.devices.faults(self.puck.reading(now), now) | self.record.faults(state.hand)
        if restless := self.puck.fault(now):
            faults["puck"] = restless
        if self.maintenance is not None:
            faults |= self.maintenance.faults
        if state.record_fault is not None:
            faults["record"] = state.record_fault.sentence
        if self.screen.fault:
            faults["screen"] = self.screen.fault
        if unfit := contradictory(self.rules()):
            faults["rules"] = unfit
        if self.calibration.trouble:
            faults["calibration"] = self.calibration.trouble
        if self.scheduler.trouble:
            faults["camera"] = self.scheduler.trouble
        if is_alarming(state.wrong_pins, state.people):
            faults["pins"] = ALARM
        if why := self.scheduler.unseen:
            faults["view"] = Message(
                "Placed cards are not seen: %(why)s Let the table lie still for a moment.", why=why
            )
        return faults
