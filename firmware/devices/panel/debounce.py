"""Turns bouncing contacts into presses. Pure: levels with their times in monotonic seconds in, presses out.

gpiozero's own `bounce_time` drops edges and its mock ignores it, so it is off and this replaces it.
"""

from collections import deque
from collections.abc import Mapping

from firmware.devices.panel.interface import Bounce, ButtonName, Press

BOUNCE = 0.010
"""Maximum seconds that a good switch bounces."""
SETTLE = 0.015
"""Seconds that a contact must be stable to count: longer than it bounces, shorter than the quickest press (30 ms)."""
TOGETHER = 0.08
"""Two buttons pressed within these seconds are simultaneous; a press is reported only after them."""
HOLD = 1.0
"""Seconds that a button must be down for press and hold."""
STUCK = 10.0
"""Seconds after which a button that is down counts as stuck and no longer blocks the others."""
LOOSE = ((5, 0.75), (12, 3.0))
"""This many presses of one button within these seconds cannot be a finger: a wire is loose.

The quickest finger on record takes 0.95 s for five. The presses before the last of them are reported: each looks like a
finger's, and waiting for certainty would delay every press.
"""
CALM = 5.0
"""Seconds that a loose button must be stable to count again."""


MAX_BOUNCES = 1000
"""Bounces that are remembered until somebody takes them."""

_ALONE = TOGETHER + BOUNCE + SETTLE  # by then every button that went down within TOGETHER has settled


class Debounce:
    """One contact. A new level counts once it has been stable for `settle` seconds."""

    def __init__(self, level: bool = False, settle: float = SETTLE) -> None:
        self.level = level
        """The level that counts."""
        self._settle = settle
        self._raw = level
        self._raw_since = float("-inf")

    def edge(self, level: bool, at: float) -> float | None:
        """Process a change to this level. Return the time of a change that is confirmed by now, or None."""
        changed = self.settle(at)
        if level != self._raw:
            self._raw, self._raw_since = level, at
        return changed

    def sample(self, level: bool, now: float) -> float | None:
        """Process a sample of the contact's level. As `edge`, but also finds a change whose edge was lost.

        A sample that contradicts the last edge starts the settling time again.
        """
        if level == self._raw:
            return self.settle(now)
        self._raw, self._raw_since = level, now
        return None

    @property
    def due(self) -> float | None:
        """Return when the contact should be sampled next to settle; None while it is stable."""
        return None if self._raw == self.level else self._raw_since + self._settle

    def settle(self, now: float) -> float | None:
        """Process the time without an edge until now. Returns as `edge` does."""
        if self.due is None or now < self.due:
            return None
        self.level = self._raw
        return self._raw_since


class Bounces:
    """How each contact bounced, from its raw edges: those less than `SETTLE` apart are one change of the contact."""

    def __init__(self) -> None:
        self._over: deque[Bounce] = deque(maxlen=MAX_BOUNCES)
        self._now: dict[ButtonName, tuple[float, float, int]] = {}

    def edge(self, button: ButtonName, at: float) -> None:
        """Process a change of the contact's level."""
        first, last, edges = self._now.get(button, (at, at, 0))
        if at - last >= SETTLE:
            self._end(button)
            first, edges = at, 0
        self._now[button] = (first, at, edges + 1)

    def take(self, now: float) -> list[Bounce]:
        """Return those that are over, once."""
        for button in [name for name, (_first, last, _edges) in self._now.items() if now - last >= SETTLE]:
            self._end(button)
        taken = list(self._over)
        self._over.clear()
        return taken

    def _end(self, button: ButtonName) -> None:
        first, last, edges = self._now.pop(button)
        self._over.append(Bounce(button, edges, round(1000 * (last - first), 3)))


