"""The house rules between hands and in general: Fantasy Land, the collection, irregularities."""

from __future__ import annotations

from collections.abc import Iterator

from dealer_ui.profiles.house_rules_said import Rule, Ruled, Values
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.rule_words import rule_text, target_words
from dealer_ui.text.words import money, small
from firmware.rules.profiles.document import Table
from firmware.rules.profiles.options import BETTER, Text
from firmware.rules.profiles.sections import OPTIONS


def fantasy_land(rules: Values) -> Iterator[Ruled]:
    """Describe Fantasy Land, and how it is earned and kept."""
    yield Rule(
        _(
            "A player who sets one of these, without a foul, is in Fantasy Land for the next hand: %(hands)s.",
            hands=_at_least(rules["fantasyland.entry"]),
        ),
        "fantasyland.entry",
    )
    yield Rule(
        _(
            "In Fantasy Land a player is dealt all 13 cards face down at once, and sets them before the other players "
            "are dealt theirs."
        ),
        "basics.fantasyland",
    )
    yield Rule(
        _(
            "A player in Fantasy Land who sets one of these, without a foul, stays there for the hand after: "
            "%(hands)s.",
            hands=_at_least(rules["fantasyland.stay"]),
        )
        if rules["fantasyland.stay"]
        else _("Fantasy Land is for one hand; nobody stays in it."),
        "fantasyland.stay",
    )
    yield Rule(_("Who stays in Fantasy Land announces it to the other players."), "basics.announce")
    yield Rule(
        _(
            "Rows are judged as they are set, whether the hand is a natural or not. Who sits out the next hand keeps "
            "Fantasy Land for the one after."
        ),
        "basics.fantasyland_rows",
    )
    yield Rule(
        _("Where the player plays two hands, both of the next hands are Fantasy Land hands.")
        if rules["fantasyland.two_hands"] == "player"
        else _("Where the player plays two hands, only the one that earned it is a Fantasy Land hand next."),
        "fantasyland.two_hands",
    )


def _at_least(hands: tuple[tuple[str, str], ...]) -> str:
    return _(", or ").join(
        _(BETTER[row].message, hand=small(target_words(hand, front=row == "front"))) for row, hand in hands
    )


def collection(rules: Values) -> Iterator[Ruled]:
    """Describe the house's collection."""
    yield Rule(
        _(
            "For every %(minutes)s minutes, which are called a down, the house takes a fee from each player by the "
            "table limit:",
            minutes=rules["collection.down_minutes"],
        ),
        "collection.down_minutes",
        "collection.schedule",
    )
    yield Table(
        (_("Option"), _("Table limit"), _("Fee of a player for a down")),
        tuple(
            (str(rate.option), money(rate.limit), money(rate.fee)) for rate in rules["collection.schedule"]
        ),
    )
    half = rules["collection.half_from_minute"]
    yield Rule(
        _(
            "Who enters the game before minute %(minute)s of a down pays the whole fee for it. Who enters at minute "
            "%(minute)s or later pays half.",
            minute=half,
        )
        if half
        else _("Who enters the game during a down pays the whole fee for it."),
        "collection.half_from_minute",
    )
    yield Rule(
        _("One option is fixed for a table before any hand is dealt."),
        "basics.one_schedule",
    )
    yield Rule(_("The fee is never a share of wagers or winnings."), "basics.no_share")


def irregularities(rules: Values) -> Iterator[Ruled]:
    """Describe how the house handles irregularities."""
    for path, (_section, _name, kind) in OPTIONS.items():
        if isinstance(kind, Text):
            text = rule_text(rules[path]) or _("The house has not written down what it does.")
            yield Rule(_("%(what)s: %(text)s", what=rule_text(kind.title), text=text), path)
