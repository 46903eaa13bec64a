"""The lines of a settlement: each states why points pass between two hands, or why not."""

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
    """One reason. Its text is made on request: a settlement has many lines, and few are read."""

    id: str
    """The kind of reason: a key of `CLAUSES`."""
    points: int
    """The points of the first hand of the pair; negative: it loses them."""
    winner: JudgedHand
    """The hand that the line favours; if none, the first hand of the pair."""
    loser: JudgedHand
    row: int = NO_ROW
    """0 is the front; `NO_ROW` if the line is about no single row."""

    @property
    def clause(self) -> str:
        """The path of the option that decides it."""
        return CLAUSES[self.id] or f"bonus.{ROW_NAMES[self.row]}"

    @property
    def why(self) -> str:
        """A sentence that a dealer can read aloud."""
        return _SENTENCES[self.id](self)

    @property
    def args(self) -> Mapping[str, str | int]:
        """The parameters of the sentence, for a page in another language."""
        name, _, winner, loser, row = self
        args: dict[str, str | int] = {} if row == NO_ROW else {"row": ROW_NAMES[row]}
        if name == "foul":
            args["fault"] = str(loser.fault)
        elif name in ("natural", "naturals_tie") and winner.natural:
            args["kind"] = winner.natural.kind
        if name == "naturals_tie" and loser.natural:
            args["other_kind"] = loser.natural.kind
        if name == "declaration_voided":
            args["fault"] = str(winner.fault)
        if name not in _EVEN:
            args["winner"], args["loser"] = winner.seat, loser.seat
        return args


new_line: Callable[[tuple[str, int, JudgedHand, JudgedHand, int]], Line] = partial(tuple.__new__, Line)
"""Makes a line from all its fields. A settlement has dozens, and `Line(...)` itself takes twice as long."""

CLAUSES = {
    "row_won": "scoring.row",
    "row_tied": "scoring.ties",
    "row_tied_button": "scoring.ties",
    "two_rows": "scoring.outcome",
    "all_rows": "scoring.outcome",
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
    "natural_bonus": "naturals.keeps_bonus",
    "natural_pays_bonus": "naturals.pays_bonus",
    "naturals_tie": "naturals.tie",
    "declaration_not_borne_out": "naturals.false_declaration",
    "declaration_excused": "naturals.excused_by_surrender",
    "declaration_voided": "naturals.foul_voids",
    "surrender": "surrender.points",
    "surrender_foul": "surrender.pays_foul",
    "both_surrender": "surrender.points",
}
"""The option that decides each kind of line; empty: the row's bonus table."""

NOTHING_BY_CLAUSE = {
    CLAUSES[name]: name for name in ("declaration_not_borne_out", "declaration_excused", "declaration_voided")
}
"""The kind of line for a declaration without effect, by the option that decided it."""

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
            higher, lower = hand.scale.unlike_texts(front, middle)
            how = f"the front ({higher}) beats the middle ({lower})"
        case Fault.MIDDLE_ABOVE_BACK:
            higher, lower = hand.scale.unlike_texts(middle, back)
            how = f"the middle ({higher}) beats the back ({lower})"
        case Fault.MIDDLE_EQUALS_BACK:
            how = f"middle and back are equal ({hand.text(1)})"
        case Fault.MIDDLE_SUIT_ABOVE_BACK:
            how = f"middle and back are equal ({hand.text(1)}), and the middle's suit is the higher"
        case _:
            how = "a natural was declared that the cards do not show"
    return f"seat {hand.seat}'s hand is a foul: {how}"


def _natural(line: Line) -> str:
    assert line.winner.natural is not None
    return f"natural of seat {line.winner.seat}: {NATURAL_WORDS[line.winner.natural.kind]}"


def _naturals_tie(line: Line) -> str:
    ours, theirs = line.winner.natural, line.loser.natural
    assert ours is not None
    assert theirs is not None
    seats = f"the naturals of seats {line.winner.seat} and {line.loser.seat} tie"
    if ours.kind == theirs.kind:
        return f"{seats}, both {NATURAL_WORDS[ours.kind]}: nothing is exchanged"
    both = f"{NATURAL_WORDS[ours.kind]} and {NATURAL_WORDS[theirs.kind]}"
    return f"{seats}, {both} being worth the same: nothing is exchanged"


_SENTENCES: dict[str, Callable[[Line], str]] = {
    "row_won": _row_won,
    "row_tied": lambda line: f"{ROW_NAMES[line.row]}: both have {line.winner.text(line.row)}, a push",
    "row_tied_button": lambda line: (
        f"{ROW_NAMES[line.row]}: both have {line.winner.text(line.row)}, "
        f"and seat {line.winner.seat} wins with the button"
    ),
    "two_rows": lambda line: f"seat {line.winner.seat} wins two of three rows",
    "all_rows": lambda line: f"seat {line.winner.seat} wins all three rows",
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
    "natural_bonus": lambda line: (
        f"{ROW_NAMES[line.row]} bonus of seat {line.winner.seat}'s natural: {line.winner.text(line.row)}"
    ),
    "natural_pays_bonus": lambda line: (
        f"the natural pays seat {line.winner.seat}'s {ROW_NAMES[line.row]} bonus: {line.winner.text(line.row)}"
    ),
    "naturals_tie": _naturals_tie,
    "declaration_not_borne_out": lambda line: (
        f"seat {line.winner.seat} declared a natural that the cards do not show: the hand plays as it is set"
    ),
    "declaration_excused": lambda line: (
        f"seat {line.winner.seat} declared a natural that the cards do not show; an opponent had already "
        "surrendered, so the hand plays as it is set"
    ),
    "declaration_voided": lambda line: (
        f"seat {line.winner.seat} declared a natural, but a hand set in the wrong order cannot claim one"
    ),
    "surrender": lambda line: f"seat {line.loser.seat} surrenders",
    "surrender_foul": lambda line: (
        f"seat {line.loser.seat} surrenders, and seat {line.winner.seat}'s foul hand is no longer live: "
        "nothing is exchanged"
    ),
    "both_surrender": lambda line: "both surrender: nothing is exchanged",
}
