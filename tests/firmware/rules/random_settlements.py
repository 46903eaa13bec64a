"""Random settlements under every profile: lines sum to pairs, pairs to totals, chips are kept.

The clause of every line has a sentence on the profile's house-rules page.

python -m tests.firmware.rules.random_settlements --each 3000
python -m tests.firmware.rules.random_settlements --each 3000 --digest    # the same in two releases: settled alike
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Container, Sequence

from dealer_ui.profiles.house_rules_numbered import clauses_on_the_page
from firmware.rules import (
    CARDS,
    Card,
    Hand,
    Profile,
    Rows,
    SeatHand,
    Settlement,
    foul,
    load_profile,
    profile_names,
    settle,
)
from firmware.terminal import say


def hand(deal: random.Random, profile: Profile) -> Hand:
    """Return a hand with what a profile offers: declarations, surrenders, naturals, two hands each, short stacks."""
    numbers = deal.sample(range(1, 6), deal.randint(2, 4))
    deck = deal.sample(CARDS, 52)
    two_each = len(numbers) == 4 and deal.random() < 0.3
    stacks = [deal.choice((None, 0, deal.randrange(3_000), deal.randrange(50_000))) for _ in numbers]
    seats = []
    for place, number in enumerate(numbers):
        cards = _dealt(deal, deck)
        deck = [card for card in deck if card not in cards]
        surrenders = bool(profile.surrender.points) and deal.random() < 0.15
        seats.append(
            SeatHand(
                seat=number,
                rows=_set(deal, cards, profile),
                player="ab"[place % 2] if two_each else "",
                stack=stacks[place % 2 if two_each else place],
                declares=bool(profile.naturals.kinds) and not surrenders and deal.random() < 0.4,
                surrenders=surrenders,
                acted=deal.choice((None, place, -place)),
                fantasyland=bool(profile.fantasyland.entry) and deal.random() < 0.2,
            )
        )
    return Hand(seats=tuple(seats), button=deal.randint(1, 5), unit=deal.choice((1, 100, 500)))


def _dealt(deal: random.Random, deck: Sequence[Card]) -> list[Card]:
    """Return thirteen cards of a deck; a natural now and then."""
    if deal.random() < 0.2:
        dragon = [next((card for card in deck if card.rank == rank), None) for rank in range(13)]
        found = [card for card in dragon if card]
        if len(found) == 13:
            return found
    if deal.random() < 0.2:
        suits = deal.sample(range(4), 3)
        flushes = [[card for card in deck if card.suit == suit] for suit in suits]
        sizes = (3, 5, 5)
        if all(len(cards) >= size for cards, size in zip(flushes, sizes, strict=True)):
            return [card for cards, size in zip(flushes, sizes, strict=True) for card in cards[:size]]
    return list(deck[:13])


def _set(deal: random.Random, cards: list[Card], profile: Profile) -> Rows:
    """Set thirteen cards, mostly in the right order."""
    tries = deal.choice((1, 20))
    for _ in range(tries):
        rows = Rows(tuple(cards[:3]), tuple(cards[3:8]), tuple(cards[8:]))
        if foul(rows, profile) is None:
            break
        cards = deal.sample(cards, 13)
    return rows


def trouble(settlement: Settlement, clauses: Container[str]) -> str:
    """Return what does not add up in a settlement; nothing if all does. `clauses`: what the page has sentences for."""
    points = dict.fromkeys(settlement.points, 0)
    paid = points.copy()
    for pair in settlement.pairs:
        if pair.points != sum(line.points for line in pair.lines):
            return f"the lines of {pair.a} and {pair.b} do not sum to {pair.points}"
        if not pair.lines or not all(line.why for line in pair.lines):
            return f"a line of {pair.a} and {pair.b} has no sentence"
        if off := [line.clause for line in pair.lines if line.clause not in clauses]:
            return f"the house-rules page has no sentence for {', '.join(off)}"
        if pair.owed != pair.points * settlement.hand.unit or pair.short < 0 or pair.owed * pair.paid < 0:
            return f"{pair.a} and {pair.b}: {pair.points} points, {pair.owed} owed, {pair.paid} paid"
        points[pair.a] += pair.points
        points[pair.b] -= pair.points
        paid[pair.a] += pair.paid
        paid[pair.b] -= pair.paid
    if points != settlement.points or paid != settlement.paid:
        return "the totals are not the pairs' sums"
    if sum(settlement.paid.values()) or any(stack < 0 for stack in settlement.stacks.values()):
        return f"chips came or went: {dict(settlement.paid)}"
    return ""


def troubles(seed: int, each: int) -> list[str]:
    """Settle so many hands under each profile. Return what was wrong with any."""
    found = []
    for name in profile_names():
        profile, deal = load_profile(name), random.Random(f"{seed} {name}")
        clauses = clauses_on_the_page(profile)
        for number in range(each):
            why = trouble(settle(hand(deal, profile), profile), clauses)
            if why:
                found.append(f"{name}, hand {number}: {why}")
    return found


def digest(name: str, seed: int, each: int) -> str:
    """Return a hash of all that so many hands come to under a profile: who pays whom, why, and the stacks."""
    profile, deal = load_profile(name), random.Random(f"{seed} {name}")
    found = hashlib.sha256()
    for _ in range(each):
        settled = settle(hand(deal, profile), profile)
        pairs = [
            (
                pair.a,
                pair.b,
                pair.points,
                pair.owed,
                pair.paid,
                [(line.id, line.points, line.why) for line in pair.lines],
            )
            for pair in settled.pairs
        ]
        found.update(repr((settled.order, pairs, dict(settled.paid), dict(settled.stacks))).encode())
    return found.hexdigest()


def main() -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=3_000, help="hands under each profile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--digest", action="store_true", help="print a hash of each profile's settlements")
    chosen = parser.parse_args()
    if chosen.digest:
        for name in profile_names():
            say(f"{digest(name, chosen.seed, chosen.each)}  {name}")
        return
    found = troubles(chosen.seed, chosen.each)
    total = chosen.each * len(profile_names())
    say(
        "; ".join(found[:20])
        or f"{total:,} settlements: lines sum to totals, every clause is on its page (seed {chosen.seed})"
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
