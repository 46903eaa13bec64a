"""A simulated table in real time, with its uplink. Each runs on its own thread until it is stopped."""

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.runtime.errors import AppError
from firmware.runtime.house_config import house_rules
from firmware.runtime.liveness.heartbeat import EVERY_S, Heartbeat
from firmware.runtime.maintenance import RecordMaintenance
from firmware.simulation.evening.auditor import Auditor
from firmware.simulation.evening.faults import Faults
from firmware.simulation.evening.reader_model import ReaderErrors, ReaderModel
from firmware.simulation.evening.stepped_reader import SteppedReadings
from firmware.simulation.evening.stepped_run import SteppedRun
from firmware.simulation.evening.stepped_table import BOOTED_FOR, STEP, SteppedTable
from firmware.simulation.habits import Habits
from firmware.simulation.house import make_config
from firmware.table.errors import TableError
from firmware.terminal import say
from firmware.threads import start
from firmware.uplink.client import Client
from firmware.uplink.follow import Follower
from firmware.uplink.health import table_health
from firmware.uplink.settings import load
from firmware.uplink.witness import Witness
from pit.demo.attacker import rewrite
from pit.demo.people import call_floor, dispute, floor_comes, list_people, read_fault
from pit.demo.pictures import HandPictures

FOR_EVER: Final = 10**9
LARGEST_DEBT_S: Final = 1.0
"""The longest delay, in seconds, that a table makes up for on a busy machine."""
HURRY: Final = 10_000.0
"""The speed of a hand that is to be over at once, as a multiple of real time."""
FIRST_HAND: Final = 40
"""The number of rows after which a record has its first hand."""


Deed = Callable[[SteppedTable], object]
"""An act of a person at a table, other than playing."""


class DemoEnded(AppError):
    """The demo was stopped."""


class SteppedHeartbeat(Heartbeat):
    """Checks that a simulated table process answers. It has no socket, so commands are given to it directly."""

    def __init__(self, table: SteppedTable, data: Path, pulse: Path) -> None:
        super().__init__(data, data / "no.sock", pulse)
        self._table = table

    def ask(self, do: str) -> dict[str, Any]:
        """Return the answer to a command. Raises TableError if there is none."""
        answer = self._table.touch({"do": do})
        if answer is None or not answer["ok"]:
            raise TableError("The table process does not answer.")
        return answer


class PacedTable(SteppedTable):
    """A stepped table whose time runs `speed` times as fast as real time. Its wall clock is that of this machine."""

    def __init__(
        self,
        stop: threading.Event,
        speed: float,
        cut: Callable[[], Callable[[], object] | None],
        deeds: SimpleQueue[Deed],
        witness: Path,
        pulse: Path,
        *parts: Any,
    ) -> None:
        """`cut` is called at each step. If it returns a function, the table's power is cut and that function is called.

        `deeds`: acts of people at the table, done while its process runs. `witness`: the folder in which the uplink
        keeps what the pit has proven. `pulse`: the heartbeat file. `parts`: the arguments of `SteppedTable`.
        """
        self._stop = stop
        self.speed = speed
        self._cut = cut
        self._deeds = deeds
        self._witness = witness
        self._due = self._beats_at = time.monotonic()
        self._heartbeat = SteppedHeartbeat(self, parts[0].data, pulse)
        super().__init__(*parts, began_ms=_now_ms() - round(BOOTED_FOR * 1000))

    def pass_time(self, seconds: float, step: float = STEP) -> None:
        """Advance the simulated time, and wait for the same time at this speed. Raises DemoEnded."""
        super().pass_time(seconds, step)
        self._due = max(self._due + seconds / self.speed, time.monotonic() - LARGEST_DEBT_S)
        self._beat()
        while not self._stop.wait(min(max(0.0, self._due - time.monotonic()), EVERY_S)):
            self._beat()
            if time.monotonic() >= self._due:
                return
        raise DemoEnded("The demo ends.")

    def _beat(self) -> None:
        """Check whether the process answers, as often as at a real table."""
        if time.monotonic() >= self._beats_at:
            self._beats_at = time.monotonic() + EVERY_S
            with suppress(TableError):  # a dead process has no heartbeat
                self._heartbeat.beat()

    def _maintenance(self, journal: Journal) -> RecordMaintenance:
        config = self._config
        return RecordMaintenance(
            config.data, journal, config.key, config.keeping, self._clock(), witness=self._witness
        )

    def _step(self) -> None:
        self._wall_ms = _now_ms() - round(self.now * 1000)
        if (while_off := self._cut()) is not None:
            self._remove_process()
            while_off()
        super()._step()
        if self._process is not None and not self._deeds.empty():
            self._deeds.get()(self)


