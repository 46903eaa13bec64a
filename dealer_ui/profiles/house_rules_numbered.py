"""The rules of the house-rules page with their numbers, in the order of play."""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Final, NamedTuple

from dealer_ui.profiles.house_rules_sentences import Rule, Statement, Values, format_list, sentences
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from firmware.rules import Profile
from firmware.rules.profiles.document import DocumentTable


class NumberedRule(NamedTuple):
    """A rule with its number on the page."""

    number: str
    text: str
    about: tuple[str, ...]
    """Options by path, and rules without an option."""
    said: tuple[str, ...]
    """Those of `about` that its words name; the others are off."""


class _Section(NamedTuple):
    title: str
    block: str
    """Its sentences: a block of the template."""
    where: Callable[[Values], bool] = lambda _rules: True
    options: tuple[str, ...] = ()
    """Prefixes of the options that have no sentence where the section is left out."""


_SECTIONS: Final = (
    _Section(N_("The game and the table"), "the_table"),
    _Section(N_("The puck"), "the_button"),
    _Section(N_("The deal"), "the_deal"),
    _Section(N_("What beats what"), "rankings"),
    _Section(N_("Setting the rows"), "setting"),
    _Section(
        N_("Naturals"),
        "naturals",
        lambda rules: rules.has_naturals,
        (
            "naturals.",
            "foul.versus_natural",
            "surrender.versus_natural",
            "order.naturals_first",
            "order.several_naturals",
        ),
    ),
    _Section(
        N_("Surrender"),
        "surrender",
        lambda rules: bool(rules["surrender.points"]),
        ("surrender.", "naturals.excused_by_surrender", "naturals.order_unknown"),
    ),
    _Section(N_("Comparing the rows"), "comparing"),
    _Section(
        N_("Bonuses"),
        "bonuses",
        lambda rules: rules.has_bonuses,
        ("bonus.", "foul.pays_bonus", "naturals.keeps_bonus", "naturals.pays_bonus"),
    ),
    _Section(N_("What a foul pays"), "fouls"),
    _Section(N_("What a natural collects"), "what_naturals_collect", lambda rules: rules.has_naturals),
    _Section(N_("Order of settlement"), "order_of_payment"),
    _Section(N_("Table stakes"), "stakes"),
    _Section(
        N_("Fantasy Land"), "fantasy_land", lambda rules: bool(rules["fantasyland.entry"]), ("fantasyland.",)
    ),
    _Section(
        N_("Collection by the down"),
        "collection",
        lambda rules: bool(rules["collection.schedule"]),
        ("collection.",),
    ),
    _Section(N_("Irregularities"), "irregularities"),
)
_LEFT_OUT: Final = {
    N_("Naturals"): N_("naturals"),
    N_("Surrender"): N_("surrender"),
    N_("Bonuses"): N_("bonuses"),
    N_("Fantasy Land"): N_("Fantasy Land"),
    N_("Collection by the down"): N_("a collection by the down"),
    "limits.buy_in": N_("a minimum buy-in"),
    "limits.min_points": N_("a minimum stack to be dealt in"),
}
"""How the things are called that a game may do without."""
_MISSING: Final = "basics.missing"


def rules_of(profile: Profile) -> tuple[NumberedRule, ...]:
    """Return every rule of the page with its number."""
    rules = Values(profile)
    return tuple(
        rule
        for _title, blocks in numbered_sections(rules)
        for rule in blocks
        if isinstance(rule, NumberedRule)
    )


def options_of(block: str) -> tuple[str, ...]:
    """Return how the options begin of a section that a game may do without."""
    return next(section.options for section in _SECTIONS if section.block == block)


def clauses_on_the_page(profile: Profile) -> frozenset[str]:
    """Return the options that the page has a sentence for: those that a settlement's line may cite."""
    return frozenset(about for rule in rules_of(profile) if not is_without(rule) for about in rule.about)


def numbered_sections(rules: Values) -> Iterator[tuple[str, tuple[NumberedRule | DocumentTable, ...]]]:
    """Yield titles with the numbered rules below them; last, the features that this game lacks."""
    number = 0
    about: set[str] = set()
    for section in _SECTIONS:
        if section.where(rules):
            number += 1
            statement = _number_rules(number, sentences(section.block, rules))
            about.update(path for part in statement if isinstance(part, NumberedRule) for path in part.about)
            yield f"{number} {_(section.title)}", statement
    if missing := _missing(rules, about):
        number += 1
        title = _("Not part of this game")
        yield f"{number} {title}", _number_rules(number, [missing])


def _number_rules(section: int, statement: Iterable[Statement]) -> tuple[NumberedRule | DocumentTable, ...]:
    found: list[NumberedRule | DocumentTable] = []
    place = 0
    for part in statement:
        if isinstance(part, Rule):
            place += 1
            found.append(
                NumberedRule(f"{section}.{place}", part.text, (*part.about, *part.unsaid), part.about)
            )
        else:
            found.append(part)
    return tuple(found)


def _missing(rules: Values, statement: Container[str]) -> Rule | None:
    """Return one sentence for all features that this game lacks and that have no lines of their own."""
    names = [
        _LEFT_OUT[section.title] for section in _SECTIONS if not section.where(rules) and section.options
    ]
    prefixes = [prefix for section in _SECTIONS if not section.where(rules) for prefix in section.options]
    for path in ("limits.buy_in", "limits.min_points"):
        if not rules[path]:
            names.append(_LEFT_OUT[path])
            prefixes.append(path)
    three = {"three_straights", "three_flushes"} & {entry.kind for entry in rules["naturals.kinds"]}
    if not three:
        prefixes.append("naturals.by")
    if not names:
        return None
    about = (path for path in rules if path.startswith(tuple(prefixes)) and path not in statement)
    things = format_list(_(name) for name in names)
    return Rule(_("This game is played without: %(things)s.", things=things), (_MISSING, *about))


def is_without(rule: NumberedRule) -> bool:
    """Return whether this is the sentence about the features that the game lacks."""
    return _MISSING in rule.about
