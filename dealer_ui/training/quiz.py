"""The questions of a training hand, and their answers. Pure: both come from the settlement, which the rules made.

Nothing is decided here: fouls, naturals, the order of settling and payments are read from the settlement, and the
reasons from its lines.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from dealer_ui.text.hand_words import natural_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.messages import say
from dealer_ui.text.rule_words import option_says, rule_text
from dealer_ui.text.words import money, points_with_sign
from dealer_ui.view.quiz_screen import QuizClause
from dealer_ui.view.screen import Flag, Row, Screen, Seat
from firmware.rules import Profile
from firmware.rules.recorded_settlement import RecordedPair, RecordedSettlement, read_settlement
from firmware.table.state import State


@dataclass(frozen=True)
class Question:
    """One question. `answer` has the form that a trainee sends (see `is_right`). `lines` and `clauses` give the
    reasons.
    """

    key: str
    kind: Literal["natural", "foul", "first", "pays"]
    text: str
    answer: str
    right: str
    lines: tuple[str, ...]
    clauses: tuple[QuizClause, ...]
    choices: tuple[tuple[str, str], ...] = ()
    several: bool = False
    seats: tuple[int, ...] = ()

    def is_right(self, given: str) -> bool:
        """Judge an answer: a choice, several choices in any order with a space between, or a figure."""
        if self.several:
            return set(given.split()) == set(self.answer.split())
        if not self.choices:
            return given.isascii() and given.isdigit() and len(given) < 10 and int(given) == int(self.answer)
        return given == self.answer

    def feedback(self, given: str) -> str:
        """Describe an answer in words."""
        if not self.choices:
            return _points(int(given)) if given.isascii() and given.isdigit() and len(given) < 10 else given
        words = dict(self.choices)
        chosen = [words[one] for one in given.split() if one in words]
        return ", ".join(chosen) if chosen else _("Nobody")


def questions(state: State, rules: Profile) -> tuple[Question, ...]:
    """Return the questions of a settled hand, in the order of a dealer's work; none before the settlement."""
    if state.settlement is None:
        return ()
    settlement = read_settlement(state.settlement)
    questions = [*_naturals(state, settlement, rules)]
    if any(hand.rows for hand in settlement.hands):  # a hand has been shown
        questions.append(_fouls(settlement, rules))
    if len(settlement.moving) > 1:
        questions.append(_first(state, settlement, rules))
    scored = [pair for pair in settlement.pairs if pair.points]
    if scored:
        pair = random.Random(f"hand {state.hand}").choice(scored)  # the same on every call
        questions.append(_pays(state, rules, pair))
    return tuple(questions)


def _naturals(state: State, settlement: RecordedSettlement, rules: Profile) -> Iterator[Question]:
    if rules.naturals.declared == "automatic":
        yield from _ask_undeclared(settlement, rules)
        return
    for number in settlement.order:
        seat = state.seat(number)
        if seat is None or seat.surrenders or not seat.declares:
            continue
        hand = settlement.hand(number)
        natural = hand.natural if hand else None
        if natural:
            line = _(
                "The cards are %(natural)s: %(points)s from each opponent.",
                natural=natural_words(natural),
                points=_points(natural.value),
            )
            clauses = ["naturals.kinds"]
        else:
            line = _("The cards of seat %(seat)s bear no natural out.", seat=number)
            clauses = ["naturals.kinds", "naturals.false_declaration", "naturals.foul_voids"]
        yield Question(
            key=f"natural-{number}",
            kind="natural",
            text=_("Seat %(seat)s declares a natural. Is it one?", seat=number),
            answer="yes" if natural else "no",
            right=_("Yes, it is one") if natural else _("No, it is none"),
            lines=(line,),
            clauses=_clauses(rules, clauses),
            choices=(("yes", _("Yes, it is one")), ("no", _("No, it is none"))),
            seats=(number,),
        )


def _ask_undeclared(settlement: RecordedSettlement, rules: Profile) -> Iterator[Question]:
    """Ask about all hands at once if naturals count undeclared: a question about one hand would give it away."""
    shown = sorted(hand.seat for hand in settlement.hands if hand.rows)
    if not shown or not rules.naturals.kinds:
        return
    naturals = {hand.seat: hand.natural for hand in settlement.hands if hand.natural}
    names = {seat: _("Seat %(seat)s", seat=seat) for seat in shown}
    lines = tuple(
        _(
            "The cards of seat %(seat)s are %(natural)s: %(points)s from each opponent.",
            seat=seat,
            natural=natural_words(natural),
            points=_points(natural.value),
        )
        for seat, natural in sorted(naturals.items())
    )
    yield Question(
        key="natural",
        kind="natural",
        text=_("Which hands count as naturals? None need be declared here."),
        answer=" ".join(str(seat) for seat in shown if seat in naturals),
        right=", ".join(names[seat] for seat in shown if seat in naturals) or _("Nobody"),
        lines=lines or (_("No hand counts as a natural."),),
        clauses=_clauses(rules, ["naturals.kinds", "naturals.declared", "naturals.foul_voids"]),
        choices=tuple((str(seat), names[seat]) for seat in shown),
        several=True,
    )


