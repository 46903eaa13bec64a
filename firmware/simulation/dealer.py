"""The simulated dealer: does the policy's acts at a table, on whatever clock that table runs.

A `Workplace` is the table as its dealer reaches it, and the clock there: real time in `live/run.py`, stepped in
`evening/stepped_run.py`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from firmware.devices.panel.interface import ButtonName
from firmware.simulation.placing import Rows
from firmware.simulation.policy import BUTTON_OF, Act, Policy
from firmware.table import State

PRESS: Final = 0.15
"""Seconds of a short press."""
HOLD: Final = 1.4
"""Seconds of press and hold."""


class Workplace(Protocol):
    """A table as its dealer reaches it. Each method takes its time on the table's clock."""

    @property
    def seq(self) -> int:
        """The record's row up to which the page was seen."""

    @property
    def is_page_gone(self) -> bool:
        """Whether the page shows nothing new and takes no commands."""

    def look(self) -> State:
        """Return what the page shows."""

    def pause(self, seconds: float) -> None:
        """Wait as long as a person takes for something that takes them these seconds."""

    def until(self, what: Callable[[State], bool]) -> bool:
        """Look until the condition is true; return whether it is, or False where nobody waits longer."""

    def lay(self, felt: dict[str, Rows]) -> None:
        """Leave exactly these cards on the felt, by place."""

    def move_puck(self, seat: int | None) -> None:
        """Lay the puck at a seat, or lift it."""

    def press(self, button: ButtonName, seconds: float) -> None:
        """Press a button for this time."""

    def send(self, command: dict[str, Any]) -> Mapping[str, Any] | None:
        """Send a command from the page; return the table's answer, None if none came."""


class SimulatedDealer:
    """Does one act at a time. `among_people`: others play along, so what had no effect is not done once more.

    `stale_taken`: commands for the hand before that the table accepted; it must accept none.
    """

    def __init__(self, place: Workplace, policy: Policy, *, among_people: bool = False) -> None:
        self.stale_taken: list[Mapping[str, Any]] = []
        self._place = place
        self._policy = policy
        self._among_people = among_people

    def do(self, act: Act, state: State) -> None:
        """Do an act that was decided on this state, after its pause, unless somebody was faster."""
        self._place.pause(act.pause)
        now = self._place.look()
        overtaken = (now.hand, now.phase, now.questions) != (state.hand, state.phase, state.questions)
        if act.felt is not None and not (overtaken and act.do in BUTTON_OF):
            self.lay(now, act.felt)
        if act.do == "wait":
            self._place.until(lambda after: after is not state)
        elif act.do == "puck":
            self._place.move_puck(act.fields["seat"])
        elif act.do == "lay" or overtaken:
            return
        elif act.do == "unlit":
            self._place.press(act.fields["button"], PRESS)
        elif act.do in BUTTON_OF:
            seen = self.press(BUTTON_OF[act.do], HOLD if act.held else PRESS)
            if not (seen or self._among_people or self._place.is_page_gone):
                self.touch(act.do, now.hand, **act.fields)
        elif self._among_people:
            self._policy.done_with(act)  # not sent again where a person takes it back
            self.touch(act.do, now.hand, **act.fields)
        elif not self.touch(act.do, now.hand, **act.fields):
            self._policy.done_with(act)

    def lay(self, state: State, felt: Mapping[int, Rows]) -> None:
        """Leave exactly these cards on the felt, by seat."""
        places = {seat.seat: seat.place for seat in state.seats}
        self._place.lay({places[seat]: rows for seat, rows in felt.items()})

    def press(self, button: ButtonName, seconds: float = PRESS) -> bool:
        """Press a button, sometimes twice; return whether the page shows an effect."""
        before = self._place.seq
        self._place.press(button, seconds)
        if self._policy.often(self._policy.habits.pressed_twice):
            self._place.press(button, seconds)
        return self._place.until(lambda state: self._place.seq > before)

    def touch(self, do: str, hand: int, **fields: Any) -> bool:
        """Send a command from the page, once more without an answer; return whether the table accepted it."""
        habits, before = self._policy.habits, self._place.seq
        command = {"do": do, "hand": hand, **fields}
        if self._policy.often(habits.touched_stale) and hand > 1:
            stale = self._place.send(command | {"hand": hand - 1})
            if stale is not None and stale["ok"]:
                self.stale_taken.append(command)
        answer = self._place.send(command)
        if answer is None or self._policy.often(habits.pressed_twice):
            answer = self._place.send(command) or answer
        accepted = answer is not None and bool(answer["ok"])
        self._place.until(lambda state: not accepted or self._place.seq > before)
        return accepted
