"""The lines of a settlement: each states why points pass between two hands, or why not."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

from firmware.messages import Message, Term
from firmware.rules.foul import Fault
from firmware.rules.judging import JudgedHand
from firmware.rules.naturals.entry import RankedNatural
from firmware.rules.words import ROW_NAMES, ROWS, RowWords, Say, T, beats, english, unlike

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
        name, _, winner, loser, row = self
        if name == "row_won":  # nine lines in ten: their English is made of its parts
            words = winner.scale.words
            one, one_in_full, is_plural = words[winner.strengths[row]]
            other, other_in_full, _ = words[loser.strengths[row]]
            if one.english == other.english:
                one, other = one_in_full, other_in_full
            begin, between, end = _ROW_WON[is_plural][row]
            return f"{begin}{one.english}{between}{other.english}{end}"
        return sentence(english, name, winner, loser, row)

    @property
    def message(self) -> Message:
        """The sentence as it is shown, to be translated."""
        return shown_sentence(self.id, self.winner, self.loser, self.row)

    @property
    def args(self) -> Mapping[str, str | int]:
        """The parameters of the sentence, for a page in another language."""
        name, _, winner, loser, row = self
        args: dict[str, str | int] = {} if row == NO_ROW else {"row": ROW_NAMES[row]}
        if name == "foul":
            args["fault"] = str(loser.fault)
        elif name in ("natural", "naturals_tie", "surrender_natural") and winner.natural:
            args["kind"] = winner.natural.kind
        if name == "naturals_tie" and loser.natural:
            args["other_kind"] = loser.natural.kind
        if name == "declaration_voided":
            args["fault"] = str(winner.fault)
        if name not in _EVEN:
            args["winner"], args["loser"] = winner.seat, loser.seat
        return args


make_line: Callable[[tuple[str, int, JudgedHand, JudgedHand, int]], Line] = partial(tuple.__new__, Line)
"""Makes a line from all its fields. A settlement has dozens, and `Line(...)` itself takes twice as long."""

CLAUSES = {
    "row_won": "scoring.row",
    "row_tied": "scoring.ties",
    "row_tied_button": "scoring.ties",
    "row_tied_banker": "scoring.ties",
    "row_tied_suit": "scoring.suits",
    "two_rows": "scoring.outcome",
    "all_rows": "scoring.outcome",
    "majority": "scoring.majority",
    "scoop": "scoring.scoop",
    "scoop_times": "scoring.scoop_times",
    "beat_all_times": "scoring.beat_all_times",
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
    "natural_first": "naturals.wins",
    "naturals_tie": "naturals.tie",
    "declaration_not_borne_out": "naturals.false_declaration",
    "declaration_excused": "naturals.excused_by_surrender",
    "declaration_voided": "naturals.foul_voids",
    "surrender": "surrender.points",
    "surrender_foul": "surrender.pays_foul",
    "surrender_natural": "surrender.versus_natural",
    "both_surrender": "surrender.points",
}
"""The option that decides each kind of line; empty: the row's bonus table."""

_NO_NATURAL = ("declaration_not_borne_out", "declaration_excused")

DECLARATION_LINES = {CLAUSES[name]: name for name in (*_NO_NATURAL, "declaration_voided")}
"""The kind of line for a declaration without effect, by the option that decided it."""

_EVEN = frozenset({"row_tied", "bonuses_tie", "both_foul", "naturals_tie", "both_surrender"})


class Side(Protocol):
    """What a sentence says of a hand."""

    @property
    def seat(self) -> int:
        """The hand's seat."""

    @property
    def fault(self) -> str | None:
        """Why the hand is a foul: the name of a `Fault`."""

    @property
    def is_foul(self) -> bool:
        """Whether the hand is a foul. A recorded one may be, although none of its lines says why."""

    @property
    def natural(self) -> RankedNatural | None:
        """The natural that counts."""

    def words(self, row: int, /) -> RowWords:
        """Return a row in words."""


