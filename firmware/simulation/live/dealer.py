"""The simulated dealer of a real table: does the policy's acts as a person does, in real time.

It looks at the record as the page does, presses the panel's buttons, moves the puck, lays cards, and sends the page's
commands over the same socket. It does one thing at a time and looks again, so a person may play along on the page.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from firmware.devices.panel.interface import ButtonName
from firmware.record.journal.journal import JournalReader
from firmware.rules import Profile
from firmware.runtime.errors import AppError
from firmware.runtime.liveness.presses import PAID_S, SEEN_S
from firmware.simulation.habits import Habits
from firmware.simulation.hand import Hand
from firmware.simulation.live.players import Players, truth_json
from firmware.simulation.live.table import SimulatedTable
from firmware.simulation.placing import Rows
from firmware.simulation.policy import BUTTON_OF, HOLD, Act, Policy
from firmware.table import Phase, State
from firmware.table.events import ReadingTaken
from firmware.table.phase import OPEN
from firmware.table.settling import rules_of
from firmware.table_client import TableLink, TableUnreachable

STUCK_AFTER: Final = 600.0
"""Seconds without progress after which the simulation gives up."""
GLANCE: Final = 0.1
"""Seconds by which the dealer looks longer than the table demands."""
FINGER_UP: Final = 0.05
"""Seconds between two presses of the fastest finger."""
LOOK_EVERY: Final = 0.02
GIVE_UP_AFTER: Final = 6.0
"""Seconds after which a dealer among people stops waiting, and looks again."""
HABITS: Final = Habits(puck_forgotten=0.04)


class DealerStopped(AppError):
    """The dealer was asked to stop."""


class SimulationStuck(AppError, TimeoutError):
    """The table makes no progress."""


class SimulatedDealer:
    """Plays hands until stopped. `pace`: the speed relative to a person's; None: no pauses at all.

    `among_people`: people may pull cables and press buttons, so that a missing effect is no fault of the table.
    """

    def __init__(
        self,
        table: SimulatedTable,
        players: Players,
        reader: JournalReader,
        link: TableLink,
        seed: int,
        pace: float | None = None,
        among_people: bool = False,
    ) -> None:
        self._table = table
        self._reader = reader
        self._link = link
        self._policy = Policy(players, self._rules, random.Random(f"dealer {seed}"), HABITS)
        self._pace = pace
        self._among_people = among_people
        self._resting = threading.Event()
        self._errands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._seq = -1
        self._state = State()
        self._progress: tuple[object, ...] = ()
        self._progress_at = time.monotonic()

    def stop(self) -> None:
        """Make `play` return soon, from any thread."""
        self._stop.set()

    # ---- a person as the dealer, from any thread ----

    @property
    def rests(self) -> bool:
        """Whether a person is the dealer now."""
        return self._resting.is_set()

    def rest(self) -> None:
        """Let a person be the dealer."""
        self._resting.set()

    def go_on(self) -> None:
        """Take over from the person."""
        self._resting.clear()

    def turn_up(self) -> None:
        """Lay the players' cards of this hand face up while a person is the dealer."""

        def lay() -> None:
            state = self._reader.recover()[0]
            self._lay(state, self._policy.of(state).shown)

        self._errands.put(lay)

    def _rest(self) -> None:
        while self._resting.is_set() and not self._stop.is_set():
            with suppress(queue.Empty):
                self._errands.get(timeout=0.1)()

    def play(self, hands: int | None) -> Iterator[dict[str, Any]]:
        """Play this many hands (None: for ever) and yield each one's report once all is paid.

        Raises SimulationStuck. Ends when stopped.
        """
        played = reported = 0
        try:
            self._clear_up()
            while hands is None or played < hands:
                state = self._look()
                if state.phase is Phase.SETTLED and not state.unpaid and state.hand != reported:
                    played, reported = played + 1, state.hand
                    yield self._report(state)
                    if hands is not None and played >= hands:
                        return
                self._do(self._policy.next(state), state)
        except DealerStopped:
            return

    # ---- what the dealer sees ----

    def _look(self) -> State:
        self._rest()
        if self._stop.is_set():
            raise DealerStopped("stopped")
        if self._table.failure is not None:
            raise self._table.failure
        if self._seq < 0 or self._reader.events_since(self._seq, limit=1):
            self._state, self._seq = self._reader.recover()
            now = self._state
            placed = [seat.placed for seat in now.seats]
            if (progress := (now.hand, now.phase, now.questions, now.paid, placed)) != self._progress:
                self._progress, self._progress_at = progress, time.monotonic()
        return self._state

    def _until(self, what: Callable[[State], bool]) -> None:
        """Look until the condition is true; among people, or until the timeout. Raises SimulationStuck."""
        began = time.monotonic()
        while not what(state := self._look()):
            now = time.monotonic()
            if self._among_people and now - began > GIVE_UP_AFTER:
                return
            if not self._among_people and now - max(began, self._progress_at) > STUCK_AFTER:
                raise SimulationStuck(
                    f"The simulated table has not gone on for {STUCK_AFTER:g} s (in {state.phase})."
                )
            self._stop.wait(LOOK_EVERY)

    def _rules(self, state: State) -> Profile:
        assert state.opened is not None
        return rules_of(state.opened, self._reader.content(state.opened.profile_hash))

    def _pause(self, seconds: float) -> None:
        """Wait as long as a person takes."""
        if self._pace:
            self._stop.wait(seconds / self._pace)

    # ---- what the dealer does ----

    def _do(self, act: Act, state: State) -> None:
        """Do an act after its pause, unless somebody was faster: then look again."""
        self._pause(act.pause)
        now = self._look()
        overtaken = (now.hand, now.phase, now.questions) != (state.hand, state.phase, state.questions)
        if act.felt is not None and not (overtaken and act.do in BUTTON_OF):
            self._lay(now, act.felt)
        if act.do == "wait":
            self._until(lambda after: after is not state)
        elif act.do == "puck":
            self._move_puck(act.fields["seat"])
        elif act.do == "lay" or overtaken:
            return
        elif act.do in BUTTON_OF:
            self._press(BUTTON_OF[act.do], HOLD if act.held else 0.12)
        else:
            self._policy.refused(act)  # said once: a person may take it back
            self._touch(act.do, hand=now.hand, **act.fields)

    def _lay(self, state: State, felt: Mapping[int, Rows]) -> None:
        places = {seat.seat: seat.place for seat in state.seats}
        if felt:
            self._table.lay({places[seat]: rows for seat, rows in felt.items()})
        else:
            self._table.clear()

    def _move_puck(self, seat: int | None) -> None:
        if seat is None:
            self._table.puck.lift()
            self._until(lambda now: now.puck.state == "none" or "puck" in now.faults)
        else:
            self._table.puck.move_to(seat)
            self._until(lambda now: now.puck.seat == seat or "puck" in now.faults)

    def _press(self, button: ButtonName, seconds: float = 0.12) -> None:
        """Press a button and check its effect. What is new is read first, or the press counts for nothing."""
        before = self._seq
        reads = (PAID_S if self._state.paid else SEEN_S) + GLANCE
        self._stop.wait(max(0.0, self._progress_at + reads - time.monotonic()))
        self._table.panel.press(button, seconds)
        self._stop.wait(FINGER_UP)
        self._until(lambda state: self._seq > before)

    def _touch(self, do: str, **fields: Any) -> None:
        """Send a command from the page. After a refusal, look again and go on."""
        before = self._seq
        try:
            answer = self._link.send({"do": do, **fields})
        except TableUnreachable as error:
            raise SimulationStuck(f"The table takes no commands: {error}") from error
        if answer["ok"]:
            self._until(lambda state: self._seq > before)
        else:
            self._stop.wait(LOOK_EVERY)

    def _clear_up(self) -> None:
        """End a hand of an earlier run: its cards are unknown."""
        state = self._look()
        if state.phase is Phase.SETTLED:
            self._press("next")
        elif state.phase in OPEN - {Phase.DEALING}:
            self._touch("void", reason="The simulation was started again", hand=state.hand)

    # ---- the report ----

    def _report(self, state: State) -> dict[str, Any]:
        assert state.opened is not None
        hand = self._policy.of(state)
        return {
            "hand": state.hand,
            "profile": state.opened.profile,
            "truth": truth_json(hand.hands),
            "reading": self._reading(state, hand),
            "asked": hand.cards_asked,
            "settlement": state.settlement,
        }

    def _reading(self, state: State, hand: Hand) -> dict[str, dict[str, str]]:
        """Return the last reading, best guesses included, for the seats that showed their cards."""
        taken = [e.event for e in self._reader.of_hand(state.hand) if e.type == ReadingTaken.type]
        rows: dict[str, dict[str, str]] = {str(seat): {} for seat in hand.hands}
        for event in taken[-1:]:
            assert isinstance(event, ReadingTaken)
            for row in event.rows:
                if not hand.hands[row.seat].surrenders:
                    rows[str(row.seat)][row.row] = " ".join(card.card or "??" for card in row.cards)
        return rows
