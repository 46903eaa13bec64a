"""From the naturals to the last payment."""

from dataclasses import replace
from typing import Literal

from pydantic import JsonValue

from firmware.messages import Message
from firmware.table.checks import back_to_review, need_no_payment, need_seat, with_seat, without_puck_word
from firmware.table.command import Command, Context
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, leads_to, stays
from firmware.table.people import AT_TABLE
from firmware.table.phase import Phase
from firmware.table.settling import natural_verdict, pending_natural
from firmware.table.state import Ask, State


class NaturalFound(Event, leads=stays({Phase.REVIEW})):
    """A seat's cards hold a natural, which counts undeclared under the rules of this hand."""

    type = "natural_found"
    title = Message("Natural found")
    seat: int
    kind: str

    def apply(self, state: State) -> State:
        if any(question.what is not Ask.NATURAL for question in state.questions):
            raise CommandRefused("No natural is looked for while the cards or the puck are in question.")
        return with_seat(state, self.seat, found=True)


class NaturalConfirmed(Event, leads=stays({Phase.REVIEW})):
    """The green button: the verdict shown is confirmed. `kind` is None if the cards do not verify the declaration."""

    type = "natural_confirmed"
    title = Message("Natural confirmed")
    seat: int
    kind: str | None
    value: int = 0

    def apply(self, state: State) -> State:
        seat = need_seat(state, self.seat)
        if not (seat.declares or seat.found) or seat.confirmed:
            raise CommandRefused("Seat %(seat)s has no natural that waits for confirmation.", seat=self.seat)
        if any(question.what is not Ask.NATURAL for question in state.questions):
            raise CommandRefused(
                "Answer what is open about the cards and the puck first; then confirm the natural."
            )
        return with_seat(state, self.seat, confirmed=True)


class NaturalUnconfirmed(Event, leads=leads_to({Phase.REVIEW, Phase.SETTLED}, Phase.REVIEW)):
    """A confirmation was taken back."""

    type = "natural_unconfirmed"
    title = Message("Natural unconfirmed")
    seat: int

    def apply(self, state: State) -> State:
        if not need_seat(state, self.seat).confirmed:
            raise CommandRefused("Seat %(seat)s has no confirmed natural.", seat=self.seat)
        need_no_payment(state)
        return back_to_review(with_seat(state, self.seat, confirmed=False))


class HandSettled(Event, leads=leads_to({Phase.REVIEW}, Phase.SETTLED)):
    """The hand's settlement, in the JSON of `feltwatch settle --json`."""

    type = "settled"
    title = Message("Settling")
    settlement: dict[str, JsonValue]

    def apply(self, state: State) -> State:
        if state.questions:
            raise CommandRefused(
                "%(count)s questions are open; nothing is settled before they are answered.",
                count=len(state.questions),
            )
        if self.settlement.get("irregularities") or "error" in self.settlement:
            raise CommandRefused(
                "The rules found the hand irregular; correct a card or a row, or void the hand."
            )
        return replace(
            state,
            phase=Phase.SETTLED,
            settlement=self.settlement,
            settlements=state.settlements + 1,
            paid=frozenset(),
            compared=False,
        )


class PaymentMarked(Event, leads=stays({Phase.SETTLED})):
    """The payment between `a` and `b` (as in the settlement's pairs) was made, or its mark taken back."""

    type = "payment_marked"
    title = Message("Payment marked")
    a: int
    b: int
    paid: bool = True

    def apply(self, state: State) -> State:
        if state.reopened:
            raise CommandRefused("A past hand is on the page; close it, then mark what is paid back.")
        pair = (self.a, self.b)
        pairs = (state.settlement or {}).get("pairs", [])
        if not any((p["a"], p["b"]) == pair and p["paid"] for p in pairs):
            raise CommandRefused("Nothing is to be paid between seats %(a)s and %(b)s.", a=self.a, b=self.b)
        if not self.paid:
            state = without_puck_word(state)
        paid = state.paid | {pair} if self.paid else state.paid - {pair}
        return replace(state, paid=paid, compared=state.compared and self.paid)


class Confirm(Command, roles=AT_TABLE):
    """Confirm a natural, with the green button. Refused if `seat` is not the one due: the page may be out of date."""

    do: Literal["confirm"] = "confirm"
    seat: int | None = None

    def decide(self, context: Context) -> tuple[Event, ...]:
        state, rules = context.state, context.rules
        due = pending_natural(state, rules)
        if due is None:
            raise CommandRefused("No natural waits to be confirmed.")
        if self.seat is not None and self.seat != due:
            raise CommandRefused(
                "The verdict that is due is seat %(due)s's, not seat %(seat)s's.", due=due, seat=self.seat
            )
        natural = natural_verdict(state, due, rules).natural
        return (
            NaturalConfirmed(due, natural.kind, natural.value) if natural else NaturalConfirmed(due, None),
        )


class MarkPaid(Command, roles=AT_TABLE, causes=PaymentMarked):
    """Mark a payment as made, or take the mark back."""

    do: Literal["mark_paid"] = "mark_paid"
    a: int
    b: int
    paid: bool = True
