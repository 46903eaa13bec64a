"""The house-rules page: a profile in sentences, in the order of play, as a card room files it with its regulator.

Every sentence has a number and its place in the source document. If the document is silent or ambiguous, the page ends
with this house's choice and the alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Final, NamedTuple

from dealer_ui.profiles.house_rules_said import Rule, Ruled, Values, format_list, sentences
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.rule_words import option_says, rule_text
from firmware.rules import Profile, RulesError
from firmware.rules.profiles.document import SECTION_TITLES, Block, Heading, Paragraph, Table, changes
from firmware.rules.profiles.options import Amount, Bonuses, Choice, Flag, Kind, NaturalKinds
from firmware.rules.profiles.sections import OPTIONS


class NumberedRule(NamedTuple):
    """A rule with its number on the page."""

    number: str
    text: str
    about: tuple[str, ...]


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
        ("naturals.", "foul.versus_natural", "order.naturals_first", "order.several_naturals"),
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
        N_("Fantasy Land"),
        "fantasy_land",
        lambda rules: bool(rules["fantasyland.entry"]),
        ("fantasyland.",),
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
    "limits.buy_in": N_("a least buy-in"),
    "limits.min_points": N_("a least stack to be dealt in"),
}
"""How the things are called that a game may do without."""
_MISSING: Final = "basics.missing"
_BY_THE_HOUSE: Final = ("irregularities.", "limits.")
"""Options that are no reading of the document where it does not name them."""
_IN_A_SETTLEMENT: Final = ("hands", "foul", "scoring", "bonus", "naturals", "surrender", "order", "stakes")
"""The sections whose options a settlement's lines name."""


def house_rules(profile: Profile, base: Profile | None = None) -> tuple[Block, ...]:
    """Return the page in the current language; `base` is the profile that this one extends."""
    return tuple(_blocks(profile, base))


def rules_of(profile: Profile) -> tuple[NumberedRule, ...]:
    """Return every rule of the page with its number."""
    rules = Values(profile)
    return tuple(
        rule for _title, blocks in _sections(rules) for rule in blocks if isinstance(rule, NumberedRule)
    )


def clauses_on_the_page(profile: Profile) -> frozenset[str]:
    """Return the options that the page has a sentence for: those that a settlement's line may cite."""
    return frozenset(about for rule in rules_of(profile) if not _without(rule) for about in rule.about)


def _blocks(profile: Profile, base: Profile | None) -> Iterator[Block]:
    rules = Values(profile)
    changed = {change.path for change in changes(profile, base)} if base else set()
    yield Heading(1, profile.title)
    if rules.source:
        yield Paragraph(
            _(
                "House rules. Their source is the document “%(title)s”. Next to each rule stands the heading of the "
                "document that it is found under; ¶ counts the paragraphs below that heading.",
                title=rules.source.title,
            )
        )
    else:
        yield Paragraph(_("House rules. Their source: %(source)s.", source=profile.source or _("the house")))
    if base:
        yield from _what_changed(profile, base)
    open_rules: list[NumberedRule] = []
    for title, blocks in _sections(rules):
        yield Heading(2, title)
        held: list[tuple[str, str, str]] = []
        for part in blocks:
            if isinstance(part, Table):
                yield from _rules_table(held)
                yield part
                held = []
                continue
            held.append((part.number, part.text, _source(rules, part, changed)))
            if _leaves_room(rules, part, changed):
                open_rules.append(part)
        yield from _rules_table(held)
    yield from _room(rules, open_rules)
    if profile.notes:
        yield Heading(2, _("Notes"))
        yield from (Paragraph(rule_text(note)) for note in profile.notes)
    yield Heading(2, _("Adopted"))
    yield Table((_("House"), _("Name and office"), _("Signature"), _("Date")), (("", "", "", ""),))
    yield Heading(2, _("Index"))
    yield Paragraph(
        _("The choices of this game by their names in its form, with the numbers of the rules that say them.")
    )
    yield _index(rules)


def _sections(rules: Values) -> Iterator[tuple[str, tuple[NumberedRule | Table, ...]]]:
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


def _number_rules(section: int, statement: Iterable[Ruled]) -> tuple[NumberedRule | Table, ...]:
    found: list[NumberedRule | Table] = []
    place = 0
    for part in statement:
        if isinstance(part, Rule):
            place += 1
            found.append(NumberedRule(f"{section}.{place}", part.text, part.about))
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
    three = {"three_straights", "three_flushes"} & {kind for kind, _value in rules["naturals.kinds"]}
    if not three:
        prefixes.append("naturals.by")
    if not names:
        return None
    about = (path for path in rules if path.startswith(tuple(prefixes)) and path not in statement)
    things = format_list(_(name) for name in names)
    return Rule(_("This game is played without: %(things)s.", things=things), (_MISSING, *about))


def _rules_table(rows: list[tuple[str, str, str]]) -> Iterator[Table]:
    if rows:
        yield Table((_("No."), _("Rule"), _("Source")), tuple(rows))


