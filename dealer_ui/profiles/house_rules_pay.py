"""The house rules from the showdown on: comparing, bonuses, fouls, order, stakes."""

from __future__ import annotations

from collections.abc import Iterator

from dealer_ui.profiles.house_rules_said import Rule, Ruled, Values, points
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.rule_words import target_words
from dealer_ui.text.words import capital, row_name
from firmware.rules.profiles.document import Table
from firmware.rules.profiles.options import Target
from firmware.rules.strength import CATEGORIES
from firmware.rules.words import ROW_NAMES


def comparing(rules: Values) -> Iterator[Ruled]:
    """Describe what rows pay."""
    yield Rule(
        _(
            "Each player's hand is compared with every other player's, one opponent at a time: back with back, middle "
            "with middle, front with front. What two players owe each other is set off, and one of them pays the rest."
        ),
        "basics.compare",
    )
    row = rules["scoring.row"]
    outcome = dict(rules["scoring.outcome"])
    if outcome:
        yield Rule(
            _(
                "Who wins exactly two of the three rows wins %(two)s from that opponent, whatever the third row is. "
                "Who wins all three rows wins %(three)s.",
                two=points(outcome["two"]),
                three=points(outcome["three"]),
            ),
            "scoring.outcome",
            "scoring.majority",
            "scoring.scoop",
        )
        yield Rule(
            _(
                "Where neither player wins two rows, each row won is worth %(points)s, and rows lost are subtracted.",
                points=points(row),
            ),
            "scoring.row",
        )
    else:
        yield Rule(
            _(
                "Each row won is worth %(points)s from that opponent; rows lost are subtracted.",
                points=points(row),
            )
            if row
            else _("A row won is worth no point in itself."),
            "scoring.row",
            "scoring.outcome",
        )
        yield from _more_rows(rules["scoring.majority"], rules["scoring.scoop"])
    yield Rule(
        _(
            "Rows of equal rank are won by the player who has the button. Between two players without it they are a "
            "tie, and nobody wins or loses the row."
        )
        if rules["scoring.ties"] == "button"
        else _("Rows of equal rank are a tie: nobody wins or loses the row."),
        "scoring.ties",
    )


def _more_rows(majority: int, scoop: int) -> Iterator[Ruled]:
    if majority:
        yield Rule(
            _(
                "Who wins two or three of the three rows wins %(points)s more from that opponent.",
                points=points(majority),
            ),
            "scoring.majority",
        )
    if scoop:
        yield Rule(
            _("Who wins all three rows wins %(points)s more from that opponent.", points=points(scoop)),
            "scoring.scoop",
        )
    if nothing := [
        path for path, value in (("scoring.majority", majority), ("scoring.scoop", scoop)) if not value
    ]:
        if len(nothing) == 2:
            statement = _("Winning two rows or all three brings no further points.")
        elif majority:
            statement = _("Winning all three rows brings no further points than that.")
        else:
            statement = _("Winning two rows brings no further points.")
        yield Rule(statement, *nothing)


def bonuses(rules: Values) -> Iterator[Ruled]:
    """Describe the bonuses of high hands, with the table."""
    yield Rule(
        _("These hands earn a bonus, in points, by the row that they are set in:"),
        "bonus.front",
        "bonus.middle",
        "bonus.back",
    )
    yield bonus_table(rules)
    replaces = rules["bonus.pays"] == "replaces"
    yield Rule(
        {
            "each": _(
                "A hand that is not a foul earns the bonus of each of its rows from each opponent, whether the row is "
                "won or lost, and on top of all other points. Both players' bonuses are set off against each other."
            ),
            "stronger": _(
                "A hand that is not a foul earns the bonus of each of its rows from each opponent, whether the row is "
                "won or lost. Where both players have a bonus in the same row, only the stronger row earns it; of "
                "equal rows neither does."
            ),
            "replaces": _(
                "Who wins a row with one of these hands earns its bonus in place of the points for the row. Who loses "
                "a row earns no bonus for it."
            ),
        }[rules["bonus.pays"]],
        "bonus.pays",
        *(() if replaces else ("bonus.doubles_same_category", "bonus.royal_doubles")),
    )
    doubles = rules["bonus.doubles_same_category"]
    if replaces:
        yield Rule(
            _(
                "The bonus counts twice where the losing row is a hand of the same kind, in the front, the middle and "
                "the back alike."
            )
            if doubles
            else _("The bonus counts once, whatever hand it beats."),
            "bonus.doubles_same_category",
            *(() if doubles and _royal_is_unnamed(rules) else ("bonus.royal_doubles",)),
        )
    if _royal_is_unnamed(rules):
        yield Rule(_("A royal flush earns the bonus of a straight flush."), "basics.royal")
        if replaces and doubles:
            yield Rule(
                _("It is of the same kind as a straight flush, so that its bonus counts twice over one.")
                if rules["bonus.royal_doubles"]
                else _(
                    "It is of another kind than a straight flush, so that its bonus counts once over one."
                ),
                "bonus.royal_doubles",
            )


