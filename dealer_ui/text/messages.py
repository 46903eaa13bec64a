"""Sentences from the table: refusals with their arguments, and English sentences of the record.

The table's refusals keep template and arguments apart (`firmware.messages`). Device faults and the rules' reasons are
whole English sentences in the record. They are matched against the templates of `known_sentences` and translated from
those. A sentence without a match is shown unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Final

from dealer_ui.text.i18n import SOURCE, gettext, language, ngettext, pgettext
from dealer_ui.text.known_sentences import KNOWN
from dealer_ui.text.words import ROLE_NAMES
from firmware.messages import Message, Term, Word
from firmware.rules.words import ROW_NAMES
from firmware.table.errors import TableError

VERBATIM: Final = frozenset(
    {"name", "person", "player", "players", "others", "title", "table", "command", "text"}
)
"""Arguments that are names or what was keyed: never looked up, whatever they are."""

_PLACE: Final = re.compile(r"%\((\w+)\)s")


def say(statement: Message | TableError) -> str:
    """Translate a sentence of the table into the current language."""
    sentence = statement.sentence if isinstance(statement, TableError) else statement
    if isinstance(sentence, Term):
        return _say_term(sentence)
    if not sentence.args:
        return in_other_words(sentence.message)
    return gettext(sentence.message, **{name: _word(name, word) for name, word in sentence.args.items()})


def _say_term(term: Term) -> str:
    if language() == SOURCE:
        return str(term)
    args = {name: say(word) if isinstance(word, Message) else word for name, word in term.args.items()}
    if term.plural:
        return ngettext(term.message, term.plural, int(args.pop("num")), **args)
    return pgettext(term.context, term.message, **args) if term.context else gettext(term.message, **args)


def say_answer(answer: Mapping[str, Any]) -> str:
    """Explain the table's refusal, from its socket's answer."""
    if isinstance(answer.get("message"), str) and isinstance(answer.get("args"), Mapping):
        return say(_from_json(answer))
    return in_other_words(str(answer.get("error", "")))


def in_other_words(english: str) -> str:
    """Translate an English sentence of the record into the current language; unknown ones stay unchanged."""
    return _in_language(english, language())


@lru_cache(maxsize=1024)
def _in_language(english: str, _code: str) -> str:
    statement = gettext(english) if english else ""
    if statement != english or not english:
        return statement
    found: tuple[int, str, Mapping[str, str]] | None = None
    for template, pattern, literal in _templates():
        if (match := pattern.fullmatch(english)) and (found is None or literal > found[0]):
            found = literal, template, match.groupdict()
    if found is None:
        return english
    _, template, places = found
    return gettext(template, **{name: _word(name, word) for name, word in places.items()})


@cache
def _templates() -> tuple[tuple[str, re.Pattern[str], int], ...]:
    """Return every template with places, as a pattern, and the number of its literal letters."""
    return tuple(
        (template, _pattern(template), len(_PLACE.sub("", template)))
        for template in KNOWN
        if _PLACE.search(template)
    )


def _pattern(template: str) -> re.Pattern[str]:
    seen: set[str] = set()
    pattern = ""
    for index, part in enumerate(_PLACE.split(template.replace("%%", "%"))):
        if index % 2 == 0:
            pattern += re.escape(part)
        else:
            pattern += f"(?P={part})" if part in seen else f"(?P<{part}>.+?)"
            seen.add(part)
    return re.compile(pattern, re.DOTALL)


def _word(name: str, word: Word) -> str:
    if isinstance(word, Message):
        return say(word)
    if not isinstance(word, str):
        return str(word)
    if name in VERBATIM:
        return word
    if word in ROW_NAMES:
        return pgettext("row", word)
    if word in ROLE_NAMES:
        return pgettext("role", word)
    return in_other_words(word)


def _from_json(answer: Mapping[str, Any]) -> Message:
    args: dict[str, Word] = {}
    for name, word in answer["args"].items():
        args[name] = _from_json(word) if isinstance(word, Mapping) else word
    return Message(str(answer["message"]), **args)
