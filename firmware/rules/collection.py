"""The house's collection by the down: pure functions of times.

Times are whole seconds; money is whole cents.
"""

from firmware.rules.profiles.options import Rate
from firmware.rules.profiles.profile import Profile


def rates(limit: int, profile: Profile) -> tuple[Rate, ...]:
    """Return the schedule options for a table limit. The house fixes one of them before any hand is dealt."""
    return tuple(rate for rate in profile.collection.schedule if rate.limit == limit)


def fee_due(rate: Rate, joined: int, profile: Profile) -> int:
    """Return what a player who joined at this time of a down pays for it, in cents: half from the mark on.

    A player who joins after the down pays nothing for it.

    >>> from firmware.rules import load_profile
    >>> rules = load_profile("california-face-up")
    >>> [fee_due(rates(500, rules)[0], joined, rules) for joined in (0, 1199, 1200, 2400)]
    [1000, 1000, 500, 0]
    """
    if joined >= profile.collection.down_minutes * 60:
        return 0
    mark = profile.collection.half_from_minute * 60
    if mark and joined >= mark:
        return rate.fee // 2  # fees are even: a profile with an odd one does not load
    return rate.fee
