"""The payments of a settled hand, from its settlement and the marks made so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import money, signed_points
from dealer_ui.view.screen import Action, Line, Outcome, Payment, Transfer
from firmware.rules import chips_plan
from firmware.rules.recorded import RecordedPair, RecordedSettlement

Pair = tuple[int, int]

ROW_LINES: Final = frozenset({"row_won", "row_tied", "row_tied_button", "bonus_in_place"})
"""The settlement's lines that say who won a row."""

FAULTS: Final = {
    "front_above_middle": N_("front above middle"),
    "middle_above_back": N_("middle above back"),
    "middle_equals_back": N_("middle equals back"),
    "middle_suit_above_back": N_("middle above back by suit"),
    "false_declaration": N_("declared without a natural"),
}


def payments(
    settlement: RecordedSettlement, paid: frozenset[Pair], *, due: bool = True
) -> tuple[tuple[Payment, ...], int | None]:
    """Return every pair's payment, in the order of payment, and the index of the current one.

    A pair that exchanges nothing is listed but never waited for. No payment is current if the hand is not being paid
    (not `due`): it is over, or it is reopened and its paybacks are shown instead.
    """
    waiting = (i for i, pair in enumerate(settlement.pairs) if pair.paid and pair.seats not in paid)
    current = next(waiting, None) if due else None
    return tuple(_payment(pair, paid, i == current) for i, pair in enumerate(settlement.pairs)), current


def marks(
    settlement: RecordedSettlement, paid: frozenset[Pair], hand: int
) -> tuple[Action | None, Action | None]:
    """Return the action that marks the current payment paid (the white button's), and the one that undoes the last
    mark.
    """

    waiting = [pair for pair in settlement.moving if pair.seats not in paid]
    done = [pair for pair in settlement.moving if pair.seats in paid]
    forward = Action(_("Paid"), _mark(waiting[0], hand), tone="go", lamp="white") if waiting else None
    back = None
    if done:
        label = _("Undo %(pair)s", pair=label_of(*done[-1].payer_winner))
        back = Action(label, _mark(done[-1], hand, made=False), tone="quiet")
    return forward, back


def _mark(pair: RecordedPair, hand: int, *, made: bool = True) -> dict[str, Any]:
    return {"do": "mark_paid", "a": pair.a, "b": pair.b, "paid": made, "hand": hand}


def label_of(payer: object, winner: object) -> str:
    """Format payer and winner, payer first: `"3 ▸ 2"`."""
    return f"{payer} \N{BLACK RIGHT-POINTING SMALL TRIANGLE} {winner}"


def chips(
    settlement: RecordedSettlement, players: Mapping[int, str], paid: frozenset[Pair]
) -> tuple[Transfer, ...]:
    """Return the chips plan: the fewest transfers that give every player of `players` (by seat) his net result.

    Empty after a payment was already made pair by pair: the plan is for the whole settlement.
    """
    if paid:
        return ()
    nets: dict[str, int] = {}
    for seat, amount in settlement.paid.items():
        player = players[seat]
        nets[player] = nets.get(player, 0) + amount
    return tuple(
        Transfer(_whose(plan.payer, players), _whose(plan.winner, players), money(plan.amount))
        for plan in chips_plan(nets)
    )


def _whose(player: str, players: Mapping[int, str]) -> str:
    """Name a player by his seats: a name alone does not show where he sits."""
    seats = "+".join(str(seat) for seat in sorted(players) if players[seat] == player)
    return f"{seats} {player}"


def all_marked(settlement: RecordedSettlement, hand: int) -> Action | None:
    """Return the action that marks every payment at once, for chips moved by the plan."""
    commands = tuple(_mark(pair, hand) for pair in settlement.moving)
    if not commands:
        return None
    return Action(_("These chips have moved: all paid"), commands[0], tone="go", hold=True, also=commands[1:])


def row_outcomes(pair: RecordedPair) -> dict[int, dict[str, Outcome]]:
    """Return each compared row's outcome for both seats of a pair; a foul has no compared rows."""
    outcomes: dict[int, dict[str, Outcome]] = {pair.a: {}, pair.b: {}}
    for line in pair.lines:
        if line.id in ROW_LINES:
            for seat, rows in outcomes.items():
                rows[line.row] = "push" if line.winner is None else "won" if seat == line.winner else "lost"
    return outcomes


def foul_reasons(settlement: RecordedSettlement) -> dict[int, str]:
    """Return in a few words why each fouled seat's hand is a foul, if a pair's lines give the reason."""
    return {seat: _fault(fault) for seat, fault in settlement.faults.items()}


def _fault(fault: str) -> str:
    return _(FAULTS[fault]) if fault in FAULTS else ""


def _payment(pair: RecordedPair, paid: frozenset[Pair], now: bool) -> Payment:
    payer, winner = pair.payer_winner
    sign = -1 if payer == pair.a else 1
    return Payment(
        label=label_of(payer, winner) if pair.paid else f"{pair.a}–{pair.b}",
        amount=money(pair.paid) if pair.paid else _("short") if pair.short else _("even"),
        state="still" if not pair.paid else "now" if now else "paid" if pair.seats in paid else "later",
        payer=payer,
        winner=winner,
        points=signed_points(sign * pair.points),
        lines=tuple(Line(say(line.message), signed_points(sign * line.points)) for line in pair.lines),
        short=_short(pair),
    )


def _short(pair: RecordedPair) -> str:
    if not pair.short:
        return ""
    return _(
        "%(short)s short of the %(owed)s owed: the stakes end here",
        short=money(pair.short),
        owed=money(pair.owed),
    )