def shown_sentence(name: str, winner: Side, loser: Side, row: int) -> Message:
    """Say a line of this kind as it is shown. Raises KeyError.

    `sentence` says even of a foul that the hand plays as it is set, which is wrong; here it is put right. `sentence`
    itself stays as it is: records hold its words, and a hand settled again must give the same bytes.
    """
    if name in _NO_NATURAL and winner.is_foul:
        return Message(
            "seat %(seat)s declared a natural that the cards do not show; the hand is a foul by its rows",
            seat=winner.seat,
        )
    return sentence(Message, name, winner, loser, row)


def sentence(_: Say[T], name: str, winner: Side, loser: Side, row: int) -> T:
    """Say a line of this kind. `_` makes the sentence of a template and its arguments. Raises KeyError."""
    if row != NO_ROW:
        return _say_row(_, name, winner, loser, row)
    match name:
        case "two_rows":
            return _("seat %(seat)s wins two of three rows", seat=winner.seat)
        case "all_rows" | "scoop":
            return _("seat %(seat)s wins all three rows", seat=winner.seat)
        case "majority":
            return _("seat %(seat)s wins the majority of rows", seat=winner.seat)
        case "scoop_times":
            return _("seat %(seat)s wins all three rows, which multiplies its points", seat=winner.seat)
        case "beat_all_times":
            return _(
                "seat %(seat)s wins all three rows from everybody, which multiplies again", seat=winner.seat
            )
        case "foul":
            return _("seat %(seat)s's hand is a foul: %(why)s", seat=loser.seat, why=fault_words(_, loser))
        case "both_foul":
            return _("both hands are fouls: nothing is exchanged")
        case "natural":
            return _("natural of seat %(seat)s: %(hand)s", seat=winner.seat, hand=_kind(winner))
        case "natural_first":
            return _("seat %(seat)s declared its natural first, so it collects", seat=winner.seat)
        case "surrender_natural":
            return _(
                "seat %(loser)s surrenders, and pays seat %(winner)s's natural its value: %(hand)s",
                loser=loser.seat,
                winner=winner.seat,
                hand=_kind(winner),
            )
        case "naturals_tie":
            return _naturals_tie(_, winner, loser)
        case "declaration_not_borne_out":
            return _(
                "seat %(seat)s declared a natural that the cards do not show: the hand plays as it is set",
                seat=winner.seat,
            )
        case "declaration_excused":
            return _(
                "seat %(seat)s declared a natural that the cards do not show; an opponent had already "
                "surrendered, so the hand plays as it is set",
                seat=winner.seat,
            )
        case "declaration_voided":
            return _(
                "seat %(seat)s declared a natural, but a hand set in the wrong order cannot claim one",
                seat=winner.seat,
            )
        case "surrender":
            return _("seat %(seat)s surrenders", seat=loser.seat)
        case "surrender_foul":
            return _(
                "seat %(loser)s surrenders, and seat %(winner)s's foul hand is no longer live: nothing is "
                "exchanged",
                loser=loser.seat,
                winner=winner.seat,
            )
        case "both_surrender":
            return _("both surrender: nothing is exchanged")
    raise KeyError(name)


def _row_won(_: Say[T], row: int, won: RowWords, lost: RowWords) -> T:
    how = beats(_, won, lost)
    return _("%(row)s: %(beats)s", row=ROWS[row], beats=how)


_GAP = "%s"


def _gapped(row: int, *, is_plural: bool) -> list[str]:
    gap = Term(_GAP)
    return _row_won(english, row, RowWords(gap, gap, is_plural), RowWords(gap, gap, False)).split(_GAP)


_ROW_WON = tuple(tuple(_gapped(row, is_plural=is_plural) for row in range(3)) for is_plural in (False, True))
"""The parts of a won row's English before, between and after the words of both rows: by `is_plural`, by row."""


