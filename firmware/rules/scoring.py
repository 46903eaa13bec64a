"""The comparison of two hands, as lines whose points sum to the result."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import starmap

from firmware.rules.foul import Fault, leading_suit, order_fault
from firmware.rules.judging import FoulHand, JudgedHand, NaturalHand, RegularHand, SurrenderedHand
from firmware.rules.lines import DECLARATION_LINES, Line, make_line
from firmware.rules.profiles.profile import Profile

_ROWS = (0, 1, 2)
_NOTHING = (0, 0, 0)
_ROW_LINES = frozenset({"row_won", "row_tied_button", "row_tied_banker", "row_tied_suit"})
_OPPONENTS = 3
"""Opponents at a full table, all of whom a hand must scoop to multiply by all of them."""
_ROWS_WON = _ROW_LINES | {"bonus_in_place"}


class Scorer:
    """Compares pairs of hands under one profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._row_points = tuple(points for _, points in profile.scoring.rows) or (profile.scoring.row,) * 3
        self._majority = profile.scoring.majority
        self._scoop = profile.scoring.scoop
        self._scoop_times = profile.scoring.scoop_times
        self._beat_all_times = profile.scoring.beat_all_times
        self._button_wins_ties = profile.scoring.ties == "button"
        self._tied_how = "row_tied_banker" if profile.scoring.versus == "banker" else "row_tied_button"
        self._suits = profile.scoring.suits
        self._replaces = profile.bonus.pays == "replaces"
        self._only_stronger = profile.bonus.pays == "stronger"
        self._beside = profile.bonus.pays in ("each", "stronger")
        self._outcome = dict(profile.scoring.outcome)
        self._natural_keeps = profile.naturals.keeps_bonus and profile.bonus.pays != "none"
        self._natural_pays = profile.naturals.pays_bonus and profile.bonus.pays != "none"
        self._surrender_pays_foul = profile.surrender.pays_foul
        self._surrender_pays_value = profile.surrender.versus_natural == "value"
        naturals = profile.naturals
        self._first_wins = naturals.wins if naturals.declared == "required" else "higher"

    def lines(self, a: JudgedHand, b: JudgedHand) -> list[Line]:
        """Return every line between two hands; their points sum to what `a` gains from `b`."""
        if isinstance(a, RegularHand) and isinstance(b, RegularHand):
            lines = self._regular(a, b)
        elif isinstance(a, SurrenderedHand) or isinstance(b, SurrenderedHand):
            return [self._surrender(a, b)]
        else:
            lines = self._decided(a, b)
        if a.declaration or b.declaration:
            lines += [*_came_to_nothing(a, b), *_came_to_nothing(b, a)]
        return lines

    def _decided(self, a: JudgedHand, b: JudgedHand) -> list[Line]:
        """Return the lines of two hands if one of them is a natural or a foul."""
        match a, b:
            case NaturalHand(), NaturalHand():
                return self._two_naturals(a, b)
            case NaturalHand(), _:
                return self._natural(a, b, a.natural.value)
            case _, NaturalHand():
                return self._natural(b, a, -b.natural.value)
            case FoulHand(), FoulHand():
                return [Line("both_foul", 0, a, b)]
            case FoulHand(), _:
                return self._foul(b, a, -1)
            case _:
                return self._foul(a, b, 1)

    def natural_bonuses(self, hand: JudgedHand) -> tuple[int, int, int]:
        """Return the bonuses of a natural against a regular hand or a foul: those of rows in the right order."""
        if not self._natural_keeps or hand.rows is None or not isinstance(hand, NaturalHand):
            return _NOTHING
        return _NOTHING if order_fault(hand.strengths, hand.rows, self._profile) else hand.bonuses

    def _surrender(self, a: JudgedHand, b: JudgedHand) -> Line:
        if isinstance(a, SurrenderedHand) and isinstance(b, SurrenderedHand):
            return Line("both_surrender", 0, a, b)
        winner, loser, sign = (a, b, 1) if isinstance(b, SurrenderedHand) else (b, a, -1)
        if isinstance(winner, FoulHand) and not self._surrender_pays_foul:
            return Line("surrender_foul", 0, winner, loser)
        if self._surrender_pays_value and isinstance(winner, NaturalHand):
            return Line("surrender_natural", sign * winner.natural.value, winner, loser)
        return Line("surrender", sign * self._profile.surrender.points, winner, loser)

    def _two_naturals(self, a: NaturalHand, b: NaturalHand) -> list[Line]:
        ours, theirs = a.natural, b.natural
        by_value = self._profile.naturals.tie == "value"
        is_tie = ours.value == theirs.value if by_value else ours.place == theirs.place
        decides = self._first_wins == "first_declared" or (self._first_wins == "first_of_equals" and is_tie)
        if decides and a.acted is not None and b.acted is not None and a.acted != b.acted:
            winner, loser, sign = (a, b, 1) if a.acted < b.acted else (b, a, -1)
            lines = self._natural(winner, loser, sign * winner.natural.value)
            return [*lines, Line("natural_first", 0, winner, loser)]
        if is_tie:
            return [Line("naturals_tie", 0, a, b)]
        if ours.place < theirs.place:
            return self._natural(a, b, ours.value)
        return self._natural(b, a, -theirs.value)

    def _natural(self, winner: JudgedHand, loser: JudgedHand, points: int) -> list[Line]:
        sign = 1 if points > 0 else -1
        lines = [Line("natural", points, winner, loser)]
        if isinstance(loser, FoulHand) and self._profile.foul.versus_natural == "both":
            lines.append(Line("foul", sign * self._profile.foul.points, winner, loser))
        if isinstance(loser, NaturalHand):
            return lines
        lines += _bonus_lines("natural_bonus", sign, winner, loser, self.natural_bonuses(winner))
        if self._natural_pays and isinstance(loser, RegularHand):
            lines += _bonus_lines("natural_pays_bonus", -sign, loser, winner, loser.bonuses)
        return lines

    def _foul(self, winner: JudgedHand, loser: JudgedHand, sign: int) -> list[Line]:
        lines = [Line("foul", sign * self._profile.foul.points, winner, loser)]
        if self._profile.foul.pays_bonus and self._profile.bonus.pays != "none":
            lines += _bonus_lines("foul_bonus", sign, winner, loser, winner.bonuses)
        return lines

    def _regular(self, a: JudgedHand, b: JudgedHand) -> list[Line]:
        lines: list[Line] = []
        won = lost = 0
        our_rows, their_rows = a.strengths, b.strengths
        row_points, replaces = self._row_points, self._replaces
        for row in _ROWS:
            ours, theirs = our_rows[row], their_rows[row]
            if ours > theirs:
                winner, loser, sign, how = a, b, 1, "row_won"
            elif ours < theirs:
                winner, loser, sign, how = b, a, -1, "row_won"
            elif tied := self._wins_tie(a, b, row):
                a_wins, how = tied
                winner, loser, sign = (a, b, 1) if a_wins else (b, a, -1)
            else:
                lines.append(make_line(("row_tied", 0, a, b, row)))
                continue
            if sign > 0:
                won += 1
            else:
                lost += 1
            if replaces and winner.bonuses[row]:
                lines += self._in_place(winner, loser, row, sign)
            else:
                lines.append(make_line((how, sign * row_points[row], winner, loser, row)))
        if won >= 2:
            self._rows_won(lines, won, a, b, 1)
        elif lost >= 2:
            self._rows_won(lines, lost, b, a, -1)
        if self._beside and (a.bonuses != _NOTHING or b.bonuses != _NOTHING):
            self._bonuses(lines, a, b)
        if self._scoop_times and (won == len(_ROWS) or lost == len(_ROWS)):
            winner, loser, sign = (a, b, 1) if won else (b, a, -1)
            lines += _multiplied("scoop_times", self._scoop_times, lines, winner, loser, sign)
        return lines

    def _wins_tie(self, a: JudgedHand, b: JudgedHand, row: int) -> tuple[bool, str] | None:
        """Return whether the first of two equal rows wins, and the kind of line for it; None if neither does."""
        if self._suits:
            return self._higher_suit(a, b, row), "row_tied_suit"
        if self._button_wins_ties and a.holds_button != b.holds_button:
            return a.holds_button, self._tied_how
        return None

    def _higher_suit(self, a: JudgedHand, b: JudgedHand, row: int) -> bool:
        """Return whether the first of two equal rows wins by its suit."""
        assert a.rows is not None
        assert b.rows is not None
        category = a.scale.kind(a.strengths[row]).category
        ours, theirs = (leading_suit(rows[row], category, self._suits) for rows in (a.rows, b.rows))
        return ours < theirs

    def all_lines(self, pairs: Sequence[tuple[JudgedHand, JudgedHand]]) -> Iterable[list[Line]]:
        """Return the lines of each pair, with what a hand gains that wins all three rows from three opponents."""
        found = starmap(self.lines, pairs)
        return self._with_beat_all(pairs, list(found)) if self._beat_all_times else found

    def _with_beat_all(
        self, pairs: Sequence[tuple[JudgedHand, JudgedHand]], found: list[list[Line]]
    ) -> list[list[Line]]:
        beaten = Counter(seat for lines in found if (seat := _scoops(lines)))
        for seat in (seat for seat, count in beaten.items() if count == _OPPONENTS):
            for (a, b), lines in zip(pairs, found, strict=True):
                if seat in (a.seat, b.seat):
                    winner, loser, sign = (a, b, 1) if a.seat == seat else (b, a, -1)
                    lines += _multiplied("beat_all_times", self._beat_all_times, lines, winner, loser, sign)
        return found

    def _in_place(self, winner: JudgedHand, loser: JudgedHand, row: int, sign: int) -> list[Line]:
        """Return the bonus that replaces a won row's points."""
        points = sign * winner.bonuses[row]
        lines = [Line("bonus_in_place", points, winner, loser, row)]
        if self._profile.bonus.doubles_same_category:
            category_of = self._profile.bonuses[row].doubling_category
            if category_of(winner.strengths[row]) is category_of(loser.strengths[row]):
                lines.append(Line("bonus_doubled", points, winner, loser, row))
        return lines

    def _rows_won(
        self, lines: list[Line], rows: int, winner: JudgedHand, loser: JudgedHand, sign: int
    ) -> None:
        """Add the points for winning two or three rows: in addition to the rows, or instead of their sum."""
        if self._outcome:
            # The rows still name their winner, without points; a bonus is not part of their sum.
            lines[:] = [line._replace(points=0) if line.id in _ROW_LINES else line for line in lines]
            name, points = (
                ("all_rows", self._outcome["three"]) if rows == 3 else ("two_rows", self._outcome["two"])
            )
            lines.append(Line(name, sign * points, winner, loser))
            return
        if self._majority:
            lines.append(Line("majority", sign * self._majority, winner, loser))
        if self._scoop and rows == 3:
            lines.append(Line("scoop", sign * self._scoop, winner, loser))

    def _bonuses(self, lines: list[Line], a: JudgedHand, b: JudgedHand) -> None:
        """Add the bonuses that are paid in addition to the rows."""
        our_bonuses, their_bonuses = a.bonuses, b.bonuses
        for row in _ROWS:
            ours, theirs = our_bonuses[row], their_bonuses[row]
            if ours and theirs and self._only_stronger:
                lines += self._stronger_bonus(a, b, row)
                continue
            if ours:
                lines.append(make_line(("bonus", ours, a, b, row)))
            if theirs:
                lines.append(make_line(("bonus", -theirs, b, a, row)))

    def _stronger_bonus(self, a: JudgedHand, b: JudgedHand, row: int) -> list[Line]:
        """Return the lines of a row in which both have a bonus, and only the stronger hand's counts."""
        ours, theirs = a.strengths[row], b.strengths[row]
        if ours == theirs:
            return [Line("bonuses_tie", 0, a, b, row)]
        winner, loser, sign = (a, b, 1) if ours > theirs else (b, a, -1)
        return [
            Line("bonus", sign * winner.bonuses[row], winner, loser, row),
            Line("bonus_weaker", 0, winner, loser, row),
        ]


