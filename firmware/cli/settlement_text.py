"""A settlement as text."""

from collections.abc import Iterator, Mapping, Sequence

from firmware.messages import Message
from firmware.rules import JudgedHand, Pair, Settlement, cards_text, money_text
from firmware.rules.lines import fault_words
from firmware.rules.order import banker_seat
from firmware.rules.profiles.document import option_name
from firmware.rules.profiles.row_words import in_house_words
from firmware.rules.words import ROW_NAMES
from firmware.terminal import escape

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
    if (banker := banker_seat(settlement.order, hand.button, settlement.profile)) is not None:
        yield f"Seat {banker} is the banker: everybody else settles with it alone"
    judged = {seat.seat: seat for seat in settlement.hands}
    for number in settlement.order:
        yield ""
        yield from _seat(judged[number], settlement)
    yield ""
    if settlement.irregularities:
        yield from _irregularities(settlement)
        return
    for pair in settlement.pairs:
        yield from _pair(pair, dict(settlement.profile.hands.rows_called))
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
        if seat.declaration.verdict == "not_borne_out" and settlement.profile.naturals.by == "rows":
            came_to += " as they are set"
        plays = "a foul" if seat.fault else "it plays as it is set"
        yield f"  declared a natural, {came_to}: {plays} ({option_name(seat.declaration.clause)})"
    if seat.rows is None:
        return
    called = dict(settlement.profile.hands.rows_called)
    if seat.fault and not any(
        line.id == "foul" and line.loser.seat == seat.seat for pair in settlement.pairs for line in pair.lines
    ):
        yield f"  {in_house_words(fault_words(Message, seat), called)}"
    names = [called.get(name, name) for name in ROW_NAMES]
    width = max(map(len, names))
    for index, (name, cards) in enumerate(zip(names, seat.rows, strict=True)):
        strength = seat.words(index).full if seat.strengths[index] else ""
        earns = seat.bonuses[index] and (not seat.natural or settlement.profile.naturals.keeps_bonus)
        bonus = f" (bonus {seat.bonuses[index]})" if earns else ""
        yield f"  {name:<{width}}  {cards_text(cards):<14}  {strength}{bonus}".rstrip()


def _irregularities(settlement: Settlement) -> Iterator[str]:
    yield "Nothing is settled until this is resolved:"
    called = dict(settlement.profile.hands.rows_called)
    for found in settlement.irregularities:
        what = found.what.replace("_", " ")
        row = called.get(found.row, found.row)
        yield f"  seat {found.seat}, {row}: {what}: {cards_text(found.cards) or 'no cards'}"


def _pair(pair: Pair, called: Mapping[str, str]) -> Iterator[str]:
    if pair.points == 0:
        yield f"Seat {pair.a} and seat {pair.b}: nothing"
    else:
        winner, payer = (pair.a, pair.b) if pair.points > 0 else (pair.b, pair.a)
        short = f", {money_text(pair.short)} short of {money_text(abs(pair.owed))}" if pair.short else ""
        points = "1 point" if abs(pair.points) == 1 else f"{abs(pair.points)} points"
        yield f"Seat {payer} pays seat {winner} {money_text(abs(pair.paid))} ({points}{short})"
    sign = -1 if pair.points < 0 else 1
    for line in pair.lines:
        why = in_house_words(line.message, called) if called or line.winner.is_foul else line.why
        yield f"  {sign * line.points:+4}  {why}" if line.points else f"     0  {why}"


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
