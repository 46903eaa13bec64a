"""Gathers the rules' texts that stand in data and not in calls: `make words` runs it (`translations/babel.cfg`)."""

from collections.abc import Iterator

from firmware.rules import load_profile, profile_names
from firmware.rules.naturals.kinds import NATURALS
from firmware.rules.profiles.document import SECTION_TITLES
from firmware.rules.profiles.options import RULES, Amount, Choice, Flag, SuitOrder, Text
from firmware.rules.profiles.sections import OPTIONS
from firmware.rules.profiles.sources import sources
from firmware.rules.strength import Category
from firmware.rules.words import HIGH, ONE, ROWS, SEVERAL, SUITS


def texts() -> Iterator[tuple[str, str]]:
    """Yield each text with its context, which may be empty; some more than once."""
    for term in (*ROWS, *ONE, *SEVERAL, *HIGH, *SUITS.values(), *(category.words for category in Category)):
        yield term.context, term.message
    for kind in NATURALS:
        yield "", kind.replace("_", " ").capitalize()
    yield from ((RULES, text) for text in _options())
    for name in profile_names():
        profile = load_profile(name)
        own = (value for _, kind, value in profile.options() if isinstance(kind, Text) and value)
        yield from ((RULES, text) for text in own)
    for source in sources().values():
        points = (text for point in source.points for text in (point.document, *point.others))
        topics = (topic.title for topic in source.topics)
        yield from ((RULES, text) for text in (*points, source.changes, *topics))


def _options() -> Iterator[str]:
    yield from SECTION_TITLES.values()
    for _, _, kind in OPTIONS.values():
        yield kind.title
        match kind:
            case Choice():
                yield from kind.values.values()
            case Flag():
                yield from (kind.yes, kind.no)
            case Amount():
                yield from filter(None, (kind.some, kind.one, kind.none))
            case SuitOrder():
                yield from (kind.effect, kind.none)
            case Text():
                pass
            case _:
                yield kind.say(()).message


def extract(
    *_args: object, **_options: object
) -> Iterator[tuple[int, str, tuple[str, ...] | str, list[str]]]:
    """Yield the texts as Babel wants them: line, function, message and context, comments."""
    for context, text in dict.fromkeys(texts()):
        yield (1, "pgettext", (context, text), []) if context else (1, "gettext", text, [])
