"""What one hand has from another (RULES §2 to §6): lines, each with its points, its clause and its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from firmware.rules.foul import Fault, Strengths
from firmware.rules.naturals import NATURAL_WORDS, RankedNatural
from firmware.rules.profile import Profile
from firmware.rules.words import ROW_NAMES

Args = dict[str, str | int]

_BONUS_CLAUSES = tuple(f"bonus.{row}" for row in ROW_NAMES)


class Line(NamedTuple):
    """One reason why points pass between two hands, or why they do not."""

    id: str
    points: int
    """What the first hand of the pair gains; negative: what it loses."""
    clause: str
    """The path of the option that says so."""
    why: str
    """A sentence that a dealer can read aloud."""
    args: Mapping[str, str | int]
    """What the sentence is made of, for a page that says it in another language."""


@dataclass(slots=True)
class Standing:
    """A hand as it goes into the comparison."""

    seat: int
    owner: str
    strengths: Strengths
    bonuses: tuple[int, int, int]
    surrenders: bool
    holds_button: bool
    fault: Fault | None
    natural: RankedNatural | None


class Scorer:
    """Compares pairs of hands under one profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._row = profile.scoring.row
        self._majority = profile.scoring.majority
        self._scoop = profile.scoring.scoop
        self._button_wins = profile.scoring.ties == "button"
        self._replaces = profile.bonus.pays == "replaces"
        self._pays_bonuses = profile.bonus.pays != "none"
        self._stronger = profile.bonus.pays == "stronger"
        self._beats = profile.scale.beats_text
        self._text = profile.scale.text

    def lines(self, a: Standing, b: Standing) -> list[Line]:
        """Return every line between two hands; their points are what `a` gains from `b`."""
        if a.surrenders or b.surrenders:
            return [self._surrender(a, b)]
        if a.natural or b.natural:
            return self._naturals(a, b)
        if a.fault or b.fault:
            return self._fouls(a, b)
        return self._regular(a, b)

    def _surrender(self, a: Standing, b: Standing) -> Line:
        points = self._profile.surrender.points
        if a.surrenders and b.surrenders:
            return Line("both_surrender", 0, "surrender.points", "both surrender: nothing is exchanged", {})
        loser, winner, sign = (a, b, -1) if a.surrenders else (b, a, 1)
        why = f"seat {loser.seat} surrenders"
        return Line("surrender", sign * points, "surrender.points", why, _between(winner, loser))

    def _naturals(self, a: Standing, b: Standing) -> list[Line]:
        if a.natural and b.natural:
            return [self._two_naturals(a, a.natural, b, b.natural)]
        winner, loser, sign = (a, b, 1) if a.natural else (b, a, -1)
        natural = winner.natural
        assert natural is not None
        lines = []
        if loser.fault and self._profile.foul.versus_natural == "both":
            lines.append(self._penalty(winner, loser, sign))
        lines.append(self._natural_line(natural, winner, loser, sign))
        return lines

    def _two_naturals(self, a: Standing, ours: RankedNatural, b: Standing, theirs: RankedNatural) -> Line:
        by_value = self._profile.naturals.tie == "value"
        if ours.value == theirs.value if by_value else ours.place == theirs.place:
            why = f"two naturals of the same {'value' if by_value else 'kind'} tie"
            return Line("naturals_tie", 0, "naturals.tie", why, {"a": ours.kind, "b": theirs.kind})
        if ours.place < theirs.place:
            return self._natural_line(ours, a, b, 1)
        return self._natural_line(theirs, b, a, -1)

    def _natural_line(self, natural: RankedNatural, winner: Standing, loser: Standing, sign: int) -> Line:
        why = f"natural of seat {winner.seat}: {NATURAL_WORDS[natural.kind]}"
        args: Args = {"kind": natural.kind, "winner": winner.seat, "loser": loser.seat}
        return Line("natural", sign * natural.value, "naturals.kinds", why, args)

    def _fouls(self, a: Standing, b: Standing) -> list[Line]:
        if a.fault and b.fault:
            return [Line("both_foul", 0, "foul.points", "both hands are fouls: nothing is exchanged", {})]
        winner, loser, sign = (b, a, -1) if a.fault else (a, b, 1)
        lines = [self._penalty(winner, loser, sign)]
        if self._pays_bonuses and self._profile.foul.pays_bonus:
            for row, bonus in enumerate(winner.bonuses):
                if bonus:
                    name = ROW_NAMES[row]
                    why = f"the foul pays seat {winner.seat}'s {name} bonus: {self._text(winner.strengths[row])}"
                    args: Args = {"row": name, "winner": winner.seat, "loser": loser.seat}
                    lines.append(Line("foul_bonus", sign * bonus, "foul.pays_bonus", why, args))
        return lines

    def _penalty(self, winner: Standing, loser: Standing, sign: int) -> Line:
        assert loser.fault is not None
        why = f"seat {loser.seat} is a foul: {self._fault_text(loser, loser.fault)}"
        args: Args = {"fault": str(loser.fault), **_between(winner, loser)}
        return Line("foul", sign * self._profile.foul.points, "foul.points", why, args)

    def _fault_text(self, standing: Standing, fault: Fault) -> str:
        front, middle, back = standing.strengths
        match fault:
            case Fault.FRONT_ABOVE_MIDDLE:
                return f"in front {self._beats(front, middle)} in the middle"
            case Fault.MIDDLE_ABOVE_BACK:
                return f"in the middle {self._beats(middle, back)} in back"
            case Fault.MIDDLE_EQUALS_BACK:
                return f"middle and back are equal, {self._text(middle)}"
            case Fault.MIDDLE_SUIT_ABOVE_BACK:
                return f"middle and back are equal, {self._text(middle)}, and the middle's suit is the higher"
            case Fault.FALSE_DECLARATION:
                return "it declared a natural that the cards do not bear out"

    def _regular(self, a: Standing, b: Standing) -> list[Line]:
        lines: list[Line] = []
        won = lost = 0
        for row in (0, 1, 2):
            ours, theirs = a.strengths[row], b.strengths[row]
            if ours == theirs:
                sign = self._tie(lines, row, a, b)
            elif ours > theirs:
                sign = 1
                self._win(lines, row, a, b, 1)
            else:
                sign = -1
                self._win(lines, row, b, a, -1)
            won += sign > 0
            lost += sign < 0
        if won >= 2:
            self._rows_won(lines, won, a, b, 1)
        elif lost >= 2:
            self._rows_won(lines, lost, b, a, -1)
        if self._pays_bonuses and not self._replaces:
            self._bonuses(lines, a, b)
        return lines

    def _tie(self, lines: list[Line], row: int, a: Standing, b: Standing) -> int:
        """Add the line of an equal row; return the sign of who wins it."""
        name, text = ROW_NAMES[row], self._text(a.strengths[row])
        if not self._button_wins or a.holds_button == b.holds_button:
            lines.append(
                Line("row_tied", 0, "scoring.ties", f"{name}: both have {text}, a push", {"row": name})
            )
            return 0
        winner, loser, sign = (a, b, 1) if a.holds_button else (b, a, -1)
        why = f"{name}: both have {text}, and seat {winner.seat} wins with the button"
        if not self._in_place(lines, row, winner, loser, sign, why):
            args: Args = {"row": name, "winner": winner.seat, "loser": loser.seat}
            lines.append(Line("row_tied_button", sign * self._row, "scoring.ties", why, args))
        return sign

    def _win(self, lines: list[Line], row: int, winner: Standing, loser: Standing, sign: int) -> None:
        """Add the line of a row won."""
        name = ROW_NAMES[row]
        why = f"{name}: {self._beats(winner.strengths[row], loser.strengths[row])}"
        if self._replaces and self._in_place(lines, row, winner, loser, sign, why):
            return
        args: Args = {"row": name, "winner": winner.seat, "loser": loser.seat}
        lines.append(Line("row_won", sign * self._row, "scoring.row", why, args))

    def _in_place(
        self, lines: list[Line], row: int, winner: Standing, loser: Standing, sign: int, why: str
    ) -> bool:
        """Add the bonus that takes a won row's place; return whether there is one."""
        bonus = winner.bonuses[row]
        if not self._replaces or not bonus:
            return False
        args: Args = {"row": ROW_NAMES[row], **_between(winner, loser)}
        why = f"{why}; the bonus takes the row's place"
        lines.append(Line("bonus_in_place", sign * bonus, _BONUS_CLAUSES[row], why, args))
        category = self._profile.bonuses[row].category
        won, lost = category(winner.strengths[row]), category(loser.strengths[row])
        if self._profile.bonus.doubles_same_category and won is lost:
            why = f"{ROW_NAMES[row]}: both are {won.words}, so the bonus counts twice"
            lines.append(Line("bonus_doubled", sign * bonus, "bonus.doubles_same_category", why, args))
        return True

    def _rows_won(self, lines: list[Line], rows: int, winner: Standing, loser: Standing, sign: int) -> None:
        """Add what two or three rows won earn beyond the rows."""
        if self._majority:
            why = f"seat {winner.seat} wins the majority of rows"
            lines.append(
                Line("majority", sign * self._majority, "scoring.majority", why, _between(winner, loser))
            )
        if self._scoop and rows == 3:
            why = f"seat {winner.seat} wins all three rows"
            lines.append(Line("scoop", sign * self._scoop, "scoring.scoop", why, _between(winner, loser)))

    def _bonuses(self, lines: list[Line], a: Standing, b: Standing) -> None:
        """Add the bonuses that are paid beside the rows."""
        for row in (0, 1, 2):
            ours, theirs = a.bonuses[row], b.bonuses[row]
            if self._stronger and ours and theirs:
                lines.append(self._stronger_bonus(row, a, b))
                continue
            if ours:
                lines.append(self._bonus(row, a, b, 1))
            if theirs:
                lines.append(self._bonus(row, b, a, -1))

    def _bonus(self, row: int, winner: Standing, loser: Standing, sign: int) -> Line:
        name = ROW_NAMES[row]
        why = f"{name} bonus of seat {winner.seat}: {self._text(winner.strengths[row])}"
        args: Args = {"row": name, "winner": winner.seat, "loser": loser.seat}
        return Line("bonus", sign * winner.bonuses[row], _BONUS_CLAUSES[row], why, args)

    def _stronger_bonus(self, row: int, a: Standing, b: Standing) -> Line:
        """Return the one bonus of a row in which both hold one."""
        ours, theirs = a.strengths[row], b.strengths[row]
        if ours > theirs:
            return self._bonus(row, a, b, 1)
        if theirs > ours:
            return self._bonus(row, b, a, -1)
        why = f"{ROW_NAMES[row]}: both have {self._text(ours)}, so neither's bonus counts"
        return Line("bonuses_tie", 0, "bonus.pays", why, {"row": ROW_NAMES[row]})


def _between(winner: Standing, loser: Standing) -> dict[str, str | int]:
    return {"winner": winner.seat, "loser": loser.seat}