def _multiplied(
    name: str, times: int, lines: Sequence[Line], winner: JudgedHand, loser: JudgedHand, sign: int
) -> list[Line]:
    """Return the line that multiplies what a hand gains by these lines; none where they come out against it."""
    gained = sum(line.points for line in lines)
    return [Line(name, gained * (times - 1), winner, loser)] if gained * sign > 0 else []


def _scoops(lines: Sequence[Line]) -> int | None:
    """Return the seat that wins all three rows of a pair; a foul loses them. None if neither does."""
    won = [line.winner.seat for line in lines if line.id in _ROWS_WON]
    if len(won) == len(_ROWS) and len(set(won)) == 1:
        return won[0]
    return next(
        (line.winner.seat for line in lines if line.id == "foul" and isinstance(line.winner, RegularHand)),
        None,
    )


def _bonus_lines(
    name: str, sign: int, winner: JudgedHand, loser: JudgedHand, bonuses: tuple[int, int, int]
) -> list[Line]:
    """Return a line for each bonus of a hand whose rows are not compared."""
    return [Line(name, sign * bonus, winner, loser, row) for row, bonus in enumerate(bonuses) if bonus]


def _came_to_nothing(hand: JudgedHand, other: JudgedHand) -> list[Line]:
    """Return why a hand's declared natural does not count, unless another line states it."""
    if hand.declaration is None or hand.fault is Fault.FALSE_DECLARATION:
        return []
    name = DECLARATION_LINES.get(hand.declaration.clause)
    return [Line(name, 0, hand, other)] if name else []
