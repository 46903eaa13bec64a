"""What of the house-rules page the document decides, in its own words, and where another reading exists."""

from collections.abc import Container, Iterable, Iterator
from typing import Final, NamedTuple

from dealer_ui.profiles.house_rules_numbered import NumberedRule, is_without, rules_of
from dealer_ui.profiles.house_rules_sentences import Values, format_list
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.rule_words import option_says, rule_text
from firmware.rules import RulesError
from firmware.rules.profiles.dealt_cards import Count
from firmware.rules.profiles.document import Block, DocumentTable, Heading, Paragraph
from firmware.rules.profiles.natural_kinds import NaturalKinds
from firmware.rules.profiles.options import Amount, Bonuses, Choice, Flag, Kind, SuitOrder
from firmware.rules.profiles.sections import OPTIONS
from firmware.rules.profiles.sources import cite

_BY_THE_HOUSE: Final = ("irregularities.", "limits.")
"""Options that are not a reading of the document where it does not name them."""
_TIMES: Final = "_times"
"""The end of an option that multiplies."""
_CHANGES: Final = "basics.changes"


class OpenRule(NamedTuple):
    """A rule that the document leaves open or does not name, with every other reading of it."""

    rule: NumberedRule
    others: tuple[str, ...]


def open_rules(rules: Values) -> dict[str, OpenRule]:
    """Return what the list at the end holds, by the numbers of the rules."""
    found = {}
    for rule in rules_of(rules.profile) if rules.source else ():
        if is_without(rule) or all(about.startswith(_BY_THE_HOUSE) for about in rule.about):
            continue
        rule = rule._replace(about=_still_the_documents(rules, rule))
        others = tuple(dict.fromkeys(_others(rules, rule)))
        if others or not (_set_by_the_house(rules, rule) or rules.quotes(rule.about)):
            found[rule.number] = OpenRule(rule, others)
    return found


def _still_the_documents(rules: Values, rule: NumberedRule) -> tuple[str, ...]:
    """Return what the document still says rightly of a rule: of a rule that was changed, only its unchanged options."""
    if not rules.changed.intersection(rule.about):
        return rule.about
    return tuple(about for about in rule.said if about in OPTIONS and about not in rules.changed)


def source_of_rule(rules: Values, rule: NumberedRule, listed: Container[str]) -> str:
    """Return where a rule comes from: the document's words with their places, or whose choice it is.

    `listed`: the numbers of the rules in the list at the end.
    """
    if not rules.source or rules.changed.intersection(rule.said):
        return _("Set by the house.")
    words = cite(rules.quotes(rule.about))
    if is_without(rule):
        absent = format_list(f"“{word.strip()}”" for word in rules.absent_words(rule.about))
        if words:
            return _(
                "%(quotes)s. The rest is not in the document, which does not contain: %(words)s.",
                quotes=words,
                words=absent,
            )
        return _("Not in the document, which does not contain: %(words)s.", words=absent)
    if _set_by_the_house(rules, rule):
        return " ".join(filter(None, (_("Set by the house."), words)))
    if words:
        return (
            _("%(quotes)s. See also the list at the end.", quotes=words) if rule.number in listed else words
        )
    if rule.number not in listed:
        return _("Set by the house.")
    if rules.open_points(rule.about):
        return _("The document leaves room: see the list at the end.")
    return _("Not in the document: see the list at the end.")


def _set_by_the_house(rules: Values, rule: NumberedRule) -> bool:
    """Return whether a rule is the house's to set, and the document sets nothing; nothing is left of a changed one."""
    return not rule.about or any(
        about.startswith(("irregularities.", "basics.weaker_pays_more"))
        or (about.startswith("limits.") and not rules.quotes([about]))
        for about in rule.about
    )


def _silent_or_open(rules: Values, about: str) -> bool:
    """Return whether the document leaves an option or a rule open; of a rule without an option only what it says."""
    if about in rules.changed or about.startswith(_BY_THE_HOUSE):
        return False
    if rules.open_points([about]) or about in rules.profile.reading:
        return True
    return about in OPTIONS and not rules.quotes([about])


def room(rules: Values, listed: Iterable[OpenRule]) -> Iterator[Block]:
    """Yield what the document leaves open: what it says, what this house plays, and every other reading."""
    rows = []
    alone = []
    for rule, others in listed:
        if others:
            table = _("The table below %(number)s.", number=rule.number)
            this = table if rule.text.endswith((":", "：")) else rule.text
            rows.append((rule.number, _document_says(rules, rule), this, _(" Or: ").join(others)))
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
        yield DocumentTable((_("No."), _("The document"), _("This house"), _("Other readings")), tuple(rows))
    if alone:
        yield Paragraph(
            _(
                "Of these rules, too, the document says nothing. They are played as they stand, and this appliance "
                "has no other reading of them: %(numbers)s.",
                numbers=format_list(alone),
            )
        )


