"""The commands of a table's set-up: steps, device tests, clock, disks, and its end."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from firmware.table.commands.people import SignedCommand
from firmware.table.errors import CommandRefused
from firmware.table.events import setup as ev
from firmware.table.events.base import Event
from firmware.table.state import State


class SettleStep(SignedCommand):
    """Mark a step of the set-up as done, or as left for later."""

    do: Literal["settle_step"] = "settle_step"
    step: ev.Step
    skipped: bool = False


class EndSetUp(SignedCommand):
    """End the first set-up; `skipped`: some steps were left out."""

    do: Literal["end_set_up"] = "end_set_up"
    skipped: bool = False


class TryDevice(SignedCommand):
    """Test a device, or continue the test; the answer is its current status, for which the page must poll.

    `act`: "begin" starts over, "look" (the default) returns the status, "light" and "ring" switch a lamp or the buzzer
    on, "keep" records the verdict. `name` is the lamp to light; `seen` is what a person observed of the lamp or buzzer.
    """

    do: Literal["try_device"] = "try_device"
    device: ev.Device
    act: Literal["begin", "look", "light", "ring", "keep"] = "look"
    name: str = Field(default="", max_length=40)
    seen: bool | None = None


class EndTrial(SignedCommand):
    """End the device tests."""

    do: Literal["end_trial"] = "end_trial"


class SetClock(SignedCommand):
    """Set the box's clock: date and time as the box's own, both or neither, and its time zone or ""."""

    do: Literal["set_clock"] = "set_clock"
    date: str = Field(default="", max_length=10)
    time: str = Field(default="", max_length=5)
    zone: str = Field(default="", max_length=80)


class NameDisk(SignedCommand):
    """Assign a tag of the puck reader to a disk, or remove a known tag ("")."""

    do: Literal["name_disk"] = "name_disk"
    tag: str = Field(pattern=r"^([0-9A-F]{2}){4,10}$")
    disk: Literal["dealer", "action", ""] = ""


class AskHealth(SignedCommand):
    """Return what the table process knows of `firmware.health.checks.Facts`."""

    do: Literal["health"] = "health"


SetupCommand = SettleStep | EndSetUp | TryDevice | EndTrial | SetClock | NameDisk | AskHealth


def decide_setup(state: State, command: SettleStep | EndSetUp) -> tuple[Event, ...]:
    """Return the events of a command of the set-up. Raises CommandRefused."""
    match command:
        case SettleStep(step="seats", skipped=False) if not state.house.seats:
            raise CommandRefused("Nobody sits at this table: seat somebody, or leave the seats for later.")
        case SettleStep():
            return (ev.StepSettled(command.step, command.skipped),)
        case EndSetUp():
            return (ev.SetUpEnded(command.skipped),)
