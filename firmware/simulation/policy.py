"""What a simulated dealer does next: one policy for the demo, for whole evenings and for the training.

`Policy.next` is given the state as the page shows it. It knows what was dealt, and returns one `Act`. A driver does the
act and asks again: over the socket with a person's pauses, on a virtual clock, or without devices. `Habits` are the
errors that people make; the policy corrects those that it sees.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from firmware.devices.panel.interface import ButtonName
from firmware.rules import CARDS, LAID, Profile
from firmware.simulation.habits import Habits
from firmware.simulation.hand import Hand
from firmware.simulation.live.players import Players, Spot, in_placing_order
from firmware.simulation.placing import PlacedCards, Rows
from firmware.table import Ask, Phase, Question, State
from firmware.table.events import ROWS, Row
from firmware.table.house import house_of
from firmware.table.offers import Offers, offers
from firmware.table.people import Role
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.streets import all_streets, each_street, street

HANDS_A_DOWN: Final = 20
"""Hands after which the next dealer takes over; a shift is 40 minutes."""


@dataclass(frozen=True)
class Act:
    """One thing that the dealer does, after `pause` seconds of a person and after these cards were laid, by seat.

    `do`: "wait", "lay" (only the cards), "puck", "unlit" (a button that does nothing now), a button's action ("next",
    "confirm", "look_again"; `held` for press and hold), or a command of the page with its `fields`. `retry`: what a
    refusal is remembered by.
    """

    do: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    felt: Mapping[int, Rows] | None = None
    pause: float = 0.0
    held: bool = False
    retry: str = ""


WAIT: Final = Act("wait")
BUTTON_OF: Final[Mapping[str, ButtonName]] = {"next": "next", "confirm": "confirm", "look_again": "reject"}
PUCK_WAITS: Final = 3
"""Looks for the moved puck before the dealer says where it lies."""


class Policy:
    """One dealer and the table's players. `rules` returns the rules of the hand; `names`: those who may sit out."""

    def __init__(
        self,
        players: Players,
        rules: Callable[[State], Profile],
        rng: random.Random,
        habits: Habits | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self.hand = Hand(0, {}, 0, None)
        self.habits = habits or Habits()
        self._players = players
        self._rules = rules
        self._rng = rng
        self._names = names
        self._down = -1
        self._puck: int | None = None
        """The seat at which the dealer laid the puck for the next hand."""
        self._due: tuple[int, int] | None = None
        self._puck_waits = 0

    def often(self, share: float) -> bool:
        """Return whether something that is done at this share of the occasions is done now."""
        return share > 0 and self._rng.random() < share

    def of(self, state: State) -> Hand:
        """Return the current hand; deal it when it is first seen."""
        if state.hand != self.hand.number:
            seats = sorted(seat.seat for seat in state.seats)
            hands = self._players.deal(seats, {s.seat: s.fantasyland_cards or LAID for s in state.seats})
            orders: dict[int, list[Spot]] = {}
            for seat in state.seats:
                if seat.open:
                    hands[seat.seat], orders[seat.seat] = in_placing_order(hands[seat.seat], self._rng)
            placing = (
                PlacedCards(hands, orders, self._rng, self.habits.mischief, each_street(state))
                if orders
                else None
            )
            chosen = self._puck or state.button or seats[(state.hand - 1) % len(seats)]
            self.hand = Hand(state.hand, hands, chosen if chosen in seats else seats[0], placing)
        return self.hand

    def done_with(self, act: Act) -> None:
        """Do not offer an act again in this hand: the table refused it, or once is enough."""
        if act.retry:
            self.hand.done_with.add(act.retry)

    def next(self, state: State) -> Act:
        """Return what the dealer does now."""
        if state.phase in BETWEEN_HANDS:
            return self._between_hands(state)
        hand = self.of(state)
        if state.phase is Phase.REVIEW and not state.questions:
            return self._lay(hand) or WAIT
        hand.questions |= {q for q in state.questions if q.what is not Ask.NATURAL}
        if self.often(self.habits.pressed_unlit):
            return Act("unlit", {"button": self._rng.choice(["confirm", "reject"])})
        if self.often(self.habits.voided):
            return Act("void", {"reason": "A misdeal."})
        match state.phase:
            case Phase.DEALING:
                return self._deal(state, hand)
            case Phase.SETTING:
                return self._set(state, hand)
            case Phase.PLACING:
                return self._place(state, hand)
            case Phase.REVIEW:
                return self._review(state, hand)
            case Phase.SETTLED:
                return self._settled(state, hand)
            case _:
                if hand.collected:  # red was pressed since, so they are read again
                    hand.collected = hand.laid = False
                return self._lay(hand) or self._await_cards(state, hand)

    def _between_hands(self, state: State) -> Act:
        if self.often(self.habits.sits_out):
            player = self._rng.choice(self._names)
            on = player not in state.sits_out
            if not on or len(self._names) - len(state.sits_out) > 2:
                return Act("sit_out", {"player": player, "on": on}, {})
        if self.often(self.habits.counted):
            stack = self._rng.randrange(1, 2000) * 100
            player = self._rng.choice(self._names)
            return Act("count_stack", {"player": player, "stack": stack, "reason": "Chips bought."}, {})
        return self._turn_puck(state) or Act("next", felt={}, pause=2)

    def _turn_puck(self, state: State) -> Act | None:
        """Move the puck on for the next hand; None if it lies right. The page reminds a dealer who forgets it.

        Where the reader does not see it there, the dealer says where it lies.
        """
        due = self._may(state).puck_due if state.opened is not None else None
        if due is None:
            return WAIT if state.puck_awaited else None
        if self._due != (state.hand, due):
            if not state.puck_awaited and self.often(self.habits.puck_forgotten):
                return None
            self._due, self._puck, self._puck_waits = (state.hand, due), due, 0
            return Act("puck", {"seat": due}, {}, pause=1.5)
        self._puck_waits += 1
        if self._puck_waits % PUCK_WAITS:
            return WAIT
        return Act("keep_button", {"seat": due}, pause=1)

    def _may(self, state: State) -> Offers:
        """Return what the table lets the dealer do."""
        rules = self._rules(state)
        return offers(state, house_of(state, rules), rules)

    def _deal(self, state: State, hand: Hand) -> Act:
        dealers = [p.name for p in state.people if p.role is Role.DEALER and p.name != state.dealer]
        if dealers and self._down != (state.hand - 1) // HANDS_A_DOWN:
            self._down = (state.hand - 1) // HANDS_A_DOWN
            return Act("log_on", {"person": dealers[0]})
        if hand.puck_moved:
            return Act("next", pause=3)
        hand.puck_moved = True
        seat: int | None = hand.button
        if self.often(self.habits.puck_forgotten):
            seat = None
        elif self.often(self.habits.puck_mislaid):
            seat = self._rng.choice(list(hand.hands))
        if seat == state.button:
            return Act("next", pause=3)
        return Act("puck", {"seat": seat}, {}, pause=1.5)

    def _set(self, state: State, hand: Hand) -> Act:
        if self.often(self.habits.misdeclared) and self._rules(state).naturals.kinds:
            return Act("declare", {"seat": self._rng.choice(list(hand.hands))})
        return self._speak(state, hand) or self._lay(hand, pause=3) or Act("next", pause=1)

    def _speak(self, state: State, hand: Hand) -> Act | None:
        """Key the players' declarations, one at a time; None if all are keyed."""
        for seat in state.seats:
            wanted = hand.hands[seat.seat]
            word = ""
            if seat.declares != wanted.declares and not seat.confirmed:
                word = "withdraw" if seat.declares else "declare"
            if state.phase is Phase.SETTING and seat.surrenders != wanted.surrenders:
                word = "withdraw_surrender" if seat.surrenders else "surrender"
            retry = f"{word} {seat.seat} {hand.turns // 20}"
            if word and retry not in hand.done_with:
                return Act(word, {"seat": seat.seat}, pause=1, retry=retry)
        return None

    def _lay(self, hand: Hand, pause: float = 0.0) -> Act | None:
        """Turn all cards up; None if they lie."""
        if hand.laid:
            return None
        hand.laid = True
        if hand.placing is not None:
            hand.placing.street = all_streets(hand.placing.each)
        return Act("lay", felt=hand.shown, pause=pause)

    def _await_cards(self, state: State, hand: Hand) -> Act:
        """Wait for a reading. The page names places without cards: after a while, key a forgotten surrender."""
        if state.awaited and any(hand.hands[seat].surrenders for seat in state.awaited.empty):
            hand.awaits += 1
            if self.habits.waits and hand.awaits % self.habits.waits == 0:
                return Act("back_to_setting")
        return WAIT

    # ---- face-up hands ----

    def _place(self, state: State, hand: Hand) -> Act:
        """Have the next street placed once the record has the last one; answer questions meanwhile."""
        placing = hand.placing
        assert placing is not None
        now = street(state)
        if state.keyed:
            now = None
        questions = [q for q in state.questions if now is None or q.what is not Ask.BUTTON]
        if questions:
            placing.waits += 1
            if placing.bent:
                return Act("lay", felt=placing.put_right())
            return self._answer(state, questions[0], hand)
        if now is None:
            if placing.bent:
                return Act("lay", felt=placing.put_right())
            return self._speak(state, hand) or self._lay(hand) or Act("next", pause=1)
        if now > placing.street:
            return Act("lay", felt=placing.place(now), pause=2)
        return self._not_seen(state, placing)

    def _not_seen(self, state: State, placing: PlacedCards) -> Act:
        """Handle a card that is not on record: wait for a reading, lay the cards again, key the row or the hand."""
        placing.waits += 1
        if placing.waits == max(2, self.habits.waits // 2):
            return Act("lay", felt=placing.put_right())
        if not self.habits.waits or placing.waits < self.habits.waits:
            return WAIT
        if "camera" in state.faults and self.often(self.habits.keyed):
            return Act("key_hand", {"reason": "The camera is dead."})
        lies = placing.should_lie()
        short = [
            (seat.seat, row)
            for seat in state.seats
            for row in ROWS
            if seat.open and len(seat.row(row)) < len(lies[seat.seat][row])
        ]
        if not short:
            return WAIT
        at, row = self._rng.choice(short)
        return Act("key_row", {"seat": at, "row": row, "cards": " ".join(lies[at][row])})

    # ---- questions ----

    def _review(self, state: State, hand: Hand) -> Act:
        if lay := self._lay(hand):
            hand.unread = True
            return lay
        if hand.unread:
            hand.unread = False
            return Act("look_again")
        if hand.looks < 3 and self.often(self.habits.looked_again):
            hand.looks += 1
            return Act("look_again")
        return self._speak(state, hand) or self._answer(state, state.questions[0], hand)

    def _answer(self, state: State, question: Question, hand: Hand) -> Act:
        wrongly = self.often(self.habits.answered_wrongly)
        if question.what is Ask.BUTTON:
            return self._key_button(self._rng.choice(list(hand.hands)) if wrongly else hand.button)
        if question.what is Ask.NATURAL:
            return self._natural(state, hand)
        if question.what is Ask.IRREGULARITY:
            assert hand.placing is not None
            seen = next(i for i in state.irregularities if i.number == question.number)
            hand.note_asked([seen.card] if seen.card else [])
            return Act(
                "resolve", {"number": seen.number, "stands": hand.placing.which_is_right(seen)}, pause=4
            )
        assert question.seat is not None
        assert question.row is not None
        if question.index is None:
            hand.note_asked(hand.row(question.seat, question.row))
            return self._key_row(hand, question.seat, question.row, wrongly)
        if question.what is Ask.DUPLICATE:
            twice = [q for q in state.questions if q.what is Ask.DUPLICATE]
            question = next((q for q in twice if hand.lies(state, q) not in q.cards[:1]), question)
        card = hand.lies(state, question)
        hand.note_asked([card])
        fields = {"seat": question.seat, "row": question.row, "index": question.index}
        return Act("set_card", fields | {"card": self._other_card(card) if wrongly else card}, pause=4)

    def _natural(self, state: State, hand: Hand) -> Act:
        """Compare the verdict that is shown with the cards on the felt; confirm, or have them read once more."""
        rules, confirm = self._rules(state), self._may(state).first("confirm")
        if confirm is None:
            return WAIT  # the page shows no verdict
        seat, verified = confirm.command["seat"], not confirm.hold
        holds = rules.natural_ranking[rules.natural_finder.bits(*hand.hands[seat].rows)] is not None
        if verified != holds and not hand.compared:
            hand.compared = True
            return Act("look_again", pause=4)
        return Act("confirm", {"seat": seat}, pause=4, held=not verified)

    def _key_button(self, seat: int) -> Act:
        return Act("key_button", {"seat": seat}, pause=4)

    def _key_row(self, hand: Hand, seat: int, row: Row, wrongly: bool) -> Act:
        cards = hand.row(seat, row)
        if wrongly:
            spot = self._rng.randrange(len(cards))
            cards[spot] = self._other_card(cards[spot])
        return Act("key_row", {"seat": seat, "row": row, "cards": " ".join(cards)}, pause=4)

    def _other_card(self, card: str) -> str:
        return self._rng.choice([other.code for other in CARDS if other.code != card])

    # ---- the settlement ----

    def _settled(self, state: State, hand: Hand) -> Act:
        rng, habits = self._rng, self.habits
        if state.reopened:  # a person has opened a past hand
            return WAIT
        if habits.noticed and (correction := self._correct(state, hand)):
            return correction
        if not state.paid:
            confirmed = [seat.seat for seat in state.seats if seat.confirmed]
            if confirmed and self.often(habits.unconfirmed):
                return Act("undo_confirm", {"seat": rng.choice(confirmed)})
            seats = [seat.seat for seat in state.seats if not seat.surrenders]
            if seats and self.often(habits.corrected_wrongly):
                return self._key_row(hand, rng.choice(seats), rng.choice(list(ROWS)), wrongly=True)
            if hand.looks < 3 and self.often(habits.looked_again / 3):
                hand.looks += 1
                return Act("look_again")
        hand.paying = hand.paying or self.often(habits.paid)
        if hand.paying and state.unpaid:
            a, b = state.unpaid[0]
            return Act("mark_paid", {"a": a, "b": b}, pause=2.5)
        hand.collected = True
        if self.often(habits.closed):
            return Act("archive", felt={}, pause=4)
        turned = self._turn_puck(state) if state.is_paid else None
        return turned or Act("next", felt={}, pause=4)

    def _correct(self, state: State, hand: Hand) -> Act | None:
        """Have a player or the dealer dispute the puck or a card that the page shows; None if nobody does."""
        if state.button != hand.button:
            return self._mark_back(state) or self._key_button(hand.button)
        for seat in state.seats:
            for row in ROWS if not seat.surrenders else ():
                truth = hand.row(seat.seat, row)
                cards = [card.card for card in seat.row(row)]
                missing = [card for card in truth if card not in cards]
                for index, card in enumerate(cards):
                    if card in truth or not missing:
                        continue
                    spot = (seat.seat, row, index, card)
                    if spot not in hand.noticed:
                        hand.noticed[spot] = self.often(self.habits.noticed)
                    if hand.noticed[spot]:
                        true = truth[index] if truth[index] in missing else missing[0]
                        fields = {"seat": seat.seat, "row": row, "index": index, "card": true}
                        return self._mark_back(state) or Act("set_card", fields)
        return None

    @staticmethod
    def _mark_back(state: State) -> Act | None:
        """Take a payment's mark back: until then nothing can be corrected. None if there is no mark."""
        marked = sorted(state.paid)
        return Act("mark_paid", {"a": marked[0][0], "b": marked[0][1], "paid": False}) if marked else None
