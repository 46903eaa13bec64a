"""The payments of a settled hand, from its settlement and the marks made so far."""

from collections.abc import Mapping
from typing import Final

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import money, points_with_sign, row_name
from dealer_ui.view.screen import Action, Line, Outcome, Payment, Transfer
from firmware.rules import chips_plan
from firmware.rules.recorded_settlement import RecordedLine, RecordedPair, RecordedSettlement
from firmware.rules.words import ROW_NAMES
from firmware.table.offers import Offers

Pair = tuple[int, int]

ROW_LINES: Final = frozenset(
    {"row_won", "row_tied", "row_tied_button", "row_tied_banker", "row_tied_suit", "bonus_in_place"}
)
"""The settlement's lines that say who won a row."""

ROWS_COMPARED: Final = frozenset(
    {"row_won", "row_tied", "row_tied_button", "row_tied_banker", "row_tied_suit"}
)
"""Lines that say which cards won: the only ones that are told in full as long as there is room."""

BRIEF: Final[Mapping[str, str]] = {
    "row_tied": N_("%(row)s: push"),
    "row_tied_button": N_("%(row)s: puck"),
    "row_tied_banker": N_("%(row)s: banker"),
    "row_tied_suit": N_("%(row)s: by suit"),
    "two_rows": N_("two of three rows"),
    "all_rows": N_("all three rows"),
    "majority": N_("most rows"),
    "scoop": N_("all three rows"),
    "scoop_times": N_("scoop multiplied"),
    "beat_all_times": N_("everybody scooped"),
    "bonus": N_("%(row)s bonus"),
    "bonus_in_place": N_("%(row)s bonus"),
    "bonus_doubled": N_("%(row)s bonus, twice"),
    "bonus_weaker": N_("%(row)s: bonus beaten"),
    "bonuses_tie": N_("%(row)s: bonuses tie"),
    "foul": N_("foul of seat %(loser)s"),
    "foul_bonus": N_("%(row)s bonus"),
    "both_foul": N_("both foul"),
    "natural": N_("natural of seat %(winner)s"),
    "natural_bonus": N_("%(row)s bonus"),
    "natural_pays_bonus": N_("%(row)s bonus"),
    "natural_first": N_("declared first"),
    "naturals_tie": N_("naturals tie"),
    "declaration_not_borne_out": N_("declared without a natural"),
    "declaration_excused": N_("declared without a natural"),
    "declaration_voided": N_("natural void"),
    "surrender": N_("seat %(loser)s surrenders"),
    "surrender_foul": N_("surrender before a foul"),
    "surrender_natural": N_("surrender before a natural"),
    "both_surrender": N_("both surrender"),
}
"""The key is a line's kind. A kind that is not here has a sentence of its own."""

FAULTS: Final = {
    "front_above_middle": N_("%(front)s above %(middle)s"),
    "middle_above_back": N_("%(middle)s above %(back)s"),
    "middle_equals_back": N_("%(middle)s equals %(back)s"),
    "middle_suit_above_back": N_("%(middle)s above %(back)s by suit"),
    "front_above_back": N_("%(front)s above %(back)s"),
    "middle_not_low": N_("%(middle)s not low enough"),
    "false_declaration": N_("declared without a natural"),
}


def payments(
    settlement: RecordedSettlement,
    paid: frozenset[Pair],
    players: Mapping[int, str] | None = None,
    *,
    due: bool = True,
) -> tuple[tuple[Payment, ...], int | None]:
    """Return every pair's payment, in the order of payment, and the index of the current one. `players`: by seat.

    A pair that exchanges nothing is listed but never waited for. No payment is current if the hand is not being paid
    (not `due`): it is over, or it is reopened and its paybacks are shown instead.
    """
    waiting = (i for i, pair in enumerate(settlement.pairs) if pair.paid and pair.seats not in paid)
    current = next(waiting, None) if due else None
    names = players or {}
    return tuple(
        _payment(pair, paid, names, i == current) for i, pair in enumerate(settlement.pairs)
    ), current


def marks(settlement: RecordedSettlement, may: Offers) -> tuple[Action | None, Action | None]:
    """Return the action that marks the current payment paid (the white button's), and the one that undoes the last
    mark.
    """
    forward, back = may.first("mark_paid", paid=True), may.of("mark_paid", paid=False)[-1:]
    pairs = {pair.seats: label_of(*pair.payer_winner) for pair in settlement.moving}
    undo = [
        Action.of(
            offer,
            _("Undo %(pair)s", pair=pairs[offer.command["a"], offer.command["b"]]),
            tone="quiet",
            takes_back=True,
        )
        for offer in back
    ]
    return Action.of(forward, tone="go", lamp="white") if forward else None, next(iter(undo), None)


def label_of(payer: object, winner: object) -> str:
    """Format payer and winner, payer first: `"3 ▸ 2"`."""
    return f"{payer} \N{BLACK RIGHT-POINTING SMALL TRIANGLE} {winner}"


def chips(
    settlement: RecordedSettlement, players: Mapping[int, str], paid: frozenset[Pair]
) -> tuple[Transfer, ...]:
    """Return the chips plan: the fewest transfers that give every player of `players` (by seat) their net result.

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
    """Name a player by their seats: a name alone does not show where they sit."""
    seats = "+".join(str(seat) for seat in sorted(players) if players[seat] == player)
    return f"{seats} {player}"


def all_marked(may: Offers) -> Action | None:
    """Return the action that marks every payment at once, for chips moved by the plan."""
    return next((Action.of(offer, tone="go") for offer in may.of("mark_paid") if offer.hold), None)


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
    return _(FAULTS[fault], **{row: row_name(row) for row in ROW_NAMES}) if fault in FAULTS else ""


def _payment(pair: RecordedPair, paid: frozenset[Pair], names: Mapping[int, str], now: bool) -> Payment:
    payer, winner = pair.payer_winner
    sign = -1 if payer == pair.a else 1
    return Payment(
        label=label_of(payer, winner) if pair.paid else f"{pair.a}–{pair.b}",
        amount=money(pair.paid) if pair.paid else _("short") if pair.short else _("even"),
        state="nothing" if not pair.paid else "now" if now else "paid" if pair.seats in paid else "later",
        payer=payer,
        winner=winner,
        points=points_with_sign(sign * pair.points),
        lines=tuple(
            Line(
                say(line.message), points_with_sign(sign * line.points), brief(line), line.id in ROWS_COMPARED
            )
            for line in pair.lines
        ),
        short=_short(pair),
        payer_name=names.get(payer, ""),
        winner_name=names.get(winner, ""),
    )


def _short(pair: RecordedPair) -> str:
    if not pair.short:
        return ""
    return _(
        "%(short)s short of the %(owed)s owed: the stakes end here",
        short=money(pair.short),
        owed=money(pair.owed),
    )


def brief(line: RecordedLine) -> str:
    """Return a line in a few words; "" for a kind that this release does not know."""
    row = row_name(line.row) if line.row else ""
    if line.id == "row_won":
        return row
    if line.id not in BRIEF:
        return ""
    return _(BRIEF[line.id], row=row, winner=line.winner or "", loser=line.loser or "")
