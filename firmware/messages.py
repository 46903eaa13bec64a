"""Translatable messages: a template with named placeholders, and the values for them.

The template is the English text. A page in another language looks up the template's translation and fills that in. On
the socket and in the record a message is `{"message", "args"}`; a plain text in an old row stays a plain text.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, Final, Self, TypeAlias

_PLACEHOLDER: Final = re.compile(r"%(?:%|\(\w+\)s)")
"""What a template may hold. A width in a network peer's template, such as `%(a)999999999s`, would fill the memory."""


class Message:
    """A message: one sentence, or a part of one.

    Errors among the arguments stand for their messages, without the system's numbers; other objects for their `str`.

    >>> asked = Message("Seat %(seat)s has %(what)s.", seat=3, what=Message("an unsure card"))
    >>> str(asked)
    'Seat 3 has an unsure card.'
    >>> asked.to_json()["args"]
    {'seat': 3, 'what': {'message': 'an unsure card', 'args': {}}}
    >>> Message.from_json(asked.to_json()) == asked
    True
    """

    def __init__(self, message: str, /, **args: object) -> None:
        self.message: Final = message
        """The English template, with placeholders such as `%(seat)s`. Without arguments it is used unchanged."""
        self.args: Final[Mapping[str, Word]] = {name: _word(value) for name, value in args.items()}

    def __str__(self) -> str:
        return self.message % self.args if self.args else self.message

    def __repr__(self) -> str:
        return f"Message({self.message!r}, **{dict(self.args)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.message, self.args) == (other.message, other.args)

    def __hash__(self) -> int:
        return hash(self.message)

    def to_json(self) -> dict[str, Any]:
        """Return the message as JSON-able data, `{"message", "args"}`; messages among the arguments likewise."""
        args = {
            name: word.to_json() if isinstance(word, Message) else word for name, word in self.args.items()
        }
        return {"message": self.message, "args": args}

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the message that `to_json` wrote. Raises ValueError if the data is not a message."""
        match data:
            case {"message": str(message), "args": dict(args)}:
                found = cls(message, **{str(name): _word_of_json(word) for name, word in args.items()})
            case _:
                raise ValueError("this is no message")
        if args and "%" in _PLACEHOLDER.sub("", message):
            raise ValueError("this message's template holds more than placeholders")
        try:
            str(found)
        except (KeyError, TypeError) as error:
            raise ValueError("this message's arguments do not fit its template") from error
        return found

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> Any:
        """Let pydantic read a message from its JSON form."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            lambda data: data if isinstance(data, cls) else cls.from_json(data)
        )

    def refusal(self) -> dict[str, Any]:
        """Return the socket's answer to a command that is refused with this message."""
        return {"ok": False, "error": str(self), **self.to_json()}


Word: TypeAlias = Message | str | int | float
Text: TypeAlias = Message | str
"""A message, or a plain text: somebody's own words, or a sentence of a record without templates."""


class MessageError(Exception):
    """Root of the errors whose message is for a person.

    `str` is the English message; `sentence` has its template and arguments, for translation.
    """

    def __init__(self, message: Text = "", /, **args: object) -> None:
        self.sentence = message if isinstance(message, Message) else Message(message, **args)
        super().__init__(str(self.sentence))

    def __reduce__(self) -> tuple[object, ...]:
        """Return what makes it again in another process, whatever its `__init__` takes."""
        return _error_again, (type(self), self.args, vars(self))


def _error_again(
    kind: type[MessageError], args: tuple[object, ...], values: dict[str, object]
) -> MessageError:
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(values)
    return error


def text_of(data: object) -> Text:
    """Return a text that came as JSON: a message's, or a plain one. Raises ValueError for a message that is none."""
    if isinstance(data, Message):
        return data
    return Message.from_json(data) if isinstance(data, Mapping) else str(data)


def text_to_store(text: Text | None) -> str:
    """Return a text as JSON, "" for none: it may hold characters that a database does not take."""
    return json.dumps(text if isinstance(text, str) else text.to_json()) if text else ""


def text_from(stored: str) -> Text:
    """Return the text that `text_to_store` wrote. Raises ValueError for any other."""
    return text_of(json.loads(stored)) if stored else ""


def message_of(text: Text) -> Message:
    """Return the text as a message; a plain text is a template without arguments."""
    return text if isinstance(text, Message) else Message(text)


def join_words(words: Iterable[Word]) -> Word:
    """Join items with commas: "this, that"."""
    return reduce(lambda one, other: Message("%(one)s, %(other)s", one=one, other=other), words)


def all_of(words: Iterable[Word]) -> Word:
    """Join items with "and": "this and that"."""
    return reduce(lambda one, other: Message("%(one)s and %(other)s", one=one, other=other), words)


def one_of(words: Iterable[Word]) -> Word:
    """Join items with "or": "this or that"."""
    return reduce(lambda one, other: Message("%(one)s or %(other)s", one=one, other=other), words)


class Term(Message):
    """A message with a context ("ten" is a rank), a plural, or an English of its own. Its English is made once.

    >>> str(Term("%(num)s point", plural="%(num)s points", num=2)), str(Term("Flush", english="flush"))
    ('2 points', 'flush')
    """

    __slots__ = ("context", "english", "plural")

    def __init__(
        self, message: str, /, *, context: str = "", plural: str = "", english: str = "", **args: object
    ) -> None:
        super().__init__(message, **args)
        self.context: Final = context
        self.plural: Final = plural
        """Said of every `num` but 1."""
        shown = plural if plural and args.get("num") != 1 else message
        self.english: Final = english or (shown % args if args else shown)

    def __str__(self) -> str:
        return self.english


def in_turn(sentences: Iterable[Text]) -> Text:
    """Return sentences one after another; "" for none."""
    texts = list(sentences)
    if not texts:
        return ""
    return reduce(lambda one, other: Message("%(one)s %(other)s", one=one, other=other), texts)


def _word(value: object) -> Word:
    if isinstance(value, MessageError):
        return value.sentence
    if isinstance(value, OSError) and value.strerror:
        return value.strerror
    return value if isinstance(value, Message | str | int | float) else str(value)


def _word_of_json(word: object) -> object:
    return Message.from_json(word) if isinstance(word, dict) else word
