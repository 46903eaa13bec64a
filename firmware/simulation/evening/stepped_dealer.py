"""The dealer of an evening on the virtual clock: does the policy's acts as a clumsy finger does.

The dealer presses twice, answers for the hand before, and does not see the page while it is gone. The auditor is given
what was dealt and what the table accepted.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from firmware.devices.panel.interface import ButtonName
from firmware.runtime.errors import AppError
from firmware.simulation.evening.audited_hand import Dealt
from firmware.simulation.evening.auditor import Auditor
from firmware.simulation.evening.faults import Faults
from firmware.simulation.evening.page_reader import Page
from firmware.simulation.evening.stepped_table import SteppedTable
from firmware.simulation.hand import Hand
from firmware.simulation.policy import BUTTON_OF, HOLD, WAIT, Act, Policy
from firmware.table import Phase, State
from firmware.table.events import ROWS
from firmware.table.phase import BETWEEN_HANDS

STUCK_AFTER: Final = 250
"""Acts in one hand after which it counts as lost: it cannot be ended."""
BLANK_AFTER: Final = 100
"""Looks at a review without a question after which it counts as lost: no fault lasts so long."""


class GaveUp(AppError):
    """The evening cannot continue."""


class Dealer:
    """Plays hands on a stepped table."""

    def __init__(
        self,
        table: SteppedTable,
        page: Page,
        auditor: Auditor,
        faults: Faults,
        policy: Policy,
        rng: random.Random,
    ) -> None:
        self._table = table
        self._page = page
        self._auditor = auditor
        self._faults = faults
        self._policy = policy
        self._rng = rng
        self._number = self._last = self._blank = 0
        self._all_done = False
        self._refused = ""

    def play(self, hands: int, played: Callable[[int], None] = lambda hand: None) -> None:
        """Play until this many hands are settled or void; call `played` with each one's number."""
        self._last, steps = hands, 0
        while True:
            state = self._look()
            over = state.phase in BETWEEN_HANDS or self._all_done
            while steps < state.hand - (not over):
                steps += 1
                self._ended()
                played(steps)
            if over and state.hand >= hands:
                return
            self._guard(state, self._of(state))
            self._do(self._policy.next(state), state)
            self._table.pass_time(self._rng.uniform(0.3, 1.2))

    # ---- page and buttons ----

    def _look(self) -> State:
        """Return the page's state; while the page is gone, its last state."""
        if self._gone:
            if self._table.seq != self._page.seq:
                self._faults.strike("page-gone")
            return self._page.state
        self._faults.notice("page-gone")  # it is back, with all missed events
        if self._table.seq == self._page.seq:
            return self._page.state
        return self._page.follow()

    @property
    def _gone(self) -> bool:
        return self._faults.on("page-gone")

    def _press(self, button: ButtonName, seconds: float = 0.15) -> bool:
        """Press a button; return whether the page shows an effect."""
        before = self._page.seq
        self._table.press(button, seconds)
        if self._policy.often(self._policy.habits.pressed_twice):
            self._table.press(button, seconds)
        self._look()
        return self._page.seq != before

    def _touch(self, do: str, **fields: Any) -> bool:
        """Send a command from the page; return whether the table accepted it. Without an answer: retry, then look."""
        habits = self._policy.habits
        command = {"do": do, "hand": self._page.state.hand, **fields}
        if self._policy.often(habits.touched_stale) and command["hand"] > 1:
            stale = self._table.touch(command | {"hand": command["hand"] - 1})
            if stale is not None and stale["ok"]:
                self._auditor.problem("broken", f"A touch meant for the hand before was taken: {command}.")
        answer = self._send(command)
        if answer is None or self._policy.often(habits.pressed_twice):
            answer = self._send(command) or answer
        self._look()
        return answer is not None and answer["ok"]

    def _send(self, command: dict[str, Any]) -> dict[str, Any] | None:
        answer = self._table.touch(command)
        if answer is None:
            return None
        if answer["ok"]:
            self._auditor.answered(command, answer["seq"])
            return answer
        self._refused = str(answer["error"])
        if "the disk is full" in self._refused:
            self._auditor.counts["refused_on_a_full_disk"] += 1
            if self._faults.on("disk-full"):
                self._faults.strike("disk-full")
                self._faults.notice("disk-full")
        return answer

    # ---- the hand ----

    def _of(self, state: State) -> Hand:
        """Return the current hand; tell the auditor what was dealt when it is first seen."""
        hand = self._policy.of(state)
        if hand.number != self._number:
            self._number, self._blank = hand.number, 0
            rows = {
                seat: {row: [card.code for card in cards] for row, cards in zip(ROWS, of.rows, strict=True)}
                for seat, of in hand.hands.items()
            }
            self._auditor.dealt[hand.number] = Dealt(rows, hand.button)
            self._auditor.dealt.pop(hand.number - 3, None)
            self._table.readings.felt = {}
            self._faults.plan(self._table.now)
        return hand

    def _guard(self, state: State, hand: Hand) -> None:
        """Count a hand that cannot be ended as lost, and void it so that the next one can be played."""
        hand.turns += 1
        self._auditor.counts["done"] += 1
        if hand.turns == STUCK_AFTER:
            asked = ", ".join(f"{q.what} {q.seat} {q.row} {q.index}" for q in state.questions)
            why = f" The table's last refusal: {self._refused}" if self._refused else ""
            self._auditor.problem(
                "lost", f"Hand {state.hand} cannot be ended in {state.phase} ({asked}).{why}"
            )
        if hand.turns >= STUCK_AFTER:
            self._touch("void", reason="It cannot be ended.")
        if hand.turns > 2 * STUCK_AFTER:
            raise GaveUp(f"Hand {state.hand} cannot even be voided; the evening ended with it.")

    def _ended(self) -> None:
        questions = len(self._policy.hand.questions)
        self._auditor.counts["questions"] += questions
        self._auditor.counts["hands_with_questions"] += bool(questions)

    def _do(self, act: Act, state: State) -> None:
        if state.phase is Phase.SETTLED and act.do in ("next", "archive"):
            if self._gone:
                return
            if state.hand >= self._last:
                self._all_done = True
                return
        if act.felt is not None:
            places = {seat.seat: seat.place for seat in state.seats}
            self._table.readings.felt = {places[seat]: rows for seat, rows in act.felt.items()}
        if act is WAIT:
            self._wait(state)
        elif act.do == "puck":
            self._table.puck.move_to(act.fields["seat"])
            self._table.pass_time(2.0)
        elif act.do == "unlit":
            self._table.press(act.fields["button"])
        elif act.do in BUTTON_OF:
            if not self._press(BUTTON_OF[act.do], HOLD if act.held else 0.15) and not self._gone:
                self._touch(act.do, **act.fields)
        elif act.do != "lay" and not self._touch(act.do, **act.fields):
            self._policy.refused(act)
        if state.phase is Phase.PLACING:
            self._table.pass_time(0.5)

    def _wait(self, state: State) -> None:
        """Wait for the settlement if nothing is asked; a table with a full disk may take a while."""
        if state.phase is not Phase.REVIEW or state.questions:
            return
        self._blank += 1
        if self._blank == BLANK_AFTER:
            self._auditor.problem(
                "lost", f"Hand {state.hand} is in review, nothing is asked, and it does not settle."
            )
        if self._blank >= BLANK_AFTER:
            self._touch("void", reason="It does not settle.")
