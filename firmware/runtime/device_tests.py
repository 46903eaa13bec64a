"""Tests of single devices by a technician. No press during a test plays a hand.

A test goes on while the page polls it; without a poll it ends by itself after `LASTS_S`. Its start and end are in the
journal, so every screen can show that the buttons are out of use. Results are an identifier (`Finding.why`) with
figures; the page translates it.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from firmware.access.control import Sender
from firmware.devices.clock import SystemClock
from firmware.devices.errors import DeviceError
from firmware.devices.panel.interface import (
    LAMPS,
    Bounce,
    ButtonName,
    Buttons,
    Buzzer,
    LampName,
    Lamps,
    Light,
    Press,
)
from firmware.devices.puck.reading import NO_DISK, Disks, PuckReading, PuckState
from firmware.health.device_checks import NOT_INSTALLED, ROOM_MB, SLOW_MS, judge_clock
from firmware.messages import Message, Text
from firmware.record.journal.disk import MB, free_bytes
from firmware.runtime import box_clock
from firmware.runtime.disks import name_disk, tags
from firmware.table import CommandRefused, State
from firmware.table import events as ev
from firmware.table.events import Event
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.topics.camera import AskJob, Look
from firmware.table.topics.setup import EndTrial, NameDisk, SetClock, TryDevice
from firmware.table.zone import use_zone, zone_now

LASTS_S: Final = 8.0
"""Seconds without a poll from the page after which a test ends."""
ASKED: Final[tuple[ButtonName, ...]] = ("next", "confirm", "reject")
"""The buttons in the order in which they are tested: white, green, red."""
BEEPS: Final = 3

DeviceTestCommand = TryDevice | EndTrial | SetClock | NameDisk
Figures = dict[str, Text | int | float | bool | None]


@dataclass(frozen=True)
class Finding:
    """The state of a device; `waits` while the test is not finished."""

    verdict: Literal["pass", "fail", "waits"]
    why: str
    figures: Figures = field(default_factory=dict)
    asks: str = ""
    """The next button to press, or the next lamp to look at."""


class Hardware(Protocol):
    """The table's hardware, as the table process holds it."""

    buttons: Buttons | None
    lamps: Lamps | None
    buzzer: Buzzer | None

    @property
    def power(self) -> Callable[[], Mapping[str, bool | float | None]]:
        """The power supply's sensor values by name."""

    @property
    def disks(self) -> Disks:
        """The disks that the puck reader recognises."""

    def use(self, disks: Disks) -> None:
        """Make it recognise these disks."""


class TestedTable(Protocol):
    """The table process whose devices are tested."""

    @property
    def state(self) -> State:
        """The record's current state."""

    def write(self, events: Sequence[Event], actor: str) -> int:
        """Record events durably. Raises CommandRefused, JournalError."""

    def relight(self) -> None:
        """Update the lamps."""

    def trouble_of(self, device: str) -> Text | None:
        """Return a device's fault: "" if it works, None if it has not reported yet."""

    def camera(self, command: Look | AskJob, sender: Sender) -> dict[str, Any]:
        """Have the camera take a picture, or return the progress of that job. Raises CommandRefused."""