class DemoTable:
    """One table with its uplink. `start` starts both. After `stop` is set, `join` waits for both to end.

    `disputed`: the first hand is over at once, and the floor person puts it under dispute.
    """

    def __init__(
        self,
        name: str,
        data: Path,
        enrolment: Path,
        seed: int,
        speed: float,
        hands: int | None,
        stop: threading.Event,
        profile: str,
        *,
        disputed: bool = False,
    ) -> None:
        self.name = name
        self.data = data
        self.failure: BaseException | None = None
        self.note = "hand 1 is disputed" if disputed else ""
        """What is special about this table, in words for the screen."""
        self.is_apart = False
        """True if the pit will not get all rows, because the table is unplugged or its record is rewritten."""
        self._disputed = disputed
        self._deeds: SimpleQueue[Deed] = SimpleQueue()
        self._is_to_be_rewritten = False
        self._config = make_config(data, profile).model_copy(
            update={"table": name.removeprefix("Table "), "key": data.with_name(f"{data.name}-key")}
        )
        self.key_folder: Final = self._config.key
        self._witness: Final = data.with_name(f"{data.name}-witness")
        self._pulse: Final = data.with_name(f"{data.name}-pulse.json")
        self._seed = seed
        self._speed = speed
        self._hands = hands or FOR_EVER
        self._stop = stop
        self._unplugged = False
        settings = load(enrolment)
        assert settings is not None
        self._client = Client(settings)
        self._follower = Follower(
            data,
            self._client,
            release=version("feltwatch"),
            health=lambda: table_health(self._pulse, time.monotonic()),
            clock=time.monotonic,
            rng=random.Random(seed),
            witness=Witness(self._witness),
        )
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,), name=f"{name} {work.__name__}")
            for work in (self._play, self._send)
        ]

    def start(self) -> None:
        """Start the threads that play and send."""
        for thread in self._threads:
            start(thread)

    def join(self) -> None:
        """Wait for the end of both threads."""
        for thread in self._threads:
            thread.join()

    def unplug(self) -> None:
        """Stop sending. The table continues to play."""
        self._unplugged = self.is_apart = True
        self.note = "unplugged"
        say(f"{self.name} is unplugged now.", err=True)

    def rewrite(self) -> None:
        """Simulate an attack: cut the power, rewrite the first hand in the record's files, and start the table again.

        This happens as soon as the pit has that hand.
        """
        self.is_apart = self._is_to_be_rewritten = True

    def call_floor(self) -> None:
        """Let the dealer call a floor person."""
        self._deeds.put(call_floor)
        say(f"The dealer of {self.name} calls the floor now.", err=True)

    def floor_comes(self) -> None:
        """Let the called floor person come."""
        self._deeds.put(floor_comes)
        say(f"A floor person has come to {self.name} now.", err=True)

    @property
    def played(self) -> bool:
        """Whether all hands are played."""
        return not self._threads[0].is_alive()

    def rows(self) -> int:
        """Return the number of the record's last row."""
        return JournalReader(self.data).head()[0]

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except DemoEnded:
            pass
        except BaseException as error:
            self.failure = error

    def _send(self) -> None:
        try:
            while not self._unplugged and not self._stop.wait(self._follower.step()):
                pass
        finally:
            self._client.close()

    def _cut(self) -> Callable[[], object] | None:
        """Return the attack on the record if it is due now."""
        if not self._is_to_be_rewritten or self._follower.status.have.seq < FIRST_HAND:
            return None
        self._is_to_be_rewritten = False
        return self._rewrite

    def _rewrite(self) -> None:
        rewrite(self.data)
        self._deeds.put(read_fault)
        self.note = "its record was rewritten"
        say(f"The record of {self.name} is rewritten now.", err=True)

    def _play(self) -> None:
        faults, seed = Faults((), random.Random(self._seed)), self._seed
        config, number = self._config, int(self._config.table)
        _, rules = house_rules(config)
        pictures = HandPictures(seed, renders=self._disputed)
        model = ReaderModel(ReaderErrors.load(), random.Random(f"reader {seed}"))
        camera = random.Random(f"camera {seed}")
        readings = SteppedReadings(config.data, model, faults, camera, pictures)
        auditor = Auditor(faults, readings.given)
        rng = random.Random(f"table {seed}")
        speed = HURRY if self._disputed else self._speed
        table = PacedTable(
            *(self._stop, speed, self._cut, self._deeds, self._witness, self._pulse),
            *(config, faults, rng, readings),
        )

        def after_hand(hand: int) -> None:
            if self._disputed and hand == 1:
                dispute(table, hand)
                table.speed, pictures.renders = self._speed, False

        try:
            list_people(table, number)
            run = SteppedRun(table, config.data, auditor, faults, seed, rules, Habits())
            run.play(self._hands, after_hand)
        finally:
            table.close()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
