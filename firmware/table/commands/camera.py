"""The commands that need the camera between hands. The reading process carries them out, one at a time.

All except `use_calibration` and `job` answer with the number of a job; `job` returns its progress.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from firmware.table.commands.people import SignedCommand
from firmware.table.events.camera import Calibrates


class Look(SignedCommand):
    """Take a picture of the bare felt; the result has what was found in it, and each figure with its limit."""

    do: Literal["look"] = "look"


class CalibrateFelt(SignedCommand):
    """Measure the felt's position."""

    do: Literal["calibrate_felt"] = "calibrate_felt"


class CalibrateLens(SignedCommand):
    """Measure the lens: `begin` starts over, `view` takes a picture of the board, `commit` uses all pictures."""

    do: Literal["calibrate_lens"] = "calibrate_lens"
    step: Literal["begin", "view", "commit"]


class EnrolDeck(SignedCommand):
    """Learn the house's deck: `begin` starts over, `view` takes a picture of the cards, `commit` stores it by name."""

    do: Literal["enrol_deck"] = "enrol_deck"
    step: Literal["begin", "view", "commit"]
    name: str = Field(default="house", min_length=1, max_length=40)


class CheckDeck(SignedCommand):
    """Count a deck: `begin` starts over, `round` counts the cards laid out, `again` redoes the last round, `end`."""

    do: Literal["check_deck"] = "check_deck"
    step: Literal["begin", "round", "again", "end"]


class UseCalibration(SignedCommand):
    """Use an earlier calibration from the record again, or none (an empty `hash`)."""

    do: Literal["use_calibration"] = "use_calibration"
    what: Calibrates
    hash: str = Field(default="", max_length=64)


class AskJob(SignedCommand):
    """Return a job's progress and result; with `picture`, also the picture that it took."""

    do: Literal["job"] = "job"
    job: int
    picture: bool = False


CameraCommand = Look | CalibrateFelt | CalibrateLens | EnrolDeck | CheckDeck | UseCalibration | AskJob
