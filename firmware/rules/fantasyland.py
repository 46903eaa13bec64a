"""Fantasy Land: 13 cards or more at once on the next hand, for a strong front."""

from firmware.rules.foul import Strengths
from firmware.rules.profiles.dealt_cards import LAID
from firmware.rules.profiles.profile import Profile


def offers_fantasyland(profile: Profile) -> bool:
    """Return whether the game has a Fantasy Land."""
    return bool(profile.fantasyland.entry)


def deals_more(profile: Profile) -> bool:
    """Return whether any Fantasy Land hand is dealt more than the 13 cards that are laid."""
    land = profile.fantasyland
    return bool(land.entry and (land.cards_by_front or max(land.cards, land.stay_cards) > LAID))


def earns_fantasyland(strengths: Strengths, profile: Profile, *, inside: bool) -> bool:
    """Return whether rows without a foul earn Fantasy Land for the next hand, or keep it if `inside`.

    Evaluated on the rows as set, natural or not.
    """
    entry, stay = profile.fantasyland_floors
    front, middle, back = stay if inside else entry
    return strengths[0] >= front or strengths[1] >= middle or strengths[2] >= back


def next_cards(front: int, profile: Profile, inside: int) -> int:
    """Return the cards that a seat which earned or kept Fantasy Land is dealt on the next hand.

    `front`: the strength of its front. `inside`: the cards that it was dealt in Fantasy Land, 0 if it was not there.
    """
    if inside:
        return profile.fantasyland.stay_cards or inside
    reached = (cards for floor, cards in profile.fantasyland_fronts if front >= floor)
    return next(reached, profile.fantasyland.cards)
