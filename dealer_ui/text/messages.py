"""Says messages in the current language: from the table, from its socket, from the record."""

from collections.abc import Mapping
from typing import Any, Final

from dealer_ui.text.i18n import SOURCE, gettext, language, ngettext, pgettext
from dealer_ui.text.words import ROLE_NAMES, row_name
from firmware.messages import Message, MessageError, Term, Text, Word
from firmware.rules.words import ROW_NAMES

VERBATIM: Final = frozenset(
    {"name", "person", "player", "players", "others", "title", "table", "command", "text"}
)
"""Arguments that are names or what was keyed: never looked up, whatever they are."""


def say(text: Text | MessageError) -> str:
    """Say a message, or an error's message, in the current language.

    A plain text is a template without arguments: a reason that the page offered, or somebody's own words, which no
    catalogue has.
    """
    if isinstance(text, str):
        return gettext(text) if text else ""
    found = text.sentence if isinstance(text, MessageError) else text
    if isinstance(found, Term):
        return _say_term(found)
    if not found.args:
        return say(found.message)
    return gettext(found.message, **{name: _word(name, word) for name, word in found.args.items()})


def say_json(data: Mapping[str, Any] | str) -> str:
    """Say a message in its JSON form, or a plain text. Raises ValueError if it is neither."""
    return say(data if isinstance(data, str) else Message.from_json(data))


def _say_term(term: Term) -> str:
    if term.context == "row":
        return row_name(term.message)
    if language() == SOURCE:
        return str(term)
    args = {name: say(word) if isinstance(word, Message) else word for name, word in term.args.items()}
    if term.plural:
        return ngettext(term.message, term.plural, int(args.pop("num")), **args)
    return pgettext(term.context, term.message, **args) if term.context else gettext(term.message, **args)


def say_answer(answer: Mapping[str, Any]) -> str:
    """Explain the table's refusal, from its socket's answer."""
    try:
        return say(Message.from_json(answer))
    except ValueError:
        return say(str(answer.get("error", "")))


def _word(name: str, word: Word) -> str:
    if isinstance(word, Message):
        return say(word)
    if not isinstance(word, str):
        return str(word)
    if name in VERBATIM:
        return word
    if word in ROW_NAMES:
        return row_name(word)
    if word in ROLE_NAMES:
        return pgettext("role", word)
    return word
