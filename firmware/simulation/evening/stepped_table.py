"""The product's table process on a stepped clock, killed and started again at will."""

import json
import random
from collections.abc import Callable
from typing import Any, Final, TypeVar

from firmware.devices.clock import SystemClock
from firmware.devices.panel.interface import ButtonName
from firmware.devices.puck.simulated import SimulatedPuck
from firmware.record.journal.clocks import Clock, Timestamp
from firmware.record.journal.journal import Journal
from firmware.runtime.config import Config
from firmware.runtime.house_config import prepare_house
from firmware.runtime.inputs import Request
from firmware.runtime.maintenance import RecordMaintenance
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.runtime.timestamps import box_clock
from firmware.simulation.evening.faults import Faults
from firmware.simulation.evening.stepped_devices import (
    ProcessKilled,
    SteppedButtons,
    SteppedLamps,
    SteppedPuck,
)
from firmware.simulation.evening.stepped_reader import SteppedReadings
from firmware.table import TableError
from firmware.table import events as ev

T = TypeVar("T")

STEP: Final = 0.25
"""Simulated seconds per step."""
FINGER: Final = 0.05
"""The same while a button is held."""
TURN_UP_S: Final = 1.0
"""From the showdown signal to the first reading."""
STARTS_IN: Final = 3.0
"""Seconds after which a dead table process is started again."""
BOOTED_FOR: Final = 100.0
"""Seconds that the box has been on when the table process starts."""
EVENING: Final = 1_760_000_000_000
"""Start of the evening in milliseconds since 1970."""
STEPS: Final = (-7 * 3_600_000, 365 * 86_400_000)
"""Milliseconds by which the wall clock jumps, other than to 1970: back by hours, ahead by a year."""


class CrampedJournal(Journal):
    """A journal on a disk that can be full: SQLite itself reports it at the next page it needs."""

    def fill_disk(self) -> None:
        """Leave no free space."""
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        self._db.execute(f"PRAGMA max_page_count = {pages}")

    def make_room(self) -> None:
        """Free space again."""
        self._db.execute("PRAGMA max_page_count = 1073741823")


