"""The table process: one thread with a queue owns the state, the journal and the lamps.

Devices, the reading process and the socket only put into the queue. Events are written by `LiveRecord` alone. The
devices' current state is kept, and differences are brought into the journal (`_catch_up`).
"""

import json
import logging
import queue
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

from firmware.access.control import AccessCommand, AccessControl, Sender
from firmware.access.pins import PinStore
from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.panel.interface import Press
from firmware.devices.puck.reading import PuckReading
from firmware.messages import Message, Text
from firmware.record.journal.journal import TABLE, Journal
from firmware.record.journal.row_index import ENDS
from firmware.runtime.command_desk import CommandDesk
from firmware.runtime.config import NO_SCREEN, ScreenConfig
from firmware.runtime.device_tests import DeviceTestCommand, DeviceTests
from firmware.runtime.disks import Badges, use_badges, use_named
from firmware.runtime.host_facts import BoxFacts
from firmware.runtime.inputs import Request, Stop
from firmware.runtime.live_record import LiveRecord
from firmware.runtime.liveness.heartbeat import Heartbeat
from firmware.runtime.liveness.presses import Presses
from firmware.runtime.liveness.screen_watch import ScreenWatch
from firmware.runtime.liveness.table_faults import TableFaults
from firmware.runtime.maintenance import Answer, RecordMaintenance
from firmware.runtime.panel_state import beeps, lights
from firmware.runtime.pit_desk import PitDesk
from firmware.runtime.puck_calm import CalmPuck
from firmware.runtime.reading.calibrations import CameraCalibration
from firmware.runtime.reading.messages import (
    JobDone,
    JobLost,
    JobProgress,
    NothingNew,
    ReaderState,
    ReadingDone,
    ReadingLost,
    Readings,
)
from firmware.runtime.reading.scheduler import ReadingScheduler
from firmware.runtime.reading.setup_jobs import CameraJobs
from firmware.runtime.record_check import RecordCheck
from firmware.runtime.record_faults import RecordWatch
from firmware.runtime.socket_server import CommandSocket
from firmware.runtime.table_devices import Devices
from firmware.table import CommandRefused, State, TableError
from firmware.table import events as ev
from firmware.table.command import Command
from firmware.table.decide import decide
from firmware.table.errors import JournalDamaged
from firmware.table.house import House, contradictory
from firmware.table.offers import Offers, offers
from firmware.table.topics.camera import AskJob, CameraCommand, Look
from firmware.table.topics.evidence import RecordCommand
from firmware.table.topics.house import SetHouse, profile_text
from firmware.table.topics.inbox import TakeFile
from firmware.table.topics.people import ListBadge
from firmware.table.topics.pit import PitCommand
from firmware.table.topics.profiles import KeepProfile, complete_profile
from firmware.table.topics.puck import opening_when_right
from firmware.table.topics.screen import AcknowledgePaint, ScreenCommand
from firmware.table.topics.setup import AskHealth

log = logging.getLogger(__name__)

TICK: Final = 0.1
"""Seconds between two checks of the clock when there is no input."""
ANSWER_WITHIN: Final = 10.0
"""Seconds that a command may wait for its start, unless configured otherwise."""
MADE_WITHIN: Final = 50.0
"""Additional seconds for a slow command: a dispute file with its pages."""


