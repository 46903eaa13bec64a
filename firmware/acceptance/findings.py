"""What a step of the acceptance measured: figures with their limits and margins, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class StepVerdict(StrEnum):
    """How a step came out. Only `PASS` is good, only `RECORDED` is neither good nor bad; all others are bad."""

    PASS = "pass"
    FAIL = "fail"
    SHORT = "not measured long enough"
    UNMEASURED = "not measured"
    RECORDED = "recorded only"


@dataclass(frozen=True)
class Limit:
    """A figure's title, unit and limit, and where the limit stands. Without a bound the figure is recorded only."""

    title: str
    unit: str
    source: str
    least: float | None = None
    most: float | None = None
    below: float | None = None
    """What it must stay below."""

    @property
    def is_set(self) -> bool:
        """Whether any limit is known."""
        return (self.least, self.most, self.below) != (None, None, None)

    @property
    def text(self) -> str:
        """The limit in words and figures."""
        if self.least is not None and self.most is not None:
            return f"{self.least:g} to {show(self.most, self.unit)}"
        bounds = (("≥", self.least), ("≤", self.most), ("<", self.below))
        return ", ".join(f"{sign} {show(bound, self.unit)}" for sign, bound in bounds if bound is not None)

    def holds(self, value: float) -> bool:
        """Return whether a value keeps the limit."""
        return self.margin(value) >= 0 and (self.below is None or value < self.below)

    def margin(self, value: float) -> float:
        """Return how far a value is from its nearest bound; negative: beyond it. Infinite without a limit."""
        least, most, below = self.least, self.most, self.below
        rooms = [value - least] if least is not None else []
        rooms += [most - value] if most is not None else []
        rooms += [below - value] if below is not None else []
        return min(rooms, default=float("inf"))


def show(value: float, unit: str) -> str:
    """Return a figure with its unit.

    >>> show(0.74321, "mm"), show(61, "mm²"), show(0, "")
    ('0.743 mm', '61 mm²', '0')
    """
    text = f"{value:.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.3g}"
    return text + unit if unit == "°" else f"{text} {unit}".rstrip()


Figures = Mapping[str, float | None]
"""What was measured, by its name in `firmware.acceptance.limits.LIMITS`; None: could not be learnt."""


@dataclass
class Result:
    """A step's outcome. `minutes` and `wanted_minutes`: of a long measurement; `curves`: points by title."""

    step: str
    verdict: StepVerdict
    says: str
    figures: dict[str, float | None] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    """Figures of other commands, as text: they are recorded only."""
    pictures: list[str] = field(default_factory=list)
    curves: dict[str, list[list[float]]] = field(default_factory=dict)
    minutes: float | None = None
    wanted_minutes: float | None = None
    at: str = ""
    by: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the next start of the command may leave it as it is."""
        return self.verdict in (StepVerdict.PASS, StepVerdict.FAIL, StepVerdict.RECORDED)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Result:
        """Return a result from its JSON. Raises ValueError, TypeError for other JSON."""
        return cls(**{**kept, "verdict": StepVerdict(kept["verdict"])})


def judge(
    limits: Mapping[str, Limit],
    figures: Figures,
    minutes: float | None = None,
    wanted_minutes: float | None = None,
) -> StepVerdict:
    """Return the verdict that follows from figures and how long was measured.

    One broken limit fails the step, however short it was. A figure with a limit that could not be learnt makes it "not
    measured", never well.
    """
    set_ = {name: value for name, value in figures.items() if limits[name].is_set}
    if any(value is not None and not limits[name].holds(value) for name, value in set_.items()):
        return StepVerdict.FAIL
    if any(value is None for value in set_.values()):
        return StepVerdict.UNMEASURED
    if minutes is not None and wanted_minutes is not None and minutes < wanted_minutes:
        return StepVerdict.SHORT
    return StepVerdict.PASS if set_ else StepVerdict.RECORDED
