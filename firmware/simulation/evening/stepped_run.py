"""Hands on a stepped table: the dealer's eyes and hands there, and what the auditor is told.

The dealer does not see the page while it is gone, and looks only once for the effect of an act. The auditor is given
what was dealt and what the table accepted.
"""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from firmware.devices.panel.interface import ButtonName
from firmware.rules import Profile
from firmware.runtime.errors import AppError
from firmware.simulation.dealer import SimulatedDealer
from firmware.simulation.evening.audited_hand import DealtHand
from firmware.simulation.evening.auditor import Auditor
from firmware.simulation.evening.faults import Faults
from firmware.simulation.evening.page_reader import Page
from firmware.simulation.evening.stepped_table import SteppedTable
from firmware.simulation.habits import Habits
from firmware.simulation.hand import Hand
from firmware.simulation.house import PLAYERS
from firmware.simulation.live.players import Players
from firmware.simulation.placing import Rows
from firmware.simulation.policy import Act, Policy
from firmware.table import Phase, State
from firmware.table.events import ROWS
from firmware.table.phase import BETWEEN_HANDS

BACKS_TRIED: Final = 4
"""Number of arrangements that a player considers: few, because thousands of hands are set."""
STUCK_AFTER: Final = 250
"""Acts in one hand after which it counts as lost: it cannot be ended."""
BLANK_AFTER: Final = 100
"""Looks at a review without a question after which it counts as lost: no fault lasts so long."""


class GaveUp(AppError):
    """The evening cannot continue."""


class SteppedRun:
    """Has the simulated dealer play hands on a stepped table; a `Workplace`. `page` is what the dealer saw last."""

    def __init__(
        self,
        table: SteppedTable,
        data: Path,
        auditor: Auditor,
        faults: Faults,
        seed: int,
        rules: Profile,
        habits: Habits,
    ) -> None:
        """`data`: the folder of the table's record."""
        self.page = Page(data, auditor)
        self._table = table
        self._auditor = auditor
        self._faults = faults
        self._rng = random.Random(f"dealer {seed}")
        players = Players(seed, rules, BACKS_TRIED)
        self._policy = Policy(players, lambda state: rules, self._rng, habits, tuple(PLAYERS.values()))
        self._dealer = SimulatedDealer(self, self._policy)
        self._number = self._last = self._blank = 0
        self._all_done = False
        self._refused = ""

    def play(self, hands: int, played: Callable[[int], None] = lambda hand: None) -> None:
        """Play until this many hands are settled or void; call `played` with each one's number. Raises GaveUp."""
        self._last, steps = hands, 0
        while True:
            state = self.look()
            over = state.phase in BETWEEN_HANDS or self._all_done
            while steps < state.hand - (not over):
                steps += 1
                self._ended()
                played(steps)
            if over and state.hand >= hands:
                break
            self._guard(state, self._current_hand(state))
            self._do(self._policy.next(state), state)
            if state.phase is Phase.PLACING:
                self._table.pass_time(0.5)
            self._table.pass_time(self._rng.uniform(0.3, 1.2))
        for command in self._dealer.stale_taken:
            self._auditor.problem("broken", f"A touch meant for the hand before was taken: {command}.")

    def _do(self, act: Act, state: State) -> None:
        """Do an act; the last hand stays as it is, and none is ended on a page that is gone."""
        if state.phase is Phase.SETTLED and act.do in ("next", "archive"):
            if self.is_page_gone:
                return
            if state.hand >= self._last:
                self._all_done = True
                return
        self._dealer.do(act, state)

    # ---- the workplace ----

    @property
    def seq(self) -> int:
        """The row up to which the page was seen."""
        return self.page.seq

    @property
    def is_page_gone(self) -> bool:
        """Whether the page is gone."""
        return self._faults.on("page-gone")

    def look(self) -> State:
        """Return the page's state; while the page is gone, its last state."""
        if self.is_page_gone:
            if self._table.seq != self.page.seq:
                self._faults.strike("page-gone")
            return self.page.state
        self._faults.notice("page-gone")  # it is back, with all missed events
        if self._table.seq == self.page.seq:
            return self.page.state
        return self.page.follow()

    def pause(self, seconds: float) -> None:
        """Go on at once: time passes between two acts."""

    def until(self, what: Callable[[State], bool]) -> bool:
        """Look once, and return whether the condition is true."""
        return what(self.look())

    def lay(self, felt: dict[str, Rows]) -> None:
        """Leave these cards on the felt, by place."""
        self._table.readings.felt = felt

    def move_puck(self, seat: int | None) -> None:
        """Move or lift the puck."""
        self._table.puck.move_to(seat)
        self._table.pass_time(2.0)

    def press(self, button: ButtonName, seconds: float) -> None:
        """Press a button."""
        self._table.press(button, seconds)

    def send(self, command: dict[str, Any]) -> Mapping[str, Any] | None:
        """Send a command, and give the auditor what the table accepted."""
        answer = self._table.touch(command)
        if answer is None:
            return None
        if answer["ok"]:
            self._auditor.note_answer(command, answer["seq"])
            return answer
        self._refused = str(answer["error"])
        if "the disk is full" in self._refused:
            self._auditor.counts["refused_on_a_full_disk"] += 1
            if self._faults.on("disk-full"):
                self._faults.strike("disk-full")
                self._faults.notice("disk-full")
        return answer

    # ---- the hand ----

    def _current_hand(self, state: State) -> Hand:
        """Return the current hand; tell the auditor what was dealt when it is first seen."""
        hand = self._policy.of(state)
        if hand.number != self._number:
            self._number, self._blank = hand.number, 0
            rows = {
                seat: {
                    row: [card.code for card in cards] for row, cards in zip(ROWS, dealt.rows, strict=True)
                }
                for seat, dealt in hand.hands.items()
            }
            self._auditor.dealt[hand.number] = DealtHand(rows, hand.button)
            self._auditor.dealt.pop(hand.number - 3, None)
            self._table.readings.felt = {}
            self._faults.plan(self._table.now)
        return hand

    def _guard(self, state: State, hand: Hand) -> None:
        """Count a hand that cannot be ended as lost, and void it so that the next one can be played.

        A table with a full disk may take a while to settle what nothing is asked about.
        """
        hand.turns += 1
        self._auditor.counts["done"] += 1
        blank = state.phase is Phase.REVIEW and not state.questions and hand.laid
        self._blank += blank
        if hand.turns == STUCK_AFTER:
            questions = ", ".join(f"{q.what} {q.seat} {q.row} {q.index}" for q in state.questions)
            why = f" The table's last refusal: {self._refused}" if self._refused else ""
            self._auditor.problem(
                "lost", f"Hand {state.hand} cannot be ended in {state.phase} ({questions}).{why}"
            )
        if blank and self._blank == BLANK_AFTER:
            self._auditor.problem(
                "lost", f"Hand {state.hand} is in review, nothing is asked, and it does not settle."
            )
        if hand.turns >= STUCK_AFTER or (blank and self._blank >= BLANK_AFTER):
            self._dealer.touch("void", state.hand, reason="It cannot be ended.")
        if hand.turns > 2 * STUCK_AFTER:
            raise GaveUp(f"Hand {state.hand} cannot even be voided; the evening ended with it.")

    def _ended(self) -> None:
        questions = len(self._policy.hand.questions)
        self._auditor.counts["questions"] += questions
        self._auditor.counts["hands_with_questions"] += bool(questions)
