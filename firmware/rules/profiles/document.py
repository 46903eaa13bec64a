"""The house-rules document as a list of blocks, which become Markdown here and pages elsewhere; a house's changes."""

from collections.abc import Iterable
from typing import NamedTuple

from firmware.messages import Message, Term, Text
from firmware.rules.profiles.options import RULES
from firmware.rules.profiles.profile import Profile
from firmware.rules.profiles.sections import OPTIONS


class Heading(NamedTuple):
    """A heading; level 1 is the page's title."""

    level: int
    text: str


class Paragraph(NamedTuple):
    """A paragraph of plain text."""

    text: str
    is_quoted: bool = False
    """Whether it quotes the rules' source document, whose English words are not translated."""


class DocumentTable(NamedTuple):
    """A table: its head, then its rows, all of the same length."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | DocumentTable


class Change(NamedTuple):
    """An option with another value than in the profile that is extended."""

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
"""The sections of a profile by their titles, in display order."""


def option_name(path: str) -> Text:
    """Return an option's name as in the index of the house-rules page; its path, if only another release has it.

    >>> str(option_name("scoring.row"))
    'Scoring: Row'
    """
    if path not in OPTIONS:
        return path
    section, _name, kind = OPTIONS[path]
    title, section_title = (Term(text, context=RULES) for text in (kind.title, SECTION_TITLES[section]))
    return Message("%(section)s: %(title)s", section=section_title, title=title)


def changes(profile: Profile, base: Profile) -> tuple[Change, ...]:
    """Return the options that differ from the extended profile."""
    before = {path: value for path, _, value in base.options()}
    return tuple(
        Change(path, kind.title, str(kind.say(before[path])), str(kind.say(value)))
        for path, kind, value in profile.options()
        if value != before[path]
    )


def markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {_line(text)}"
        case Paragraph(text):
            return _line(text)
        case DocumentTable(head, rows):
            lines = [head, tuple("---" for _ in head), *rows]
            return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _line(text: str) -> str:
    """Return a text as one line: a line break would end the block."""
    return " ".join(text.splitlines())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")