class SteppedTable:
    """One table: simulated devices, clock and faults around the product's table process.

    `broken` collects what a table process must never do: raise, or log an internal error.
    """

    def __init__(
        self,
        config: Config,
        faults: Faults,
        rng: random.Random,
        readings: SteppedReadings,
        journal: Callable[..., CrampedJournal] = CrampedJournal,
        *,
        began_ms: int = EVENING,
    ) -> None:
        """Start the table process. `began_ms`: the wall clock at the start. Raises AppError, TableError."""
        self._config = config
        self._faults = faults
        self._rng = rng
        self._open = journal
        self.readings = readings
        self.puck = SteppedPuck(faults, rng)
        self.buttons = SteppedButtons(faults, rng)
        self.lamps = SteppedLamps()
        self.now = BOOTED_FOR
        self.broken: list[str] = []
        self.restarts = 0
        self._began_ms = self._wall_ms = began_ms
        self._deadly = False
        self._full = False
        self._journal: CrampedJournal | None = None
        self._process: TableProcess | None = None
        self._starts_at = 0.0
        self._set_up()
        self._start()

    # ---- the room ----

    @property
    def up(self) -> bool:
        """Whether a table process is running."""
        return self._process is not None

    @property
    def seq(self) -> int:
        """The journal's last row, -1 while no process runs."""
        return self._journal.seq if self._journal is not None else -1

    @property
    def process(self) -> TableProcess | None:
        """The running table process."""
        return self._process

    def pass_time(self, seconds: float, step: float = STEP) -> None:
        """Advance the time, with everything that is due on the way."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + step, end)
            self._moment()

    def press(self, button: ButtonName, seconds: float = 0.15) -> None:
        """Press a button for this many seconds, and release it."""
        self.buttons.set(button, True, self.now)
        self.pass_time(seconds, FINGER)
        self.buttons.set(button, False, self.now)
        self.pass_time(0.2, FINGER)

    def touch(self, command: dict[str, Any]) -> dict[str, Any] | None:
        """Send a command as the page does, and return the answer; None without an answer.

        In that case the command may have been done or not.
        """
        if self._faults.on("page-gone"):
            self._faults.strike("page-gone")
            if self._rng.random() < 0.5:
                return None
        if self._process is None:
            return None
        request = Request(json.dumps(command).encode())
        self._process.put(request)
        self._turn()
        if not request.answer.done():
            return None
        answer = request.answer.result(0)
        if "error of its own" in answer.get("error", ""):
            self.broken.append(f"{command}: {answer['error']}")
        if self._faults.on("page-gone"):
            return None
        return answer

    def close(self) -> None:
        """End the table process with a clean stop."""
        if self._process is not None:
            self._process.end()
        if self._journal is not None:
            self._journal.close()

    # ---- what happens by itself ----

    def _moment(self) -> None:
        for name in self._faults.step(self.now):
            if name == "table-killed":
                self._kill()
            elif name == "clock-step":
                self._faults.strike("clock-step")
                is_after_1970 = self._wall_ms > 0
                self._wall_ms = (
                    self._rng.choice([0, *(self._wall_ms + step for step in STEPS)])
                    if is_after_1970  # from 1970 a clock can only be set right
                    else self._began_ms
                )
        self._disk()
        if self._process is None:
            if self.now >= self._starts_at:
                self._start()
            return
        self.puck.step(self.now)
        self.buttons.step(self.now)
        self.readings.step(self.now)
        self._turn()

    def _disk(self) -> None:
        full = self._faults.on("disk-full")
        if full != self._full and self._journal is not None:
            self._full = full
            if full:
                self._journal.fill_disk()
            else:
                self._journal.make_room()

    def _kill(self) -> None:
        """Kill the table process: now, just before its next event is written, or just after."""
        if self._process is None:
            return
        match self._rng.randrange(3):
            case 0:
                self._killed()
            case 1:
                self._deadly = True
            case _:
                self.lamps.deadly = True

    def _turn(self) -> None:
        if self._process is not None:
            self._alive(self._process.turn_all)

    def _alive(self, work: Callable[[], T]) -> T | None:
        """Run a step of the table process; it may be killed by it."""
        try:
            return work()
        except ProcessKilled:
            self._killed()
        except TableError:
            raise
        except Exception as error:
            self.broken.append(f"{type(error).__name__}: {error}")
            self._died()
        return None

    def _killed(self) -> None:
        self._faults.strike("table-killed")
        self._died()

    def _died(self) -> None:
        """Remove the killed process: its connection, its queue and its reading process."""
        if self._journal is not None:
            self._journal.close()
        self._journal = self._process = None
        self._deadly = self.lamps.deadly = False
        self._starts_at = self.now + STARTS_IN
        for device in (self.puck, self.buttons, self.lamps, self.readings):
            device.close()

    def _set_up(self) -> None:
        """Skip the first set-up: this evening's house plays at once. Raises TableError."""
        with Journal(self._config.data, self._clock()) as journal:
            if not journal.recover().set_up:
                journal.append([ev.SetUpEnded(skipped=True)], "console")

    def _start(self) -> None:
        """Start the table process; if its record cannot be written it ends again and is started later."""
        try:
            self._journal = self._open(self._config.data, self._clock())
            self._full = False
            self._disk()
            journal = self._journal
            self._process = self._alive(
                lambda: TableProcess(
                    self._config.data,
                    journal,
                    prepare_house(self._config, journal),
                    Devices(
                        self.puck,
                        self.buttons,
                        self.lamps,
                        lambda: {"buttons": self.buttons.fault} if self.buttons.fault else {},
                        disks=SimulatedPuck.disks,
                    ),
                    self.readings,
                    None,
                    TURN_UP_S,
                    lambda: self.now,
                    keeper=self._keeper(journal),
                    screen=self._config.screen,
                )
            )
            if self._process is not None:
                self._alive(self._process.begin)
                self.restarts += 1
        except TableError as error:
            if self._full:
                self._faults.strike("disk-full")
                self._faults.notice("disk-full")
            else:
                self.broken.append(f"The table process does not start: {error}")
            self._died()

    def _keeper(self, journal: Journal) -> RecordMaintenance | None:
        """Return what signs and maintains the record; None: nothing does."""
        return None

    def _clock(self) -> Clock:
        system = SystemClock(
            self._config.data / "no-such-folder",  # no time service and no clock with a battery
            lambda: round(self.now * 1e9),
            lambda: (self._wall_ms + round(self.now * 1000)) * 1_000_000,
        )
        clock = box_clock(system)

        def moment() -> Timestamp:
            if self._deadly:
                raise ProcessKilled
            return clock()

        return moment
