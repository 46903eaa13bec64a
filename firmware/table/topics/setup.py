"""A table's set-up: steps, device tests, clock, disks, and its end."""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from firmware.messages import Message, Text
from firmware.table.command import Command, Context
from firmware.table.errors import CommandRefused
from firmware.table.event import EVERY_PHASE, Event, stays
from firmware.table.people import ANYBODY, TECHNICIAN
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.state import State

Device = Literal["camera", "puck", "buttons", "lamps", "buzzer", "disk", "clock", "power"]

DeviceVerdict = Literal["pass", "fail"]

Step = Literal["language", "people", "table", "clock", "game", "seats", "calibration", "deck"]
"""The set-up steps that a person settles; the steps of devices are settled by testing them."""


class StepSettled(Event, leads=stays(BETWEEN_HANDS), in_doubt=True):
    """A step of the set-up was marked as done, or was left for later (`skipped`)."""

    type = "step_settled"
    title = Message("Step settled")
    step: Step
    skipped: bool = False


class TrialBegun(Event, leads=stays(BETWEEN_HANDS), in_doubt=True):
    """Device tests began: until they end, buttons have no effect and no hand opens."""

    type = "trial_begun"
    title = Message("Trial begun")

    def apply(self, state: State) -> State:
        return replace(state, on_trial=True)


class TrialEnded(Event, leads=EVERY_PHASE, in_doubt=True):
    """Device tests ended."""

    type = "trial_ended"
    title = Message("Trial ended")

    def apply(self, state: State) -> State:
        return replace(state, on_trial=False)


class DeviceTried(Event, leads=stays(BETWEEN_HANDS), in_doubt=True):
    """A device was tested. `why` names the result (`firmware.runtime.device_tests`), `figures` are the measurements.

    `seen`: what the person at the box observed, for results that no sensor can measure.
    """

    type = "device_tried"
    title = Message("Device tried")
    device: Device
    verdict: DeviceVerdict
    why: str
    figures: dict[str, Text | int | float | bool | None]
    seen: dict[str, bool]


class ClockSet(Event, leads=stays(BETWEEN_HANDS), in_doubt=True):
    """The box's clock was set: UTC in milliseconds before and after, and the time zone before and after."""

    type = "clock_set"
    title = Message("Clock set")
    from_ms: int
    to_ms: int
    from_zone: str = ""
    to_zone: str = ""


class DisksNamed(Event, leads=stays(BETWEEN_HANDS), in_doubt=True):
    """The tags of the house's disks were set: the tag ids for DEALER and for ACTION, now and before.

    The last such event overrides the configuration.
    """

    type = "disks_named"
    title = Message("Disks named")
    dealer: tuple[str, ...]
    action: tuple[str, ...]
    from_dealer: tuple[str, ...]
    from_action: tuple[str, ...]

    def apply(self, state: State) -> State:
        """Check the tags. The state has none: the table process sends them to the puck reader."""
        for tag in self.dealer:
            if tag in self.action:
                raise CommandRefused(
                    "The tag %(tag)s cannot be both disks: forget it first, or lay another one down.", tag=tag
                )
        return state


class SetUpEnded(Event, leads=stays({Phase.IDLE}), in_doubt=True):
    """The first set-up is over and play may begin; `skipped`: some of its steps were left out."""

    type = "set_up_ended"
    title = Message("Set up ended")
    skipped: bool = False

    def apply(self, state: State) -> State:
        if state.set_up:
            raise CommandRefused("The first set-up of this table is over already.")
        return replace(state, set_up=True, on_trial=False)


class SettleStep(Command, roles=TECHNICIAN):
    """Mark a step of the set-up as done, or as left for later."""

    do: Literal["settle_step"] = "settle_step"
    step: Step
    skipped: bool = False

    def decide(self, context: Context) -> tuple[Event, ...]:
        if self.step == "seats" and not self.skipped and not context.state.house.seats:
            raise CommandRefused("Nobody sits at this table: seat somebody, or leave the seats for later.")
        return (StepSettled(self.step, self.skipped),)


class EndSetUp(Command, roles=TECHNICIAN, causes=SetUpEnded):
    """End the first set-up; `skipped`: some steps were left out."""

    do: Literal["end_set_up"] = "end_set_up"
    skipped: bool = False


class TryDevice(Command, roles=TECHNICIAN):
    """Test a device, or continue the test; the answer is its current status, for which the page must poll.

    `act`: "begin" starts over, "look" (the default) returns the status, "light" and "ring" switch a lamp or the buzzer
    on, "keep" records the verdict. `name` is the lamp to light; `seen` is what a person observed of the lamp or buzzer.
    """

    do: Literal["try_device"] = "try_device"
    device: Device
    act: Literal["begin", "look", "light", "ring", "keep"] = "look"
    name: str = Field(default="", max_length=40)
    seen: bool | None = None


class EndTrial(Command, roles=TECHNICIAN):
    """End the device tests."""

    do: Literal["end_trial"] = "end_trial"


class SetClock(Command, roles=TECHNICIAN):
    """Set the box's clock: date and time as the box's own, both or neither, and its time zone or ""."""

    do: Literal["set_clock"] = "set_clock"
    date: str = Field(default="", max_length=10)
    time: str = Field(default="", max_length=5)
    zone: str = Field(default="", max_length=80)


class NameDisk(Command, roles=TECHNICIAN):
    """Assign a tag of the puck reader to a disk, or remove a known tag ("")."""

    do: Literal["name_disk"] = "name_disk"
    tag: str = Field(pattern=r"^([0-9A-F]{2}){4,10}$")
    disk: Literal["dealer", "action", ""] = ""


class AskHealth(Command, roles=ANYBODY):
    """Return the health of the table process: what it knows of `firmware.health.checks.Facts`."""

    do: Literal["health"] = "health"
