"""The settlement of a hand: payments between players, their order, amounts and reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from firmware.rules.errors import HandError
from firmware.rules.fantasyland import offers_fantasyland
from firmware.rules.hand import Hand
from firmware.rules.irregularities import Irregularity
from firmware.rules.judging import Judge, JudgedHand, NaturalHand
from firmware.rules.lines import Line
from firmware.rules.order import positions
from firmware.rules.payment import Till, Transfer, chips_plan
from firmware.rules.profiles.profile import Profile
from firmware.rules.scoring import Scorer


class Pair(NamedTuple):
    """The payment between two hands."""

    a: int
    """The seat that comes first in position."""
    b: int
    points: int
    """Points that a gains from b; negative: a pays."""
    owed: int
    """The same in cents."""
    paid: int
    """The amount after table stakes."""
    lines: tuple[Line, ...]
    """The reasons; their points sum to the pair's."""

    @property
    def short(self) -> int:
        """The amount cut off by table stakes. It is never carried over."""
        return abs(self.owed) - abs(self.paid)


class Settlement(NamedTuple):
    """A settled hand; or an irregular one, and then there are no payments."""

    hand: Hand
    profile: Profile
    order: tuple[int, ...]
    """The seats by position."""
    hands: tuple[JudgedHand, ...]
    """By seat, in input order."""
    pairs: tuple[Pair, ...]
    """In the order of payment."""
    points: Mapping[int, int]
    """By seat."""
    paid: Mapping[int, int]
    """Each seat's net in cents."""

    @property
    def irregularities(self) -> tuple[Irregularity, ...]:
        """What must be resolved before the hand can be settled."""
        return self.hand.irregularities

    @property
    def stacks(self) -> Mapping[str, int]:
        """Each player's stack after the hand; players without a stack are left out."""
        return {
            player: stack + self._won_by(player)
            for player, stack in self.hand.stacks.items()
            if stack is not None
        }

    @property
    def chips_plan(self) -> tuple[Transfer, ...]:
        """The fewest transfers between players with the same result."""
        return chips_plan({player: self._won_by(player) for player in self.hand.stacks})

    def natural_bonus(self, judged: JudgedHand) -> int:
        """Return a natural's bonus points in addition to its value, against a regular hand or a foul."""
        return sum(_referee(self.profile).scorer.natural_bonuses(judged))

    def _won_by(self, player: str) -> int:
        return sum(self.paid.get(judged.seat, 0) for judged in self.hands if judged.owner == player)


def settle(hand: Hand, profile: Profile) -> Settlement:
    """Settle a hand under a profile.

    Raises HandError if the hand uses something that the profile does not offer.
    """
    judge, scorer = _referee(profile)
    _check_offered(hand, profile)
    order = positions([seat.seat for seat in hand.seats], hand.button, profile)
    if hand.irregularities:
        return Settlement(hand, profile, order, tuple(judge.judge_irregular(hand)), (), _NOBODY, _NOBODY)
    hands = judge.judge(hand)
    till = Till(hand.stacks, profile)
    points = {judged.seat: 0 for judged in hands}
    paid = points.copy()
    pairs = []
    compared = _in_order_of_payment(hands, order, profile, judge.banker(hand))
    for (a, b), lines in zip(compared, scorer.all_lines(compared), strict=True):
        first, second = a.seat, b.seat
        gained = sum(map(_points_of, lines))
        owed = gained * hand.unit
        cents = till.pay(a.owner, b.owner, owed)
        pairs.append(_new_pair((first, second, gained, owed, cents, tuple(lines))))
        points[first] += gained
        points[second] -= gained
        paid[first] += cents
        paid[second] -= cents
    return Settlement(
        hand, profile, order, tuple(hands), tuple(pairs), MappingProxyType(points), MappingProxyType(paid)
    )


_NOBODY: Mapping[int, int] = MappingProxyType({})
_new_pair: Callable[[tuple[int, int, int, int, int, tuple[Line, ...]]], Pair] = partial(tuple.__new__, Pair)
_points_of = itemgetter(Line._fields.index("points"))


class _Referee(NamedTuple):
    """The parts of a profile needed for settling, prepared once."""

    judge: Judge
    scorer: Scorer


@lru_cache(maxsize=64)
def _referee(profile: Profile) -> _Referee:
    return _Referee(Judge(profile), Scorer(profile))


def _check_offered(hand: Hand, profile: Profile) -> None:
    """Raise HandError for a hand, a declaration, a surrender or a fantasy-land hand that the profile does not offer."""
    players = profile.limits.players
    if len(hand.seats) > players:
        raise HandError(
            "seats",
            f"there are {len(hand.seats)} hands; {profile.name} is played by {players} players at most",
        )
    for index, seat in enumerate(hand.seats):
        if seat.declares and not profile.naturals.kinds:
            message = f"seat {seat.seat} declares a natural; {profile.name} has no naturals"
            raise HandError(f"seats[{index}].declares", message)
        if seat.surrenders and not profile.surrender.points:
            message = f"seat {seat.seat} surrenders; {profile.name} offers no surrender"
            raise HandError(f"seats[{index}].surrenders", message)
        if seat.fantasyland and not offers_fantasyland(profile):
            message = f"seat {seat.seat} is in Fantasy Land; {profile.name} has none"
            raise HandError(f"seats[{index}].fantasyland", message)


def _in_order_of_payment(
    hands: Sequence[JudgedHand], order: Sequence[int], profile: Profile, banker: str | None
) -> list[tuple[JudgedHand, JudgedHand]]:
    """Return every pair of different players' hands, or of the banker's with one; the first in position first."""
    by_seat = {judged.seat: judged for judged in hands}
    pairs = [(a, b) for a, b in combinations([by_seat[seat] for seat in order], 2) if a.owner != b.owner]
    if banker is not None:
        pairs = [pair for pair in pairs if banker in (pair[0].owner, pair[1].owner)]
    if profile.order.naturals_first:
        naturals = [hand for hand in map(by_seat.get, order) if isinstance(hand, NaturalHand)]
        if naturals:
            _naturals_first(pairs, naturals, profile.order.several_naturals)
    return pairs


def _naturals_first(
    pairs: list[tuple[JudgedHand, JudgedHand]], naturals: list[NaturalHand], several: str
) -> None:
    """Move the pairs with a natural to the front; `naturals` are in the order of positions."""
    if several == "highest":
        naturals.sort(key=lambda judged: judged.natural.place)
    turns = {judged.seat: 0 if several == "pairs" else turn for turn, judged in enumerate(naturals)}
    last = len(naturals)
    pairs.sort(key=lambda pair: min(turns.get(pair[0].seat, last), turns.get(pair[1].seat, last)))
