"""The options of a game as a table of the book: each path of a profile, what it is about, and its allowed values."""

import re
from collections.abc import Iterator
from typing import Final

from firmware.rules import OPTIONS
from firmware.rules.naturals.kinds import NATURAL_WORDS
from firmware.rules.profiles.options import Amount, Choice, Flag, Kind
from firmware.rules.profiles.targets import NotAllowedError

_EXAMPLE: Final = re.compile(r"\[\]|\{\}|\[\{.*?\}\]|\[\".*?\]|\{ .*? \}")
"""Text of a file, which has no typographic quotation marks."""


def option_rows() -> Iterator[tuple[str, str, str]]:
    """Yield each option's path, its subject and its allowed values, in the order of a profile's file."""
    for path, (_, _, kind) in OPTIONS.items():
        yield f"`{path}`", kind.title, allowed(kind)


def allowed(kind: Kind) -> str:
    """Describe the allowed values of an option: each of a few with its meaning, or the check's condition."""
    if isinstance(kind, Choice):
        return "; ".join(f'`"{value}"`: {meaning.rstrip(".")}' for value, meaning in kind.values.items())
    if isinstance(kind, Flag):
        return f"`true`: {kind.yes.rstrip('.')}; `false`: {kind.no.rstrip('.')}"
    try:
        kind.check(object())
    except NotAllowedError as error:
        words = _EXAMPLE.sub(r"`\g<0>`", str(error).removeprefix("allowed: "))
        if isinstance(kind, Amount) and (meaning := kind.some % {"value": "N"}):
            return f"{words}. {meaning}"
        return words
    return ""


def natural_rows() -> Iterator[tuple[str, str]]:
    """Yield each named kind of natural with what it is."""
    for kind, words in NATURAL_WORDS.items():
        yield f"`{kind}`", str(words)
