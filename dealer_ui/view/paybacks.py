"""The paybacks of a corrected hand, each as a large payment: payer, winner, sum, and the stacks before and after."""

from dealer_ui.text.words import money
from dealer_ui.view.screen import Action, Refund
from firmware.table import events as ev
from firmware.table.offers import Offers
from firmware.table.state import State


def refund(state: State, may: Offers) -> Refund | None:
    """Return the payback that is due now; None if there is none."""
    if may.payback is None:
        return None
    due = may.payback.command["number"]
    back = state.paybacks[due - 1]
    same = [n for n, one in enumerate(state.paybacks, start=1) if one.hand == back.hand]
    return Refund(
        hand=back.hand,
        number=same.index(due) + 1,
        of=len(same),
        payer=back.payer,
        winner=back.winner,
        payer_seats=_seats(state, back.payer),
        winner_seats=_seats(state, back.winner),
        amount=money(back.amount),
        stacks=tuple(_after(state, p, cents) for p, cents in _moves(back)),
    )


def _moves(back: ev.Payback) -> tuple[tuple[str, int], tuple[str, int]]:
    return (back.payer, -back.amount), (back.winner, back.amount)


def _after(state: State, player: str, cents: int) -> tuple[str, str, str]:
    """Return a player with the stack before and after; without both if no stack is tracked."""
    stack = state.stacks.get(player)
    if stack is None:
        return player, "", ""
    return player, money(stack), money(max(0, stack + cents))


def _seats(state: State, player: str) -> str:
    return "+".join(str(seat.seat) for seat in state.house.seats_of(player))


def refund_actions(may: Offers) -> tuple[Action, ...]:
    """Return the actions for the payback that is due, white last. The last mark can be taken back."""
    assert may.payback is not None
    before = may.of("mark_paid_back", number=may.payback.command["number"] - 1, paid=False)
    mark = () if may.payback.refused else (Action.of(may.payback, tone="go", lamp="white"),)
    return (
        *(Action.of(offer, tone="quiet", takes_back=True) for offer in before),
        *(Action.of(offer, tone="quiet") for offer in may.of("open_hand")),
        *mark,
    )
