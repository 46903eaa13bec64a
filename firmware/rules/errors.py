"""What can go wrong in the rules: one root, and every error is also the builtin it refines."""

from __future__ import annotations


class RulesError(Exception):
    """The root of every error this package raises."""


class UnknownCardError(RulesError, ValueError):
    """A text names no card of a 52-card deck."""


class HandError(RulesError, ValueError):
    """A hand that cannot be settled as it was given: malformed, as opposed to irregular.

    `key` says where: a path into the hand such as ``seats[1].front``.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class ProfileError(RulesError, ValueError):
    """A rule profile that cannot be used; names the file, the key, the value and what is allowed."""

    def __init__(self, message: str, *, key: str = "", file: str = "") -> None:
        super().__init__(f"{file}: {message}" if file else message)
        self.message = message
        self.key = key
        self.file = file

    def within(self, file: str) -> ProfileError:
        """Return the same error, said of `file` (unless it already names one)."""
        return self if self.file else ProfileError(self.message, key=self.key, file=file)


class UnknownProfileError(ProfileError, LookupError):
    """No profile has this name and no file this path."""

    def within(self, file: str) -> ProfileError:
        """Return the same error, said of `file` (unless it already names one)."""
        return self if self.file else UnknownProfileError(self.message, key=self.key, file=file)


class SeatingError(RulesError, ValueError):
    """Players who cannot be seated, or a button that nobody can have."""


class StakesError(RulesError, ValueError):
    """Chips or times that the table's limits do not allow; says what they do allow."""