class DeviceTests:
    """Tests one device at a time. Used on the table's own thread."""

    def __init__(
        self,
        data: Path,
        hardware: Hardware,
        clock: Callable[[], float] = time.monotonic,
        box: SystemClock | None = None,
        room: Callable[[Path], int] = free_bytes,
        clock_unit: Path = box_clock.UNIT,
    ) -> None:
        self._data = data
        self._hardware = hardware
        self._clock = clock
        self._box = box or SystemClock()
        self._room = room
        self._clock_unit = clock_unit
        self._heard_at = 0.0
        self._device: ev.Device | None = None
        self._puck: PuckReading | None = None
        self._forget()

    def _forget(self) -> None:
        self._visited: set[int] = set()
        self._action_seen = False
        self._pressed: list[ButtonName] = []
        self._presses = dict.fromkeys(ASKED, 0)
        self._bounces: list[Bounce] = []
        self._crossed = ""
        self._lit: LampName | None = None
        self._seen: dict[str, bool] = {}
        self._rang = False
        self._mute: Text = ""
        self._written_ms: float | None = None
        self._unwritable = ""
        self._look: int | None = None

    # ---- input from the table process ----

    def puck(self, reading: PuckReading) -> None:
        """Take a puck reading."""
        self._puck = reading
        if len(reading.dealer_at) == 1:
            self._visited.add(reading.dealer_at[0])
        self._action_seen = self._action_seen or bool(reading.action_at)

    def takes(self, press: Press, state: State) -> bool:
        """Return whether the press belongs to a test: during a test, and before the first set-up is finished."""
        if state.on_trial and self._device == "buttons" and not press.held:
            self._presses[press.button] += 1
            self._press(press.button)
        return state.on_trial or not state.set_up

    def lights(self, state: State) -> dict[LampName, Light] | None:
        """Return the lamps of a test, or of a box without set-up, whose buttons are out of use; None for neither."""
        if not state.on_trial:
            return None if state.set_up else {"ready": Light.BLINK}
        if self._device == "lamps":
            return {self._lit: Light.ON} if self._lit else {}
        asked = self._next_button() if self._device == "buttons" else None
        return {asked: Light.BLINK} if asked else {}

    def is_over(self, state: State) -> bool:
        """Return whether the page has stopped polling the test."""
        return state.on_trial and self._clock() - self._heard_at > LASTS_S

    # ---- commands ----

    def handle(self, command: DeviceTestCommand, table: TestedTable, sender: Sender) -> dict[str, Any]:
        """Run a command of the test and return the device's state. Raises CommandRefused, JournalError."""
        if isinstance(command, EndTrial):
            seq = table.write((ev.TrialEnded(),), sender.actor) if table.state.on_trial else None
            return {"ok": True} | ({"seq": seq} if seq else {})
        if isinstance(command, SetClock):
            return self._set_clock(command, table, sender)
        if isinstance(command, NameDisk):
            if not table.state.on_trial or self._device != "puck":
                raise CommandRefused("Disks are named in the set-up, while the puck reader is tried.")
            return {"ok": True, "seq": name_disk(command, self._puck, self._hardware, table, sender.actor)}
        if table.state.phase not in BETWEEN_HANDS:
            raise CommandRefused("A hand is open: devices are tried between hands.")
        self._heard_at = self._clock()
        if not table.state.on_trial:
            self._device = None
            table.write((ev.TrialBegun(),), sender.actor)
        if self._device != command.device or command.act == "begin":
            self._device = command.device
            self._begin()
        self._act(command)
        table.relight()
        found = self._finding(table, sender)
        if command.act == "keep":
            found = self._record_verdict(found, command, table, sender)
        return (
            {"ok": True, "device": command.device}
            | vars(found)
            | {"seen": dict(self._seen)}
            | self._list_details(command.device)
        )

    def _list_details(self, device: ev.Device) -> dict[str, Any]:
        """Return what a test lists besides its figures; none of it is recorded."""
        if device == "puck":
            return {"tags": tags(self._puck, self._hardware.disks)}
        if device == "buttons":
            self._take_bounces()
            bounces = [[one.button, one.edges, one.lasted_ms] for one in self._bounces]
            return {"presses": dict(self._presses), "bounces": bounces}
        return {}

    def _take_bounces(self) -> None:
        if self._hardware.buttons is not None:
            self._bounces += self._hardware.buttons.take_bounces()

    def _begin(self) -> None:
        self._forget()
        if self._device == "puck" and self._puck is not None:
            self.puck(self._puck)
        if self._device == "disk":
            self._write()
        if self._device == "buttons":
            self._take_bounces()
            self._bounces.clear()  # those of before the test

    def _act(self, command: TryDevice) -> None:
        if command.act == "light":
            if command.name not in LAMPS:
                raise CommandRefused("There is no such lamp.")
            self._lit = command.name
        elif command.act == "ring":
            self._ring()
        elif command.act == "look" and command.seen is not None:
            if command.device == "lamps" and self._lit is not None:
                self._seen[self._lit] = command.seen
                self._lit = None
            elif command.device == "buzzer" and self._rang:
                self._seen["buzzer"] = command.seen

    def _ring(self) -> None:
        self._seen.clear()
        self._rang = True
        if self._hardware.buzzer is None:
            return
        try:
            self._hardware.buzzer.beep(BEEPS)
            self._mute = ""
        except DeviceError as error:
            self._mute = error.sentence

    def _record_verdict(
        self, found: Finding, command: TryDevice, table: TestedTable, sender: Sender
    ) -> Finding:
        """Record the verdict. `seen` false: the user continues without the device."""
        if command.seen is False and found.verdict == "waits":
            found = Finding("fail", f"{found.why}_left", found.figures)
        if found.verdict == "waits":
            raise CommandRefused("It has not been tried to the end: go on, or go on without it.")
        tried = ev.DeviceTried(command.device, found.verdict, found.why, found.figures, dict(self._seen))
        table.write((tried,), sender.actor)
        return found

    # ---- one device each ----

    def _finding(self, table: TestedTable, sender: Sender) -> Finding:
        part = "puck" if self._device == "puck" else "panel"
        if self._device in ("puck", "buttons", "lamps", "buzzer") and part in table.state.without:
            return Finding("pass", NOT_INSTALLED)
        match self._device:
            case "camera":
                return self._camera(table, sender)
            case "puck":
                return self._puck_finding(table)
            case "buttons":
                return self._buttons(table)
            case "lamps":
                return self._lamps(table)
            case "buzzer":
                return self._buzzer(table)
            case "disk":
                return self._disk(table)
            case "clock":
                return self._clocks()
            case _:
                return self._power(table)

    def _camera(self, table: TestedTable, sender: Sender) -> Finding:
        trouble = table.trouble_of("camera")
        if trouble is None:
            return Finding("waits", "camera_starts")
        if trouble:
            self._look = None
            return Finding("fail", "camera_fails", {"says": trouble})
        if self._look is None:
            try:
                self._look = int(table.camera(Look(), sender)["job"])
            except CommandRefused:  # the camera is busy with another job
                return Finding("waits", "camera_takes")
        answer = table.camera(AskJob(job=self._look), sender)
        if answer["state"] == "failed":
            return Finding("fail", "camera_fails", {"says": Message.from_json(answer)})
        if answer["state"] == "running":
            return Finding("waits", "camera_takes")
        width, height = answer["result"]["size"]
        return Finding("pass", "camera_well", {"width": width, "height": height})

    def _puck_finding(self, table: TestedTable) -> Finding:
        reading = self._puck
        if reading is None or (reading.state is PuckState.UNKNOWN and not reading.readers_ok):
            says = table.trouble_of("puck")
            return Finding("fail", "puck_fails", {"says": says}) if says else Finding("waits", "puck_absent")
        if reading.detail == NO_DISK:
            return Finding("waits", "puck_unnamed" if reading.strangers else "puck_diskless")
        if reading.state is PuckState.FAULT:
            return Finding("fail", "puck_fails", {"says": reading.detail})
        answers = set(reading.readers_ok)
        wanted = answers | {seat.seat for seat in table.state.house.seats} if len(answers) > 1 else answers
        figures: Figures = {
            "seen": len(self._visited & wanted),
            "wanted": len(wanted),
            "seats": _list_seats(self._visited & wanted),
            "left": _list_seats(wanted - self._visited),
            "at": _list_seats(reading.dealer_at),
            "action": self._action_seen,
            "strangers": len(reading.strangers),
        }
        if dead := wanted - answers:
            return Finding("fail", "puck_deaf", figures | {"dead": _list_seats(dead)})
        if wanted <= self._visited:
            return Finding("pass", "puck_well" if self._action_seen else "puck_well_alone", figures)
        text = {
            PuckState.AMBIGUOUS: "puck_twice",
            PuckState.APART: "puck_apart",
            PuckState.NONE: "puck_nowhere",
        }
        return Finding("waits", text.get(reading.state, "puck_moves"), figures)

    def _press(self, button: ButtonName) -> None:
        asked = self._next_button()
        if asked is None or self._crossed:
            return
        if button == asked:
            self._pressed.append(button)
        elif button not in self._pressed:
            self._crossed = f"{asked} {button}"

    def _next_button(self) -> ButtonName | None:
        return next((name for name in ASKED if name not in self._pressed), None)

    def _buttons(self, table: TestedTable) -> Finding:
        figures: Figures = {"pressed": len(self._pressed), "wanted": len(ASKED)}
        if says := table.trouble_of("buttons"):
            return Finding("fail", "buttons_fail", figures | {"says": says})
        if self._hardware.buttons is None:
            return Finding("fail", "buttons_absent", figures)
        if self._crossed:
            asked, came = self._crossed.split()
            return Finding("fail", "buttons_crossed", figures | {"asked": asked, "came": came})
        asked_now = self._next_button()
        if asked_now is None:
            return Finding("pass", "buttons_well", figures)
        return Finding("waits", "buttons_press", figures, asked_now)

    def _lamps(self, table: TestedTable) -> Finding:
        dark = [name for name in LAMPS if self._seen.get(name) is False]
        figures: Figures = {"lit": sum(self._seen.values()), "wanted": len(LAMPS), "dark": " ".join(dark)}
        if says := table.trouble_of("lamps"):
            return Finding("fail", "lamps_fail", figures | {"says": says})
        if self._hardware.lamps is None:
            return Finding("fail", "lamps_absent", figures)
        left = [name for name in LAMPS if name not in self._seen]
        if left:
            return Finding("waits", "lamps_look", figures, self._lit or left[0])
        return Finding("fail", "lamps_dark", figures) if dark else Finding("pass", "lamps_well", figures)

    def _buzzer(self, table: TestedTable) -> Finding:
        if says := self._mute or table.trouble_of("buzzer"):
            return Finding("fail", "buzzer_fails", {"says": says})
        if self._hardware.buzzer is None:
            return Finding("fail", "buzzer_absent")
        if "buzzer" not in self._seen:
            return Finding("waits", "buzzer_listen" if self._rang else "buzzer_ring")
        return Finding("pass", "buzzer_well") if self._seen["buzzer"] else Finding("fail", "buzzer_silent")

    def _write(self) -> None:
        """Write a megabyte next to the record, sync it and delete it."""
        path = self._data / "trial.tmp"
        began = self._clock()
        try:
            with path.open("wb") as file:
                file.write(os.urandom(MB))
                file.flush()
                os.fsync(file.fileno())
            self._written_ms = round(1000 * (self._clock() - began), 1)
            path.unlink()
        except OSError as error:
            self._unwritable = error.strerror or str(error)

    def _disk(self, table: TestedTable) -> Finding:
        try:
            free_mb = self._room(self._data) // MB
        except OSError as error:
            return Finding("fail", "disk_fails", {"says": error.strerror or str(error)})
        figures: Figures = {"free_mb": free_mb, "ms": self._written_ms}
        says = self._unwritable or table.trouble_of("disk")
        if says:
            return Finding("fail", "disk_fails", figures | {"says": says})
        if free_mb < ROOM_MB:
            return Finding("fail", "disk_full", figures | {"wanted_mb": ROOM_MB})
        slow = self._written_ms is not None and self._written_ms > SLOW_MS
        return Finding("fail" if slow else "pass", "disk_slow" if slow else "disk_well", figures)

    def _clocks(self) -> Finding:
        now = self._box.read()
        synchronised = now.state == "synchronised"
        figures: Figures = {"wall_ms": now.wall_ms, "synchronised": synchronised, "rtc": now.rtc}
        if now.jumped_ms:
            figures["jumped_s"] = round(now.jumped_ms / 1000, 1)
        why = judge_clock(synchronised, now.rtc, now.jumped_ms)
        return Finding("pass" if why in ("clock_synchronised", "clock_battery") else "fail", why, figures)

    def _set_clock(self, command: SetClock, table: TestedTable, sender: Sender) -> dict[str, Any]:
        """Have the box's clock set, and record who set it, the old time and the new time."""
        if table.state.phase not in BETWEEN_HANDS:
            raise CommandRefused("A hand is open: the clock is set between hands.")
        before, zone = self._box.read().wall_ms, zone_now()
        box_clock.ask(command, self._clock_unit)
        if command.zone:
            use_zone(command.zone)
        after = self._box.read().wall_ms  # so that the next reading reports no jump
        done = ev.ClockSet(before, after, zone, command.zone or zone)
        return {"ok": True, "seq": table.write((done,), sender.actor)}

    def _power(self, table: TestedTable) -> Finding:
        figures: Figures = dict(self._hardware.power())
        if says := table.trouble_of("power"):
            return Finding("fail", "power_fails", figures | {"says": says})
        known = any(value is not None for value in figures.values())
        return Finding("pass" if known else "fail", "power_well" if known else "power_unknown", figures)


def _list_seats(seats: Any) -> str:
    return " ".join(str(seat) for seat in sorted(seats))
