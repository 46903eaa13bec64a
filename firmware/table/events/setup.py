"""The events of setting a table up: what was tried and settled, step by step, and that it is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from firmware.table.events.base import Event

Device = Literal["camera", "puck", "buttons", "lamps", "buzzer", "disk", "clock", "power"]
Verdict = Literal["pass", "fail"]
Step = Literal["language", "people", "table", "clock", "game", "seats", "calibration", "deck"]
"""The steps of a set-up that a person settles; those of devices are settled by trying them."""


@dataclass(frozen=True)
class StepSettled(Event):
    """A person said that a step of the set-up is done, or is left for later (`skipped`)."""

    type: ClassVar[str] = "step_settled"
    step: Step
    skipped: bool = False


@dataclass(frozen=True)
class TrialBegun(Event):
    """Devices are being tried: until that is over buttons do nothing and no hand opens."""

    type: ClassVar[str] = "trial_begun"


@dataclass(frozen=True)
class TrialEnded(Event):
    """Devices are no longer being tried."""

    type: ClassVar[str] = "trial_ended"


@dataclass(frozen=True)
class DeviceTried(Event):
    """A device was tried. `why` names what was found (`firmware.runtime.device_tests`), `figures` are its measures.

    `seen`: what the person at the box saw or heard, where only he could tell.
    """

    type: ClassVar[str] = "device_tried"
    device: Device
    verdict: Verdict
    why: str
    figures: dict[str, str | int | float | bool | None]
    seen: dict[str, bool]


@dataclass(frozen=True)
class ClockSet(Event):
    """Somebody set the box's clock: UTC in milliseconds before and after, and the time zone before and after."""

    type: ClassVar[str] = "clock_set"
    from_ms: int
    to_ms: int
    from_zone: str = ""
    to_zone: str = ""


@dataclass(frozen=True)
class DisksNamed(Event):
    """Somebody said which tags the house's disks carry: the tag ids that count as DEALER and as ACTION, and before.

    The last one holds over the configuration's, which are those of a box without such an event.
    """

    type: ClassVar[str] = "disks_named"
    dealer: tuple[str, ...]
    action: tuple[str, ...]
    from_dealer: tuple[str, ...]
    from_action: tuple[str, ...]


@dataclass(frozen=True)
class SetUpEnded(Event):
    """The first set-up is over and the table may be played at; `skipped`: steps of it were left out."""

    type: ClassVar[str] = "set_up_ended"
    skipped: bool = False
