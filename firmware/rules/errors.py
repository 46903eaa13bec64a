"""The errors of the rules: one root, and every error is also the builtin that it refines."""

from __future__ import annotations

from typing import Final

from firmware.messages import Message, MessageError, Text, message_of


class RulesError(MessageError):
    """The root of every error this package raises."""


class UnknownCardError(RulesError, ValueError):
    """The text is not a card of a 52-card deck."""


class HandError(RulesError, ValueError):
    """A malformed hand, which cannot be settled; an irregular hand is no error.

    `key` is the position: a path into the hand such as ``seats[1].front``.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class ProfileError(RulesError, ValueError):
    """An invalid rule profile; the message names the file, the key, the value and what is allowed."""

    def __init__(self, message: Text, *, key: str = "", file: str = "") -> None:
        super().__init__(Message("%(file)s: %(message)s", file=file, message=message) if file else message)
        self.message: Final = message_of(message)
        self.key = key
        self.file = file

    def within(self, file: str) -> ProfileError:
        """Return the same error with the name of `file` (unless it already has one)."""
        return self if self.file else ProfileError(self.message, key=self.key, file=file)


class UnknownProfileError(ProfileError, LookupError):
    """There is no profile of this name and no file at this path."""

    def within(self, file: str) -> ProfileError:
        """Return the same error with the name of `file` (unless it already has one)."""
        return self if self.file else UnknownProfileError(self.message, key=self.key, file=file)


class SeatingError(RulesError, ValueError):
    """The players cannot be seated, or no seat can have the puck."""


class StakesError(RulesError, ValueError):
    """Chips or times outside the table's limits; the message states what is allowed."""
