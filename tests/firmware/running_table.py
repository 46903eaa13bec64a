"""A table process on mock pins, with readings put in at the seam of `TableReading`; and a reading process's room."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest

from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.panel.debounce import HOLD
from firmware.devices.panel.gpio import GpioLamps
from firmware.devices.panel.interface import ButtonName, Press
from firmware.devices.panel.simulated import LIFT, PRESS, SimulatedPanel
from firmware.devices.puck.reading import Disks, PuckReader, PuckReading, PuckState
from firmware.record.journal.clocks import Timestamp, now
from firmware.record.journal.journal import Journal, JournalReader
from firmware.runtime.config import Config
from firmware.runtime.house_config import prepare_house
from firmware.runtime.liveness.presses import PAID_S
from firmware.runtime.pit_desk import PitDesk
from firmware.runtime.reading.messages import (
    CameraJob,
    ReaderSetup,
    ReadingDone,
    ReadingJob,
    ReadingLost,
    Readings,
)
from firmware.runtime.reading.process import ReadingLimits
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TICK, TableProcess
from firmware.table import Phase, State
from firmware.table import events as ev
from firmware.table.dealing import button_due
from tests.firmware.devices.conftest import Buttons, Clock
from tests.waiting import DEADLINE, until

NO_DISKS = Disks()
HANDS: dict[str, dict[str, str]] = {
    "A": {"front": "Qs Qd 4c", "middle": "9c 9d 5h 5c 2s", "back": "Ah Kh 8h 6h 3h"},
    "B": {"front": "Kc Jd 7s", "middle": "8c 8d Tc 6s 2d", "back": "9s Ts Js Qh Kd"},
}


def reading_json(hands: dict[str, dict[str, str]], unsure: frozenset[str] = frozenset()) -> dict[str, Any]:
    """What the reading process tells of these cards: `TableReading.to_json()` with captures."""

    def card(code: str) -> dict[str, Any]:
        sure = code not in unsure
        candidates = [code] if sure else [code, "2c"]
        corners = [[0.0, 0.0]] * 4
        return {"card": code, "confidence": 0.9, "sure": sure, "candidates": candidates, "corners": corners}

    zones = [
        {"place": place, "row": row, "cards": [card(code) for code in cards.split()], "capture": None}
        for place, rows in hands.items()
        for row, cards in rows.items()
    ]
    return {"zones": zones, "frame": None, "verdicts": {}, "ms": {"network": 1.5}}


def patient_limits() -> ReadingLimits:
    """Limits for a reading process that only a hang exceeds."""
    return ReadingLimits(*(AdaptiveLimit(DEADLINE, DEADLINE) for _ in fields(ReadingLimits)))


@dataclass
class FakeReadings:
    """Stands where the reading process stands. Readings wait in `ready` until a job asks for one."""

    ready: list[dict[str, Any] | str] = field(default_factory=list)
    jobs: list[ReadingJob] = field(default_factory=list)
    later: list[ReadingJob] = field(default_factory=list)
    """Looks at the settled table, which are answered only by `answer`."""
    camera_jobs: list[CameraJob] = field(default_factory=list)
    setups: list[ReaderSetup] = field(default_factory=list)
    put: Callable[[Any], None] = lambda answer: None

    def start(self, put: Callable[[Any], None]) -> None:
        self.put = put

    def use(self, setup: ReaderSetup) -> None:
        self.setups.append(setup)

    def request(self, job: ReadingJob | CameraJob) -> None:
        if isinstance(job, CameraJob):
            self.camera_jobs.append(job)
            return
        if job.watch and job.watch.changes:
            self.later.append(job)
            return
        self.jobs.append(job)
        if self.ready:
            self.answer(self.ready.pop(0), job.number)

    def answer(self, reading: dict[str, Any] | str, number: int) -> None:
        if isinstance(reading, str):
            self.put(ReadingLost(number, reading, fault=True))
        else:
            self.put(ReadingDone(number, reading))

    def close(self) -> None:
        """Nothing to end."""


class Process(TableProcess):
    """The table process; it keeps which presses it was told of."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.presses: list[Press] = []

    def put(self, item: Any) -> None:
        super().put(item)
        if isinstance(item, Press):
            self.presses.append(item)


