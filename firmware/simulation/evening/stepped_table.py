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
PRESS_STEP: Final = 0.05
"""Simulated seconds per step while a button is pressed."""
SHOWDOWN_DELAY: Final = 1.0
"""Seconds from the showdown signal to the first reading."""
RESTART_DELAY: Final = 3.0
"""Seconds after which a table process that ended is started again."""
BOOTED_FOR: Final = 100.0
"""Seconds that the box has been on when the table process starts."""
EVENING_MS: Final = 1_760_000_000_000
"""Start of the evening in milliseconds since 1970."""
CLOCK_JUMPS: Final = (-7 * 3_600_000, 365 * 86_400_000)
"""Milliseconds by which the wall clock jumps (it also jumps to 1970): back by hours, ahead by a year."""


class FillableJournal(Journal):
    """A journal whose disk can be filled: SQLite itself then reports a full disk when it needs another page."""

    def fill_disk(self) -> None:
        """Leave no free space."""
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        self._db.execute(f"PRAGMA max_page_count = {pages}")

    def free_disk(self) -> None:
        """Remove the limit again."""
        self._db.execute("PRAGMA max_page_count = 1073741823")


class SteppedTable:
    """One table: simulated devices, clock and faults around the product's table process.

    `failures` collects what a table process must never do: raise, or answer with an internal error.
    """

    def __init__(
        self,
        config: Config,
        faults: Faults,
        rng: random.Random,
        readings: SteppedReadings,
        open_journal: Callable[..., FillableJournal] = FillableJournal,
        *,
        began_ms: int = EVENING_MS,
    ) -> None:
        """Start the table process. `began_ms`: the wall clock at the start. Raises AppError, TableError."""
        self._config = config
        self._faults = faults
        self._rng = rng
        self._open_journal = open_journal
        self.readings = readings
        self.puck = SteppedPuck(faults, rng)
        self.buttons = SteppedButtons(faults, rng)
        self.lamps = SteppedLamps()
        self.now = BOOTED_FOR
        self.failures: list[str] = []
        self.restarts = 0
        self._began_ms = self._wall_ms = began_ms
        self._kills_at_clock = False
        self._full = False
        self._journal: FillableJournal | None = None
        self._process: TableProcess | None = None
        self._starts_at = 0.0
        self._set_up()
        self._start()

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
        """Advance the time, and do everything that becomes due."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + step, end)
            self._step()

    def press(self, button: ButtonName, seconds: float = 0.15) -> None:
        """Press a button for this many seconds, and release it."""
        self.buttons.set(button, True, self.now)
        self.pass_time(seconds, PRESS_STEP)
        self.buttons.set(button, False, self.now)
        self.pass_time(0.2, PRESS_STEP)

    def touch(self, command: dict[str, Any]) -> dict[str, Any] | None:
        """Send a command as the page does; return the answer, or None if none came: it may then be done or not."""
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
            self.failures.append(f"{command}: {answer['error']}")
        if self._faults.on("page-gone"):
            return None
        return answer

    def close(self) -> None:
        """End the table process with a clean stop."""
        if self._process is not None:
            self._process.end()
        if self._journal is not None:
            self._journal.close()

    def _step(self) -> None:
        for name in self._faults.step(self.now):
            if name == "table-killed":
                self._kill()
            elif name == "clock-step":
                self._faults.strike("clock-step")
                if self._wall_ms > 0:
                    self._wall_ms = self._rng.choice([0, *(self._wall_ms + jump for jump in CLOCK_JUMPS)])
                else:  # a clock in 1970 can only be set right
                    self._wall_ms = self._began_ms
        self._fill_or_free_disk()
        if self._process is None:
            if self.now >= self._starts_at:
                self._start()
            return
        self.puck.step(self.now)
        self.buttons.step(self.now)
        self.readings.step(self.now)
        self._turn()

    def _fill_or_free_disk(self) -> None:
        full = self._faults.on("disk-full")
        if full != self._full and self._journal is not None:
            self._full = full
            if full:
                self._journal.fill_disk()
            else:
                self._journal.free_disk()

    def _kill(self) -> None:
        """Kill the table process: now, just before its next event is written, or just after."""
        if self._process is None:
            return
        match self._rng.randrange(3):
            case 0:
                self._end_killed()
            case 1:
                self._kills_at_clock = True
            case _:
                self.lamps.kills = True

    def _turn(self) -> None:
        if self._process is not None:
            self._run(self._process.turn_all)

    def _run(self, work: Callable[[], T]) -> T | None:
        """Run a step of the table process, in which it may be killed; return None if it ended."""
        try:
            return work()
        except ProcessKilled:
            self._end_killed()
        except TableError:
            raise
        except Exception as error:
            self.failures.append(f"{type(error).__name__}: {error}")
            self._remove_process()
        return None

    def _end_killed(self) -> None:
        self._faults.strike("table-killed")
        self._remove_process()

    def _remove_process(self) -> None:
        """Remove a process that ended: its connection, its queue and its reading process."""
        if self._journal is not None:
            self._journal.close()
        self._journal = self._process = None
        self._kills_at_clock = self.lamps.kills = False
        self._starts_at = self.now + RESTART_DELAY
        for device in (self.puck, self.buttons, self.lamps, self.readings):
            device.close()

    def _set_up(self) -> None:
        """Skip the first set-up. Raises TableError."""
        with Journal(self._config.data, self._clock()) as journal:
            if not journal.recover().set_up:
                journal.append([ev.SetUpEnded(skipped=True)], "console")

    def _start(self) -> None:
        """Start the table process; if its record cannot be written, it is started again later."""
        try:
            self._journal = self._open_journal(self._config.data, self._clock())
            self._full = False
            self._fill_or_free_disk()
            journal = self._journal
            self._process = self._run(
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
                    SHOWDOWN_DELAY,
                    lambda: self.now,
                    maintenance=self._maintenance(journal),
                    screen=self._config.screen,
                )
            )
            if self._process is not None:
                self._run(self._process.begin)
                self.restarts += 1
        except TableError as error:
            if self._full:
                self._faults.strike("disk-full")
                self._faults.notice("disk-full")
            else:
                self.failures.append(f"The table process does not start: {error}")
            self._remove_process()

    def _maintenance(self, journal: Journal) -> RecordMaintenance | None:
        """Return what signs and maintains the record, if anything does."""
        return None

    def _clock(self) -> Clock:
        system = SystemClock(
            self._config.data / "no-such-folder",  # no time service and no clock with a battery
            lambda: round(self.now * 1e9),
            lambda: (self._wall_ms + round(self.now * 1000)) * 1_000_000,
        )
        clock = box_clock(system)

        def read_clock() -> Timestamp:
            if self._kills_at_clock:
                raise ProcessKilled
            return clock()

        return read_clock
