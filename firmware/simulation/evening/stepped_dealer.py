"""The dealer and the players, with human errors.

The dealer looks at the page, does one thing, and looks again. He answers from the cards on the felt, sometimes wrongly.
He presses twice, presses a button that is not lit, presses too early, answers outdated questions, corrects a settled
hand, takes a confirmation back, voids. He corrects his own intended errors when he sees them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from firmware.devices.panel.interface import ButtonName
from firmware.rules import CARDS, Profile
from firmware.runtime.errors import AppError
from firmware.simulation.evening import habits
from firmware.simulation.evening.audited_hand import Dealt
from firmware.simulation.evening.audited_hand import Spot as SpotAt
from firmware.simulation.evening.auditor import Auditor
from firmware.simulation.evening.faults import Faults
from firmware.simulation.evening.page_reader import Page
from firmware.simulation.evening.placing import Placing
from firmware.simulation.evening.stepped_table import SteppedTable
from firmware.simulation.live.face_up import true_card
from firmware.simulation.live.players import Players, SetHand, Spot, in_placing_order
from firmware.table import Ask, CommandRefused, Phase, Question, State
from firmware.table.events import ROWS, Row, SeatOpened
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.settling import natural_verdict, pending_natural
from firmware.table.streets import STREETS

_BUTTON_OF: Final[Mapping[str, ButtonName]] = {
    "next": "next",
    "confirm": "confirm",
    "look_again": "reject",
}


class GaveUp(AppError):
    """The evening cannot continue."""


@dataclass
class _Hand:
    """What the people at the table know of the current hand."""

    hands: dict[int, SetHand]
    button: int
    declares: set[int]
    puck_moved: bool = False
    laid: bool = False
    looks: int = 0
    awaits: int = 0
    done: int = 0
    blank: int = 0
    seen_wrong: dict[tuple[SpotAt, str | None], bool] = field(default_factory=dict)
    asked: set[Question] = field(default_factory=set)
    tried: set[str] = field(default_factory=set)
    placing: Placing | None = None


class Dealer:
    """Plays hands on a stepped table."""

    def __init__(
        self,
        table: SteppedTable,
        page: Page,
        auditor: Auditor,
        faults: Faults,
        players: Players,
        seats: tuple[SeatOpened, ...],
        rules: Profile,
        rng: random.Random,
    ) -> None:
        self._table = table
        self._page = page
        self._auditor = auditor
        self._faults = faults
        self._players = players
        self._seats = seats
        self._places = {seat.seat: seat.place for seat in seats}
        self._rules = rules
        self._rng = rng
        self._hand = _Hand({}, 0, set())
        self._number = 0
        self._last = 0
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
            self._guard(state)
            self._turn(state)
            self._table.pass_time(self._rng.uniform(0.3, 1.2))

    # ---- page and buttons ----

    def _look(self) -> State:
        """Return the page's state; while the page is gone, its last state."""
        if self._faults.on("page-gone"):
            if self._table.seq != self._page.seq:
                self._faults.strike("page-gone")
            return self._page.state
        self._faults.notice("page-gone")  # it is back, with all missed events
        if self._table.seq == self._page.seq:
            return self._page.state
        return self._page.follow()

    def _press(self, button: ButtonName, seconds: float = 0.15) -> bool:
        """Press a button; return whether the page shows an effect."""
        before = self._page.seq
        self._table.press(button, seconds)
        if self._often(habits.PRESSED_TWICE):
            self._table.press(button, seconds)
        self._look()
        return self._page.seq != before

    def _touch(self, do: str, **fields: Any) -> bool:
        """Send a command from the page; return whether the table accepted it. Without an answer: retry, then look."""
        command = {"do": do, "hand": self._page.state.hand, **fields}
        if self._often(habits.TOUCHED_STALE) and command["hand"] > 1:
            stale = self._table.touch(command | {"hand": command["hand"] - 1})
            if stale is not None and stale["ok"]:
                self._auditor.problem("broken", f"A touch meant for the hand before was taken: {command}.")
        answer = self._send(command)
        if answer is None or self._often(habits.PRESSED_TWICE):
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

    def _do(self, do: str, seconds: float = 0.15) -> None:
        """Press the button of an action; without an effect, use the page."""
        if not self._press(_BUTTON_OF[do], seconds) and not self._faults.on("page-gone"):
            self._touch(do)

    def _often(self, share: float) -> bool:
        return self._rng.random() < share

    # ---- the hand ----

    def _guard(self, state: State) -> None:
        """Count a hand that cannot be ended as lost, and void it so that the next one can be played."""
        hand = self._of(state)
        hand.done += 1
        self._auditor.counts["done"] += 1
        if hand.done == habits.STUCK_AFTER:
            asked = ", ".join(f"{q.what} {q.seat} {q.row} {q.index}" for q in state.questions)
            why = f" The table's last refusal: {self._refused}" if self._refused else ""
            self._auditor.problem(
                "lost", f"Hand {state.hand} cannot be ended in {state.phase} ({asked}).{why}"
            )
        if hand.done >= habits.STUCK_AFTER:
            self._touch("void", reason="It cannot be ended.")
        if hand.done > 2 * habits.STUCK_AFTER:
            raise GaveUp(f"Hand {state.hand} cannot even be voided; the evening ended with it.")

    def _of(self, state: State) -> _Hand:
        """Return the current hand; deal it when it is first seen."""
        if state.hand != self._number:
            self._number = state.hand
            seats = sorted(seat.seat for seat in state.seats)
            hands = self._players.deal(seats)
            self._places = {seat.seat: seat.place for seat in state.seats}
            orders: dict[int, list[Spot]] = {}
            for seat in state.seats:
                if seat.open:
                    hands[seat.seat], orders[seat.seat] = in_placing_order(hands[seat.seat], self._rng)
            declares = {seat for seat, hand in hands.items() if hand.declares}
            self._hand = _Hand(hands, seats[(state.hand - 1) % len(seats)], declares)
            if orders:
                self._hand.placing = Placing(hands, orders, self._places, self._rng)
            rows = {
                seat: {row: [card.code for card in cards] for row, cards in zip(ROWS, hand.rows, strict=True)}
                for seat, hand in hands.items()
            }
            self._auditor.dealt[state.hand] = Dealt(rows, self._hand.button)
            self._auditor.dealt.pop(state.hand - 3, None)
            self._table.readings.felt = {}
            self._faults.plan(self._table.now)
        return self._hand

    def _ended(self) -> None:
        questions = len(self._hand.asked)
        self._auditor.counts["questions"] += questions
        self._auditor.counts["hands_with_questions"] += bool(questions)

    def _turn(self, state: State) -> None:
        hand = self._hand
        if state.phase in BETWEEN_HANDS:
            self._table.readings.felt = {}
            if not self._between_hands(state):
                self._do("next")
            return
        if state.phase is Phase.REVIEW and not state.questions:
            self._wait(state, hand)
            return
        hand.asked |= {q for q in state.questions if q.what is not Ask.NATURAL}
        if self._often(habits.PRESSED_UNLIT):
            self._table.press(self._rng.choice(["confirm", "reject"]))
            return
        if self._often(habits.VOIDED):
            self._touch("void", reason="A misdeal.")
            return
        match state.phase:
            case Phase.DEALING:
                self._deal(hand)
            case Phase.SETTING:
                self._set(state, hand)
            case Phase.PLACING:
                self._place(state, hand)
            case Phase.SHOWDOWN | Phase.READING:
                self._lay(hand)
                self._await_cards(state, hand)
            case Phase.REVIEW:
                self._review(state, hand)
            case Phase.SETTLED:
                self._settled(state, hand)

    def _between_hands(self, state: State) -> bool:
        """Have a player sit out or come back, or have his chips counted; return whether one did."""
        players = [seat.player for seat in self._seats]
        if self._often(habits.SITS_OUT):
            player = self._rng.choice(players)
            on = player not in state.sits_out
            if not on or len(players) - len(state.sits_out) > 2:
                self._touch("sit_out", player=player, on=on)
                return True
        if self._often(habits.COUNTED):
            stack = self._rng.randrange(1, 2000) * 100
            self._touch("count_stack", player=self._rng.choice(players), stack=stack, reason="Chips bought.")
            return True
        return False

    def _place(self, state: State, hand: _Hand) -> None:
        """Have the next street placed once the record has the last one; answer questions meanwhile."""
        placing = hand.placing
        assert placing is not None
        open_questions = [q for q in state.questions if q.what is not Ask.BUTTON]
        if open_questions:
            placing.waits += 1
            if placing.bent:
                self._put_right(placing)
            else:
                self._answer(state, open_questions[0], hand)
        elif state.keyed or placing.all_seen(state):
            if placing.street == STREETS:
                self._show_down(state, hand, placing)
            else:
                placing.go_on()
                self._table.readings.felt = placing.felt
        else:
            self._not_seen(state, hand, placing)
        self._table.pass_time(0.5)

    def _show_down(self, state: State, hand: _Hand, placing: Placing) -> None:
        if placing.bent:
            self._put_right(placing)
        if not self._speak(state, hand):
            self._lay(hand)
            self._do("next")

    def _put_right(self, placing: Placing) -> None:
        placing.put_right()
        self._table.readings.felt = placing.felt

    def _not_seen(self, state: State, hand: _Hand, placing: Placing) -> None:
        """Handle a card that is not on record: wait for a reading, check the felt, then key the row, or the hand."""
        placing.waits += 1
        if placing.waits == habits.WAITS // 2 and placing.bent:
            self._put_right(placing)
        if placing.waits < habits.WAITS:
            return
        if "camera" in state.faults and self._often(habits.KEYED):
            self._touch("key_hand", reason="The camera is dead.")
            return
        lies = placing.should_lie()
        short = [
            (seat.seat, row)
            for seat in state.seats
            for row in ROWS
            if seat.open and len(seat.row(row)) < len(lies[seat.seat][row])
        ]
        if short:
            seat, row = self._rng.choice(short)
            self._touch("key_row", seat=seat, row=row, cards=" ".join(lies[seat][row]))

    def _wait(self, state: State, hand: _Hand) -> None:
        """Wait for the settlement, as nothing is asked; a table with a full disk may take a while."""
        hand.blank += 1
        if hand.blank == habits.BLANK_AFTER:
            self._auditor.problem(
                "lost", f"Hand {state.hand} is in review, nothing is asked, and it does not settle."
            )
        if hand.blank >= habits.BLANK_AFTER:
            self._touch("void", reason="It does not settle.")

    def _deal(self, hand: _Hand) -> None:
        if not hand.puck_moved:
            hand.puck_moved = True
            if self._often(habits.PUCK_FORGOTTEN):
                self._table.puck.move_to(None)
            elif self._often(habits.PUCK_MISLAID):
                self._table.puck.move_to(self._rng.choice(list(self._places)))
            else:
                self._table.puck.move_to(hand.button)
            self._table.pass_time(2.0)
            return
        self._do("next")

    def _set(self, state: State, hand: _Hand) -> None:
        if self._often(habits.MISDECLARED) and self._rules.naturals.kinds:
            self._touch("declare", seat=self._rng.choice(list(hand.hands)))
        elif not self._speak(state, hand):
            self._lay(hand)
            self._do("next")

    def _speak(self, state: State, hand: _Hand) -> bool:
        """Key the players' declarations, one at a time; return whether there was one."""
        for seat in state.seats:
            wanted = hand.hands[seat.seat]
            word = ""
            if seat.declares != (seat.seat in hand.declares) and not seat.confirmed:
                word = "withdraw" if seat.declares else "declare"
            if state.phase is Phase.SETTING and seat.surrenders != wanted.surrenders:
                word = "withdraw_surrender" if seat.surrenders else "surrender"
            if word and f"{word} {seat.seat} {hand.done // 20}" not in hand.tried:
                if not self._touch(word, seat=seat.seat):
                    hand.tried.add(f"{word} {seat.seat} {hand.done // 20}")
                return True
        return False

    def _lay(self, hand: _Hand) -> None:
        if not hand.laid:
            hand.laid = True
            self._table.readings.felt = {
                self._places[seat]: set_hand.shown for seat, set_hand in hand.hands.items()
            }
            if hand.placing is not None:
                hand.placing.street = STREETS

    def _await_cards(self, state: State, hand: _Hand) -> None:
        """The page names the places without cards: after a while, key the surrender that was forgotten."""
        if state.awaited and any(hand.hands[seat].surrenders for seat in state.awaited.empty):
            hand.awaits += 1
            if hand.awaits % habits.WAITS == 0:
                self._touch("back_to_setting")

    def _review(self, state: State, hand: _Hand) -> None:
        if not hand.laid:
            self._lay(hand)
            self._do("look_again")
        elif self._often(habits.LOOKED_AGAIN) and hand.looks < 3:
            hand.looks += 1
            self._do("look_again")
        elif not self._speak(state, hand):
            self._answer(state, state.questions[0], hand)

    def _answer(self, state: State, question: Question, hand: _Hand) -> None:
        wrongly = self._often(habits.ANSWERED_WRONGLY)
        match question.what:
            case Ask.BUTTON:
                seat = self._rng.choice(list(self._places)) if wrongly else hand.button
                self._touch("key_button", seat=seat)
            case Ask.NATURAL:
                self._natural(state, hand)
            case Ask.IRREGULARITY:
                assert hand.placing is not None
                seen = next(i for i in state.irregularities if i.number == question.number)
                self._touch("resolve", number=seen.number, stands=hand.placing.stands(seen))
            case Ask.COUNT:
                assert question.seat is not None
                assert question.row is not None
                self._key_row(hand, question.seat, question.row, wrongly)
            case _:
                spots = [
                    q
                    for q in state.questions
                    if q.what is question.what and self._lies(state, hand, q) not in q.cards[:1]
                ]
                asked = spots[0] if question.what is Ask.DUPLICATE and spots else question
                card = self._lies(state, hand, asked)
                if wrongly:
                    card = self._other_card(card)
                self._touch("set_card", seat=asked.seat, row=asked.row, index=asked.index, card=card)

    def _key_row(self, hand: _Hand, seat: int, row: Row, wrongly: bool) -> None:
        cards = self._row(hand, seat, row)
        if wrongly:
            spot = self._rng.randrange(len(cards))
            cards[spot] = self._other_card(cards[spot])
        self._touch("key_row", seat=seat, row=row, cards=" ".join(cards))

    @staticmethod
    def _row(hand: _Hand, seat: int, row: Row) -> list[str]:
        return [card.code for card in getattr(hand.hands[seat].rows, row)]

    def _lies(self, state: State, hand: _Hand, question: Question) -> str:
        """Return the true card at a question's position; "" if the row has none there."""
        assert question.seat is not None
        assert question.row is not None
        assert question.index is not None
        row = self._row(hand, question.seat, question.row)
        if hand.placing is not None and question.seat in hand.placing.orders:
            return true_card(state, question, row)  # on record in the order in which the camera saw them
        return row[question.index] if question.index < len(row) else ""

    def _other_card(self, card: str) -> str:
        return self._rng.choice([other.code for other in CARDS if other.code != card])

    def _natural(self, state: State, hand: _Hand) -> None:
        try:
            seat = pending_natural(state, self._rules)
            verified = seat is not None and natural_verdict(state, seat, self._rules).kind is not None
        except CommandRefused:
            return  # the page shows no verdict
        if not self._press("confirm", 0.15 if verified else habits.HOLD) and not self._faults.on("page-gone"):
            self._touch("confirm", seat=seat)

    def _settled(self, state: State, hand: _Hand) -> None:
        rng = self._rng
        if self._correct(state, hand):
            return
        confirmed = [seat.seat for seat in state.seats if seat.confirmed]
        if confirmed and not state.paid and self._often(habits.UNCONFIRMED):
            self._touch("undo_confirm", seat=rng.choice(confirmed))
        elif self._often(habits.CORRECTED_WRONGLY) and not state.paid:
            seat = rng.choice([seat.seat for seat in state.seats if not seat.surrenders] or [0])
            if seat:
                self._key_row(hand, seat, rng.choice(list(ROWS)), wrongly=True)
        elif self._often(habits.LOOKED_AGAIN / 3) and hand.looks < 3 and not state.paid:
            hand.looks += 1
            self._do("look_again")
        elif self._often(habits.PAID_ONE_BY_ONE):
            self._pay(state)
        elif state.hand >= self._last:
            self._all_done = not self._faults.on("page-gone")
        elif self._often(habits.CLOSED) and not self._faults.on("page-gone"):
            self._table.readings.felt = {}
            self._touch("archive")
        elif not self._faults.on("page-gone"):
            self._table.readings.felt = {}
            self._do("next")

    def _correct(self, state: State, hand: _Hand) -> bool:
        """Have a player or the dealer dispute the cards that the page shows; return whether one did."""
        if state.button != hand.button:
            if not self._mark_back(state):
                self._touch("key_button", seat=hand.button)
            return True
        for seat in state.seats:
            for row in ROWS if not seat.surrenders else ():
                truth = self._row(hand, seat.seat, row)
                cards = [card.card for card in seat.row(row)]
                missing = [card for card in truth if card not in cards]
                for index, card in enumerate(cards):
                    if card in truth or not missing:
                        continue
                    spot = (seat.seat, row, index)
                    if hand.seen_wrong.setdefault((spot, card), self._often(habits.NOTICED)):
                        true = truth[index] if truth[index] in missing else missing[0]
                        if not self._mark_back(state):
                            self._touch("set_card", seat=seat.seat, row=row, index=index, card=true)
                        return True
        return False

    def _mark_back(self, state: State) -> bool:
        """Take a payment's mark back: until then nothing can be corrected. Return whether there was one."""
        for a, b in sorted(state.paid):
            self._touch("mark_paid", a=a, b=b, paid=False)
            return True
        return False

    def _pay(self, state: State) -> None:
        for pair in (state.settlement or {}).get("pairs", []):
            if pair["paid"] and (pair["a"], pair["b"]) not in state.paid:
                self._touch("mark_paid", a=pair["a"], b=pair["b"])
