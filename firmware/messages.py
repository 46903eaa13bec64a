"""What is said to a person, apart from the language: a template with named places and what goes into them.

The English is the template itself; a page in another language looks the template up and fills it in its own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, Final, TypeAlias, Union

Word: TypeAlias = Union[str, int, float, "Message"]


class Message:
    """A sentence, or a part of one.

    >>> asked = Message("Seat %(seat)s has %(what)s.", seat=3, what=Message("an unsure card"))
    >>> str(asked)
    'Seat 3 has an unsure card.'
    >>> asked.as_json()["args"]
    {'seat': 3, 'what': {'message': 'an unsure card', 'args': {}}}
    """

    __slots__ = ("args", "message")

    def __init__(self, message: str, /, **args: Word) -> None:
        self.message: Final = message
        """In English; places as in `%(seat)s`. Without arguments it is said as it stands."""
        self.args: Final[Mapping[str, Word]] = args

    def __str__(self) -> str:
        return self.message % self.args if self.args else self.message

    def __repr__(self) -> str:
        return f"Message({self.message!r}, **{dict(self.args)!r})"

    def as_json(self) -> dict[str, Any]:
        """Return it as the socket's answers carry it: `{"message", "args"}`, sentences within it alike."""
        args = {
            name: word.as_json() if isinstance(word, Message) else word for name, word in self.args.items()
        }
        return {"message": self.message, "args": args}

    def refusal(self) -> dict[str, Any]:
        """Return the socket's answer to a command that is refused with this sentence."""
        return {"ok": False, "error": str(self), **self.as_json()}


def listed(words: Iterable[Word]) -> Word:
    """Say several things after each other: "this, that"."""
    return reduce(lambda one, other: Message("%(one)s, %(other)s", one=one, other=other), words)


def all_of(words: Iterable[Word]) -> Word:
    """Say several things that belong together: "this and that"."""
    return reduce(lambda one, other: Message("%(one)s and %(other)s", one=one, other=other), words)


def one_of(words: Iterable[Word]) -> Word:
    """Say several things of which one will do: "this or that"."""
    return reduce(lambda one, other: Message("%(one)s or %(other)s", one=one, other=other), words)
