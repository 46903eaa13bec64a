"""The steps of a setup, in order, and each one's state: read from the record, never from a page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dealer_ui.text.i18n import N_
from firmware.messages import Text
from firmware.record.journal.journal import Entry
from firmware.table import events as ev


class Stage(StrEnum):
    """The state of a step."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Step:
    """A step of the setup; `title` and `what` are messages of the catalogues.

    `device`: the device tested live. `elsewhere`: the address of the page for this step, if it is outside the setup;
    the record of that page's work completes the step.
    """

    name: str
    title: str
    what: str
    device: str = ""
    elsewhere: str = ""


STEPS: Final[tuple[Step, ...]] = (
    Step("language", N_("Language"), N_("What this page says, it says in this language.")),
    Step("people", N_("People and PINs"), N_("Who keeps this box, who is on the floor, who deals.")),
    Step("table", N_("Table number"), N_("What this table is called in the record and on every paper.")),
    Step("clock", N_("Clock"), N_("What time the box writes into the record."), device="clock"),
    Step("game", N_("Game and limit"), N_("By which rules the table settles, and what a point is worth.")),
    Step("seats", N_("Seats"), N_("Who sits where. Names may be keyed later, too.")),
    Step("camera", N_("Camera"), N_("The camera above the table."), device="camera"),
    Step("puck", N_("Puck reader"), N_("The reader that knows at which seat the puck lies."), device="puck"),
    Step(
        "buttons", N_("Push-buttons"), N_("The white, the green and the red push-button."), device="buttons"
    ),
    Step("lamps", N_("Lamps"), N_("The lamps in the push-buttons and next to them."), device="lamps"),
    Step("buzzer", N_("Buzzer"), N_("What calls the dealer."), device="buzzer"),
    Step("disk", N_("Disk"), N_("Where the record and the pictures are kept."), device="disk"),
    Step("power", N_("Power"), N_("The mains, the battery and the box's own heat."), device="power"),
    Step(
        "calibration",
        N_("Calibration"),
        N_("The camera learns where the felt lies."),
        elsewhere="/setup/camera",
    ),
    Step(
        "deck", N_("Deck"), N_("The camera learns your own cards and counts a deck."), elsewhere="/setup/deck"
    ),
)
BY_NAME: Final[Mapping[str, Step]] = {step.name: step for step in STEPS}


@dataclass(frozen=True)
class StepState:
    """A step's state, since when and by whom; `why` is the result of a device's test, with its `figures`."""

    stage: Stage = Stage.OPEN
    wall_ms: int = 0
    actor: str = ""
    why: str = ""
    figures: Mapping[str, Text | int | float | bool | None] | None = None


def standings(entries: Iterable[Entry]) -> dict[str, StepState]:
    """Return every step's state, given the rows of the setup (`JournalReader.of_set_up`)."""
    found = dict.fromkeys(BY_NAME, StepState())
    for entry in entries:
        match event := entry.event:
            case ev.StepSettled():
                stage = Stage.SKIPPED if event.skipped else Stage.DONE
                why, figures = "", None
                if event.step == "clock" and not event.skipped:
                    why, figures = found["clock"].why, found["clock"].figures
                found[event.step] = StepState(stage, entry.wall_ms, entry.actor, why, figures)
            case ev.DeviceTried(device="clock"):
                now = found["clock"]  # a person must confirm the time before this step is done
                found["clock"] = StepState(now.stage, now.wall_ms, now.actor, event.why, event.figures)
            case ev.DeviceTried():
                stage = Stage.DONE if event.verdict == "pass" else Stage.FAILED
                found[event.device] = StepState(stage, entry.wall_ms, entry.actor, event.why, event.figures)
            case ev.CameraCalibrated(what="felt"):
                found["calibration"] = StepState(Stage.DONE, entry.wall_ms, entry.actor)
            case ev.DeckEnrolled():
                found["deck"] = StepState(Stage.DONE, entry.wall_ms, entry.actor)
            case ev.DeckChecked():
                stage = Stage.DONE if event.whole else Stage.FAILED
                found["deck"] = StepState(stage, entry.wall_ms, entry.actor)
    return found


def first_open(found: Mapping[str, StepState]) -> Step | None:
    """Return the first step that nobody has done, skipped or tried yet; None if there is none."""
    return next((step for step in STEPS if found[step.name].stage is Stage.OPEN), None)


def after(step: Step) -> Step | None:
    """Return the step that follows; None after the last."""
    number = STEPS.index(step) + 1
    return STEPS[number] if number < len(STEPS) else None
