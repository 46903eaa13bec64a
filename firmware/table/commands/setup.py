"""The commands of setting a table up: steps settled, devices tried, the first set-up ended."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from firmware.table.commands.people import SignedCommand
from firmware.table.errors import CommandRefused
from firmware.table.events import setup as ev
from firmware.table.events.base import Event
from firmware.table.state import State


class SettleStep(SignedCommand):
    """A step of the set-up is done, or left for later."""

    do: Literal["settle_step"] = "settle_step"
    step: ev.Step
    skipped: bool = False


class EndSetUp(SignedCommand):
    """The first set-up is over; `skipped`: the table is played at without all of it."""

    do: Literal["end_set_up"] = "end_set_up"
    skipped: bool = False


class TryDevice(SignedCommand):
    """Try a device, or go on with it: its answer says how it stands, and must be asked for again and again.

    `act`: "begin" again, "look" (the default), "light" or "ring" something, "keep" the verdict in the record.
    `name` is the lamp to light; `seen` what a person saw or heard of the lamp last lit, of the buzzer.
    """

    do: Literal["try_device"] = "try_device"
    device: ev.Device
    act: Literal["begin", "look", "light", "ring", "keep"] = "look"
    name: str = Field(default="", max_length=40)
    seen: bool | None = None


class EndTrial(SignedCommand):
    """Devices are no longer being tried."""

    do: Literal["end_trial"] = "end_trial"


class SetClock(SignedCommand):
    """Set the box's clock: date and time as the box's own, both or neither, and its time zone or ""."""

    do: Literal["set_clock"] = "set_clock"
    date: str = Field(default="", max_length=10)
    time: str = Field(default="", max_length=5)
    zone: str = Field(default="", max_length=80)


class NameDisk(SignedCommand):
    """A tag that the puck reader reads is that disk's, or a known tag is none any more ("")."""

    do: Literal["name_disk"] = "name_disk"
    tag: str = Field(pattern=r"^([0-9A-F]{2}){4,10}$")
    disk: Literal["dealer", "action", ""] = ""


class AskHealth(SignedCommand):
    """What the table process sees of the box and its devices: `firmware.health.checks.Facts`, as far as it knows."""

    do: Literal["health"] = "health"


SetupCommand = SettleStep | EndSetUp | TryDevice | EndTrial | SetClock | NameDisk | AskHealth


def decide_setup(state: State, command: SettleStep | EndSetUp) -> tuple[Event, ...]:
    """Return the events that a command of the set-up is. Raises CommandRefused."""
    match command:
        case SettleStep(step="seats", skipped=False) if not state.house.seats:
            raise CommandRefused("Nobody sits at this table: seat somebody, or leave the seats for later.")
        case SettleStep():
            return (ev.StepSettled(command.step, command.skipped),)
        case EndSetUp():
            return (ev.SetUpEnded(command.skipped),)
