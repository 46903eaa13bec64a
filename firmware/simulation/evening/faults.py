"""Injected faults: their names, how often each occurs, and the counts of occurrences."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from firmware.runtime.errors import AppError

FaultName = Literal[
    "puck-unplugged",
    "puck-babble",
    "buttons-unplugged",
    "buttons-babble",
    "camera-unplugged",
    "camera-babble",
    "late-frames",
    "reader-killed",
    "sure-misread",
    "table-killed",
    "clock-step",
    "disk-full",
    "page-gone",
]

FAULTS: Final[Mapping[FaultName, str]] = {
    "puck-unplugged": "the puck reader's cable is pulled, or it falls silent, for a while",
    "puck-babble": "the puck reader's line carries noise and damaged messages that name another seat",
    "buttons-unplugged": "the push-buttons cannot be read and no press arrives",
    "buttons-babble": "the push-buttons' contacts glitch, and one sticks",
    "camera-unplugged": "the camera's cable is pulled: no reading",
    "camera-babble": "readings that make no sense: zones twice, codes that are no card; answers to older requests",
    "late-frames": "frames come late, some so late that the reading process is replaced",
    "reader-killed": "the reading process dies during a reading",
    "sure-misread": "the reader is surely wrong, as often as the measurement cannot rule out (95 %)",
    "table-killed": "the table process dies, before or after a commit or between two inputs, and starts again",
    "clock-step": "the wall clock steps: to 1970, back by hours, ahead by years",
    "disk-full": "the disk is full: SQLite and the captures have no room",
    "page-gone": "the page is gone: stale, its commands lost, or done and never answered",
}
"""Every fault with its description."""

ALWAYS: Final[frozenset[FaultName]] = frozenset({"sure-misread"})
"""Faults without a time: the reader has them always."""
SHARE: Final = 0.02
"""The share of hands in which a chosen fault occurs: enough for hundreds of occurrences, and for two at once."""
WITHIN: Final = 25.0
"""Seconds from a hand's opening within which a fault begins."""
LASTS: Final = (2.0, 25.0)
"""Minimum and maximum seconds that a fault lasts."""
AT_LEAST: Final[Mapping[FaultName, float]] = {"buttons-babble": 12.0}
"""Longer durations for faults that are detected late: a button counts as stuck after ten seconds."""


class UnknownFault(AppError, ValueError):
    """There is no such fault."""


def parse_faults(text: str) -> tuple[FaultName, ...]:
    """Return the faults of "all", "none" or a comma list, in the order of `FAULTS`. Raises UnknownFault."""
    names = [word.strip() for word in text.split(",") if word.strip()]
    if names == ["all"]:
        return tuple(FAULTS)
    if names in ([], ["none"]):
        return ()
    for word in names:
        if word not in FAULTS:
            raise UnknownFault(f"There is no fault {word!r}; there are {', '.join(FAULTS)}, all and none.")
    return tuple(name for name in FAULTS if name in names)


@dataclass
class Strike:
    """One active fault: its start and end in simulated seconds."""

    name: FaultName
    begins: float
    ends: float
    begun: bool = False
    struck: bool = False
    noticed: bool = False


class Faults:
    """Chooses faults at random and counts them: `struck` if one met the product, `noticed` if that is visible.

    The effect of a fault is implemented in the device that it affects.
    """

    def __init__(
        self, names: Iterable[FaultName], rng: random.Random, share: float = SHARE, *, short: bool = False
    ) -> None:
        """`share`: of the hands in which a fault occurs; `short`: a fault lasts seconds, for runs in real time."""
        self.names = tuple(names)
        self.struck: Counter[FaultName] = Counter()
        self.noticed: Counter[FaultName] = Counter()
        self._rng = rng
        self._share = share
        self._within, self._lasts = (2.0, (1.0, 4.0)) if short else (WITHIN, LASTS)
        self._planned: list[Strike] = []
        self._latest: dict[FaultName, Strike] = {}

    def plan(self, now: float) -> None:
        """Draw the faults of a hand that begins."""
        for name in self.names:
            if name not in ALWAYS and self._rng.random() < self._share:
                begins = now + self._rng.uniform(0.0, self._within)
                lasts = max(self._rng.uniform(*self._lasts), AT_LEAST.get(name, 0.0))
                self._planned.append(Strike(name, begins, begins + lasts))

    def step(self, now: float) -> list[FaultName]:
        """Return the faults that begin now, and end those that are over."""
        if not self._planned:
            return []
        begun = [strike for strike in self._planned if not strike.begun and strike.begins <= now]
        for strike in begun:
            strike.begun = True
            self._latest[strike.name] = strike
        self._planned = [strike for strike in self._planned if strike.ends > now]
        return [strike.name for strike in begun]

    def on(self, name: FaultName) -> bool:
        """Return whether a fault is active now."""
        return any(strike.begun and strike.name == name for strike in self._planned)

    def strike(self, name: FaultName) -> None:
        """Count that a fault met the product, once per occurrence."""
        if name in ALWAYS:
            self._latest[name] = Strike(name, 0.0, 0.0)
        strike = self._latest[name]
        if not strike.struck:
            strike.struck = True
            self.struck[name] += 1

    def notice(self, name: FaultName) -> None:
        """Count that the product shows a fault or withstood it, once per occurrence."""
        strike = self._latest.get(name)
        if strike is not None and strike.struck and not strike.noticed:
            strike.noticed = True
            self.noticed[name] += 1

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return the counts."""
        return {name: {"struck": self.struck[name], "noticed": self.noticed[name]} for name in self.names}