def _document_says(rules: Values, rule: NumberedRule) -> str:
    points = rules.open_points(rule.about)
    named = {point.rule for point in points}
    own = (
        rules.profile.reading[path]
        for path in rule.about
        if path in rules.profile.reading and path not in named
    )
    found = dict.fromkeys(rule_text(text) for text in (*(point.document for point in points), *own))
    if not found and rules.quotes(rule.about):
        return _("The words beside the rule do not exclude the other readings.")
    return " ".join(found) or _("Says nothing of it.")


def _others(rules: Values, rule: NumberedRule) -> Iterator[str]:
    """Yield every other reading of a rule: other values of its options, and what is not a value of one."""
    for path in rule.about:
        if not _silent_or_open(rules, path):
            continue
        points = rules.open_points([path])
        yield from (rule_text(other) for point in points for other in point.others)
        if path not in OPTIONS:
            continue
        kind = OPTIONS[path][2]
        for value in other_values(kind, rules[path]):
            if not rules.excludes(path, value):
                yield from _other_text(rules, rule, path, value)
        if path.endswith(_TIMES):
            yield from _other_text(rules, rule, path, 2)
        elif isinstance(kind, Amount) and not isinstance(kind, Count) and _may_have_another(rules, path):
            yield (
                _("Another number of points, or none.") if rules[path] else _("Points of the house's choice.")
            )
        if isinstance(kind, Bonuses | NaturalKinds):
            yield _("Other hands, or other points.")


def _may_have_another(rules: Values, path: str) -> bool:
    try:
        rules.profile.with_options({path: rules[path] + 1})
    except RulesError:
        return False
    return True


def _other_text(rules: Values, rule: NumberedRule, path: str, value: object) -> Iterator[str]:
    """Yield how the page would say another value; in the words of the form where it has no sentence for it."""
    try:
        other = rules.profile.with_options({path: value})
    except RulesError:
        return
    rules_about = [one for one in rules_of(other) if path in one.about]
    texts = [one.text for one in rules_about if not is_without(one)]
    if texts or not rules_about:
        yield from (text for text in texts if text != rule.text)
    else:
        yield option_says(OPTIONS[path][2], value)


def other_values(kind: Kind, value: object) -> list[object]:
    """Return the other values that an option can have, where they are few, in TOML form."""
    match kind:
        case Count():
            return [number for number in kind.values if number != value]
        case Choice():
            return [name for name in kind.values if name != value]
        case Flag():
            return [not value]
        case SuitOrder():
            exchanged = {"h": "d", "d": "h"}
            suits = list(value) if isinstance(value, tuple) else []
            return [[], [exchanged.get(suit, suit) for suit in suits]] if suits else [["s", "h", "c", "d"]]
    return []


def readings_of(rules: Values, path: str) -> str:
    """Return what the document leaves open of one option, or ""."""
    if path in rules.changed:
        return ""
    points = rules.open_points([path])
    texts = [point.document for point in points] or [rules.profile.reading.get(path, "")]
    return " ".join(rule_text(text) for text in dict.fromkeys(texts))


def may_change(rules: Values) -> Iterator[Block]:
    """Yield whether the house may change a rule, and what else its regulator has its rules address."""
    if not rules.source:
        return
    yield Heading(2, _("Whether the house may change a rule"))
    quotes = rules.quotes([_CHANGES])
    if quotes:
        yield Paragraph(f"{cite(quotes)}.", is_quoted=True)
    if rules.source.changes:
        yield Paragraph(rule_text(rules.source.changes))
    if not rules.source.topics:
        return
    yield Heading(2, _("What the house adds"))
    yield Paragraph(
        _(
            "By Cal. Code Regs. tit. 4 § 12392 (a), as found in a public copy of December 2024, a house's rules must "
            "promote fair and honest play and address these points where they apply. What no rule of this page states, "
            "the house writes here."
        )
    )
    numbers: dict[str, str] = {}
    for rule in rules_of(rules.profile):
        for about in rule.about if not is_without(rule) else ():
            numbers.setdefault(about, rule.number)
    rows = []
    for topic in rules.source.topics:
        found = dict.fromkeys(
            number for about in topic.about for name, number in numbers.items() if name.startswith(about)
        )
        rows.append((rule_text(topic.title), format_list(found), ""))
    yield DocumentTable((_("Point"), _("Rules of this page"), _("This house's text")), tuple(rows))
