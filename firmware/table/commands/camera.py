"""The commands that need the camera between hands: they are done by the reading process, one at a time.

All but `use_calibration` and `job` answer with a job's number; `job` says how far it has come.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from firmware.table.commands.people import SignedCommand
from firmware.table.events.camera import Calibrates


class Look(SignedCommand):
    """One look at the bare felt: a picture, what is found in it, every figure with its limit."""

    do: Literal["look"] = "look"


class CalibrateFelt(SignedCommand):
    """Measure where the felt lies."""

    do: Literal["calibrate_felt"] = "calibrate_felt"


class CalibrateLens(SignedCommand):
    """Measure the lens: `begin` again, take a `view` of the board as it is held now, `commit` what was collected."""

    do: Literal["calibrate_lens"] = "calibrate_lens"
    step: Literal["begin", "view", "commit"]


class EnrolDeck(SignedCommand):
    """Learn the house's deck: `begin` again, take a picture of the spread as it lies (`view`), `commit` under a
    name."""

    do: Literal["enrol_deck"] = "enrol_deck"
    step: Literal["begin", "view", "commit"]
    name: str = Field(default="house", min_length=1, max_length=40)


class CheckDeck(SignedCommand):
    """Count a deck: `begin` again, count what lies there as a `round`, count the last one `again`, `end` as it is."""

    do: Literal["check_deck"] = "check_deck"
    step: Literal["begin", "round", "again", "end"]


class UseCalibration(SignedCommand):
    """Read by an earlier calibration of the record again, or by none (an empty `hash`)."""

    do: Literal["use_calibration"] = "use_calibration"
    what: Calibrates
    hash: str = Field(default="", max_length=64)


class AskJob(SignedCommand):
    """How far a job has come, and what came of it; with `picture` also the picture it took."""

    do: Literal["job"] = "job"
    job: int
    picture: bool = False


CameraCommand = Look | CalibrateFelt | CalibrateLens | EnrolDeck | CheckDeck | UseCalibration | AskJob
