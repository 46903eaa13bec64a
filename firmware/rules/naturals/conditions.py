"""What a house's own natural asks of thirteen cards: a small closed set of conditions, all of which must hold."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, Final, Literal, get_args

from firmware.messages import Message
from firmware.rules.cards import RANKS
from firmware.rules.naturals.kinds import NATURAL_WORDS, By
from firmware.rules.rows import ROW_SIZES
from firmware.rules.strength import CATEGORIES
from firmware.rules.words import ROWS

ALL_CARDS: Final = sum(ROW_SIZES)
RowHand = Literal["", "straight", "flush", "straight_flush"]
"""What a row must be; a straight flush is a straight and a flush too. Empty: anything."""
ROW_HANDS: Final[tuple[RowHand, ...]] = tuple(hand for hand in get_args(RowHand) if hand)


@dataclass(frozen=True, kw_only=True, slots=True)
class Conditions:
    """What thirteen cards must be, all of it at once. Numbers are the least; 0 and "" ask for nothing."""

    ranks: str = ""
    """Ranks, low to high, that at least `cards` cards must be of: "JQKA"."""
    cards: int = ALL_CARDS
    one_suit: int = 0
    one_color: int = 0
    """Cards of one suit; cards that are all red or all black."""
    different_ranks: int = 0
    quads: int = 0
    trips: int = 0
    pairs: int = 0
    """How many of each the cards hold, none of them sharing a card. There may be more cards of their ranks."""
    quads_as_pairs: bool = True
    """Whether four of a kind may be two of the pairs."""
    front: RowHand = ""
    middle: RowHand = ""
    back: RowHand = ""
    """What three and twice five cards must be; quads, trips and pairs are then among the others."""
    by: By = "cards"
    """Whether some arrangement must have such rows, or the rows as set."""

    @property
    def rows(self) -> tuple[RowHand, RowHand, RowHand]:
        """What front, middle and back must be."""
        return self.front, self.middle, self.back

    @property
    def named_rows(self) -> tuple[tuple[int, int, RowHand], ...]:
        """The rows that must be something: place, size, hand."""
        return tuple(
            (row, size, hand)
            for row, (size, hand) in enumerate(zip(ROW_SIZES, self.rows, strict=True))
            if hand
        )

    @property
    def in_groups(self) -> int:
        """How many cards lie in quads, trips and pairs."""
        return 4 * self.quads + 3 * self.trips + 2 * self.pairs

    def given(self) -> dict[str, Any]:
        """Return the conditions that are not the defaults, by name, as in a profile."""
        return {
            item.name: value for item in fields(self) if (value := getattr(self, item.name)) != item.default
        }

    @property
    def words(self) -> Message:
        """The conditions in words, without a verb: "all cards of the ranks 8–A"."""
        first, *others = self._parts()
        return reduce(
            lambda one, other: Message("%(one)s and %(other)s", one=one, other=other), others, first
        )

    def _parts(self) -> Iterator[Message]:
        ranks = runs_of(self.ranks)
        if self.ranks and self.cards == ALL_CARDS:
            yield Message("all cards of the ranks %(ranks)s", ranks=ranks)
        elif self.ranks:
            yield Message("%(count)s cards or more of the ranks %(ranks)s", count=self.cards, ranks=ranks)
        if self.one_suit == ALL_CARDS:
            yield NATURAL_WORDS["all_one_suit"]
        elif self.one_suit:
            yield Message("%(count)s cards or more of one suit", count=self.one_suit)
        if self.one_color == ALL_CARDS:
            yield NATURAL_WORDS["all_one_color"]
        elif self.one_color:
            yield Message("%(count)s cards or more of one color", count=self.one_color)
        if self.different_ranks:
            yield Message("%(count)s different ranks or more", count=self.different_ranks)
        if self.quads:
            yield Message("%(count)s × four of a kind", count=self.quads)
        if self.trips:
            yield Message("%(count)s × three of a kind", count=self.trips)
        if self.pairs and self.quads_as_pairs:
            yield Message("%(count)s × pair", count=self.pairs)
        elif self.pairs:
            yield Message("%(count)s × pair, four of a kind not being two", count=self.pairs)
        yield from self._row_parts()

    def _row_parts(self) -> Iterator[Message]:
        if self.by == "rows":
            yield from (
                Message("%(hand)s as the %(row)s", hand=CATEGORIES[hand].words, row=ROWS[row])
                for row, _size, hand in self.named_rows
            )
            return
        count = Counter((size, hand) for _row, size, hand in self.named_rows)
        for (size, hand), times in count.items():
            hand_words = CATEGORIES[hand].words
            if times > 1:
                yield Message("2 × %(hand)s of %(size)s cards", hand=hand_words, size=size)
            else:
                yield Message("%(hand)s of %(size)s cards", hand=hand_words, size=size)


def runs_of(ranks: str) -> str:
    """Return ranks with neighbours drawn together, as printed on cards.

    >>> runs_of("23456TJQKA")
    '2–6, 10–A'
    """
    runs: list[list[int]] = []
    for place in sorted(map(RANKS.index, ranks)):
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    shown = [rank.replace("T", "10") for rank in RANKS]
    return ", ".join(
        f"{shown[run[0]]}–{shown[run[-1]]}" if len(run) > 2 else ", ".join(shown[one] for one in run)
        for run in runs
    )


def implies(one: Conditions, other: Conditions) -> bool:
    """Return whether all cards that meet `one` are sure to meet `other`; False where that is not seen at once."""
    return (
        _ranks_imply(one, other)
        and one.one_suit >= other.one_suit
        and max(one.one_color, one.one_suit) >= other.one_color
        and max(one.different_ranks, one.one_suit) >= other.different_ranks
        and _groups_imply(one, other)
        and _rows_imply(one, other)
    )


def _ranks_imply(one: Conditions, other: Conditions) -> bool:
    if not other.ranks:
        return True
    return bool(one.ranks) and set(one.ranks) <= set(other.ranks) and one.cards >= other.cards


def _groups_imply(one: Conditions, other: Conditions) -> bool:
    quads_left = one.quads - other.quads
    trips_left = one.trips + max(quads_left, 0) - other.trips
    if quads_left < 0 or trips_left < 0:
        return False
    spare_quads = min(quads_left, trips_left)
    spare_trips = trips_left - spare_quads
    both_halves = other.quads_as_pairs or not one.quads_as_pairs
    pairs = one.pairs if both_halves else (one.pairs + 1) // 2
    return pairs + spare_trips + spare_quads * (2 if other.quads_as_pairs else 1) >= other.pairs


def _rows_imply(one: Conditions, other: Conditions) -> bool:
    if not other.named_rows:
        return True
    if other.by == "rows" and one.by != "rows":
        return False
    orders = [one.rows] if other.by == "rows" else [one.rows, (one.front, one.back, one.middle)]
    return any(
        all(
            not wanted or found in (wanted, "straight_flush")
            for found, wanted in zip(rows, other.rows, strict=True)
        )
        for rows in orders
    )
