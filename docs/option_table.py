"""The options of a game as a table of the book: each path of a profile, what it is about, and what may stand there."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.rules import OPTIONS
from firmware.rules.naturals.kinds import NATURAL_WORDS
from firmware.rules.profiles.options import Choice, Flag, Kind
from firmware.rules.profiles.targets import NotAllowedError


def option_rows() -> Iterator[tuple[str, str, str]]:
    """Yield each option's path, its subject and its allowed values, in the order of a profile's file."""
    for path, (_, _, kind) in OPTIONS.items():
        yield f"`{path}`", kind.title, allowed(kind)


def allowed(kind: Kind) -> str:
    """Say what may stand in an option: each of a few values with its meaning, or what the check allows."""
    if isinstance(kind, Choice):
        return "; ".join(f'`"{value}"`: {meaning.rstrip(".")}' for value, meaning in kind.values.items())
    if isinstance(kind, Flag):
        return f"`true`: {kind.yes.rstrip('.')}; `false`: {kind.no.rstrip('.')}"
    try:
        kind.check(object())
    except NotAllowedError as error:
        return str(error).removeprefix("allowed: ")
    return ""


def natural_rows() -> Iterator[tuple[str, str]]:
    """Yield each named kind of natural with what it is."""
    for kind, words in NATURAL_WORDS.items():
        yield f"`{kind}`", str(words)
