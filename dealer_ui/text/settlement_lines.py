"""The lines of a settlement in words, built from their data: who, which row, which cards.

`firmware.rules.lines` writes the same in English; a test compares every line. A line unknown to this release (from a
later one) is shown in the English text stored with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from dealer_ui.text.hand_words import beats, natural_words, row_text, unlike
from dealer_ui.text.i18n import gettext
from dealer_ui.text.words import row_name

Json: TypeAlias = Mapping[str, Any]
Called: TypeAlias = tuple[str, str]
"""A row's category and cards."""


class Reasons:
    """Explains the payments between the hands of one settlement."""

    def __init__(self, settlement: Json) -> None:
        self._rows: dict[int, Json] = {hand["seat"]: hand["rows"] for hand in settlement.get("hands", ())}

    def why(self, pair: Json, line: Json) -> str:
        """Explain one line of a pair."""
        try:
            return self._format_line(pair, line) or str(line["why"])
        except (KeyError, IndexError, TypeError, ValueError):
            return str(line["why"])

    def _format_line(self, pair: Json, line: Json) -> str:
        args = line["args"]
        row = args.get("row", "")
        name = row_name(row) if row else ""
        match line["id"]:
            case "row_won":
                return gettext("%(row)s: %(beats)s", row=name, beats=self._beats(args))
            case "row_tied":
                return gettext(
                    "%(row)s: both have %(hand)s, a push", row=name, hand=self._text(pair["a"], row)
                )
            case "row_tied_button":
                return gettext(
                    "%(row)s: both have %(hand)s, and seat %(seat)s wins with the button",
                    row=name,
                    hand=self._text(args["winner"], row),
                    seat=args["winner"],
                )
            case "two_rows":
                return gettext("seat %(seat)s wins two of three rows", seat=args["winner"])
            case "majority":
                return gettext("seat %(seat)s wins the majority of rows", seat=args["winner"])
            case "scoop" | "all_rows":
                return gettext("seat %(seat)s wins all three rows", seat=args["winner"])
            case (
                "bonus"
                | "bonus_in_place"
                | "bonus_doubled"
                | "bonus_weaker"
                | "bonuses_tie"
                | "foul_bonus"
                | "natural_bonus"
                | "natural_pays_bonus"
            ):
                return self._bonus(line["id"], pair, args, row, name)
            case "foul":
                return gettext(
                    "seat %(seat)s's hand is a foul: %(why)s",
                    seat=args["loser"],
                    why=self._fault(args["loser"], args["fault"]),
                )
            case "both_foul":
                return gettext("both hands are fouls: nothing is exchanged")
            case "natural":
                return gettext(
                    "natural of seat %(seat)s: %(hand)s",
                    seat=args["winner"],
                    hand=natural_words(args["kind"]),
                )
            case "naturals_tie":
                return self._naturals_tie(pair, args)
            case "declaration_not_borne_out":
                return gettext(
                    "seat %(seat)s declared a natural that the cards do not show: the hand plays as it is set",
                    seat=args["winner"],
                )
            case "declaration_excused":
                return gettext(
                    "seat %(seat)s declared a natural that the cards do not show; an opponent had already "
                    "surrendered, so the hand plays as it is set",
                    seat=args["winner"],
                )
            case "declaration_voided":
                return gettext(
                    "seat %(seat)s declared a natural, but a hand set in the wrong order cannot claim one",
                    seat=args["winner"],
                )
            case "surrender_foul":
                return gettext(
                    "seat %(loser)s surrenders, and seat %(winner)s's foul hand is no longer live: nothing is "
                    "exchanged",
                    loser=args["loser"],
                    winner=args["winner"],
                )
            case "surrender":
                return gettext("seat %(seat)s surrenders", seat=args["loser"])
            case "both_surrender":
                return gettext("both surrender: nothing is exchanged")
        return ""

    def _naturals_tie(self, pair: Json, args: Json) -> str:
        kind, other = args["kind"], args["other_kind"]
        seats = {"a": pair["a"], "b": pair["b"]}
        if kind == other:
            return gettext(
                "the naturals of seats %(a)s and %(b)s tie, both %(hand)s: nothing is exchanged",
                hand=natural_words(kind),
                **seats,
            )
        return gettext(
            "the naturals of seats %(a)s and %(b)s tie, %(hand)s and %(other)s being worth the same: nothing is "
            "exchanged",
            hand=natural_words(kind),
            other=natural_words(other),
            **seats,
        )

    def _bonus(self, what: str, pair: Json, args: Json, row: str, name: str) -> str:
        match what:
            case "bonus":
                return gettext(
                    "%(row)s bonus of seat %(seat)s: %(hand)s",
                    row=name,
                    seat=args["winner"],
                    hand=self._text(args["winner"], row),
                )
            case "bonus_in_place":
                winner, loser = self._text(args["winner"], row), self._text(args["loser"], row)
                if winner == loser:
                    return gettext(
                        "%(row)s: both have %(hand)s; the bonus takes the row's place", row=name, hand=winner
                    )
                return gettext(
                    "%(row)s: %(beats)s; the bonus takes the row's place", row=name, beats=self._beats(args)
                )
            case "bonus_doubled":
                return gettext(
                    "%(row)s: both rows are of the same category, so the bonus counts twice", row=name
                )
            case "bonus_weaker":
                return gettext(
                    "%(row)s: %(beats)s, so seat %(seat)s's bonus does not count",
                    row=name,
                    beats=self._beats(args),
                    seat=args["loser"],
                )
            case "natural_bonus":
                return gettext(
                    "%(row)s bonus of seat %(seat)s's natural: %(hand)s",
                    row=name,
                    seat=args["winner"],
                    hand=self._text(args["winner"], row),
                )
            case "natural_pays_bonus":
                return gettext(
                    "the natural pays seat %(seat)s's %(row)s bonus: %(hand)s",
                    seat=args["winner"],
                    row=name,
                    hand=self._text(args["winner"], row),
                )
            case "bonuses_tie":
                return gettext(
                    "%(row)s: both have %(hand)s, so neither's bonus counts",
                    row=name,
                    hand=self._text(pair["a"], row),
                )
            case _:
                return gettext(
                    "the foul pays seat %(seat)s's %(row)s bonus: %(hand)s",
                    seat=args["winner"],
                    row=name,
                    hand=self._text(args["winner"], row),
                )

    def _fault(self, seat: int, fault: str) -> str:
        front, middle, back = (self._called(seat, row) for row in ("front", "middle", "back"))
        match fault:
            case "front_above_middle":
                higher, lower = unlike(front, middle)
                return gettext(
                    "the front (%(higher)s) beats the middle (%(lower)s)", higher=higher, lower=lower
                )
            case "middle_above_back":
                higher, lower = unlike(middle, back)
                return gettext(
                    "the middle (%(higher)s) beats the back (%(lower)s)", higher=higher, lower=lower
                )
            case "middle_equals_back":
                return gettext("middle and back are equal (%(hand)s)", hand=row_text(*middle))
            case "middle_suit_above_back":
                return gettext(
                    "middle and back are equal (%(hand)s), and the middle's suit is the higher",
                    hand=row_text(*middle),
                )
        return gettext("a natural was declared that the cards do not show")

    def _called(self, seat: int, row: str) -> Called:
        statement = self._rows[seat][row]
        return statement["category"], statement["cards"]

    def _text(self, seat: int, row: str) -> str:
        return row_text(*self._called(seat, row))

    def _beats(self, args: Json) -> str:
        row = args["row"]
        return beats(self._called(args["winner"], row), self._called(args["loser"], row))
