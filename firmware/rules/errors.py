"""The errors of the rules: one root, and every error is also the builtin that it refines."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Self

from firmware.messages import Message, MessageError, Text, message_of


class RulesError(MessageError):
    """The root of every error this package raises."""


class UnknownCardError(RulesError, ValueError):
    """The text is not a card of a 52-card deck."""


class HandError(RulesError, ValueError):
    """A malformed hand, which cannot be settled; an irregular hand is not an error.

    `key` is the position: a path into the hand such as ``seats[1].front``.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class Trouble(NamedTuple):
    """One thing that is wrong with a profile."""

    key: str
    """The option's path, or a key of [profile]; empty: the text as a whole."""
    line: int
    """Where it stands in the text, from 1; 0: nowhere."""
    message: Message
    """What is wrong, and what is allowed."""


class ProfileError(RulesError, ValueError):
    """An invalid rule profile: `troubles` holds all that is wrong with it; the message says the first.

    `file` is its name, empty for a text without a file.
    """

    def __init__(
        self, message: Text, *, key: str = "", file: str = "", line: int = 0, more: Iterable[Trouble] = ()
    ) -> None:
        first = Trouble(key, line, message_of(message))
        self.troubles: Final = (first, *more)
        self.file: Final = file
        super().__init__(_counted(_placed(first, file), len(self.troubles) - 1))

    @classmethod
    def of(cls, troubles: Sequence[Trouble], file: str = "") -> Self:
        """Return the error of one trouble or more."""
        (key, line, message), *more = troubles
        return cls(message, key=key, file=file, line=line, more=more)

    @property
    def message(self) -> Message:
        """What is wrong first, without its place."""
        return self.troubles[0].message

    @property
    def key(self) -> str:
        """The option that is wrong first."""
        return self.troubles[0].key

    def within(self, file: str) -> Self:
        """Return the same error with the name of `file` (unless it already has one)."""
        return self if self.file else self.of(self.troubles, file)


def _placed(trouble: Trouble, file: str) -> Message:
    _, line, message = trouble
    if file and line:
        return Message("%(file)s, line %(line)s: %(message)s", file=file, line=line, message=message)
    if file:
        return Message("%(file)s: %(message)s", file=file, message=message)
    return Message("line %(line)s: %(message)s", line=line, message=message) if line else message


def _counted(message: Message, more: int) -> Message:
    return Message("%(message)s (and %(more)s more)", message=message, more=more) if more else message


class UnknownProfileError(ProfileError, LookupError):
    """There is no profile of this name and no file at this path."""


class SeatingError(RulesError, ValueError):
    """The players cannot be seated, or no seat can have the puck."""


class StakesError(RulesError, ValueError):
    """Chips or times outside the table's limits; the message states what is allowed."""
