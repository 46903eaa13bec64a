"""Table stakes: what is paid of what is owed, and the fewest transfers that do it (RULES §7.3, §7.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from firmware.rules.profile import Profile

Debt = tuple[str, str, int]
"""Two players, and what the first has from the second after netting their pair; negative: what the first owes."""


def pay(debts: Sequence[Debt], stacks: Mapping[str, int | None], profile: Profile) -> list[int]:
    """Return what is paid of each debt, in turn, as far as both stacks go. A stack of None is not capped."""
    if profile.stakes.cap == "none":
        return [owed for _, _, owed in debts]
    is_net = profile.stakes.cap == "net"
    # Nobody wins or loses more than all that is owed: that is as good as no cap.
    everything = sum([abs(owed) for _, _, owed in debts])
    may_lose = {player: everything if stack is None else stack for player, stack in stacks.items()}
    may_win = may_lose.copy()
    payments = []
    for a, b, owed in debts:
        winner, payer = (a, b) if owed > 0 else (b, a)
        paid = min(abs(owed), may_lose[payer], may_win[winner])
        may_lose[payer] -= paid
        may_win[winner] -= paid
        if is_net:  # what was won may be lost again, and what was lost be won back
            may_lose[winner] += paid
            may_win[payer] += paid
        payments.append(paid if owed > 0 else -paid)
    return payments


class Transfer(NamedTuple):
    """Chips that one player hands to another."""

    payer: str
    winner: str
    amount: int


def chips_plan(nets: Mapping[str, int]) -> tuple[Transfer, ...]:
    """Return the fewest transfers that leave every player with their net. The nets sum to 0.

    Players fall into as many groups as possible whose nets sum to 0; a group of n settles in n - 1 transfers.

    >>> chips_plan({"p1": 3, "p2": -7, "p3": 5, "p4": -1})
    (Transfer(payer='p2', winner='p3', amount=5), Transfer(payer='p2', winner='p1', amount=2), \
Transfer(payer='p4', winner='p1', amount=1))
    """
    players = [(player, net) for player, net in nets.items() if net]
    return tuple(transfer for group in _groups(players) for transfer in _settle_group(group))


_Nets = list[tuple[str, int]]


def _groups(players: _Nets) -> list[_Nets]:
    """Split players into as many groups as possible that each sum to 0. Tables are small: try them all."""
    if not players:
        return []
    first, *rest = players
    best: list[_Nets] = []
    for size in range(1, len(players)):
        for partners in combinations(rest, size):
            group = [first, *partners]
            if sum(net for _, net in group) == 0:
                groups = [group, *_groups([player for player in rest if player not in partners])]
                best = max(best, groups, key=len)
    return best


def _settle_group(group: _Nets) -> list[Transfer]:
    """Let who owes most pay who is owed most, until nobody owes: every transfer squares somebody."""
    left = dict(group)
    transfers = []
    while any(left.values()):
        winner, payer = max(left, key=left.__getitem__), min(left, key=left.__getitem__)
        amount = min(left[winner], -left[payer])
        left[winner] -= amount
        left[payer] += amount
        transfers.append(Transfer(payer, winner, amount))
    return transfers
