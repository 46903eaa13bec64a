"""Translatable messages: a template with named placeholders, and the values for them.

The template is the English text. A page in another language looks up the template's translation and fills that in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, Final, TypeAlias, Union

Word: TypeAlias = Union[str, int, float, "Message"]


class Message:
    """A message: one sentence, or a part of one.

    >>> asked = Message("Seat %(seat)s has %(what)s.", seat=3, what=Message("an unsure card"))
    >>> str(asked)
    'Seat 3 has an unsure card.'
    >>> asked.as_json()["args"]
    {'seat': 3, 'what': {'message': 'an unsure card', 'args': {}}}
    """

    __slots__ = ("args", "message")

    def __init__(self, message: str, /, **args: Word) -> None:
        self.message: Final = message
        """The English template, with placeholders such as `%(seat)s`. Without arguments it is used unchanged."""
        self.args: Final[Mapping[str, Word]] = args

    def __str__(self) -> str:
        return self.message % self.args if self.args else self.message

    def __repr__(self) -> str:
        return f"Message({self.message!r}, **{dict(self.args)!r})"

    def as_json(self) -> dict[str, Any]:
        """Return the message as JSON-able data, `{"message", "args"}`; messages among the arguments likewise."""
        args = {
            name: word.as_json() if isinstance(word, Message) else word for name, word in self.args.items()
        }
        return {"message": self.message, "args": args}

    def refusal(self) -> dict[str, Any]:
        """Return the socket's answer to a command that is refused with this message."""
        return {"ok": False, "error": str(self), **self.as_json()}


def listed(words: Iterable[Word]) -> Word:
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
        self, message: str, /, *, context: str = "", plural: str = "", english: str = "", **args: Word
    ) -> None:
        super().__init__(message, **args)
        self.context: Final = context
        self.plural: Final = plural
        """Said of every `num` but 1."""
        shown = plural if plural and args.get("num") != 1 else message
        self.english: Final = english or (shown % args if args else shown)

    def __str__(self) -> str:
        return self.english
