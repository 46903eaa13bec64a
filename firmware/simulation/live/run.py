"""Plays on a simulated table in real time: what the dealer sees and does there, and a report of each hand.

The page is read from the record; its commands go over the table's socket. A person may play along, or be the dealer.
"""

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
from firmware.simulation.dealer import SimulatedDealer
from firmware.simulation.habits import Habits
from firmware.simulation.hand import Hand
from firmware.simulation.live.players import Players, truth_json
from firmware.simulation.live.table import SimulatedTable
from firmware.simulation.placing import Rows
from firmware.simulation.policy import Policy
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
"""Seconds after which the dealer stops waiting, and looks again: a press may have counted for nothing."""
HABITS: Final = Habits(puck_forgotten=0.04)


class DealerStopped(AppError):
    """The dealer was asked to stop."""


class SimulationStuck(AppError, TimeoutError):
    """The table makes no progress."""


class LiveRun:
    """Has the simulated dealer play until stopped; a `Workplace`.

    `pace`: the speed relative to a person's; None: no pauses at all. `among_people`: people may pull cables and press
    buttons, so a table that makes no progress is not an error.
    """

    is_page_gone = False

    def __init__(
        self,
        table: SimulatedTable,
        players: Players,
        reader: JournalReader,
        link: TableLink,
        seed: int,
        pace: float | None = None,
        among_people: bool = False,
        habits: Habits = HABITS,
    ) -> None:
        self.seq = -1
        self._table = table
        self._reader = reader
        self._link = link
        self._policy = Policy(players, self._rules, random.Random(f"dealer {seed}"), habits)
        self._dealer = SimulatedDealer(self, self._policy, among_people=among_people)
        self._pace = pace
        self._among_people = among_people
        self._resting = threading.Event()
        self._errands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._state = State()
        self._progress: tuple[object, ...] = ()
        self._progress_at = time.monotonic()
        self._waited = 0.0
        """Seconds of waiting since the last progress."""

    def play(self, hands: int | None) -> Iterator[dict[str, Any]]:
        """Play this many hands (None: for ever) and yield each one's report once all is paid.

        Raises SimulationStuck. Ends when stopped.
        """
        played = 0
        try:
            reported = self._clear_up()
            while hands is None or played < hands:
                state = self.look()
                if state.phase is Phase.SETTLED and not state.unpaid and state.hand != reported:
                    played, reported = played + 1, state.hand
                    yield self._report(state)
                    if hands is not None and played >= hands:
                        return
                self._dealer.do(self._policy.next(state), state)
        except DealerStopped:
            return

    def _clear_up(self) -> int:
        """End a hand of an earlier run, whose cards are unknown. Return its number; 0 if there is none."""
        state = self.look()
        if state.phase is Phase.SETTLED:
            self._dealer.press("next")
        elif state.phase in OPEN - {Phase.DEALING}:
            self._dealer.touch("void", state.hand, reason="The simulation was started again")
        return 0 if state.phase is Phase.DEALING else state.hand

    # ---- a person as the dealer, from any thread ----

    def stop(self) -> None:
        """Make `play` return soon."""
        self._stop.set()

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
            self._dealer.lay(state, self._policy.of(state).shown)

        self._errands.put(lay)

    # ---- the workplace ----

    def look(self) -> State:
        """Return the record's state, once no person is the dealer. Raises DealerStopped, and what ended the table."""
        while self._resting.is_set() and not self._stop.is_set():
            with suppress(queue.Empty):
                self._errands.get(timeout=0.1)()
        if self._stop.is_set():
            raise DealerStopped("stopped")
        if self._table.failure is not None:
            raise self._table.failure
        if self.seq < 0 or self._reader.events_since(self.seq, limit=1):
            self._state, self.seq = self._reader.recover()
            now = self._state
            placed = [seat.placed for seat in now.seats]
            if (progress := (now.hand, now.phase, now.questions, now.paid, placed)) != self._progress:
                self._progress, self._progress_at, self._waited = progress, time.monotonic(), 0.0
        return self._state

    def pause(self, seconds: float) -> None:
        """Wait as long as a person takes, at this pace."""
        if self._pace:
            self._stop.wait(seconds / self._pace)

    def until(self, what: Callable[[State], bool]) -> bool:
        """Look until the condition is true, or for `GIVE_UP_AFTER`; return which. Raises SimulationStuck."""
        began = time.monotonic()
        while not what(state := self.look()):
            if (waited := time.monotonic() - began) > GIVE_UP_AFTER:
                self._waited += waited
                if self._waited > STUCK_AFTER and not self._among_people:
                    raise SimulationStuck(
                        f"The simulated table has not gone on for {STUCK_AFTER:g} s (in {state.phase})."
                    )
                return False
            self._stop.wait(LOOK_EVERY)
        return True

    def lay(self, felt: dict[str, Rows]) -> None:
        """Leave these cards on the felt, by place."""
        if felt:
            self._table.lay(felt)
        else:
            self._table.clear()

    def move_puck(self, seat: int | None) -> None:
        """Move or lift the puck, until its reader sees it there."""
        if seat is None:
            self._table.puck.lift()
            self.until(lambda now: now.puck.state == "none" or "puck" in now.faults)
        else:
            self._table.puck.move_to(seat)
            self.until(lambda now: now.puck.seat == seat or "puck" in now.faults)

    def press(self, button: ButtonName, seconds: float) -> None:
        """Press a button, as soon as what the screen shows has been read: an earlier press would count for nothing."""
        reads = (PAID_S if self._state.paid else SEEN_S) + GLANCE
        self._stop.wait(max(0.0, self._progress_at + reads - time.monotonic()))
        self._table.panel.press(button, seconds)
        self._stop.wait(FINGER_UP)

    def send(self, command: dict[str, Any]) -> Mapping[str, Any]:
        """Send a command over the socket; after a refusal, wait a moment. Raises SimulationStuck."""
        try:
            answer = self._link.send(command)
        except TableUnreachable as error:
            raise SimulationStuck(f"The table takes no commands: {error}") from error
        if not answer["ok"]:
            self._stop.wait(LOOK_EVERY)
        return answer

    # ---- the report ----

    def _rules(self, state: State) -> Profile:
        assert state.opened is not None
        return rules_of(state.opened, self._reader.content(state.opened.profile_hash))

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
