"""The events of a table's set-up: device tests, settled steps, and its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from firmware.messages import Text
from firmware.table.events.base import Event

Device = Literal["camera", "puck", "buttons", "lamps", "buzzer", "disk", "clock", "power"]
Verdict = Literal["pass", "fail"]
Step = Literal["language", "people", "table", "clock", "game", "seats", "calibration", "deck"]
"""The set-up steps that a person settles; the steps of devices are settled by testing them."""


@dataclass(frozen=True)
class StepSettled(Event):
    """A step of the set-up was marked as done, or was left for later (`skipped`)."""

    type: ClassVar[str] = "step_settled"
    step: Step
    skipped: bool = False


@dataclass(frozen=True)
class TrialBegun(Event):
    """Device tests began: until they end, buttons have no effect and no hand opens."""

    type: ClassVar[str] = "trial_begun"


@dataclass(frozen=True)
class TrialEnded(Event):
    """Device tests ended."""

    type: ClassVar[str] = "trial_ended"


@dataclass(frozen=True)
class DeviceTried(Event):
    """A device was tested. `why` names the result (`firmware.runtime.device_tests`), `figures` are the measurements.

    `seen`: what the person at the box observed, for results that no sensor can measure.
    """

    type: ClassVar[str] = "device_tried"
    device: Device
    verdict: Verdict
    why: str
    figures: dict[str, Text | int | float | bool | None]
    seen: dict[str, bool]


@dataclass(frozen=True)
class ClockSet(Event):
    """The box's clock was set: UTC in milliseconds before and after, and the time zone before and after."""

    type: ClassVar[str] = "clock_set"
    from_ms: int
    to_ms: int
    from_zone: str = ""
    to_zone: str = ""


@dataclass(frozen=True)
class DisksNamed(Event):
    """The tags of the house's disks were set: the tag ids for DEALER and for ACTION, now and before.

    The last such event overrides the configuration.
    """

    type: ClassVar[str] = "disks_named"
    dealer: tuple[str, ...]
    action: tuple[str, ...]
    from_dealer: tuple[str, ...]
    from_action: tuple[str, ...]


@dataclass(frozen=True)
class SetUpEnded(Event):
    """The first set-up is over and play may begin; `skipped`: some of its steps were left out."""

    type: ClassVar[str] = "set_up_ended"
    skipped: bool = False
