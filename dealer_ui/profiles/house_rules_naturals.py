"""The house rules of naturals: the kinds, how they are declared and judged, what they collect."""

from __future__ import annotations

from collections.abc import Iterator

from dealer_ui.profiles.house_rules_said import Rule, Ruled, Values
from dealer_ui.text.hand_words import natural_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.words import capital
from firmware.rules.profiles.document import Table


def naturals(rules: Values) -> Iterator[Ruled]:
    """Describe the naturals, and how they are declared and judged."""
    kinds = rules["naturals.kinds"]
    names = {kind for kind, _value in kinds}
    yield Rule(
        _(
            "A natural, also called a Clean Sweep, is a hand whose 13 cards together make one of the hands below. It "
            "wins without its rows being compared. The naturals rank in this order:"
        ),
        "basics.naturals",
        "naturals.kinds",
    )
    yield Table(
        (_("Rank"), _("Natural"), _("Points from each opponent")),
        tuple(
            (str(place), capital(natural_words(kind)), str(value))
            for place, (kind, value) in enumerate(kinds, start=1)
        ),
    )
    yield Rule(
        _("A hand that makes several naturals counts as the highest of them."),
        "basics.one_natural",
    )
    if names & {"six_pairs", "five_pairs_trips"}:
        yield Rule(_("Four of a kind may count as two pairs."), "basics.quads")
    if names & {"three_straights", "three_flushes"}:
        yield Rule(
            _("Three straights or three flushes count only where the rows are set so.")
            if rules["naturals.by"] == "rows"
            else _(
                "Three straights or three flushes count where the 13 cards can be arranged so, however the rows are "
                "set."
            ),
            "naturals.by",
        )
        yield Rule(
            _(
                "For these two naturals three cards in sequence or of one suit in the front are a straight or a flush. "
                "A straight flush counts as either."
            ),
            "basics.natural_straights",
        )
    yield Rule(
        _(
            "A natural need not be declared. It counts as soon as the rows lie open, and the dealer confirms it before "
            "rows are compared."
        )
        if rules["naturals.declared"] == "automatic"
        else _(
            "A natural counts only if the player declares it before rows are compared and the dealer confirms it. "
            "Without that the hand plays as a regular hand."
        ),
        "naturals.declared",
    )
    yield Rule(
        _("A hand set in the wrong order cannot claim a natural: it is a foul.")
        if rules["naturals.foul_voids"]
        else _("A natural that counts is never a foul, however its rows are set."),
        "naturals.foul_voids",
    )
    yield from _false_declaration(rules)


def _false_declaration(rules: Values) -> Iterator[Ruled]:
    if rules["naturals.false_declaration"] == "regular":
        yield Rule(
            _("Who declares a natural without holding one plays the hand as it is set."),
            "naturals.false_declaration",
            "naturals.excused_by_surrender",
            "naturals.order_unknown",
        )
        return
    yield Rule(_("Who declares a natural without holding one has a foul."), "naturals.false_declaration")
    excused = rules["naturals.excused_by_surrender"]
    if not rules["surrender.points"]:
        return
    if not excused:
        yield Rule(
            _("That holds even if an opponent had already surrendered."),
            "naturals.excused_by_surrender",
            "naturals.order_unknown",
        )
        return
    yield Rule(
        _(
            "If an opponent had already surrendered, a false declaration is no foul: the hand plays as it is set. A "
            "later surrender excuses nothing, nor does one of the player's own other hand."
        ),
        "naturals.excused_by_surrender",
    )
    yield Rule(
        _("Where it is not known which came first, the surrender counts as made first.")
        if rules["naturals.order_unknown"] == "excused"
        else _("Where it is not known which came first, the declaration counts as made first."),
        "naturals.order_unknown",
    )


def what_naturals_collect(rules: Values) -> Iterator[Ruled]:
    """Describe a natural's worth against a regular hand, a foul and another natural."""
    yield Rule(
        _(
            "A natural that counts collects its value from each opponent with a regular hand. Their rows are not "
            "compared."
        ),
        "basics.natural_regular",
    )
    if rules.has_bonuses:
        yield Rule(
            _(
                "It also earns the bonuses of its own rows from each opponent with a regular hand or a foul, but not "
                "from one with a natural."
            )
            if rules["naturals.keeps_bonus"]
            else _("It earns its value and no bonuses."),
            "naturals.keeps_bonus",
        )
        yield Rule(
            _("It pays the bonuses of an opponent with a regular hand.")
            if rules["naturals.pays_bonus"]
            else _("It pays nobody's bonuses."),
            "naturals.pays_bonus",
        )
    yield Rule(
        _(
            "Between two naturals the higher one collects its whole value; the lower one is not subtracted. Two "
            "naturals of equal value tie: between these two players nothing is paid, and both collect from the others."
        )
        if rules["naturals.tie"] == "value"
        else _(
            "Between two naturals the higher one collects its whole value; the lower one is not subtracted. Two "
            "naturals of the same kind tie: between these two players nothing is paid, and both collect from the "
            "others."
        ),
        "naturals.tie",
    )
