"""The bonus of a row, by its strength."""

from __future__ import annotations

from firmware.rules.lowball import BEST
from firmware.rules.profiles.options import Pairs
from firmware.rules.profiles.targets import Target
from firmware.rules.strength import Category, Scale


class RowBonuses(dict[int, int]):
    """One row's bonus points by strength; computed on first use.

    `royal_doubles`: a royal flush that the table of bonuses does not name doubles over a straight flush.
    """

    def __init__(self, scale: Scale, pairs: Pairs, *, front: bool, royal_doubles: bool = True) -> None:
        super().__init__()
        self._scale = scale
        self._points = {Target.parse(hand, front=front): points for hand, points in pairs}
        self._royal = Target(Category.ROYAL_FLUSH, None) in self._points
        self._royal_doubles = royal_doubles

    def __missing__(self, strength: int) -> int:
        category, rank = self._paid_category(strength), self._scale.kind(strength).ranks[0]
        is_best_low = category is Category.DEUCE_TO_SEVEN and strength == self._scale.size
        if is_best_low and Target(category, BEST) in self._points:
            rank = BEST
        # A single rank ("QQ") takes precedence over its category.
        points = self._points.get(Target(category, rank), self._points.get(Target(category, None), 0))
        self[strength] = points
        return points

    def doubling_category(self, strength: int) -> Category:
        """Return the row's category for the question whether a bonus counts twice: both rows must have the same one."""
        return self._paid_category(strength) if self._royal_doubles else self._scale.kind(strength).category

    def _paid_category(self, strength: int) -> Category:
        """Return the category whose bonus is paid: a royal flush without a bonus of its own is a straight flush."""
        category = self._scale.kind(strength).category
        if category is Category.ROYAL_FLUSH and not self._royal:
            return Category.STRAIGHT_FLUSH
        return category


class BonusTables(tuple[RowBonuses, RowBonuses, RowBonuses]):
    """The bonuses of front, middle and back."""

    __slots__ = ()

    def __new__(
        cls, scale: Scale, pairs: tuple[Pairs, Pairs, Pairs], *, royal_doubles: bool = True
    ) -> BonusTables:
        """Build the three tables of a profile."""
        front, middle, back = pairs
        return super().__new__(
            cls,
            (
                RowBonuses(scale, front, front=True),
                RowBonuses(scale, middle, front=False, royal_doubles=royal_doubles),
                RowBonuses(scale, back, front=False, royal_doubles=royal_doubles),
            ),
        )
