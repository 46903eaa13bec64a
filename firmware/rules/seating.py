"""Between hands: where the puck goes and who is dealt in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from firmware.rules.errors import SeatingError
from firmware.rules.hand import MAX_HANDS, MAX_SEATS, MIN_HANDS
from firmware.rules.order import clockwise_from
from firmware.rules.profiles.profile import Profile


class Absence(StrEnum):
    """Why a seated player is not dealt in."""

    SITS_OUT = "sits_out"
    """The player has left the game for a while."""
    PASSES = "passes"
    """The player passes this round to the fifth player."""
    TOO_FEW_CHIPS = "too_few_chips"
    """The stack is below the profile's minimum for being dealt in."""
    FIFTH = "fifth"
    """As many others as the game allows are in play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitter:
    """A player at the table between hands."""

    seat: int
    stack: int | None = None
    """Cents; None: unknown, and not checked."""
    sits_out: bool = False
    passes: bool = False


@dataclass(frozen=True, slots=True)
class Seating:
    """The players who are dealt in."""

    playing: tuple[int, ...]
    """Clockwise from the puck."""
    absent: Mapping[int, Absence]
    """All other players, with the reason."""

    @property
    def is_enough(self) -> bool:
        """Whether a hand can be dealt."""
        return len(self.playing) >= MIN_HANDS


def seating(sitters: Sequence[Sitter], button: int, unit: int, profile: Profile) -> Seating:
    """Return the players who are dealt in: from the puck clockwise, the first ones who want to play and may.

    As many as the profile allows, four at most.

    >>> from firmware.rules import load_profile
    >>> five = [Sitter(seat=seat, passes=seat == 4) for seat in (1, 2, 3, 4, 5)]
    >>> seating(five, 3, 500, load_profile("california-face-up")).playing
    (3, 5, 1, 2)
    """
    by_seat = {sitter.seat: sitter for sitter in sitters}
    if len(by_seat) < len(sitters):
        raise SeatingError("two players are at the same seat; give every player a seat of their own")
    playing: list[int] = []
    absent: dict[int, Absence] = {}
    for seat in clockwise_from(by_seat, button):
        if reason := _absence(by_seat[seat], unit, profile):
            absent[seat] = reason
        elif len(playing) == profile.limits.players:
            absent[seat] = Absence.FIFTH
        else:
            playing.append(seat)
    return Seating(tuple(playing), MappingProxyType(absent))


def _absence(sitter: Sitter, unit: int, profile: Profile) -> Absence | None:
    if sitter.sits_out:
        return Absence.SITS_OUT
    if sitter.passes:
        return Absence.PASSES
    if sitter.stack is not None and sitter.stack < profile.limits.min_points * unit:
        return Absence.TOO_FEW_CHIPS
    return None


def opening_button(sitters: Sequence[Sitter], profile: Profile, chosen: int | None = None) -> int:
    """Return the seat with the puck when a game opens.

    Seat 1 is at the left of the house dealer. If the house chooses the puck, `chosen` is its choice. Raises
    SeatingError if no seat can have it.
    """
    seats = _in_the_game(sitters)
    if profile.order.opening == "left_of_dealer":
        return seats[0]
    if chosen not in seats:
        raise SeatingError(
            "%(name)s leaves the puck of the first hand to the house; choose one of %(seats)s",
            name=profile.name,
            seats=seats,
        )
    return chosen


def next_button(button: int, sitters: Sequence[Sitter]) -> int:
    """Return the seat that the puck moves to after a round: the next player clockwise.

    A player who only passed a round may have the puck; one who sits out may not. Raises SeatingError.
    """
    return clockwise_from(_in_the_game(sitters), button % MAX_SEATS + 1)[0]


def can_play_two_hands(sitters: Sequence[Sitter], profile: Profile) -> bool:
    """Return whether the players may agree to play two hands each: two of them, in a game that four may play."""
    return profile.limits.players == MAX_HANDS and sum(not sitter.sits_out for sitter in sitters) == 2


def _in_the_game(sitters: Sequence[Sitter]) -> list[int]:
    seats = sorted(sitter.seat for sitter in sitters if not sitter.sits_out)
    if not seats:
        raise SeatingError("nobody is in the game; the puck needs a player")
    return seats
