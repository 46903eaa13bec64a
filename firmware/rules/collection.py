"""The house's collection by the down: pure functions of times.

Times are whole seconds on one monotonic clock; money is whole cents.
"""

from typing import NamedTuple

from firmware.rules.errors import StakesError
from firmware.rules.profiles.options import Rate
from firmware.rules.profiles.profile import Profile


class Down(NamedTuple):
    """One dealer's shift at the table."""

    number: int
    """0 is the first since the table opened."""
    begins: int
    ends: int


def rates(limit: int, profile: Profile) -> tuple[Rate, ...]:
    """Return the schedule options for a table limit. The house fixes one of them before any hand is dealt."""
    return tuple(rate for rate in profile.collection.schedule if rate.limit == limit)


def down_at(opened: int, now: int, profile: Profile) -> Down:
    """Return the down at a time. Raises StakesError if there is none.

    >>> from firmware.rules import load_profile
    >>> down_at(0, 2400, load_profile("california-face-up"))
    Down(number=1, begins=2400, ends=4800)
    """
    length = profile.collection.down_minutes * 60
    if not length:
        raise StakesError("%(name)s takes no collection by the down", name=profile.name)
    if now < opened:
        raise StakesError("the table was not open yet; a down begins when it opens")
    number = (now - opened) // length
    begins = opened + number * length
    return Down(number, begins, begins + length)


def fee_due(rate: Rate, down: Down, joined: int, profile: Profile) -> int:
    """Return what a player pays for a down, in cents: half if the player joined at the mark or later, otherwise all.

    A player who joins after the down pays nothing for it.

    >>> from firmware.rules import load_profile
    >>> rules = load_profile("california-face-up")
    >>> down, rate = down_at(0, 0, rules), rates(500, rules)[0]
    >>> [fee_due(rate, down, joined, rules) for joined in (0, 1199, 1200, 2400)]
    [1000, 1000, 500, 0]
    """
    if joined >= down.ends:
        return 0
    mark = profile.collection.half_from_minute * 60
    if mark and joined >= down.begins + mark:
        return rate.fee // 2  # fees are even: a profile with an odd one does not load
    return rate.fee