def _say_row(_: Say[T], name: str, winner: Side, loser: Side, row: int) -> T:
    hand, place = winner.words(row).full, ROWS[row]
    match name:
        case "row_won":
            return _row_won(_, row, winner.words(row), loser.words(row))
        case "row_tied":
            return _("%(row)s: both have %(hand)s, a push", row=place, hand=hand)
        case "row_tied_button":
            return _(
                "%(row)s: both have %(hand)s, and seat %(seat)s wins with the puck",
                row=place,
                hand=hand,
                seat=winner.seat,
            )
        case "row_tied_banker":
            return _(
                "%(row)s: both have %(hand)s, and seat %(seat)s wins as the banker",
                row=place,
                hand=hand,
                seat=winner.seat,
            )
        case "row_tied_suit":
            return _(
                "%(row)s: both have %(hand)s, and seat %(seat)s wins by suit",
                row=place,
                hand=hand,
                seat=winner.seat,
            )
        case "bonus":
            return _("%(row)s bonus of seat %(seat)s: %(hand)s", row=place, seat=winner.seat, hand=hand)
        case "bonus_in_place" if str(hand) == str(loser.words(row).full):
            return _("%(row)s: both have %(hand)s; the bonus takes the row's place", row=place, hand=hand)
        case "bonus_in_place":
            how = beats(_, winner.words(row), loser.words(row))
            return _("%(row)s: %(beats)s; the bonus takes the row's place", row=place, beats=how)
        case "bonus_doubled":
            return _("%(row)s: both rows are of the same category, so the bonus counts twice", row=place)
        case "bonus_weaker":
            how = beats(_, winner.words(row), loser.words(row))
            return _(
                "%(row)s: %(beats)s, so seat %(seat)s's bonus does not count",
                row=place,
                beats=how,
                seat=loser.seat,
            )
        case "bonuses_tie":
            return _("%(row)s: both have %(hand)s, so neither's bonus counts", row=place, hand=hand)
        case "foul_bonus":
            return _(
                "the foul pays seat %(seat)s's %(row)s bonus: %(hand)s",
                seat=winner.seat,
                row=place,
                hand=hand,
            )
        case "natural_bonus":
            return _(
                "%(row)s bonus of seat %(seat)s's natural: %(hand)s", row=place, seat=winner.seat, hand=hand
            )
        case "natural_pays_bonus":
            return _(
                "the natural pays seat %(seat)s's %(row)s bonus: %(hand)s",
                seat=winner.seat,
                row=place,
                hand=hand,
            )
    raise KeyError(name)


def fault_words(_: Say[T], hand: Side) -> T:
    """Say why a foul hand is one."""
    front, middle, back = ROWS
    match hand.fault:
        case Fault.FRONT_ABOVE_MIDDLE:
            higher, lower = unlike(hand.words(0), hand.words(1))
            return _row_beats(_, front, higher, middle, lower)
        case Fault.MIDDLE_ABOVE_BACK:
            higher, lower = unlike(hand.words(1), hand.words(2))
            return _row_beats(_, middle, higher, back, lower)
        case Fault.FRONT_ABOVE_BACK:
            higher, lower = unlike(hand.words(0), hand.words(2))
            return _row_beats(_, front, higher, back, lower)
        case Fault.MIDDLE_NOT_LOW:
            return _("the %(row)s (%(hand)s) is not low enough", row=middle, hand=hand.words(1).full)
        case Fault.MIDDLE_EQUALS_BACK:
            return _(
                "%(middle)s and %(back)s are equal (%(hand)s)",
                middle=middle,
                back=back,
                hand=hand.words(1).full,
            )
        case Fault.MIDDLE_SUIT_ABOVE_BACK:
            return _(
                "%(middle)s and %(back)s are equal (%(hand)s), and the %(middle)s's suit is the higher",
                middle=middle,
                back=back,
                hand=hand.words(1).full,
            )
        case _:
            return _("a natural was declared that the cards do not show")


def _row_beats(_: Say[T], row: Term, higher: Term, other: Term, lower: Term) -> T:
    return _(
        "the %(row)s (%(higher)s) beats the %(other)s (%(lower)s)",
        row=row,
        higher=higher,
        other=other,
        lower=lower,
    )


def _kind(hand: Side) -> Message:
    if hand.natural is None:
        raise KeyError("natural")
    return hand.natural.words


def _naturals_tie(_: Say[T], a: Side, b: Side) -> T:
    one, other = _kind(a), _kind(b)
    if one == other:
        return _(
            "the naturals of seats %(a)s and %(b)s tie, both %(hand)s: nothing is exchanged",
            a=a.seat,
            b=b.seat,
            hand=one,
        )
    return _(
        "the naturals of seats %(a)s and %(b)s tie, %(hand)s and %(other)s being worth the same: nothing is "
        "exchanged",
        a=a.seat,
        b=b.seat,
        hand=one,
        other=other,
    )