class Table:
    """A running table process, and what stands around it: all of it lives by one clock that the test turns."""

    def __init__(
        self,
        config: Config,
        readings: Readings | None = None,
        *,
        fresh: bool = False,
        desk: Callable[[Clock], PitDesk] | None = None,
        puck: PuckReader | None = None,
        disks: Disks = NO_DISKS,
        wall: Callable[[], Timestamp] = now,
    ) -> None:
        """`desk`: what decides about files from a pit, by the table's clock; `puck`: a puck reader, and its disks.

        `wall`: the record's clock.
        """
        self.config = config
        self.clock = Clock()
        self.panel = SimulatedPanel(seed=1, clock=self.clock, sleep=lambda s: self.buttons.let_pass(s))
        self.readings = FakeReadings()
        self.reader = JournalReader(config.data)
        self.faults: dict[str, str] = {}
        self.journal = Journal(config.data, wall)
        if not fresh and not self.journal.recover().set_up:
            self.journal.append([ev.SetUpEnded()], "test")
        self.buttons = Buttons(self.panel.pins, self.panel.factory, self.clock)
        self.process = Process(
            config.data,
            self.journal,
            prepare_house(config, self.journal),
            Devices(
                puck,
                self.buttons,
                GpioLamps(self.panel.pins, self.panel.factory),
                lambda: dict(self.faults),
                disks=disks,
            ),
            readings or self.readings,
            config.socket,
            turn_up=0.0,
            clock=self.clock,
            answer_within=DEADLINE,
            pit=desk(self.clock) if desk is not None else None,
        )
        self._thread = threading.Thread(target=self.process.run)
        self._thread.start()
        self.buttons.wait_until_begun()
        self.turn()

    @property
    def state(self) -> State:
        return self.reader.recover()[0]

    def until(self, so: Callable[[State], bool]) -> State:
        """Wait until the record says so. A tick of the table's clock passes with every look at it."""
        until(lambda: so(self.state), self._pause)
        return self.state

    def _pause(self, seconds: float) -> None:
        time.sleep(seconds)
        self.clock.let_pass(TICK)
        self.process.put(None)  # a turn, as at the end of each tick

    def let_pass(self, seconds: float) -> None:
        """Let so much of the table's time pass, tick by tick; what comes of it has come then."""
        for _ in range(round(seconds / TICK)):
            self.clock.let_pass(TICK)
            self.turn()

    def turn(self) -> None:
        """Have the process take whatever waits, and catch up."""
        assert not self.ask("")["ok"], "this is no command; its refusal comes after all that came before it"

    def until_phase(self, phase: Phase) -> State:
        return self.until(lambda state: state.phase is phase)

    def ask(self, line: str) -> dict[str, Any]:
        return self.process.ask(line.encode())

    def do(self, *lines: str) -> None:
        """Give commands; where white or `open_hand` needs the puck, the dealer says first that it lies right."""
        for line in lines:
            if '"next"' in line or '"open_hand"' in line:
                self._lay_puck()
            answer = self.ask(line)
            assert answer["ok"], answer

    def _lay_puck(self) -> None:
        if (due := button_due(self.process.state, self.process.house)) is not None:
            assert self.ask(f'{{"do":"keep_button","seat":{due}}}')["ok"]

    def press(self, button: ButtonName, seconds: float = PRESS) -> None:
        """Press what one has seen, and lift the finger; the process has taken the press then."""
        if button == "next":
            self._lay_puck()
        self.clock.let_pass(PAID_S)
        told = len(self.process.presses) + (2 if seconds > HOLD else 1)
        self.panel.press(button, seconds)
        self.buttons.let_pass(LIFT)
        until(lambda: len(self.process.presses) >= told)
        self.turn()

    def puck_at(self, seat: int | None, state: PuckState = PuckState.SEAT, detail: str = "") -> None:
        self.process.put(PuckReading(state, seat, detail, frozenset({1, 2, 3, 4, 5}), self.clock()))

    def types(self) -> list[str]:
        return [entry.type for entry in self.reader.events_since(0)]

    def stop(self) -> None:
        self.process.stop()
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()
        self.journal.close()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    seats = [{"seat": 1, "place": "A", "player": "Ann", "stack": 10_000}, {"seat": 2, "place": "B"}]
    return Config.model_validate_json(
        f'{{"data": "{tmp_path}", "seats": {str(seats).replace(chr(39), chr(34))}}}'
    )


@pytest.fixture
def start(config: Config) -> Iterator[Callable[[], Table]]:
    """Starts the table on one data folder, any number of times, one after another."""
    tables: list[Table] = []

    def begin() -> Table:
        tables.append(Table(config))
        return tables[-1]

    yield begin
    for table in tables:
        with suppress(AssertionError):
            table.stop()


@pytest.fixture
def table(start: Callable[[], Table]) -> Table:
    return start()


def say(path: Path, *lines: str) -> list[bytes]:
    """Send lines over a Unix socket and return the answers."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(DEADLINE)
        line.connect(str(path))
        with line.makefile("rwb") as file:
            answers = []
            for text in lines:
                file.write(text.encode() + b"\n")
                file.flush()
                answers.append(file.readline())
            return answers


@pytest.fixture
def over_socket() -> Callable[..., list[bytes]]:
    return say


@pytest.fixture
def cards() -> Callable[..., dict[str, Any]]:
    """Makes readings of the test's hands; `unsure` names the cards to be asked."""
    return lambda *unsure, hands=HANDS: reading_json(hands, frozenset(unsure))
