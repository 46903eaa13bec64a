"""Table stakes: how much of a debt is paid, and the fewest transfers for it."""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

from firmware.rules.profiles.profile import Profile


class Till:
    """Pays the debts of one hand, in order, within the stacks."""

    def __init__(self, stacks: Mapping[str, int | None], profile: Profile) -> None:
        """`stacks`: each player's stack at the start of the hand; None is not capped."""
        self._nets = profile.stakes.cap == "net"
        capped = profile.stakes.cap != "none"
        self._may_lose = {player: stack for player, stack in stacks.items() if capped and stack is not None}
        self._may_win = self._may_lose.copy()

    def pay(self, a: str, b: str, owed: int) -> int:
        """Return what `a` receives from `b` for this debt after netting their pair; negative: `a` pays."""
        winner, payer, amount = (a, b, owed) if owed > 0 else (b, a, -owed)
        may_lose, may_win = self._may_lose, self._may_win
        left, room = may_lose.get(payer), may_win.get(winner)
        if left is not None and amount > left:
            amount = left
        if room is not None and amount > room:
            amount = room
        if left is not None:
            may_lose[payer] = left - amount
            if self._nets:  # lost chips may be won back
                may_win[payer] += amount
        if room is not None:
            may_win[winner] = room - amount
            if self._nets:  # won chips may be lost again
                may_lose[winner] += amount
        return amount if owed > 0 else -amount


class Transfer(NamedTuple):
    """Chips that one player gives to another."""

    payer: str
    winner: str
    amount: int


def chips_plan(nets: Mapping[str, int]) -> tuple[Transfer, ...]:
    """Return the fewest transfers that give every player their net. The nets sum to 0.

    Players are split into as many groups as possible whose nets sum to 0; a group of n needs n - 1 transfers.

    >>> chips_plan({"p1": 3, "p2": -7, "p3": 5, "p4": -1})
    (Transfer(payer='p2', winner='p3', amount=5), Transfer(payer='p2', winner='p1', amount=2), \
Transfer(payer='p4', winner='p1', amount=1))
    """
    players = [(player, net) for player, net in nets.items() if net]
    return tuple(transfer for group in _groups(players) for transfer in _settle_group(group))


_Nets = list[tuple[str, int]]


def _groups(players: _Nets) -> list[_Nets]:
    """Split players into as many groups as possible that each sum to 0. Tables are small: all splits are tried."""
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
    """Have the largest debtor pay the largest creditor until none owes: every transfer settles at least one of them."""
    left = dict(group)
    transfers = []
    while any(left.values()):
        winner, payer = max(left, key=left.__getitem__), min(left, key=left.__getitem__)
        amount = min(left[winner], -left[payer])
        left[winner] -= amount
        left[payer] += amount
        transfers.append(Transfer(payer, winner, amount))
    return transfers
