"""The lines of a settlement: each says why points pass between two hands, or why they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from firmware.rules.foul import Fault
from firmware.rules.judging import JudgedHand
from firmware.rules.naturals import NATURAL_WORDS
from firmware.rules.words import ROW_NAMES

NO_ROW = -1


class Line(NamedTuple):
    """One reason. It is said when it is asked for: a settlement has many lines, and few are read."""

    id: str
    """What happened: one of the keys of `CLAUSES`."""
    points: int
    """What the first hand of the pair gains; negative: what it loses."""
    winner: JudgedHand
    """Whom the line favours. Where nobody is favoured: the first hand of the pair."""
    loser: JudgedHand
    row: int = NO_ROW
    """0 is the front; `NO_ROW` where the line is about no single row."""

    @property
    def clause(self) -> str:
        """The path of the option that says so."""
        return CLAUSES[self.id] or f"bonus.{ROW_NAMES[self.row]}"

    @property
    def why(self) -> str:
        """A sentence that a dealer can read aloud."""
        return _SENTENCES[self.id](self)

    @property
    def args(self) -> Mapping[str, str | int]:
        """What the sentence is made of, for a page that says it in another language."""
        name, _, winner, loser, row = self
        args: dict[str, str | int] = {} if row == NO_ROW else {"row": ROW_NAMES[row]}
        if name == "foul":
            args["fault"] = str(loser.fault)
        elif name == "natural" and winner.natural:
            args["kind"] = winner.natural.kind
        if name not in _EVEN:
            args["winner"], args["loser"] = winner.seat, loser.seat
        return args


new_line: Callable[[tuple[str, int, JudgedHand, JudgedHand, int]], Line] = partial(tuple.__new__, Line)
"""Makes a line of all its fields. A settlement has dozens, and `Line(...)` itself takes twice as long."""

CLAUSES = {
    "row_won": "scoring.row",
    "row_tied": "scoring.ties",
    "row_tied_button": "scoring.ties",
    "majority": "scoring.majority",
    "scoop": "scoring.scoop",
    "bonus": "",
    "bonus_in_place": "",
    "bonus_doubled": "bonus.doubles_same_category",
    "bonus_weaker": "bonus.pays",
    "bonuses_tie": "bonus.pays",
    "foul": "foul.points",
    "foul_bonus": "foul.pays_bonus",
    "both_foul": "foul.points",
    "natural": "naturals.kinds",
    "naturals_tie": "naturals.tie",
    "surrender": "surrender.points",
    "both_surrender": "surrender.points",
}
"""The option behind every kind of line; empty: the row's bonus table."""

_EVEN = frozenset({"row_tied", "bonuses_tie", "both_foul", "naturals_tie", "both_surrender"})


def _beats(line: Line) -> str:
    """Return how the winner's row beats the loser's."""
    _, _, winner, loser, row = line
    return winner.scale.beats_text(winner.strengths[row], loser.strengths[row])


def _row_won(line: Line) -> str:
    _, _, winner, loser, row = line
    return f"{ROW_NAMES[row]}: {winner.scale.beats_text(winner.strengths[row], loser.strengths[row])}"


def _bonus(line: Line) -> str:
    _, _, winner, _, row = line
    return f"{ROW_NAMES[row]} bonus of seat {winner.seat}: {winner.text(row)}"


def _in_place(line: Line) -> str:
    tied = line.winner.strengths[line.row] == line.loser.strengths[line.row]
    how = f"both have {line.winner.text(line.row)}" if tied else _beats(line)
    return f"{ROW_NAMES[line.row]}: {how}; the bonus takes the row's place"


def _foul(line: Line) -> str:
    hand = line.loser
    front, middle, back = hand.strengths
    match hand.fault:
        case Fault.FRONT_ABOVE_MIDDLE:
            how = f"in front {hand.scale.beats_text(front, middle)} in the middle"
        case Fault.MIDDLE_ABOVE_BACK:
            how = f"in the middle {hand.scale.beats_text(middle, back)} in back"
        case Fault.MIDDLE_EQUALS_BACK:
            how = f"middle and back are equal, {hand.text(1)}"
        case Fault.MIDDLE_SUIT_ABOVE_BACK:
            how = f"middle and back are equal, {hand.text(1)}, and the middle's suit is the higher"
        case _:
            how = "it declared a natural that the cards do not bear out"
    return f"seat {hand.seat} is a foul: {how}"


def _natural(line: Line) -> str:
    assert line.winner.natural is not None
    return f"natural of seat {line.winner.seat}: {NATURAL_WORDS[line.winner.natural.kind]}"


_SENTENCES: dict[str, Callable[[Line], str]] = {
    "row_won": _row_won,
    "row_tied": lambda line: f"{ROW_NAMES[line.row]}: both have {line.winner.text(line.row)}, a push",
    "row_tied_button": lambda line: (
        f"{ROW_NAMES[line.row]}: both have {line.winner.text(line.row)}, "
        f"and seat {line.winner.seat} wins with the button"
    ),
    "majority": lambda line: f"seat {line.winner.seat} wins the majority of rows",
    "scoop": lambda line: f"seat {line.winner.seat} wins all three rows",
    "bonus": _bonus,
    "bonus_in_place": _in_place,
    "bonus_doubled": lambda line: (
        f"{ROW_NAMES[line.row]}: both rows are of the same category, so the bonus counts twice"
    ),
    "bonus_weaker": lambda line: (
        f"{ROW_NAMES[line.row]}: {_beats(line)}, so seat {line.loser.seat}'s bonus does not count"
    ),
    "bonuses_tie": lambda line: (
        f"{ROW_NAMES[line.row]}: both have {line.winner.text(line.row)}, so neither's bonus counts"
    ),
    "foul": _foul,
    "foul_bonus": lambda line: (
        f"the foul pays seat {line.winner.seat}'s {ROW_NAMES[line.row]} bonus: {line.winner.text(line.row)}"
    ),
    "both_foul": lambda line: "both hands are fouls: nothing is exchanged",
    "natural": _natural,
    "naturals_tie": lambda line: "the two naturals tie: nothing is exchanged",
    "surrender": lambda line: f"seat {line.loser.seat} surrenders",
    "both_surrender": lambda line: "both surrender: nothing is exchanged",
}
