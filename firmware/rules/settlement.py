"""The settlement of a hand: who pays whom, in which order, how much, and why (RULES §2 to §8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from firmware.rules.errors import HandError
from firmware.rules.fantasyland import offers_fantasyland
from firmware.rules.hand import Hand
from firmware.rules.irregularities import Irregularity, find_irregularities, is_regular
from firmware.rules.judging import Judge, JudgedHand
from firmware.rules.lines import Line
from firmware.rules.order import positions
from firmware.rules.payment import Transfer, chips_plan, pay
from firmware.rules.profile import Profile
from firmware.rules.scoring import Scorer


class Pair(NamedTuple):
    """What passes between two hands."""

    a: int
    """The seat that comes first in position."""
    b: int
    points: int
    """What a gains from b; negative: a pays."""
    owed: int
    """The same in cents."""
    paid: int
    """What table stakes leave of it."""
    lines: tuple[Line, ...]
    """Why; their points sum to the pair's."""

    @property
    def short(self) -> int:
        """What table stakes cut off. It is never carried over."""
        return abs(self.owed) - abs(self.paid)


@dataclass(frozen=True, slots=True)
class Settlement:
    """A hand, settled; or what is irregular in it, and then nothing is."""

    hand: Hand
    profile: Profile
    order: tuple[int, ...]
    """The seats by position."""
    hands: tuple[JudgedHand, ...]
    """By seat, in the order in which they were given."""
    pairs: tuple[Pair, ...]
    """In the order of payment."""
    points: Mapping[int, int]
    """By seat."""
    paid: Mapping[int, int]
    """What each seat won, in cents."""
    stacks: Mapping[str, int]
    """By player, after the hand; players without a stack are left out."""
    irregularities: tuple[Irregularity, ...]

    @property
    def chips_plan(self) -> tuple[Transfer, ...]:
        """The fewest transfers between players with the same result."""
        nets = dict.fromkeys(self.hand.stacks, 0)
        for judged in self.hands:
            nets[judged.owner] += self.paid.get(judged.seat, 0)
        return chips_plan(nets)


def settle(hand: Hand, profile: Profile) -> Settlement:
    """Settle a hand under a profile.

    Raises HandError where the hand does what the profile does not offer.
    """
    referee = _referee(profile)
    _check_offered(hand, profile)
    order = positions([seat.seat for seat in hand.seats], hand.button, profile)
    if not is_regular(hand):
        return _irregular(hand, profile, order)
    hands = referee.judge.judge(hand)
    pairs = _pairs(order, hands, hand, referee)
    points = {judged.seat: 0 for judged in hands}
    paid = points.copy()
    for a, b, gained, _, cents, _ in pairs:
        points[a] += gained
        points[b] -= gained
        paid[a] += cents
        paid[b] -= cents
    return Settlement(
        hand=hand,
        profile=profile,
        order=order,
        hands=tuple(hands),
        pairs=pairs,
        points=MappingProxyType(points),
        paid=MappingProxyType(paid),
        stacks=MappingProxyType(_stacks_after(hand, paid)),
        irregularities=(),
    )


class _Referee(NamedTuple):
    """What a profile makes of hands, prepared once."""

    judge: Judge
    scorer: Scorer


@lru_cache(maxsize=64)
def _referee(profile: Profile) -> _Referee:
    return _Referee(Judge(profile), Scorer(profile))


def _check_offered(hand: Hand, profile: Profile) -> None:
    """Raise HandError for a declaration, a surrender or a fantasy-land hand that the profile does not offer."""
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


def _irregular(hand: Hand, profile: Profile, order: tuple[int, ...]) -> Settlement:
    """Return what is irregular: nothing is judged, nothing is settled."""
    irregularities = find_irregularities(hand)
    nothing: Mapping[int, int] = MappingProxyType({})
    return Settlement(
        hand=hand,
        profile=profile,
        order=order,
        hands=tuple(_referee(profile).judge.look(hand, irregularities)),
        pairs=(),
        points=nothing,
        paid=nothing,
        stacks=MappingProxyType(_stacks_after(hand, nothing)),
        irregularities=irregularities,
    )


def _stacks_after(hand: Hand, paid: Mapping[int, int]) -> dict[str, int]:
    after = {player: stack for player, stack in hand.stacks.items() if stack is not None}
    for seat, owner in zip(hand.seats, hand.owners, strict=True):
        if owner in after:
            after[owner] += paid.get(seat.seat, 0)
    return after


def _pairs(
    order: tuple[int, ...], hands: Sequence[JudgedHand], hand: Hand, referee: _Referee
) -> tuple[Pair, ...]:
    """Return every pair of different players, scored and paid, in the order of payment."""
    by_seat = {judged.seat: judged for judged in hands}
    pairs = [(a, b) for a, b in combinations([by_seat[seat] for seat in order], 2) if a.owner != b.owner]
    scorer = referee.scorer
    if scorer.naturals_first and any(judged.natural for judged in hands):
        pairs.sort(key=_has_no_natural)
    scored = []
    debts = []
    for a, b in pairs:
        lines = scorer.lines(a, b)
        points = sum([line.points for line in lines])
        debts.append((a.owner, b.owner, points * hand.unit))
        scored.append((a.seat, b.seat, points, tuple(lines)))
    payments = pay(debts, hand.stacks, scorer.profile)
    return tuple(
        [
            Pair(a_seat, b_seat, points, owed, paid, lines)
            for (a_seat, b_seat, points, lines), (_, _, owed), paid in zip(
                scored, debts, payments, strict=True
            )
        ]
    )


def _has_no_natural(pair: tuple[JudgedHand, JudgedHand]) -> bool:
    return not (pair[0].natural or pair[1].natural)
