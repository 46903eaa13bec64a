"""The words of the game in the page's languages, from its own catalogues: a dealer corrects them in an evening."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from babel.messages.pofile import read_po

from dealer_ui.text.i18n import LANGUAGES, SOURCE
from firmware.rules import NATURAL_WORDS
from firmware.rules.strength import Category
from firmware.rules.words import HIGH, SEVERAL

ROOT: Final = Path(__file__).parents[1]

Word = tuple[str, str]
"""A message of the catalogues: its context, or nothing, and its English."""

GROUPS: Final[Mapping[str, Sequence[Word]]] = {
    "The hand": (
        ("", "Dealing"),
        ("", "Setting"),
        ("", "placing"),
        ("", "Showdown"),
        ("", "Reading"),
        ("", "Settled"),
        ("", "All paid"),
        ("rules", "Misdeal"),
        ("", "Exposed card"),
        ("", "Dispute"),
        ("", "puck"),
        ("row", "front"),
        ("row", "middle"),
        ("row", "back"),
    ),
    "What is done": (
        ("", "Open a hand"),
        ("", "Cards are out"),
        ("", "Declare"),
        ("", "Surrender"),
        ("", "Back to setting"),
        ("", "Look again"),
        ("", "Paid"),
        ("", "Paid back"),
        ("", "Next hand"),
        ("", "Count"),
        ("", "Passes"),
        ("", "Remove"),
    ),
    "Rows": (
        *(("", category.words.message) for category in reversed(Category)),
        ("", "%(rank)s high"),
        ("", "pair of %(ranks)s"),
        ("", "straight, %(rank)s high"),
        ("", "flush, %(rank)s high"),
        ("", "full house, %(ranks)s over %(others)s"),
        ("", "foul"),
        ("", "FOUL"),
    ),
    "Naturals": tuple(("", words.message) for words in NATURAL_WORDS.values()),
    "Ranks, as the highest card": tuple(("high card", name.message) for name in HIGH),
    "Ranks, several of one": tuple(("ranks", name.message) for name in SEVERAL),
}
"""What is shown. `%(…)s` stands for what the page fills in."""


@cache
def catalogue(language: str) -> Mapping[Word, str]:
    """Return a language's words by context and English."""
    path = ROOT / "dealer_ui/translations" / language / "LC_MESSAGES/messages.po"
    with path.open("rb") as file:
        return {
            (message.context or "", message.id): str(message.string)
            for message in read_po(file)
            if message.id and isinstance(message.id, str)
        }


def glossary() -> str:
    """Return the groups as tables in Markdown.

    Raises:
        KeyError: where a word is in no catalogue.
    """
    others = [code for code in LANGUAGES if code != SOURCE]
    parts: list[str] = []
    for title, words in GROUPS.items():
        parts += [
            f"## {title}",
            "",
            "| " + " | ".join(LANGUAGES.values()) + " |",
            "|---" * len(LANGUAGES) + "|",
        ]
        parts += [f"| {' | '.join((word[1], *(catalogue(one)[word] for one in others)))} |" for word in words]
        parts.append("")
    return "\n".join(parts)
