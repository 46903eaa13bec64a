"""The rules core and the second implementation on the same hands, and what they differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from firmware.rules import settle_json
from tests.campaigns.rules.random_hands import hands_of
from tests.campaigns.rules.second_rules import covered_profile, settle_again
from tests.campaigns.rules.second_strength import ROWS

OF_A_PAIR: Final = ("a", "b", "points", "owed", "paid", "short")
REASONS: Final = {
    "row_won": "rows",
    "row_tied_button": "rows",
    "two_rows": "rows",
    "all_rows": "rows",
    "majority": "rows",
    "bonus_in_place": "bonus",
    "bonus_doubled": "bonus",
}
"""What the second implementation calls lines of a settlement, where it does not call them by their id."""
PLANTED: Final[Sequence[tuple[str, dict[str, object]]]] = (
    ("california-face-up", {"foul.points": 8}),
    ("california-face-up", {"foul.versus_natural": "natural"}),
    ("california-face-up", {"scoring.ties": "push"}),
    ("california-face-up", {"naturals.by": "cards"}),
    ("california-face-up", {"naturals.tie": "kind"}),
    ("california-face-up", {"naturals.foul_voids": False}),
    ("california-face-up", {"naturals.keeps_bonus": False}),
    ("california-face-up", {"naturals.declared": "automatic"}),
    ("california-face-up", {"order.naturals_first": False}),
    ("california-face-up", {"order.several_naturals": "highest"}),
    ("california-face-up", {"stakes.cap": "gross"}),
    ("traditional", {"foul.equal_rows": "foul"}),
    ("traditional", {"foul.pays_bonus": False}),
    ("traditional", {"scoring.majority": 0}),
    ("traditional", {"bonus.pays": "each"}),
    ("traditional", {"hands.wheel": "second_highest"}),
    ("clean-sweep-online", {"foul.suit_tiebreak": []}),
    ("clean-sweep-online", {"foul.suit_tiebreak": ["s", "d", "c", "h"]}),
    ("clean-sweep-online", {"naturals.tie": "value"}),
    ("clean-sweep-online", {"naturals.by": "rows"}),
    ("washington-1-6", {"scoring.outcome": {"two": 1, "three": 5}}),
    ("washington-2-4", {"scoring.outcome": {"two": 3, "three": 4}}),
    ("washington-1-unit", {"naturals.tie": "kind"}),
    ("washington-1-unit", {"surrender.pays_foul": False}),
    (
        "poker-flush-western",
        {"naturals.false_declaration": "regular", "naturals.excused_by_surrender": False},
    ),
    ("poker-flush-western", {"surrender.versus_natural": "value"}),
    ("poker-flush-western", {"order.first": "left_of_button"}),
    ("poker-flush-western", {"order.direction": "counterclockwise"}),
    ("poker-flush-western", {"naturals.order_unknown": "foul"}),
    ("poker-flush-eastern", {"naturals.excused_by_surrender": False}),
    ("poker-flush-eastern", {"bonus.doubles_same_category": False}),
    ("poker-flush-eastern", {"bonus.royal_doubles": False}),
    ("poker-flush-eastern", {"bonus.pays": "each", "bonus.doubles_same_category": False}),
)
"""Faults that the comparison must find: options of a profile with another value, for the rules core alone."""


def first_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules core's answer in the form of the second implementation's."""
    pairs = []
    for pair in answer["pairs"]:
        reasons: Counter[str] = Counter()
        for line in pair["lines"]:
            reasons[REASONS.get(line["id"], line["id"])] += line["points"]
        told = {reason: points for reason, points in reasons.items() if points}
        pairs.append({key: pair[key] for key in OF_A_PAIR} | {"reasons": told})
    hands = {
        hand["seat"]: {
            "foul": hand["foul"],
            "natural": hand["natural"] and (hand["natural"]["kind"], hand["natural"]["value"]),
            "declaration": hand["declaration"],
            "fantasyland_next": hand["fantasyland_next"],
            "bonuses": tuple(hand["rows"][row]["bonus"] for row in ROWS),
            "categories": tuple(hand["rows"][row]["category"] for row in ROWS),
        }
        for hand in answer["hands"]
    }
    totals = {key: {int(seat): sum_ for seat, sum_ in answer[key].items()} for key in ("points", "paid")}
    return {"order": answer["order"], "hands": hands, "pairs": pairs, **totals, "stacks": answer["stacks"]}


@dataclass
class Comparison:
    """What was compared under a profile, and what differed."""

    seen: Counter[object] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, other: Comparison) -> None:
        """Add what another part found."""
        self.seen += other.seen
        self.differences += other.differences

    def count(self, answer: Mapping[str, Any]) -> None:
        """Count what an answer has."""
        self.seen["hands"] += 1
        for hand in answer["hands"].values():
            self.seen["seats"] += 1
            self.seen["fouls"] += hand["foul"]
            self.seen["bonuses"] += any(hand["bonuses"])
            if hand["natural"]:
                self.seen["naturals"] += 1
                self.seen[hand["natural"][0]] += 1
            self.seen.update(zip(ROWS, hand["categories"], strict=True))
        for pair in answer["pairs"]:
            self.seen["pairs"] += 1
            self.seen["surrenders"] += "surrender" in pair["reasons"]
            self.seen["short"] += pair["short"] > 0


Settle = Callable[[dict[str, Any]], Mapping[str, Any]]


def compare(name: str, seed: str, each: int, *, stacked: bool, settle: Settle = settle_json) -> Comparison:
    """Settle so many hands under a profile twice."""
    profile, compared = covered_profile(name), Comparison()
    for number, given in enumerate(islice(hands_of(name, seed, stacked=stacked), each)):
        first, second = first_answer(settle(given)), settle_again(given, profile)
        compared.count(second)
        if first != second:
            parts = ", ".join(key for key in second if first[key] != second[key])
            compared.differences.append(f"{name}, seed {seed}, {'stacked ' * stacked}hand {number}: {parts}")
    return compared


def found_after(name: str, options: Mapping[str, object], seed: str, most: int) -> int | None:
    """Return after how many hands a fault planted in the rules core is found: options with another value."""

    def wrongly(given: dict[str, Any]) -> Mapping[str, Any]:
        return settle_json(given | {"options": options})

    profile = covered_profile(name)
    random_ones, stacked = hands_of(name, seed, stacked=False), hands_of(name, seed, stacked=True)
    for number in range(most):
        given = next(stacked if number % 2 else random_ones)
        if first_answer(wrongly(given)) != settle_again(given, profile):
            return number + 1
    return None
