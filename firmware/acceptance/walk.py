"""What the steps of an acceptance share: the table, the technician, the run's file, and how long to measure."""

import base64
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from firmware.acceptance.findings import Figures, Result, StepVerdict, judge
from firmware.acceptance.limits import LIMITS, PRESSES
from firmware.acceptance.run_file import RunFile, now_utc
from firmware.acceptance.table_trial import HANDS_S, TableTrial

POLL_S: Final = 0.1
"""Seconds between two requests for the state of a device test; a test that nobody asks about ends by itself."""
TOLD_EVERY_S: Final = 30.0
"""Seconds between two lines about a long measurement."""


class LeftOut(Exception):
    """The technician leaves this step out."""


class NotMeasurable(Exception):
    """This step cannot be measured; the text says why and what to do."""


class Technician(Protocol):
    """The person at the table."""

    def tell(self, text: str) -> None:
        """Say something."""

    def ask(self, text: str) -> bool:
        """Ask whether something is so."""

    def ready(self, text: str) -> None:
        """Say what to do, and wait until it is done. Raises LeftOut."""


@dataclass
class Walk:
    """The surroundings of a step. `most_minutes` cuts the long measurements short, which their verdict then says."""

    trial: TableTrial
    technician: Technician
    run: RunFile
    by: str
    most_minutes: float | None = None
    presses: int = PRESSES
    hands_s: float = HANDS_S
    every_s: float = 10.0
    """Seconds between two samples of a long measurement."""
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep
    pictures: list[str] = field(default_factory=list)
    """Those of the step that runs."""

    def result(
        self,
        step: str,
        figures: Figures,
        says: str = "",
        *,
        curves: dict[str, list[list[float]]] | None = None,
        minutes: float | None = None,
        wanted_minutes: float | None = None,
    ) -> Result:
        """Return the result that follows from figures; `says` is what to do, or what was seen."""
        return Result(
            step,
            judge(LIMITS, figures, minutes, wanted_minutes),
            says,
            {name: None if value is None else round(value, 4) for name, value in figures.items()},
            pictures=list(self.pictures),
            curves=curves or {},
            minutes=None if minutes is None else round(minutes, 2),
            wanted_minutes=wanted_minutes,
            at=now_utc(),
            by=self.by,
        )

    def unmeasured(self, step: str, says: str) -> Result:
        """Return the result of a step that was not measured."""
        return Result(step, StepVerdict.UNMEASURED, says, at=now_utc(), by=self.by)

    def length(self, wanted_minutes: float) -> float:
        """Return how many minutes to measure."""
        return wanted_minutes if self.most_minutes is None else min(wanted_minutes, self.most_minutes)

    def look(self, picture: str = "") -> dict[str, Any]:
        """Return the verdicts of a new picture of the bare felt; it is kept under a name. Raises NotMeasurable."""
        self.trial.order("end_trial")
        done = self.trial.job("look")
        if not done["ok"] or done["state"] != "done":
            raise NotMeasurable(str(done.get("why") or done.get("error")))
        if picture:
            shown = self.trial.order("job", job=done["job"], picture=True)
            name = f"{picture}.jpg"
            self.run.write(name, base64.b64decode(shown.get("picture", "")))
            self.pictures.append(name)
        verdicts: dict[str, Any] = done["result"]["verdicts"]
        return verdicts

    def watch(
        self, device: str, seconds: float, is_over: Callable[[dict[str, Any]], bool], begin: bool = False
    ) -> dict[str, Any] | None:
        """Follow a device's test until something holds and return its answer; None if it never did in that time.

        Raises NotMeasurable where the table refuses.
        """
        ends = self.clock() + seconds
        act = "begin" if begin else "look"
        while True:
            found = self.trial.order("try_device", device=device, act=act)
            act = "look"
            if not found["ok"]:
                raise NotMeasurable(str(found["error"]))
            if is_over(found):
                return found
            if self.clock() >= ends:
                return None
            self.pause(POLL_S)


def of_verdict(verdicts: dict[str, Any], name: str, times: float = 1.0) -> float | None:
    """Return a figure of vision; None where it was not judged."""
    found = verdicts.get(name)
    return None if found is None else float(found["figure"]) * times


def advice(verdicts: dict[str, Any], names: Iterable[str]) -> str:
    """Return what vision says to do about bad figures, with the zones; "" if all of these are well."""
    sentences = []
    for name in names:
        one = verdicts.get(name)
        if one is None:
            missing = verdicts.get("markers", {})
            sentences.append(str(missing.get("text", "The felt was not found in the picture.")))
        elif not one["ok"]:
            sentences.append(str(one["text"]) + (f" Where: {one['where']}." if one.get("where") else ""))
    return " ".join(dict.fromkeys(sentences))
