"""The simulated dealer: plays hands on the simulated table as a person does.

It looks at the record as the page does, presses the panel's buttons, moves the puck, lays cards, and sends the page's
commands over the same socket. It does one thing at a time and looks again, so a person may play along on the page.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from firmware.record.journal.journal import JournalReader
from firmware.runtime.errors import AppError
from firmware.runtime.table_process import UNSEEN
from firmware.simulation.live.face_up import all_seen, lying, stands, true_card
from firmware.simulation.live.players import Players, SetHand, Spot, in_placing_order, truth_json
from firmware.simulation.live.table import SimulatedTable, by_place
from firmware.table import Ask, Phase, Question, State
from firmware.table.events import ReadingTaken
from firmware.table.people import Role
from firmware.table.phase import OPEN
from firmware.table.settling import natural_verdict, pending_natural, rules_of
from firmware.table.streets import street
from firmware.table_client import TableLink, TableUnreachable

STUCK_AFTER: Final = 600.0
"""Seconds without progress after which the simulation gives up."""
HANDS_A_DOWN: Final = 20
"""Hands after which the next dealer takes over; a shift is 40 minutes."""
PUCK_FORGOTTEN: Final = 0.04
"""The share of hands in which the puck is at no seat when the cards are dealt."""
HOLD: Final = 1.4
"""Seconds of press and hold."""
FINGER_UP: Final = 0.05
"""Seconds between two presses of the fastest finger."""
LOOK_EVERY: Final = 0.02
GIVE_UP_AFTER: Final = 6.0
"""Seconds after which a dealer among people stops waiting, and looks again."""


class Stopped(AppError):
    """The dealer was asked to stop."""


class SimulationStuck(AppError, TimeoutError):
    """The table makes no progress."""


@dataclass
class _Hand:
    """What the dealer knows of the current hand."""

    number: int
    hands: dict[int, SetHand]
    button: int
    asked: list[str] = field(default_factory=list)
    said: bool = False
    laid: bool = False
    looked_again: bool = False
    orders: dict[int, list[Spot]] = field(default_factory=dict)
    """The order in which the cards of open seats are placed."""


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
        self._players = players
        self._reader = reader
        self._link = link
        self._rng = random.Random(f"dealer {seed}")
        self._pace = pace
        self._among_people = among_people
        self._resting = threading.Event()
        self._errands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._hand: _Hand | None = None
        self._down = -1
        self._seq = -1
        self._state = State()
        self._in_phase_since = 0.0
        self._seats = {seat.seat: seat.place for seat in table.house.seats}

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
        self._errands.put(lambda: self._turn_up(self._of(self._reader.recover()[0]), again=True))

    def _rest(self) -> None:
        while self._resting.is_set() and not self._stop.is_set():
            with suppress(queue.Empty):
                self._errands.get(timeout=0.1)()

    def play(self, hands: int | None) -> Iterator[dict[str, Any]]:
        """Play this many hands (None: for ever) and yield each one's report once all is paid.

        Raises SimulationStuck. Ends when stopped.
        """
        played = 0
        try:
            self._clear_up()
            while hands is None or played < hands:
                state = self._look()
                if state.phase is Phase.SETTLED and self._all_paid(state):
                    played += 1
                    yield self._report(state)
                    if hands is not None and played >= hands:
                        return
                self._turn(state)
        except Stopped:
            return

    # ---- what the dealer sees ----

    def _look(self) -> State:
        self._rest()
        if self._stop.is_set():
            raise Stopped("stopped")
        if self._table.failure is not None:
            raise self._table.failure
        if self._seq < 0 or self._reader.events_since(self._seq, limit=1):
            phase = self._state.phase
            self._state, self._seq = self._reader.recover()
            if self._state.phase is not phase:
                self._in_phase_since = time.monotonic()
        return self._state

    def _until(self, what: Callable[[State], bool], within: float = STUCK_AFTER) -> State:
        """Look until the condition is true; among people, or until the timeout."""
        deadline = time.monotonic() + (GIVE_UP_AFTER if self._among_people else within)
        while not what(state := self._look()):
            if time.monotonic() > deadline:
                if self._among_people:
                    return state
                raise SimulationStuck(
                    f"The simulated table has not gone on for {within:g} s (in {state.phase})."
                )
            self._stop.wait(LOOK_EVERY)
        return state

    def _pause(self, seconds: float) -> None:
        """Wait as long as a person takes."""
        if self._pace:
            self._stop.wait(seconds / self._pace)

    # ---- what the dealer does ----

    def _press(self, button: Any, seconds: float = 0.12) -> None:
        """Press a button and check its effect. News from the camera is read first."""
        before = self._seq
        if self._state.phase in (Phase.REVIEW, Phase.SETTLED):
            self._stop.wait(max(0.0, self._in_phase_since + UNSEEN - time.monotonic()))
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

    # ---- one thing at a time ----

    def _clear_up(self) -> None:
        """End a hand of an earlier run: its cards are unknown."""
        state = self._look()
        if state.phase is Phase.SETTLED:
            self._press("next")
        elif state.phase in OPEN - {Phase.DEALING}:
            self._touch("void", reason="The simulation was started again", hand=state.hand)

    def _turn(self, state: State) -> None:
        match state.phase:
            case Phase.IDLE | Phase.ARCHIVED | Phase.VOID:
                self._next_hand(state)
            case Phase.DEALING:
                self._deal(state)
            case Phase.SETTING:
                self._set(state)
            case Phase.PLACING:
                self._place(state)
            case Phase.SHOWDOWN | Phase.READING:
                self._until(lambda now: now.phase not in (Phase.SHOWDOWN, Phase.READING))
            case Phase.REVIEW:
                self._review(state)
            case Phase.SETTLED:
                self._pay(state)

    def _next_hand(self, state: State) -> None:
        self._pause(2)
        self._table.clear()
        self._press("next")

    def _of(self, state: State) -> _Hand:
        """Return what was dealt in this hand; deal if a person opened it."""
        if self._hand is None or self._hand.number != state.hand:
            button = sorted(self._seats)[(state.hand - 1) % len(self._seats)]
            self._seats = {seat.seat: seat.place for seat in state.seats} or self._seats
            self._hand = _Hand(state.hand, self._players.deal(sorted(self._seats)), button)
            for seat in state.seats:
                if seat.open:
                    set_hand, order = in_placing_order(self._hand.hands[seat.seat], self._rng)
                    self._hand.hands[seat.seat], self._hand.orders[seat.seat] = set_hand, order
        return self._hand

    def _log_on(self, state: State) -> None:
        """Take over from the previous dealer, on the page."""
        dealers = [p.name for p in state.people if p.role is Role.DEALER and p.name != state.dealer]
        if dealers and self._down != (state.hand - 1) // HANDS_A_DOWN:
            self._down = (state.hand - 1) // HANDS_A_DOWN
            self._touch("log_on", person=dealers[0])

    def _deal(self, state: State) -> None:
        hand = self._of(state)
        self._log_on(state)
        self._table.clear()
        self._pause(1.5)
        if self._rng.random() < PUCK_FORGOTTEN:
            self._table.puck.lift()
            self._until(lambda now: now.puck.state == "none" or now.phase is not Phase.DEALING)
        else:
            self._table.puck.move_to(hand.button)
            self._until(lambda now: now.button == hand.button or now.phase is not Phase.DEALING)
        self._pause(3)
        if self._look().phase is Phase.DEALING:
            self._press("next")

    def _set(self, state: State) -> None:
        hand = self._of(state)
        self._pause(3)
        self._speak(state, hand)
        self._turn_up(hand)
        self._pause(1)
        if self._look().phase is Phase.SETTING:
            self._press("next")

    def _speak(self, state: State, hand: _Hand) -> None:
        """Key the players' declarations."""
        if hand.said:
            return
        hand.said = True
        for seat, set_hand in hand.hands.items():
            if set_hand.surrenders:
                self._touch("surrender", seat=seat, hand=state.hand)
            elif set_hand.declares:
                self._touch("declare", seat=seat, hand=state.hand)
                self._pause(1)

    def _place(self, state: State) -> None:
        """Have the next street placed, and make sure that it is recorded."""
        hand = self._of(state)
        if not (self._table_questions(state, hand) or self._whole(state)):
            now = street(state)
            if now is not None:
                self._pause(2)
                self._table.lay(by_place(self._seats, lying(state, hand.hands, hand.orders, now)))
                self._until(lambda s: all_seen(s, now) or self._to_answer(s) or s.phase is not Phase.PLACING)
            return
        if not self._whole(state) or state.questions:
            return
        self._speak(state, hand)
        self._turn_up(hand)
        self._pause(1)
        if self._look().phase is Phase.PLACING:
            self._press("next")

    @staticmethod
    def _whole(state: State) -> bool:
        return state.phase is Phase.PLACING and street(state) is None

    @staticmethod
    def _to_answer(state: State) -> bool:
        return any(question.what is not Ask.BUTTON for question in state.questions)

    def _table_questions(self, state: State, hand: _Hand) -> bool:
        """Answer an open question while cards are placed; return whether there was one."""
        if not self._to_answer(state) and not (state.questions and self._whole(state)):
            return False
        self._pause(4)  # a person on the page may be faster
        state = self._look()
        if state.phase is Phase.PLACING and state.questions:
            self._answer(state, state.questions[0], hand)
        return True

    def _turn_up(self, hand: _Hand, again: bool = False) -> None:
        if again or not hand.laid:
            hand.laid = True
            self._table.lay(by_place(self._seats, {seat: h.shown for seat, h in hand.hands.items()}))

    def _review(self, state: State) -> None:
        hand = self._of(state)
        self._turn_up(hand)
        questions = self._look().questions
        if not questions:
            self._until(lambda now: now.phase is not Phase.REVIEW or bool(now.questions))
            return
        self._pause(4)  # a person on the page may be faster
        state = self._look()
        if state.phase is Phase.REVIEW and state.questions:
            self._answer(state, state.questions[0], hand)

    def _answer(self, state: State, question: Question, hand: _Hand) -> None:
        number = {"hand": state.hand}
        if question.what is Ask.BUTTON:
            self._touch("key_button", seat=hand.button, **number)
            return
        if question.what is Ask.NATURAL:
            self._natural(state, hand)
            return
        assert question.seat is not None
        assert question.row is not None
        if question.what is Ask.IRREGULARITY:
            seen = next(i for i in state.irregularities if i.number == question.number)
            self._ask(hand, *([seen.card] if seen.card else []))
            shown = {seat: set_hand.shown for seat, set_hand in hand.hands.items()}
            self._touch("resolve", number=seen.number, stands=stands(seen, shown), **number)
            return
        if question.index is None:
            lies = hand.hands[question.seat].shown[question.row]
            self._ask(hand, *lies)
            self._touch("key_row", seat=question.seat, row=question.row, cards=" ".join(lies), **number)
            return
        if question.what is Ask.DUPLICATE:
            twice = [q for q in state.questions if q.what is Ask.DUPLICATE]
            question = next(q for q in twice if self._lies(state, hand, q) != q.cards[0])
        card = self._lies(state, hand, question)
        self._ask(hand, card)
        self._touch(
            "set_card", seat=question.seat, row=question.row, index=question.index, card=card, **number
        )

    @staticmethod
    def _lies(state: State, hand: _Hand, question: Question) -> str:
        """Return the true card at a question's position."""
        assert question.seat is not None
        assert question.row is not None
        assert question.index is not None
        truth = hand.hands[question.seat].shown[question.row]
        seat = state.seat(question.seat)
        if seat is not None and seat.open:
            return true_card(state, question, truth)
        return truth[question.index]

    @staticmethod
    def _ask(hand: _Hand, *cards: str) -> None:
        hand.asked += [card for card in cards if card not in hand.asked]

    def _natural(self, state: State, hand: _Hand) -> None:
        """Compare the verdict that is shown with the cards on the felt; then press green, or red once."""
        assert state.opened is not None
        rules = rules_of(state.opened, self._reader.content(state.opened.profile_hash))
        seat = pending_natural(state, rules)
        if seat is None:
            return
        verified = natural_verdict(state, seat, rules).kind is not None
        holds = rules.natural_ranking[rules.natural_finder.bits(*hand.hands[seat].rows)] is not None
        if verified == holds or hand.looked_again:
            self._press("confirm", 0.12 if verified else HOLD)
        else:
            hand.looked_again = True
            self._press("reject")

    def _pay(self, state: State) -> None:
        if state.reopened:  # a person has opened a past hand
            self._until(lambda now: not now.reopened)
            return
        unpaid = self._unpaid(state)
        if unpaid:
            self._pause(2.5)
            a, b = unpaid[0]
            self._touch("mark_paid", a=a, b=b, hand=state.hand)
            return
        self._pause(4)
        if self._look().phase is Phase.SETTLED:
            self._table.clear()
            self._press("next")

    @staticmethod
    def _unpaid(state: State) -> list[tuple[int, int]]:
        pairs = (state.settlement or {}).get("pairs", [])
        return [(p["a"], p["b"]) for p in pairs if p["paid"] and (p["a"], p["b"]) not in state.paid]

    def _all_paid(self, state: State) -> bool:
        return not self._unpaid(state)

    # ---- the report ----

    def _report(self, state: State) -> dict[str, Any]:
        assert state.opened is not None
        hand = self._of(state)
        return {
            "hand": state.hand,
            "profile": state.opened.profile,
            "truth": truth_json(hand.hands),
            "reading": self._reading(state, hand),
            "asked": hand.asked,
            "settlement": state.settlement,
        }

    def _reading(self, state: State, hand: _Hand) -> dict[str, dict[str, str]]:
        """Return the last reading, best guesses included, for the seats that showed their cards."""
        taken = [e.event for e in self._reader.of_hand(state.hand) if e.type == ReadingTaken.type]
        rows: dict[str, dict[str, str]] = {str(seat): {} for seat in hand.hands}
        for event in taken[-1:]:
            assert isinstance(event, ReadingTaken)
            for row in event.rows:
                if not hand.hands[row.seat].surrenders:
                    rows[str(row.seat)][row.row] = " ".join(card.card or "??" for card in row.cards)
        return rows
