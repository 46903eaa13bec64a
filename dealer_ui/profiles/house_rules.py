"""The house-rules page: a profile in sentences, in the order of play, as a card room files it with its regulator.

Every sentence has a number and the words of the source document that decide it. If the document is silent or ambiguous,
the page ends with this house's choice and every other reading.
"""

from collections.abc import Iterator
from typing import Final

from dealer_ui.profiles.house_rules_numbered import is_without, numbered_sections, options_of, rules_of
from dealer_ui.profiles.house_rules_sentences import Values, format_list
from dealer_ui.profiles.house_rules_source import may_change, open_rules, room, source_of_rule
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.rule_words import option_says, rule_text
from dealer_ui.text.words import speaking_of
from firmware.rules import Profile
from firmware.rules.profiles.document import (
    SECTION_TITLES,
    Block,
    DocumentTable,
    Heading,
    Paragraph,
    changes,
    option_name,
)
from firmware.rules.profiles.sections import OPTIONS

_IN_A_SETTLEMENT: Final = ("hands", "foul", "scoring", "bonus", "naturals", "surrender", "order", "stakes")
"""The sections whose options a settlement's lines name."""


def house_rules(profile: Profile, base: Profile | None = None) -> tuple[Block, ...]:
    """Return the page in the current language; `base` is the profile that this one extends."""
    with speaking_of(profile):
        return tuple(_blocks(profile, base))


def _blocks(profile: Profile, base: Profile | None) -> Iterator[Block]:
    rules = Values(profile, base)
    yield Heading(1, profile.title)
    if rules.source:
        yield Paragraph(
            _(
                "House rules. Their source is the document “%(title)s”. Next to each rule stand the words of the "
                "document that decide it, with their heading; ¶ counts the paragraphs below that heading; … stands "
                "for words left out.",
                title=rules.source.title,
            )
        )
    else:
        yield Paragraph(_("House rules. Their source: %(source)s.", source=profile.source or _("the house")))
    if base:
        yield from _what_changed(profile, base)
    listed = open_rules(rules)
    for title, blocks in numbered_sections(rules):
        yield Heading(2, title)
        held: list[tuple[str, str, str]] = []
        first: dict[str, str] = {}
        for part in blocks:
            if isinstance(part, DocumentTable):
                yield from _rules_table(held)
                yield part
                held = []
            else:
                source = source_of_rule(rules, part, listed)
                number = first.setdefault(source, part.number)
                if "“" in source and number != part.number:
                    source = _("As for %(number)s.", number=number)
                held.append((part.number, part.text, source))
        yield from _rules_table(held)
    yield from room(rules, listed.values())
    if profile.notes:
        yield Heading(2, _("Notes"))
        yield from (Paragraph(rule_text(note)) for note in profile.notes)
    yield from may_change(rules)
    yield Heading(2, _("Adopted"))
    yield DocumentTable((_("House"), _("Name and office"), _("Signature"), _("Date")), (("", "", "", ""),))
    yield Paragraph(
        _(
            "In the table's record these rules are version %(version)s of this game.",
            version=profile.hash[:10],
        )
    )
    yield Heading(2, _("Index"))
    yield Paragraph(
        _("The choices of this game by their names in its form, with the numbers of the rules that say them.")
    )
    yield _index(rules)


def _rules_table(rows: list[tuple[str, str, str]]) -> Iterator[DocumentTable]:
    if rows:
        yield DocumentTable((_("No."), _("Rule"), _("Source")), tuple(rows))


# ---- the house's changes, and the index ----


def _what_changed(profile: Profile, base: Profile) -> Iterator[Block]:
    yield Heading(2, _("What this house has changed"))
    kinds = {path: (kind, value) for path, kind, value in base.options()}
    now = {path: value for path, _kind, value in profile.options()}
    of_naturals = options_of("naturals")
    rows = tuple(
        (
            say(option_name(change.path)),
            option_says(*kinds[change.path]),
            option_says(kinds[change.path][0], now[change.path]),
        )
        for change in changes(profile, base)
        if profile.naturals.kinds
        or change.path == "naturals.kinds"
        or not change.path.startswith(of_naturals)
    )
    if rows:
        yield DocumentTable((_("About"), base.title, _("This house")), rows)
    else:
        yield Paragraph(_("Nothing of %(title)s.", title=base.title))


def _index(rules: Values) -> DocumentTable:
    """Return the rules that describe each option, for the sections that a settlement's lines cite."""
    found: dict[str, list[str]] = {}
    for rule in rules_of(rules.profile):
        for about in rule.said:
            if about in OPTIONS and not is_without(rule):
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
    return DocumentTable((_("About"), _("Rules")), tuple(rows))