def _fouls(settlement: RecordedSettlement, rules: Profile) -> Question:
    shown = [hand.seat for hand in settlement.hands if hand.rows]
    fouled = [hand.seat for hand in settlement.hands if hand.is_foul]
    lines = tuple(_why_foul(settlement, seat) for seat in fouled)
    names = {seat: _("Seat %(seat)s", seat=seat) for seat in shown}
    naturals = [hand.seat for hand in settlement.hands if hand.natural]
    if not fouled:
        lines = (_("No row of any hand beats the row behind it."),)
        if naturals:
            lines = (_("No hand is a foul; a natural that counts is none, however its rows lie."),)
    return Question(
        key="foul",
        kind="foul",
        text=_("Which hands are fouls?"),
        answer=" ".join(map(str, fouled)),
        right=", ".join(names[seat] for seat in fouled) or _("Nobody"),
        lines=lines,
        clauses=_clauses(rules, ["foul.equal_rows", "foul.points"] if fouled else ["foul.equal_rows"]),
        choices=tuple((str(seat), names[seat]) for seat in sorted(shown)),
        several=True,
    )


def _why_foul(settlement: RecordedSettlement, seat: int) -> str:
    for pair in settlement.pairs:
        for line in pair.lines:
            if line.id == "foul" and line.loser == seat:
                return say(line.message)
    return _("Seat %(seat)s is a foul.", seat=seat)


def _first(state: State, settlement: RecordedSettlement, rules: Profile) -> Question:
    moving = settlement.moving
    choices = tuple((_key(pair), _between(pair)) for pair in sorted(moving, key=_low_first))
    order = ", ".join(map(str, settlement.order))
    return Question(
        key="first",
        kind="first",
        text=_("The puck is at seat %(seat)s. Who settles first?", seat=state.button),
        answer=_key(moving[0]),
        right=_between(moving[0]),
        lines=(_("The seats settle in this order: %(order)s.", order=order),),
        clauses=_clauses(rules, ["order.first", "order.direction", "order.naturals_first"]),
        choices=choices,
    )


def _pays(state: State, rules: Profile, pair: RecordedPair) -> Question:
    payer, winner = pair.payer_winner
    sign = 1 if pair.points > 0 else -1
    lines = [f"{points_with_sign(sign * line.points)}  {say(line.message)}" for line in pair.lines]
    unit = state.opened.unit if state.opened else 0
    together = _(
        "Together %(points)s, at %(unit)s each: %(amount)s.",
        points=_points(abs(pair.points)),
        unit=money(unit),
        amount=money(pair.owed),
    )
    if pair.short:
        together += " " + _("The stakes end at %(amount)s.", amount=money(pair.paid))
    return Question(
        key=f"pays-{_key(pair)}",
        kind="pays",
        text=_("How many points does seat %(payer)s pay seat %(winner)s?", payer=payer, winner=winner),
        answer=str(abs(pair.points)),
        right=_points(abs(pair.points)),
        lines=(*lines, together),
        clauses=_clauses(rules, dict.fromkeys(line.clause for line in pair.lines)),
        seats=(payer, winner),
    )


def _key(pair: RecordedPair) -> str:
    return f"{pair.a}-{pair.b}"


def _low_first(pair: RecordedPair) -> tuple[int, ...]:
    return tuple(sorted((pair.a, pair.b)))


def _between(pair: RecordedPair) -> str:
    one, other = _low_first(pair)
    return _("Seats %(one)s and %(other)s", one=one, other=other)


def _points(number: int) -> str:
    return ngettext("%(num)s point", "%(num)s points", number)


def _clauses(rules: Profile, paths: Iterable[str]) -> tuple[QuizClause, ...]:
    options = {path: (kind, value) for path, kind, value in rules.options()}
    return tuple(
        QuizClause(rule_text(options[path][0].title), option_says(*options[path]), rules.clause.get(path, ""))
        for path in paths
        if path in options
    )


# ---- while a question is open, the page hides the settlement ----


def hide_settlement(screen: Screen, state: State) -> Screen:
    """Return the screen without the settlement: only the cards and the players' declarations."""
    declared = {seat.seat for seat in state.seats if seat.declares}
    return replace(
        screen,
        phase_title=_("Training"),
        next_step=_("Settle this hand yourself."),
        needs=(),
        payments=(),
        current=None,
        transfers=(),
        transferred=None,
        actions=(),
        more=(),
        last=(),
        last_hand=None,
        notices=(),
        cues=(),
        seats=tuple(_hide_seat(seat, seat.seat in declared) for seat in screen.seats),
    )


def _hide_seat(seat: Seat, declared: bool) -> Seat:
    flags = [flag for flag in seat.flags if flag.kind == "surrender"]
    if declared:
        flags.append(Flag("asked", _("Natural declared")))
    rows = tuple(
        Row(row.row, row.name, tuple(replace(card, asked=False, pad=None) for card in row.cards))
        for row in seat.rows
    )
    return Seat(
        seat.place,
        seat.seat,
        seat.player,
        seat.button,
        rows=rows,
        flags=tuple(flags),
        stack=seat.stack,
        due=seat.due,
    )
