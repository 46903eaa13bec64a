"""The bonus of a row, by its strength."""

from __future__ import annotations

from firmware.rules.lowball import BEST
from firmware.rules.profiles.options import Pairs
from firmware.rules.profiles.targets import Target
from firmware.rules.strength import Category, Scale


class RowBonuses(dict[int, int]):
    """One row's bonus points by strength; computed on first use."""

    def __init__(self, scale: Scale, pairs: Pairs, *, front: bool, royal_doubles: bool = True) -> None:
        super().__init__()
        self._scale = scale
        self._points = {Target.parse(hand, front=front): points for hand, points in pairs}
        self._royal = Target(Category.ROYAL_FLUSH, None) in self._points
        self._royal_doubles = royal_doubles

    def __missing__(self, strength: int) -> int:
        category, ranks = self._category(strength), self._scale.kind(strength).ranks
        if category is Category.DEUCE_TO_SEVEN and strength == self._scale.size:
            category, ranks = (
                (category, (BEST,)) if Target(category, BEST) in self._points else (category, ranks)
            )
        # A single rank ("QQ") takes precedence over its category.
        points = self._points.get(Target(category, ranks[0]), self._points.get(Target(category, None), 0))
        self[strength] = points
        return points

    def category(self, strength: int) -> Category:
        """Return the category that decides whether a bonus counts twice."""
        return self._category(strength) if self._royal_doubles else self._scale.kind(strength).category

    def _category(self, strength: int) -> Category:
        """Return the category for bonuses: a royal flush is a straight flush unless the table names it."""
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
