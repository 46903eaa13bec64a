"""While a face-up hand grows: whether a foul is already certain, and what is still open.

A hand is dead when no possible cards complete it without a foul. This is decided exactly, by searching for a
completion: first by the rows' strengths, because thousands of arrangements share one, then with real cards.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, product
from typing import NamedTuple

from firmware.rules.cards import UNREAD, Card
from firmware.rules.errors import HandError
from firmware.rules.foul import order_fault
from firmware.rules.profiles.profile import Profile
from firmware.rules.rows import ROW_SIZES, Rows
from firmware.rules.strength import Scale

# Thirteen rank counts in four bits each. No count exceeds 4, so a nibble's high bit is free to detect a borrow.
_BITS = 4
_GUARD = sum(8 << _BITS * rank for rank in range(13))


@dataclass(frozen=True, slots=True)
class Growth:
    """The possible endings of a hand."""

    completion: Rows | None
    """Example rows without a foul; None: there are none, the hand is dead."""
    open: tuple[int, int, int]
    """How many more cards front, middle and back need."""
    weakest: tuple[int, int, int]
    """The lowest final strength of each row on its own."""
    strongest: tuple[int, int, int]
    """The highest final strength of each row on its own."""

    @property
    def is_dead(self) -> bool:
        """Whether a foul is certain."""
        return self.completion is None


def growth(rows: Rows, unseen: Iterable[Card], profile: Profile) -> Growth:
    """Return the possible endings of rows whose cards are set, if any of the unseen cards may come.

    Unseen are all cards except those that lie face up: a closed hand's cards are unseen too. Raises HandError if a row
    is too long, a card is unread or duplicated, or too few cards are left.

    >>> from firmware.rules import CARDS, load_profile
    >>> rows = Rows.parse("As Ah / 2c 3d 4h 9s / ")
    >>> unseen = [card for card in CARDS if card not in rows.cards]
    >>> growth(rows, unseen, load_profile("california-face-up")).is_dead
    True
    """
    deck = frozenset(unseen)
    _check(rows, deck)
    scale = profile.scale
    fronts, middles, backs = (list(_endings(cards, row, deck, scale)) for row, cards in enumerate(rows))
    return Growth(
        completion=_completion(rows, (fronts, middles, backs), deck, profile),
        open=(3 - len(rows.front), 5 - len(rows.middle), 5 - len(rows.back)),
        weakest=(fronts[0].strength, middles[0].strength, backs[0].strength),
        strongest=(fronts[-1].strength, middles[-1].strength, backs[-1].strength),
    )


def _check(rows: Rows, deck: frozenset[Card]) -> None:
    cards = rows.cards
    for name, row, size in rows.named():
        if len(row) > size:
            raise HandError(name, f"the {name} row has {len(row)} cards; it takes {size}")
    if UNREAD in cards or UNREAD in deck:
        raise HandError("", "a card is unread; read it first")
    if len(set(cards)) < len(cards) or not deck.isdisjoint(cards):
        raise HandError("", "a card is there twice, or both set and unseen")
    if len(cards) + len(deck) < sum(ROW_SIZES):
        raise HandError("", f"{len(deck)} unseen cards are too few to complete the hand")


class _Ending(NamedTuple):
    """One final strength of a row, and the cards that it needs."""

    strength: int
    extra: int
    """How many more cards of each rank."""
    suit: int | None
    """Their common suit; None: not a flush, so any suits but not all the same."""


class _Need(NamedTuple):
    """The cards of a strength."""

    strength: int
    counts: int
    ranks: frozenset[int]
    is_flush: bool


@lru_cache(maxsize=8)
def _needs(scale: Scale, row: int) -> tuple[_Need, ...]:
    """Return the cards of every strength of a row, weakest first."""
    return tuple(
        _Need(strength, _counts(ranks), frozenset(ranks), is_flush)
        for strength, ranks, is_flush in scale.row_ranks(row)
    )


def _counts(ranks: Iterable[int]) -> int:
    return sum(1 << _BITS * rank for rank in ranks)


def _endings(placed: Sequence[Card], row: int, deck: frozenset[Card], scale: Scale) -> Iterator[_Ending]:
    """Yield the possible final strengths of a row, weakest first."""
    least = _counts(card.rank for card in placed)
    most = (least + _counts(card.rank for card in deck)) | _GUARD
    for strength, counts, ranks, is_flush in _needs(scale, row):
        # Rank by rank: at least the placed cards, at most the placed and unseen ones.
        if ((counts | _GUARD) - least) & (most - counts) & _GUARD != _GUARD:
            continue
        if not is_flush:
            yield _Ending(strength, counts - least, None)
            continue
        missing = ranks - {card.rank for card in placed}
        for suit in range(4):
            held = {card.rank for card in deck if card.suit == suit}
            if missing <= held and all(card.suit == suit for card in placed):
                yield _Ending(strength, counts - least, suit)


def _completion(
    rows: Rows, endings: tuple[list[_Ending], ...], deck: frozenset[Card], profile: Profile
) -> Rows | None:
    """Return complete rows without a foul, or None."""
    fronts, middles, backs = endings
    is_low = profile.hands.middle != "high"
    if is_low:  # it is compared with no other row
        middles = [middle for middle in middles if middle.strength >= profile.low_floor]
    left = _counts(card.rank for card in deck) | _GUARD
    for back in reversed(backs):
        for front in fronts:
            if front.strength >= back.strength:
                break
            for middle in middles:
                if middle.strength > back.strength and not is_low:
                    break
                if middle.strength > front.strength and _fit(left, front.extra + middle.extra + back.extra):
                    for completed in _deals(rows, (front, middle, back), deck):
                        strengths = front.strength, middle.strength, back.strength
                        if order_fault(strengths, completed, profile) is None:
                            return completed
    return None


def _fit(left: int, extra: int) -> bool:
    """Return whether this many more cards of each rank are left."""
    return (left - extra) & _GUARD == _GUARD


def _deals(rows: Rows, endings: tuple[_Ending, ...], deck: frozenset[Card]) -> Iterator[Rows]:
    """Yield complete rows with these endings, of real cards.

    Rows of one suit have no choice and take their cards first; the others then have enough cards of every rank.
    """
    order = sorted(range(3), key=lambda row: endings[row].suit is None)
    completed = list(rows)

    def deal(row: int, left: frozenset[Card]) -> Iterator[Rows]:
        if row == 3:
            yield Rows(*completed)
            return
        index = order[row]
        for cards in _choices(rows[index], endings[index], left):
            completed[index] = rows[index] + cards
            yield from deal(row + 1, left.difference(cards))

    return deal(0, deck)


def _choices(placed: tuple[Card, ...], ending: _Ending, deck: frozenset[Card]) -> Iterator[tuple[Card, ...]]:
    """Yield the cards that complete a row with this ending."""
    of_ranks = [
        combinations([card for card in deck if card.rank == rank and ending.suit in (None, card.suit)], count)
        for rank in range(13)
        if (count := ending.extra >> _BITS * rank & 7)
    ]
    for chosen in product(*of_ranks):
        cards = tuple(chain.from_iterable(chosen))
        row = placed + cards
        one_suit = len({card.suit for card in row}) == 1
        if ending.suit is not None or len(row) < 5 or not one_suit:
            yield cards