class TableProcess:
    """One table. Build it, `run` it on a thread, `stop` it from any other thread."""

    def __init__(
        self,
        data: Path,
        journal: Journal,
        house: House,
        devices: Devices,
        readings: Readings,
        socket: Path | None,
        turn_up: float,
        clock: Callable[[], float] = time.monotonic,
        maintenance: RecordMaintenance | None = None,
        *,
        answer_within: float = ANSWER_WITHIN,
        limits: Mapping[str, AdaptiveLimit] | None = None,
        pit: PitDesk | None = None,
        screen: ScreenConfig = NO_SCREEN,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        """Recover the state from the journal.

        `socket`: where commands come from, None for `put` only; `turn_up`: seconds from the showdown signal to the
        first reading; `maintenance`: signs, exports and maintains the record, closed with the table; `answer_within`:
        seconds after which a command that has not started is refused; `limits`: the limits shown by health, by name;
        `pit`: requests this table's enrolment at a pit; `screen`: the screen at the table, by default none;
        `heartbeat`: asks the socket whether this process answers, and is started after it. Raises TableError for a
        record that cannot be continued, SocketError.
        """
        self._configured = house
        self._devices = devices
        self._readings = readings
        self._clock = clock
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._record = LiveRecord(data, journal, house, clock, self._on_change)
        reader = self._record.reader
        self._check = RecordCheck(data, journal)
        self._scheduler = ReadingScheduler(self, readings.request, reader, turn_up, clock)
        self._camera_jobs = CameraJobs(readings.request, journal, reader)
        self._calibration = CameraCalibration(readings.use, reader.content)
        self._maintenance = maintenance
        self._pit = pit
        self._badges = Badges()
        self._access = AccessControl(PinStore(data), clock, lambda: self._badges.valid_tags(clock()))
        self._access.tidy(self.state)
        self._puck = CalmPuck()
        self._answer_within = answer_within
        self._limits = limits or {}
        self._device_tests = DeviceTests(data, devices, clock)
        self._box = BoxFacts(data)
        self._desk = CommandDesk(self, self._record, self._access, maintenance)
        self._shown = (False, False)
        self._started = self._stopping = False
        self._screen = ScreenWatch(screen, clock)
        self._presses = Presses(self._screen)
        self._table_faults = TableFaults(
            devices,
            self._puck,
            RecordWatch(data, journal, clock),
            maintenance,
            self._screen,
            self._calibration,
            self._scheduler,
            lambda: self.house.rules,
            clock,
        )
        self._heartbeat = heartbeat
        self._socket = CommandSocket(socket, self.ask) if socket is not None else None

    # ---- from other threads ----

    def put(self, item: Any) -> None:
        """Add a message of a device or of the reading process to the queue."""
        self._queue.put(item)

    def ask(self, line: bytes) -> dict[str, Any]:
        """Run a command and return its answer once it is durable or refused."""
        request = Request(line)
        self._queue.put(request)
        try:
            with suppress(TimeoutError):
                return request.answer.result(self._answer_within)
            return request.answer.result(MADE_WITHIN if request.answer.running() else 0)
        except TimeoutError:
            late = Message("The table did not answer in time; look at the page, then try again.")
            return late.refusal() | {"uncertain": True}

    def _ask_in_a_crowd(self, command: dict[str, Any]) -> dict[str, Any] | None:
        """Run a command of this process's own while clients hold every place of the socket; None if they do not."""
        crowded = self._socket is not None and self._socket.is_crowded
        return self.ask(json.dumps(command).encode()) if crowded else None

    def stop(self) -> None:
        """Ask `run` to return, which it does at its next turn."""
        self._stopping = True
        with suppress(MemoryError):  # only wakes it
            self._queue.put(Stop())

    # ---- the one thread ----

    def run(self, turned: Callable[[], None] = lambda: None) -> None:
        """Run until `stop`. Call `turned` after the start and after every turn, at least ten times a second."""
        try:
            self.begin()
            turned()
            while not isinstance(item := self._next_input(), Stop) and not self._stopping:
                self.turn(item)
                turned()
        finally:
            self.end()

    def begin(self) -> None:
        """Record the start, start the devices and accept commands. See `run`."""
        self._start()
        use_named(self._record.reader, self._devices)
        use_badges(self.state.people, self._devices)
        self._devices.start(self.put)
        self._show()  # there were no lamps yet when the start was recorded
        self._calibration.put_in_force(self.state.calibrations, self.house)
        self._readings.start(self.put)
        if self._socket is not None:
            self._socket.start()
        if self._heartbeat is not None:
            self._heartbeat.start(self._ask_in_a_crowd)

    def _start(self) -> None:
        """Record the start. On a full disk the table shows the record, and records the start once there is space.

        Raises JournalDamaged: a file that takes no row cannot be continued.
        """
        configured = self._configured
        begun = ev.TableStarted(configured.software, configured.settings, configured.without)
        self._started = self._attempt_on_sound([begun], TABLE)
        if not self._started:
            return
        if why := contradictory(self.house.rules):  # before the first command: no hand opens by such rules
            self.attempt([ev.DeviceFault("rules", why)], TABLE)
        try:
            if self._maintenance is not None:
                self._maintenance.begin(self)
        except TableError as error:
            self._started = False
            log.error("%s", error)
            return
        self._check.begin(self._attempt_on_sound)

    def turn(self, item: Any = None) -> None:
        """Process one input, or None for a tick without one, then catch up."""
        self._make_certain()
        if item is not None:
            self._take(item)
        self._catch_up()
        if self._maintenance is not None:
            self._maintenance.turn(self)
        if self._pit is not None and self._started and not self._record.trouble:
            self._pit.turn(self)

    def turn_all(self) -> None:
        """Process every waiting input, then catch up. For a caller that drives the clock instead of `run`."""
        while not self._queue.empty():
            self.turn(self._queue.get())
        self.turn()

    def end(self) -> None:
        """Close the socket and the devices, and refuse all waiting commands."""
        with ExitStack() as closing:  # each is closed whatever becomes of the others, the heartbeat first
            closing.callback(self._refuse_waiting)
            for part in (
                self._check,
                self._maintenance,
                self._readings,
                self._devices,
                self._socket,
                self._heartbeat,
            ):
                if part is not None:
                    closing.callback(part.close)

    def _next_input(self) -> Any:
        try:
            return self._queue.get(timeout=TICK)
        except queue.Empty:
            return None

    def _refuse_waiting(self) -> None:
        while not self._queue.empty():
            item = self._queue.get()
            if isinstance(item, Request):
                item.answer.set_result(Message("The table process is being stopped.").refusal())

    def _take(self, item: Any) -> None:
        match item:
            case Request():
                self._desk.answer(item.line, item.answer)
            case Press():
                self._on_press(item)
            case PuckReading():
                self._puck.take(item, self._clock())
                self._badges.take(item, self._clock())
                self._device_tests.puck(item)
            case ReaderState():
                self._box.on_answer(item)
                self._scheduler.on_reader_state(item)
            case ReadingDone() | ReadingLost() | NothingNew():
                self._box.on_answer(item)
                if self._scheduler.answered(item) and isinstance(item, ReadingDone):
                    self._calibration.on_answer(item)
            case JobProgress() | JobDone() | JobLost():
                self._box.on_answer(item)
                self._camera_jobs.take(item, self)

    # ---- writing events ----

    @property
    def state(self) -> State:
        """The state, as the journal has it."""
        return self._record.state

    @property
    def house(self) -> House:
        """The settings for the next hand."""
        return self._record.house

    @property
    def seq(self) -> int:
        """The last row's number."""
        return self._record.journal.seq

    def write(self, events: Sequence[ev.Event], actor: str) -> int:
        """Record events for a command, on the table's own thread. Raises CommandRefused, JournalError."""
        return self._record.write(
            self._scheduler.comparisons.before(events, self.state), actor, self._desk.command_id
        )

    def attempt(self, events: Sequence[ev.Event], actor: str) -> bool:
        """Record events that no user waits for; return False if that fails now: `_catch_up` repeats them."""
        try:
            return self._attempt_on_sound(events, actor)
        except JournalDamaged as error:
            self._report(error)
            return False

    def _attempt_on_sound(self, events: Sequence[ev.Event], actor: str) -> bool:
        """Record events that no user waits for; return False if that fails now. Raises JournalDamaged."""
        error = self._record.attempt(self._scheduler.comparisons.before(events, self.state), actor)
        if error is not None:
            self._report(error)
        return error is None

    def _report(self, error: TableError) -> None:
        self._record.report(error)
        self._show()

    def _make_certain(self) -> None:
        try:
            before = self.state
            if self._record.make_certain(self._on_recovery):
                self._presses.changed(before, self.state, self.seq, self._clock())
                self._show()
        except TableError as error:
            self._report(error)

    def _on_recovery(self) -> None:
        use_named(self._record.reader, self._devices)
        use_badges(self.state.people, self._devices)
        self._calibration.put_in_force(self.state.calibrations, self.house)

    def _on_change(self, before: State, events: Sequence[ev.Event], actor: str, began: float) -> None:
        """Bring everything that follows the state to where the record is now."""
        state = self.state
        self._presses.changed(before, state, self.seq, began)
        if state.people != before.people:
            use_badges(state.people, self._devices)
        if state.calibrations != before.calibrations:
            self._calibration.put_in_force(state.calibrations, self.house)
        self._show()
        if self._maintenance is not None and any(event.type in ENDS for event in events):
            self._maintenance.hand_ended()

    def _show(self) -> None:
        trouble = bool(self.state.faults or self._record.trouble)
        unknown = not self._screen.is_known
        before, self._shown = self._shown, (trouble, bool(self.state.questions))
        tried = self._device_tests.lights(self.state)
        self._devices.show(
            lights(self.state, self._may, trouble, unknown=unknown) if tried is None else tried,
            0 if self.state.on_trial else beeps(before, self._shown),
        )

    @property
    def _may(self) -> Offers:
        """What may be done now."""
        return offers(self.state, self.house, self._record.rules)

    # ---- commands ----

    def carry_out(self, command: Command, sender: Sender) -> Answer:
        """Carry out a command that this person may give. Raises TableError."""
        if isinstance(command, RecordCommand):
            if self._maintenance is None:
                raise CommandRefused("This table signs nothing.")
            return self._maintenance.handle(command, self, sender)
        if isinstance(command, PitCommand | TakeFile):
            if self._pit is None:
                raise CommandRefused("This table has no program that speaks to a pit.")
            return self._pit.handle(command, self, sender, self._maintenance)
        if isinstance(command, ScreenCommand):
            return self._handle_screen(command)
        if isinstance(command, AccessCommand):
            return self._access.handle(command, self, sender)
        if isinstance(command, ListBadge):
            return {"ok": True, "seq": self._badges.list(command, self._devices.disks, self, sender.actor)}
        if isinstance(command, DeviceTestCommand):
            return self._device_tests.handle(command, self, sender)
        if isinstance(command, CameraCommand):
            return self._camera_jobs.handle(command, self, sender)
        if isinstance(command, AskHealth):
            facts = self._box.of_table(self._devices, self._puck.reading(self._clock())) | {
                "faults": self._table_faults.of(self.state),
                "screen": self._screen.to_json(),
                "without": list(self.state.without),
            }
            limits = {name: limit.to_json() for name, limit in self._limits.items()}
            return {"ok": True, "facts": facts | {"limits": limits}}
        return {"ok": True, "seq": self.order(command, sender.actor)}

    def _handle_screen(self, command: ScreenCommand) -> dict[str, Any]:
        if isinstance(command, AcknowledgePaint):
            was_known = self._screen.is_known
            self._screen.take(command)
            if not was_known:
                self._show()
        seq, digest = self._record.journal.head
        return {"ok": True, "seq": seq, "hash": digest, "screen": self._screen.to_json()}

    def order(self, command: Command, actor: str) -> int:
        """Decide a command and record what comes of it, with the texts that it names; return the last row's number.

        On the table's own thread. Raises CommandRefused, JournalError.
        """
        self._presses.check_touch(command, self._clock())
        self._scheduler.read_from_start()
        if isinstance(command, SetHouse) and (text := profile_text(command)) is not None:
            self._record.keep("profile", text.encode())  # before the event that refers to it by hash
        if isinstance(command, KeepProfile):
            self._record.keep("profile", complete_profile(command.text)[1].encode())
        events = decide(self.state, command, self.house, self._record.rules, self._record.past)
        return self.write(events, actor)

    def keep(self, kind: str, data: bytes) -> str:
        """Store content that events name by hash; return its hash. Raises JournalError."""
        return self._record.keep(kind, data)

    def relight(self) -> None:
        """Update the lamps, for the device tests."""
        self._show()

    def trouble_of(self, device: str) -> Text | None:
        """Return a device's fault: "" if it works, None if it has not reported yet."""
        if device == "camera" and not self._scheduler.heard:
            return None
        return self._table_faults.of(self.state).get(device, "")

    def camera(self, command: Look | AskJob, sender: Sender) -> dict[str, Any]:
        """Have the camera take a picture, or return its progress, for the device tests. Raises CommandRefused."""
        return self._camera_jobs.handle(command, self, sender)

    def _on_press(self, press: Press) -> None:
        if self._device_tests.takes(press, self.state):
            self._show()
            return
        try:
            command = self._presses.command(press, self._may)
            if command is not None:
                if self.state.waiting is not None:
                    raise CommandRefused(
                        "Hand %(hand)s is being corrected on the screen; hand %(waiting)s waits.",
                        hand=self.state.hand,
                        waiting=self.state.waiting.hand,
                    )
                dealer = self.state.dealer
                events = decide(self.state, command, self.house, self._record.rules)
                self.write(events, f"button:{dealer}" if dealer else "button")
        except CommandRefused as error:
            log.warning("%s does nothing: %s", press.button, error)
            self._screen.refuse(error.sentence)
        except TableError as error:
            self._record.trouble = str(error)
            log.error("%s could not be done: %s", press.button, error)
            self._show()

    # ---- catching up ----

    def _catch_up(self) -> None:
        """Record the current state of the devices where it is not in the journal yet."""
        if self._clock() < self._record.retry_at:
            return
        if not self._started:
            self._start()
            return
        self._check.turn(self.attempt)
        if self._device_tests.is_over(self.state) and not self.attempt([ev.TrialEnded()], TABLE):
            return
        puck = self._puck_news()
        if puck is not None and not self.attempt([puck], "puck"):
            return
        opens = opening_when_right(self.state, self.house)
        if opens and not self.attempt(opens, "puck"):
            return
        faults = self._table_faults.of(self.state)
        gone = [ev.DeviceRecovered(name) for name in self.state.faults if name not in faults]
        come = [ev.DeviceFault(n, why) for n, why in faults.items() if self.state.faults.get(n) != why]
        if (gone or come) and not self.attempt([*gone, *come], TABLE):
            return
        for recovered in gone:
            log.info("%s: works again", recovered.device)
        for fault in come:
            log.warning("%s: %s", fault.device, fault.detail)
        self._scheduler.request_reading()

    def _puck_news(self) -> ev.PuckSeen | None:
        puck = self._puck.reading(self._clock())
        if puck is None:
            return None
        recorded = ev.Puck(puck.state.value, puck.seat, puck.detail)
        return (
            None
            if recorded == self.state.puck
            else ev.PuckSeen(recorded.state, recorded.seat, recorded.detail)
        )