def _source(rules: Values, rule: NumberedRule, changed: Iterable[str]) -> str:
    """Return where a rule comes from."""
    if set(rule.about) & set(changed):
        return _("Set by the house.")
    if not _without(rule) and (places := rules.references(rule.about)):
        return places
    by_the_house = all(about.startswith(_BY_THE_HOUSE) for about in rule.about)
    if by_the_house or _without(rule) or not rules.source:
        return _("Set by the house.")
    return _("Not in the document: see the list at the end.")


# ---- open points of the document ----


def _leaves_room(rules: Values, rule: NumberedRule, changed: Iterable[str]) -> bool:
    if not rules.source or set(rule.about) & set(changed) or _without(rule):
        return False
    if all(about.startswith(_BY_THE_HOUSE) for about in rule.about):
        return False
    return not rules.references(rule.about) or bool(_readings(rules, rule))


def _without(rule: NumberedRule) -> bool:
    """Return whether this is the sentence about the features that the game lacks."""
    return _MISSING in rule.about


def _readings(rules: Values, rule: NumberedRule) -> str:
    """Return the profile's notes on the open points of the document."""
    found = (rule_text(rules.profile.reading.get(path, "")) for path in rule.about)
    return " ".join(dict.fromkeys(text for text in found if text))


def _room(rules: Values, open_rules: Iterable[NumberedRule]) -> Iterator[Block]:
    rows = []
    alone = []
    for rule in open_rules:
        if others := " ".join(dict.fromkeys(_others(rules, rule))):
            statement = _readings(rules, rule) or _("Says nothing of it.")
            table = _("The table below %(number)s.", number=rule.number)
            rows.append(
                (rule.number, statement, table if rule.text.endswith((":", "：")) else rule.text, others)
            )
        else:
            alone.append(rule.number)
    if rows or alone:
        yield Heading(2, _("Where the document leaves room"))
    if rows:
        yield Paragraph(
            _(
                "The document says nothing of these rules, or can be read in several ways. This house plays what "
                "stands in the third column; the fourth holds the other readings."
            )
        )
        yield Table((_("No."), _("The document"), _("This house"), _("Other readings")), tuple(rows))
    if alone:
        yield Paragraph(
            _(
                "Of these rules, too, the document says nothing. They are played as they stand, and this appliance "
                "has no other reading of them: %(numbers)s.",
                numbers=format_list(alone),
            )
        )


def _others(rules: Values, rule: NumberedRule) -> Iterator[str]:
    """Yield the sentences of the other values of a rule's options."""
    for path in rule.about:
        if path not in OPTIONS or (rules.references([path]) and path not in rules.profile.reading):
            continue
        kind = OPTIONS[path][2]
        for value in _other_values(kind, rules[path]):
            try:
                other = rules.profile.with_options({path: value})
            except RulesError:
                continue
            for sentence in rules_of(other):
                if path in sentence.about and sentence.text != rule.text and not _without(sentence):
                    yield sentence.text
        if isinstance(kind, Amount) and not path.startswith("limits."):
            yield _("Another number of points.") if rules[path] else _("Points of the house's choice.")
        if isinstance(kind, Bonuses | NaturalKinds) and path in rules.profile.reading:
            yield _("Other hands, or other points.")


def _other_values(kind: Kind, value: object) -> list[object]:
    match kind:
        case Choice():
            return [name for name in kind.values if name != value]
        case Flag():
            return [not value]
    return []


# ---- the house's changes, and the index ----


def _what_changed(profile: Profile, base: Profile) -> Iterator[Block]:
    yield Heading(2, _("What this house has changed"))
    kinds = {path: (kind, value) for path, kind, value in base.options()}
    now = {path: value for path, _kind, value in profile.options()}
    rows = tuple(
        (
            _(
                "%(section)s: %(title)s",
                section=rule_text(SECTION_TITLES[change.path.partition(".")[0]]),
                title=rule_text(change.title),
            ),
            option_says(*kinds[change.path]),
            option_says(kinds[change.path][0], now[change.path]),
        )
        for change in changes(profile, base)
    )
    if rows:
        yield Table((_("About"), base.title, _("This house")), rows)
    else:
        yield Paragraph(_("Nothing of %(title)s.", title=base.title))


def _index(rules: Values) -> Table:
    """Return the rules that describe each option, for the sections that a settlement's lines cite."""
    found: dict[str, list[str]] = {}
    for rule in rules_of(rules.profile):
        for about in rule.about:
            if about in OPTIONS and not _without(rule):
                found.setdefault(about, []).append(rule.number)
    rows = []
    for section in _IN_A_SETTLEMENT:
        clauses = (
            _("%(title)s: %(numbers)s", title=rule_text(kind.title), numbers=format_list(found[path]))
            for path, (_section, _name, kind) in OPTIONS.items()
            if path.startswith(f"{section}.") and path in found
        )
        if words := _("; ").join(clauses):
            rows.append((rule_text(SECTION_TITLES[section]), words))
    return Table((_("About"), _("Rules")), tuple(rows))
