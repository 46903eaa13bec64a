"""The settlement of a hand: who pays whom, in which order, how much, and why (RULES §2 to §8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from firmware.rules.errors import HandError
from firmware.rules.fantasyland import earns_fantasyland, offers_fantasyland
from firmware.rules.foul import Fault, Strengths, order_fault, strengths
from firmware.rules.hand import Hand, SeatHand
from firmware.rules.irregularities import Irregularity, find_irregularities, is_regular
from firmware.rules.naturals import RankedNatural
from firmware.rules.order import positions
from firmware.rules.payment import Debt, Transfer, chips_plan, pay
from firmware.rules.profile import Profile
from firmware.rules.rows import Rows
from firmware.rules.scoring import Line, Scorer, Standing


class SettledSeat(NamedTuple):
    """A seat's hand as it was judged."""

    seat: int
    rows: Rows | None
    strengths: Strengths | None
    """Of front, middle and back; None where the rows are not there or irregular."""
    bonuses: tuple[int, int, int]
    """What the table gives each row, even where a foul or a natural loses it."""
    fault: Fault | None
    """Why the hand is a foul. A natural that counts is none."""
    natural: RankedNatural | None
    """The natural that counts."""
    holds: RankedNatural | None
    """The natural that the hand could claim, declared or not: not to be shown before rows are compared."""
    fantasyland_next: bool


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
    seats: tuple[SettledSeat, ...]
    """In the order of the hand."""
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
        for seat in self.hand.seats:
            nets[seat.owner] += self.paid.get(seat.seat, 0)
        return chips_plan(nets)


def settle(hand: Hand, profile: Profile) -> Settlement:
    """Settle a hand under a profile.

    Raises HandError where the hand does what the profile does not offer.
    """
    _check_offered(hand, profile)
    order = positions([seat.seat for seat in hand.seats], hand.button, profile)
    if not is_regular(hand):
        return _irregular(hand, profile, order)
    seats = _judge(hand, profile)
    standings = _standings(hand, seats, profile)
    pairs = _pairs(order, standings, hand, profile)
    points = dict.fromkeys(standings, 0)
    paid = dict.fromkeys(standings, 0)
    for pair in pairs:
        points[pair.a] += pair.points
        points[pair.b] -= pair.points
        paid[pair.a] += pair.paid
        paid[pair.b] -= pair.paid
    return Settlement(
        hand=hand,
        profile=profile,
        order=order,
        seats=seats,
        pairs=pairs,
        points=MappingProxyType(points),
        paid=MappingProxyType(paid),
        stacks=MappingProxyType(_stacks_after(hand, paid)),
        irregularities=(),
    )


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
    seats = tuple(
        SettledSeat(seat.seat, seat.rows, None, (0, 0, 0), None, None, None, fantasyland_next=False)
        for seat in hand.seats
    )
    nobody: Mapping[int, int] = MappingProxyType({})
    stacks = MappingProxyType(_stacks_after(hand, {}))
    return Settlement(hand, profile, order, seats, (), nobody, nobody, stacks, find_irregularities(hand))


def _stacks_after(hand: Hand, paid: Mapping[int, int]) -> dict[str, int]:
    stacks = {player: stack for player, stack in hand.stacks.items() if stack is not None}
    for seat in hand.seats:
        if seat.stack is not None:
            stacks[seat.owner] += paid.get(seat.seat, 0)
    return stacks


def _judge(hand: Hand, profile: Profile) -> tuple[SettledSeat, ...]:
    """Return every seat's strengths, bonuses, foul, natural and next Fantasy Land."""
    excused = profile.naturals.excused_by_surrender and any(seat.surrenders for seat in hand.seats)
    false_is_foul = profile.naturals.false_declaration == "foul" and not excused
    return tuple([_judge_seat(seat, profile, false_is_foul=false_is_foul) for seat in hand.seats])


def _judge_seat(seat: SeatHand, profile: Profile, *, false_is_foul: bool) -> SettledSeat:
    if seat.rows is None:
        return SettledSeat(seat.seat, None, None, (0, 0, 0), None, None, None, fantasyland_next=False)
    rows_strengths = strengths(seat.rows, profile)
    front, middle, back = profile.bonuses
    bonuses = front[rows_strengths[0]], middle[rows_strengths[1]], back[rows_strengths[2]]
    if seat.surrenders:
        return SettledSeat(
            seat.seat, seat.rows, rows_strengths, bonuses, None, None, None, fantasyland_next=False
        )
    order_foul = fault = order_fault(rows_strengths, seat.rows, profile)
    holds = None
    if not (order_foul and profile.naturals.foul_voids):
        holds = profile.natural_ranking[profile.natural_finder.bits(*seat.rows)]
    natural = holds if seat.declares else None
    if natural:
        fault = None
    elif seat.declares and false_is_foul and not fault:
        fault = Fault.FALSE_DECLARATION
    earned = not (fault or order_foul) and earns_fantasyland(rows_strengths, profile, inside=seat.fantasyland)
    return SettledSeat(seat.seat, seat.rows, rows_strengths, bonuses, fault, natural, holds, earned)


def _standings(hand: Hand, seats: tuple[SettledSeat, ...], profile: Profile) -> dict[int, Standing]:
    """Return the hands as they go into the comparison, by seat."""
    holders = {seat.owner for seat in hand.seats if seat.seat == hand.button}
    return {
        seat.seat: Standing(
            seat=seat.seat,
            owner=seat.owner,
            strengths=judged.strengths or (0, 0, 0),
            bonuses=judged.bonuses,
            surrenders=seat.surrenders,
            holds_button=seat.owner in holders,
            fault=judged.fault,
            natural=judged.natural,
        )
        for seat, judged in zip(hand.seats, seats, strict=True)
    }


def _pairs(
    order: tuple[int, ...], standings: Mapping[int, Standing], hand: Hand, profile: Profile
) -> tuple[Pair, ...]:
    """Return every pair of different players, scored and paid, in the order of payment."""
    pairs = [(a, b) for a, b in combinations([standings[seat] for seat in order], 2) if a.owner != b.owner]
    if profile.order.naturals_first:
        pairs.sort(key=lambda pair: not (pair[0].natural or pair[1].natural))
    scorer = Scorer(profile)
    unit = hand.unit
    lines = [tuple(scorer.lines(a, b)) for a, b in pairs]
    points = [sum([line.points for line in of_pair]) for of_pair in lines]
    debts = [Debt(a.owner, b.owner, gained * unit) for (a, b), gained in zip(pairs, points, strict=True)]
    payments = pay(debts, hand.stacks, profile)
    return tuple(
        Pair(a.seat, b.seat, gained, debt.owed, paid, why)
        for (a, b), gained, debt, paid, why in zip(pairs, points, debts, payments, lines, strict=True)
    )
