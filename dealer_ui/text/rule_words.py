"""The rules' texts in the current language: options, their values, and how the house handles irregularities.

In English every text equals the rules' own (`firmware.rules.profiles.sections`). A house's own texts are not
translated. Clauses are quoted from the source documents and stay in their language.
"""

from __future__ import annotations

from typing import Any, Final

from dealer_ui.text.hand_words import RANKS, SEVERAL, category_name, natural_words
from dealer_ui.text.i18n import N_, SOURCE, gettext, language, ngettext, pgettext
from dealer_ui.text.words import SUIT_NAMES, capital, money
from firmware.rules.profiles.options import (
    Amount,
    AtLeast,
    Bonuses,
    Choice,
    Flag,
    Kind,
    NaturalKinds,
    Outcomes,
    Schedule,
    SuitOrder,
    Target,
)

BETTER: Final = {
    "front": N_("%(hand)s or better in front"),
    "middle": N_("%(hand)s or better in the middle"),
    "back": N_("%(hand)s or better in back"),
}


def house_rule(text: str) -> str:
    """Return the house's rule for something; a text of the house's own is left unchanged."""
    return pgettext("rules", text) if text else ""


def option_text(text: str) -> str:
    """Describe the meaning of an option's value, in the rules' words."""
    return pgettext("rules", text)


def option_title(title: str) -> str:
    """Return the title of an option or a section, from the rules."""
    return pgettext("rules", title)


def option_says(kind: Kind, value: Any) -> str:
    """Describe an option's value, as the house-rules page does."""
    statement = kind.say(value)
    if language() == SOURCE:
        return statement
    match kind:
        case Choice() | Flag():
            return pgettext("rules", statement)
        case Amount():
            shown = money(value) if kind.money else value
            return (
                pgettext("rules", places(kind.some), value=shown) if value else pgettext("rules", kind.none)
            )
        case SuitOrder() if value:
            suits = gettext(", ").join(pgettext("suit", SUIT_NAMES[suit]) for suit in value)
            return gettext(
                "Two equal straights, flushes or straight flushes of one hand are ordered by the suit of their high "
                "card, high to low %(suits)s; the stronger one in the middle is a foul.",
                suits=suits,
            )
        case Outcomes() if value:
            points = dict(value)
            return gettext(
                "Who wins exactly two rows has %(two)s for them, whatever the third row is; who wins all three has "
                "%(three)s. Rows are summed only where nobody wins two.",
                two=ngettext("%(num)s point", "%(num)s points", points["two"]),
                three=ngettext("%(num)s point", "%(num)s points", points["three"]),
            )
        case Bonuses() if value:
            return _listed(f"{target_words(hand, front=kind.front)} {points}" for hand, points in value)
        case NaturalKinds() if value:
            return _listed(f"{natural_words(name)} {points}" for name, points in value)
        case AtLeast() if value:
            return capital(
                gettext(", or ").join(
                    gettext(
                        BETTER[row],
                        hand=target_words(hand, front=row == "front"),
                    )
                    for row, hand in value
                )
            ) + gettext(".")
        case Schedule() if value:
            return _listed(
                gettext(
                    "option %(number)s: %(fee)s at %(limit)s",
                    number=rate.option,
                    fee=money(rate.fee),
                    limit=money(rate.limit),
                )
                for rate in value
            )
    return pgettext("rules", statement) if statement else ""


def target_words(hand: str, *, front: bool) -> str:
    """Name a hand as a bonus table does: `target_words("QQ", front=True)` is `"pair of queens"`."""
    target = Target.parse(hand, front=front)
    if language() == SOURCE:
        return target.words
    if target.rank is None:
        return category_name(target.category.label)
    ranks = pgettext("ranks", SEVERAL[RANKS[target.rank]])
    pair = target.category.label == "one_pair"
    return gettext("pair of %(ranks)s", ranks=ranks) if pair else gettext("three %(ranks)s", ranks=ranks)


def places(text: str) -> str:
    """Return a text of an amount with a named place, as in the catalogues."""
    return text.replace("{}", "%(value)s")


def _listed(parts: Any) -> str:
    return capital(gettext("; ").join(parts)) + gettext(".")
