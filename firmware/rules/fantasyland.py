"""Fantasy Land: 13 cards at once on the next hand, for a strong front."""

from __future__ import annotations

from firmware.rules.foul import Strengths
from firmware.rules.profiles.profile import Profile


def offers_fantasyland(profile: Profile) -> bool:
    """Return whether the game has a Fantasy Land."""
    return bool(profile.fantasyland.entry)


def earns_fantasyland(strengths: Strengths, profile: Profile, *, inside: bool) -> bool:
    """Return whether rows without a foul earn Fantasy Land for the next hand, or keep it if `inside`.

    Evaluated on the rows as set, natural or not.
    """
    entry, stay = profile.fantasyland_floors
    front, middle, back = stay if inside else entry
    return strengths[0] >= front or strengths[1] >= middle or strengths[2] >= back