class Presses:
    """Finds the push-button that was pressed alone; two at once do not count until all are released."""

    def __init__(self) -> None:
        self._down: dict[ButtonName, float] = {}
        self._alone: ButtonName | None = None
        self._reported = self._reported_held = False

    def change(self, button: ButtonName, down: bool, at: float) -> list[Press]:
        """Process a settled change of a button. Return the presses confirmed by it and by the time until it."""
        presses = self.tick(at)
        if down:
            crowd = [other for other, since in self._down.items() if at - since < STUCK]
            self._alone = None if crowd else button
            self._reported = self._reported_held = False
            self._down[button] = at
        else:
            since = self._down.pop(button, None)
            if button == self._alone:
                if not self._reported and since is not None:
                    presses.append(Press(button, since))  # released before any other button went down
                self._alone = None
        return presses

    def found_down(self, button: ButtonName) -> None:
        """Mark a button that is down at the start: it was not pressed, it is stuck or leant on."""
        self._down[button] = float("-inf")

    def tick(self, now: float) -> list[Press]:
        """Return the presses confirmed by now."""
        if self._alone is None:
            return []
        since = self._down[self._alone]
        presses = []
        if not self._reported and now - since >= _ALONE:
            self._reported = True
            presses.append(Press(self._alone, since))
        if not self._reported_held and now - since >= HOLD:
            self._reported_held = True
            presses.append(Press(self._alone, since, held=True))
        return presses

    @property
    def due(self) -> float | None:
        """Return when `tick` is due if nothing changes before."""
        if self._alone is None or self._reported_held:
            return None
        return self._down[self._alone] + (HOLD if self._reported else _ALONE)

    def stuck(self, now: float) -> frozenset[ButtonName]:
        """Return the push-buttons that have been down for too long to be a press."""
        return frozenset(button for button, since in self._down.items() if now - since >= STUCK)


class PressedButtons:
    """All contacts of the panel: bouncing levels in, presses out."""

    def __init__(self, down: Mapping[ButtonName, bool]) -> None:
        self._contacts = {button: Debounce(is_down) for button, is_down in down.items()}
        self._presses = Presses()
        self._downs: dict[ButtonName, deque[float]] = {name: deque(maxlen=LOOSE[-1][0]) for name in down}
        self._loose: dict[ButtonName, float] = {}
        for button, is_down in down.items():
            if is_down:
                self._presses.found_down(button)

    def edge(self, button: ButtonName, down: bool, at: float) -> list[Press]:
        """Process a contact's change at this time."""
        changes = [(contact.settle(at), name) for name, contact in self._contacts.items()]
        self._contacts[button].edge(down, at)
        return self._report(changes, at)

    def sample(self, down: Mapping[ButtonName, bool], now: float) -> list[Press]:
        """Process a sample of all contacts."""
        changes = [(contact.sample(down[name], now), name) for name, contact in self._contacts.items()]
        return self._report(changes, now)

    def _report(self, changes: list[tuple[float | None, ButtonName]], now: float) -> list[Press]:
        presses = []
        for at, name in sorted((at, name) for at, name in changes if at is not None):
            self._count(name, self._contacts[name].level, at)
            presses += self._presses.change(name, self._contacts[name].level, at)
        presses += self._presses.tick(now)
        return [press for press in presses if press.button not in self._loose]

    def _count(self, name: ButtonName, down: bool, at: float) -> None:
        """Count how often a button goes down; after too often, ignore its presses until it is stable."""
        self.loose(at)
        if down:
            self._downs[name].append(at)
        downs = self._downs[name]
        if name in self._loose or any(
            len(downs) >= presses and at - downs[-presses] <= within for presses, within in LOOSE
        ):
            self._loose[name] = at

    @property
    def due(self) -> float | None:
        """Return when the contacts should be sampled next; None: only when one of them changes."""
        times = [contact.due for contact in self._contacts.values()] + [self._presses.due]
        return min((time for time in times if time is not None), default=None)

    def stuck(self, now: float) -> frozenset[ButtonName]:
        """Return the push-buttons that have been down for too long to be a press."""
        return self._presses.stuck(now)

    def loose(self, now: float) -> frozenset[ButtonName]:
        """Return the push-buttons that went down faster than a finger can, and have not been stable since."""
        for name in [name for name, at in self._loose.items() if now - at >= CALM]:
            del self._loose[name]
            self._downs[name].clear()
        return frozenset(self._loose)
