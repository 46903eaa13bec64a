"""Positions around the table, and the order in which pairs are paid."""

from collections.abc import Iterable
from functools import lru_cache

from firmware.rules.profiles.profile import Profile


def clockwise_from(seats: Iterable[int], seat: int) -> list[int]:
    """Return the seats clockwise from `seat`, or from the next one if it is not among them.

    >>> clockwise_from([1, 2, 5], 3)
    [5, 1, 2]
    """
    return sorted(seats, key=lambda other: (other < seat, other))


def banker_seat(seats: Iterable[int], button: int, profile: Profile) -> int | None:
    """Return the banker's seat: the puck's, or the next one clockwise that plays. None where all settle with all."""
    return clockwise_from(seats, button)[0] if profile.scoring.versus == "banker" else None


def positions(seats: Iterable[int], button: int, profile: Profile) -> tuple[int, ...]:
    """Return the seats in play by position, the first to settle first."""
    return _positions(tuple(seats), button, profile.order.first, profile.order.direction)


@lru_cache(maxsize=1024)
def _positions(seats: tuple[int, ...], button: int, first: str, direction: str) -> tuple[int, ...]:
    order = clockwise_from(seats, 0 if first == "lowest_seat" else button)
    if first == "left_of_button" and order[0] == button:
        order = order[1:] + order[:1]
    elif first == "right_of_button":
        order = order[-1:] + order[:-1]
    if direction == "counterclockwise":
        order = order[:1] + order[:0:-1]
    return tuple(order)
