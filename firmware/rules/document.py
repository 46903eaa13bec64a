"""The house-rules page: a profile in words, as a card room files it with its internal controls.

It is built as blocks, so that it can be written as Markdown here and printed elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from firmware.rules.naturals import NATURAL_WORDS
from firmware.rules.options import Target, money_text
from firmware.rules.profile import Profile
from firmware.rules.strength import CATEGORIES
from firmware.rules.words import ROW_NAMES


class Heading(NamedTuple):
    """A heading; level 1 is the page's title."""

    level: int
    text: str


class Paragraph(NamedTuple):
    """A paragraph of plain text."""

    text: str


class Table(NamedTuple):
    """A table: its head, then its rows, all of the same length."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Table


class Change(NamedTuple):
    """An option that a house has set otherwise than the profile it extends."""

    path: str
    title: str
    before: str
    after: str


SECTION_TITLES = {
    "deal": "The deal",
    "hands": "Hands",
    "foul": "Fouls",
    "scoring": "Scoring",
    "bonus": "Bonuses",
    "naturals": "Naturals",
    "surrender": "Surrender",
    "order": "Order of settlement",
    "stakes": "Table stakes",
    "limits": "Limits",
    "fantasyland": "Fantasy Land",
    "collection": "Collection",
    "irregularities": "Irregularities",
}
"""The sections of the house-rules page, in its order."""
_BY_THE_HOUSE = "Set by the house."
# These are printed as tables of their own below the section's rules.
_TABLES = {"bonus.front", "bonus.middle", "bonus.back", "naturals.kinds", "collection.schedule"}


def changes(profile: Profile, base: Profile) -> tuple[Change, ...]:
    """Return what a profile sets otherwise than the one it extends."""
    before = {path: value for path, _, value in base.options()}
    return tuple(
        Change(path, kind.title, kind.say(before[path]), kind.say(value))
        for path, kind, value in profile.options()
        if value != before[path]
    )


def house_rules(profile: Profile, base: Profile | None = None) -> tuple[Block, ...]:
    """Return the house-rules page of a profile; `base` is the profile that it extends."""
    return tuple(_blocks(profile, base))


def _blocks(profile: Profile, base: Profile | None) -> Iterator[Block]:
    yield Heading(1, profile.title)
    yield Paragraph(
        f"House rules of the profile {profile.name}. Source: {profile.source or 'the house itself'}."
    )
    if base:
        yield Heading(2, f"Changes from {base.name}")
        changed = changes(profile, base)
        if changed:
            rows = tuple(
                (f"{change.title} ({change.path})", change.before, change.after) for change in changed
            )
            yield Table(("Option", "The document", "This house"), rows)
        else:
            yield Paragraph("None.")
    for section, title in SECTION_TITLES.items():
        yield Heading(2, title)
        options = [
            (path, kind, value) for path, kind, value in profile.options() if path.startswith(f"{section}.")
        ]
        rows = tuple(
            (f"{kind.title} ({path})", kind.say(value), profile.clause.get(path, _BY_THE_HOUSE))
            for path, kind, value in options
            if path not in _TABLES
        )
        yield Table(("Option", "Rule", "Clause of the source"), rows)
        yield from _tables(section, profile)
        if tabled := [path for path, _, _ in options if path in _TABLES]:
            clauses = (f"{path}: {profile.clause.get(path, _BY_THE_HOUSE)}" for path in tabled)
            yield Paragraph(" ".join(clauses))
    if profile.notes:
        yield Heading(2, "Notes")
        yield from (Paragraph(note) for note in profile.notes)
    yield Heading(2, "Adopted")
    yield Table(("House", "Name and office", "Signature", "Date"), (("", "", "", ""),))


def _tables(section: str, profile: Profile) -> Iterator[Block]:
    if section == "bonus":
        yield from _bonus_table(profile)
    if section == "naturals":
        if profile.naturals.kinds:
            kinds = enumerate(profile.naturals.kinds, start=1)
            rows = tuple((str(place), NATURAL_WORDS[kind], str(value)) for place, (kind, value) in kinds)
            yield Table(("Rank", "Natural", "Points from each opponent"), rows)
        else:
            yield Paragraph("There are no naturals.")
    if section == "collection":
        if profile.collection.schedule:
            schedule = profile.collection.schedule
            rows = tuple(
                (str(rate.option), money_text(rate.limit), money_text(rate.fee)) for rate in schedule
            )
            yield Table(("Option", "Table limit", "Fee of a player for a down"), rows)
            yield Paragraph(
                "One option is fixed for a table before any hand is dealt. "
                "The fee is never a share of wagers or winnings."
            )
        else:
            yield Paragraph("No collection is taken by the down.")


def _bonus_table(profile: Profile) -> Iterator[Block]:
    """Yield the bonuses, the highest hand first, with a column for each row."""
    tables = [dict(profile.bonus.front), dict(profile.bonus.middle), dict(profile.bonus.back)]
    hands = {hand for table in tables for hand in table}
    if not hands:
        yield Paragraph("No hand has a bonus.")
        return

    def height(hand: str) -> tuple[int, int]:
        target = Target.parse(hand, front=hand not in CATEGORIES)
        return -target.category, -(target.rank if target.rank is not None else 13)

    rows = tuple(
        (
            Target.parse(hand, front=hand not in CATEGORIES).words,
            *(str(table[hand]) if hand in table else "–" for table in tables),
        )
        for hand in sorted(hands, key=height)
    )
    yield Table(("Hand", *(name.capitalize() for name in ROW_NAMES)), rows)


def markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {_line(text)}"
        case Paragraph(text):
            return _line(text)
        case Table(head, rows):
            lines = [head, tuple("---" for _ in head), *rows]
            return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _line(text: str) -> str:
    """Return a text as one line: what breaks a line would end the block."""
    return " ".join(text.splitlines())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")