def _royal_is_unnamed(rules: Values) -> bool:
    tables = [dict(rules[f"bonus.{row}"]) for row in ("middle", "back")]
    return any("straight_flush" in table and "royal_flush" not in table for table in tables)


def bonus_table(rules: Values) -> Table:
    """Return the bonuses, the highest hand first, with a column for each row."""
    tables = [dict(rules[f"bonus.{row}"]) for row in ROW_NAMES]
    in_front = {hand: hand not in CATEGORIES for table in tables for hand in table}

    def height(hand: str) -> tuple[int, int]:
        target = Target.parse(hand, front=in_front[hand])
        return -target.category, -(target.rank if target.rank is not None else 13)

    return Table(
        (_("Hand"), *(capital(row_name(name)) for name in ROW_NAMES)),
        tuple(
            (
                capital(target_words(hand, front=in_front[hand])),
                *(str(table[hand]) if hand in table else "–" for table in tables),
            )
            for hand in sorted(in_front, key=height)
        ),
    )


def fouls(rules: Values) -> Iterator[Ruled]:
    """Describe what a foul pays to each player."""
    yield Rule(
        _(
            "A foul loses to every regular hand, without rows being compared: it pays %(points)s to each opponent who "
            "has one.",
            points=points(rules["foul.points"]),
        )
        if rules["foul.points"]
        else _("A foul pays no penalty to opponents with regular hands, and no rows are compared."),
        "foul.points",
    )
    if rules.has_bonuses:
        yield Rule(
            _("It also pays each of them the bonuses of that opponent's rows.")
            if rules["foul.pays_bonus"]
            else _("It does not pay them the bonuses of their rows."),
            "foul.pays_bonus",
        )
        yield Rule(_("A foul earns no bonus of its own."), "basics.foul_bonus")
    if rules.has_naturals:
        yield Rule(
            _(
                "To an opponent with a natural that counts, a foul pays the value of the natural in place of the "
                "penalty."
            )
            if rules["foul.versus_natural"] == "natural"
            else _(
                "To an opponent with a natural that counts, a foul pays both the penalty and the value of the natural."
            ),
            "foul.versus_natural",
        )
    if rules["surrender.points"]:
        yield Rule(
            _("To an opponent who surrendered, a foul pays nothing."),
            "basics.foul_surrendered",
        )
    yield Rule(_("Between two fouls nothing is paid."), "basics.foul_foul")


def order_of_payment(rules: Values) -> Iterator[Ruled]:
    """Describe who settles with whom, in which order."""
    yield Rule(
        {
            "button": _("Position 1 is the player with the button."),
            "left_of_button": _(
                "Position 1 is the player next to the button at its left, which is clockwise from it."
            ),
            "right_of_button": _(
                "Position 1 is the player next to the button at its right, which is counterclockwise from it."
            ),
            "lowest_seat": _("Position 1 is the player at the lowest seat number, wherever the button is."),
        }[rules["order.first"]],
        "order.first",
        "basics.order_of_payment",
    )
    yield Rule(
        _("Positions 2, 3 and 4 follow clockwise.")
        if rules["order.direction"] == "clockwise"
        else _("Positions 2, 3 and 4 follow counterclockwise."),
        "order.direction",
    )
    yield Rule(
        _(
            "Position 1 settles with position 2, then with 3, then with 4. After that position 2 settles with 3 and "
            "with 4, and last position 3 with 4."
        ),
        "basics.pairs",
    )
    if not rules.has_naturals:
        return
    if not rules["order.naturals_first"]:
        yield Rule(
            _("Naturals are settled in this same order, when their turn comes."),
            "order.naturals_first",
            "order.several_naturals",
        )
        return
    yield Rule(
        _("Every player with a natural that counts is settled with before regular hands are compared."),
        "order.naturals_first",
    )
    yield Rule(
        {
            "pairs": _("Where there are several naturals, they too are settled in the order of positions."),
            "turns": _(
                "Where there are several naturals, each in the order of positions collects from everybody before the "
                "next one."
            ),
            "highest": _(
                "Where there are several naturals, the highest collects from everybody first, then the next one."
            ),
        }[rules["order.several_naturals"]],
        "order.several_naturals",
    )


def stakes(rules: Values) -> Iterator[Ruled]:
    """Describe how much can change hands."""
    cap = rules["stakes.cap"]
    yield Rule(
        {
            "net": _(
                "The game is played for table stakes. What a player has on the table when the hand begins is the most "
                "that this player can lose in the hand, and also the most that this player can win. Payments are made "
                "in the order above: chips won earlier in the hand can be lost again, and chips lost can be won back."
            ),
            "gross": _(
                "The game is played for table stakes. Within a hand a player pays no more in all than what lay on the "
                "table when the hand began, and collects no more in all than that. Payments are made in the order "
                "above."
            ),
            "none": _("Everything owed is paid, whatever a player has on the table."),
        }[cap],
        "stakes.cap",
    )
    if cap != "none":
        yield Rule(
            _("What cannot be paid because of that is not owed later."),
            "basics.short",
        )
