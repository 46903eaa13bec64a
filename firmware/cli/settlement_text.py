"""A settlement as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firmware.rules import JudgedHand, Pair, Settlement, cards_text, money_text
from firmware.rules.profiles.document import option_name
from firmware.terminal import escape

_ROWS = ("front", "middle", "back")
_DECLARATIONS = {
    "not_borne_out": "which the cards do not show",
    "voided_by_foul": "which a hand set in the wrong order cannot claim",
}


def settlement_text(settlement: Settlement) -> str:
    """Return the seats with their rows, every pair with its lines, and each player's net; each line is escaped."""
    return "\n".join(map(escape, _lines(settlement)))


def _lines(settlement: Settlement) -> Iterator[str]:
    hand = settlement.hand
    yield f"{settlement.profile.title}, {money_text(hand.unit)} a point, puck at seat {hand.button}"
    judged = {seat.seat: seat for seat in settlement.hands}
    for number in settlement.order:
        yield ""
        yield from _seat(judged[number], settlement)
    yield ""
    if settlement.irregularities:
        yield from _irregularities(settlement)
        return
    for pair in settlement.pairs:
        yield from _pair(pair)
    yield ""
    yield from _totals(settlement)


def _fantasyland(seat: JudgedHand) -> str:
    cards = f" ({seat.fantasyland_cards} cards)" if seat.fantasyland_cards else ""
    return f"Fantasy Land next{cards}" if seat.fantasyland_next else ""


def _seat(seat: JudgedHand, settlement: Settlement) -> Iterator[str]:
    given = next(given for given in settlement.hand.seats if given.seat == seat.seat)
    marks = [
        f"player {given.player}" if given.player else "",
        "surrenders" if given.surrenders else "",
        f"natural: {seat.natural.words}" if seat.natural else "",
        "foul" if seat.fault else "",
        _fantasyland(seat),
    ]
    yield ", ".join([f"Seat {seat.seat}", *filter(None, marks)])
    if seat.declaration and seat.declaration.verdict != "counts":
        came_to = _DECLARATIONS[seat.declaration.verdict]
        plays = "a foul" if seat.fault else "it plays as it is set"
        yield f"  declared a natural, {came_to}: {plays} ({option_name(seat.declaration.clause)})"
    if seat.rows is None:
        return
    for index, (name, cards) in enumerate(zip(_ROWS, seat.rows, strict=True)):
        strength = seat.words(index).full if seat.strengths[index] else ""
        bonus = f" (bonus {seat.bonuses[index]})" if seat.bonuses[index] else ""
        yield f"  {name:<6}  {cards_text(cards):<14}  {strength}{bonus}".rstrip()


def _irregularities(settlement: Settlement) -> Iterator[str]:
    yield "Nothing is settled until this is resolved:"
    for found in settlement.irregularities:
        what = found.what.replace("_", " ")
        yield f"  seat {found.seat}, {found.row}: {what}: {cards_text(found.cards) or 'no cards'}"


def _pair(pair: Pair) -> Iterator[str]:
    if pair.points == 0:
        yield f"Seat {pair.a} and seat {pair.b}: nothing"
    else:
        winner, payer = (pair.a, pair.b) if pair.points > 0 else (pair.b, pair.a)
        short = f", {money_text(pair.short)} short of {money_text(abs(pair.owed))}" if pair.short else ""
        points = "1 point" if abs(pair.points) == 1 else f"{abs(pair.points)} points"
        yield f"Seat {payer} pays seat {winner} {money_text(abs(pair.paid))} ({points}{short})"
    sign = -1 if pair.points < 0 else 1
    for line in pair.lines:
        yield f"  {sign * line.points:+4}  {line.why}" if line.points else f"     0  {line.why}"


def _totals(settlement: Settlement) -> Iterator[str]:
    rows = [("seat", "points", "paid", "stack")]
    for seat in settlement.hand.seats:
        stack = settlement.stacks.get(seat.owner)
        points, paid = settlement.points[seat.seat], settlement.paid[seat.seat]
        money = f"+{money_text(paid)}" if paid > 0 else money_text(paid)
        rows.append(
            (
                str(seat.seat),
                f"{points:+}" if points else "0",
                money,
                "" if stack is None else money_text(stack),
            )
        )
    yield from _columns(rows)
    if plan := settlement.chips_plan:
        yield "Fewest transfers: " + "; ".join(
            f"{_who(transfer.payer)} gives {_who(transfer.winner)} {money_text(transfer.amount)}"
            for transfer in plan
        )


def _who(player: str) -> str:
    return f"seat {player}" if player.isdigit() else player


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
