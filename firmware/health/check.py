"""The result of a check of the table: one type for health, doctor, self-test and set-up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from firmware.messages import Message


class Verdict(StrEnum):
    """How it stands. `look`: play can go on, but the cause should be checked; `bad`: something promised is at risk.

    `unknown`: it cannot be checked from here, or was left out; `waits`: a device's test is not finished. `absent`: the
    configuration says that this table has no such device; neither well nor faulty.
    """

    ABSENT = "absent"
    OK = "ok"
    LOOK = "look"
    BAD = "bad"
    UNKNOWN = "unknown"
    WAITS = "waits"


CheckFinding = tuple[Verdict, str, Message, Message | None]
"""What a check finds: verdict, figure, sentence and advice."""


@dataclass(frozen=True)
class Check:
    """One check's result. `figure` is text to show, a number and its unit; `figures` are the measurements by name."""

    name: str
    title: Message
    verdict: Verdict
    figure: str
    says: Message
    advice: Message | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able data, in English."""
        advice = "" if self.advice is None else str(self.advice)
        return {
            "name": self.name,
            "title": str(self.title),
            "verdict": self.verdict,
            "figure": self.figure,
            "says": str(self.says),
            "advice": advice,
        }


GRAVITY: Final = (Verdict.ABSENT, Verdict.OK, Verdict.UNKNOWN, Verdict.WAITS, Verdict.LOOK, Verdict.BAD)
"""The verdicts, the gravest last."""


def worst(checks: Iterable[Check]) -> Verdict:
    """Return the gravest verdict; "unknown" is graver than "ok"."""
    return max((check.verdict for check in checks), key=GRAVITY.index, default=Verdict.UNKNOWN)
