"""The option with which a house calls the rows by its own words: "Spitze", "Mitte", "Boden"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from firmware.messages import Message
from firmware.rules.profiles.options import Kind, inline_toml, say_rule, text_toml
from firmware.rules.profiles.targets import NotAllowedError
from firmware.rules.words import ROW_NAMES

LONGEST_WORD: Final = 12
"""The letters of a row's name that the page has room for."""
RowWordsOfHouse = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False, repr=False)
class RowsCalled(Kind):
    """A word for each row, or none."""

    def check(self, value: object) -> RowWordsOfHouse:
        """Return (row, word) in the order of the rows."""
        from firmware.names import NameRefused, check_name  # slow to import, and only for a house's own

        if not isinstance(value, Mapping) or value.keys() not in (set(), set(ROW_NAMES)):
            raise NotAllowedError(
                'allowed: {} or a word for each row, as in { front = "Spitze", middle = "Mitte", back = "Boden" }'
            )
        for row, word in value.items():
            if not isinstance(word, str):
                raise NotAllowedError("%(row)s: the name is a text", row=row)
            try:
                check_name(word, LONGEST_WORD)
            except NameRefused as error:
                raise NotAllowedError("%(row)s: %(why)s", row=row, why=error.sentence) from None
        if len({word.casefold() for word in value.values()}) < len(value):
            raise NotAllowedError("two rows have the same name")
        return tuple((row, value[row]) for row in ROW_NAMES if row in value)

    def say(self, value: Sequence[tuple[str, str]]) -> Message:
        """Return the words in a sentence."""
        if not value:
            return say_rule("The rows are called front, middle and back.")
        (_, front), (_, middle), (_, back) = value
        return Message(
            "The house calls the front %(front_name)s, the middle %(middle_name)s and the back %(back_name)s.",
            front_name=front,
            middle_name=middle,
            back_name=back,
        )

    def toml(self, value: Sequence[tuple[str, str]]) -> str:
        """Return the words inline."""
        return inline_toml([(row, text_toml(word)) for row, word in value])


def in_house_words(message: Message, called: Mapping[str, str]) -> Message:
    """Return a message that calls the rows as the house does.

    >>> from firmware.rules.words import ROWS
    >>> str(in_house_words(Message("%(row)s: a push", row=ROWS[0]), {"front": "Spitze"}))
    'Spitze: a push'
    """
    if getattr(message, "context", "") == "row":
        return Message(called.get(message.message, message.message))
    if type(message) is not Message or not message.args:
        return message
    args = {
        name: in_house_words(word, called) if isinstance(word, Message) else word
        for name, word in message.args.items()
    }
    return Message(message.message, **args)
