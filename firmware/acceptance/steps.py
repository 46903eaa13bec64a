"""All steps of the acceptance, in order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from firmware.acceptance import box_steps, button_steps, camera_steps, puck_steps
from firmware.acceptance.findings import Result
from firmware.acceptance.limits import HEAT_MINUTES, STILL_MINUTES
from firmware.acceptance.walk import Walk


@dataclass(frozen=True)
class Step:
    """One step: its id, title, function, and about how many minutes it takes."""

    id: str
    title: str
    do: Callable[[Walk], Result]
    minutes: float = 0.2
    is_long: bool = False
    """Whether `--minutes` cuts it short."""

    def planned(self, most_minutes: float | None) -> float:
        """Return about how many minutes it will take."""
        return min(self.minutes, most_minutes) if self.is_long and most_minutes is not None else self.minutes


STEPS: Final[tuple[Step, ...]] = (
    Step("camera.mounting", "Camera: how it hangs", camera_steps.mounting),
    Step("camera.sharpness", "Camera: sharpness", camera_steps.sharpness),
    Step("camera.scale", "Camera: pixels per millimetre", camera_steps.scale),
    Step("camera.light", "Camera: exposure and colour", camera_steps.light),
    Step("camera.glare", "Camera: glare", camera_steps.glare),
    Step("camera.flicker", "Camera: flicker", camera_steps.flicker, 0.5),
    Step("camera.calibration", "Camera: the felt calibrated", camera_steps.calibration),
    Step("camera.still", "Camera: it stands still", camera_steps.still, STILL_MINUTES, is_long=True),
    Step("puck.nothing", "Puck reader: an empty table", puck_steps.nothing, 0.5),
    Step("puck.places", "Puck reader: every seat", puck_steps.places, 1.5),
    Step("puck.edges", "Puck reader: 20 mm off each circle's middle", puck_steps.edges, 1.5),
    Step("puck.between", "Puck reader: between seats", puck_steps.between, 1.5),
    Step("puck.two", "Puck reader: two disks apart", puck_steps.two, 0.5),
    Step("buttons.presses", "Push-buttons: pressed many times", button_steps.presses, 4.0),
    Step("buttons.together", "Push-buttons: two at once", button_steps.together, 0.3),
    Step("lamps", "Lamps", box_steps.of_selftest("lamps"), 0.5),
    Step("buzzer", "Buzzer", box_steps.of_selftest("buzzer")),
    Step("disk", "Disk", box_steps.of_selftest("disk")),
    Step("clock", "Clock", box_steps.of_selftest("clock")),
    Step("power", "Power supply", box_steps.of_selftest("power")),
    Step("deck", "The house's deck", box_steps.of_selftest("deck")),
    Step("deck_check", "A deck counted", box_steps.of_selftest("deck_check")),
    Step("rules", "A hand settled", box_steps.of_selftest("rules")),
    Step("record", "The record verified", box_steps.of_selftest("record")),
    Step("export", "A hand exported and verified", box_steps.of_selftest("export")),
    Step("box.heat", "The box: an hour of heat", box_steps.heat, HEAT_MINUTES, is_long=True),
    Step(box_steps.CUT, "The plug pulled in a hand", box_steps.cut, 5.0),
)
"""The plug comes last: all before it is measured by then, and the hand that it breaks hinders no other step."""
