"""The settlement of a hand a second time, written from the documents and the profiles' files alone.

It shares no code with `firmware.rules`: it takes a hand as docs/developer/settle.md describes it, gives the answer in
the same words, and reads the profiles' TOML itself. What the eight first profiles do not use raises `NotCovered`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.campaigns.rules.second_strength import (
    CATEGORIES,
    ROWS,
    NotCovered,
    Strength,
    bonus_of,
    cards_of,
    is_foul,
    is_natural,
    strength,
    target,
)

PROFILES: Final = Path(__file__).parents[3] / "firmware/rules/profiles"
Profile = dict[str, dict[str, Any]]
USED: Final = {
    "foul": "equal_rows suit_tiebreak points pays_bonus versus_natural",
    "scoring": "row majority ties outcome",
    "bonus": "pays doubles_same_category front middle back",
    "naturals": "by declared tie foul_voids keeps_bonus false_declaration excused_by_surrender kinds",
    "surrender": "points",
    "order": "first naturals_first",
    "fantasyland": "entry stay",
}
FIXED: Final[Mapping[str, object]] = {
    "hands.wheel": "lowest",
    "hands.middle": "high",
    "foul.low_middle": "any",
    "scoring.scoop": 0,
    "bonus.royal_doubles": True,
    "naturals.wins": "higher",
    "naturals.pays_bonus": False,
    "naturals.order_unknown": "excused",
    "surrender.pays_foul": True,
    "surrender.versus_natural": "points",
    "order.direction": "clockwise",
    "order.several_naturals": "pairs",
    "stakes.cap": "net",
    "fantasyland.two_hands": "player",
    "fantasyland.cards": 13,
    "fantasyland.cards_by_front": {},
    "fantasyland.stay_cards": 0,
}
"""What all eight profiles agree on: written for this value alone."""
NOT_SETTLING: Final = re.compile(
    r"(profile|limits|deal|collection|irregularities|clauses)\..*|order.opening|hands.rows_called"
)


def read_profile(name: str) -> Profile:
    """Return a packaged profile's options: those of the file that it extends, and its own above them."""
    own = tomllib.loads((PROFILES / f"{name}.toml").read_text(encoding="utf-8"))
    below = own["profile"].get("extends", "").removesuffix(".toml")
    options = read_profile(below) if below else {}
    for section, values in own.items():
        options[section] = options.get(section, {}) | values
    return options


def refuse_uncovered(profile: Profile) -> None:
    """Raise `NotCovered` if a profile has a rule that is not written here."""
    for section, values in profile.items():
        for option, value in values.items():
            path = f"{section}.{option}"
            if option in USED.get(section, "").split() or NOT_SETTLING.fullmatch(path):
                continue
            if path not in FIXED or FIXED[path] != value:
                raise NotCovered(f"{path} = {value!r} is not written a second time")
    if profile["scoring"]["outcome"] and profile["bonus"]["pays"] == "replaces":
        raise NotCovered("a bonus in place of a row, beside scoring.outcome, is not written a second time")


@cache
def covered_profile(name: str) -> Profile:
    """Return a packaged profile. Raise `NotCovered` if it has a rule that is not written here."""
    profile = read_profile(name)
    refuse_uncovered(profile)
    return profile


class Natural(NamedTuple):
    """A natural that counts: 0 is the place of the highest of its profile."""

    place: int
    kind: str
    value: int


@dataclass(frozen=True)
class JudgedHand:
    """What a seat's hand is: regular, foul, natural or surrendered."""

    seat: int
    owner: str
    is_a: str
    strengths: tuple[Strength, ...]
    bonuses: tuple[int, ...]
    natural: Natural | None
    declaration: str | None
    has_puck: bool
    earns_fantasyland: bool


def owner_of(seat: Mapping[str, Any]) -> str:
    """Return who plays a seat: a player's name, or the seat itself."""
    return str(seat.get("player") or seat["seat"])


def is_excused(seat: Mapping[str, Any], seats: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether another player had surrendered before a seat declared; an unknown order counts as before."""
    for other in seats:
        if other.get("surrenders") and owner_of(other) != owner_of(seat):
            mine, theirs = seat.get("acted"), other.get("acted")
            if mine is None or theirs is None or theirs < mine:
                return True
    return False


def judge(seat: Mapping[str, Any], hand: Mapping[str, Any], profile: Profile) -> JudgedHand:
    """Return what a seat's hand is."""
    rules = profile["naturals"]
    rows = [cards_of(seat[row]) for row in ROWS]
    strengths = tuple(map(strength, rows))
    foul = is_foul(rows, profile["foul"])
    by_rows = rules["by"] == "rows"
    kinds = [entry["kind"] for entry in rules["kinds"]]
    place = next((at for at, kind in enumerate(kinds) if is_natural(kind, rows, by_rows=by_rows)), None)
    voided = foul and rules["foul_voids"]
    declares = bool(seat.get("declares"))
    natural, declaration = None, None
    if seat.get("surrenders"):
        is_a = "surrendered"
    elif place is not None and not voided and (declares or rules["declared"] == "automatic"):
        is_a = "natural"
        natural = Natural(place, **rules["kinds"][place])
        declaration = "counts" if declares else None
    else:
        is_a = "foul" if foul else "regular"
        if declares:
            declaration = "not_borne_out" if place is None else "voided_by_foul"
            excused = rules["excused_by_surrender"] and is_excused(seat, hand["seats"])
            if place is None and rules["false_declaration"] == "foul" and not excused:
                is_a = "foul"
    pays = profile["bonus"]["pays"] != "none"
    wanted = profile["fantasyland"]["stay" if seat.get("fantasyland") else "entry"]
    reached = any(
        row in wanted and found >= target(wanted[row]) for row, found in zip(ROWS, strengths, strict=True)
    )
    return JudgedHand(
        seat=seat["seat"],
        owner=owner_of(seat),
        is_a=is_a,
        strengths=strengths,
        bonuses=tuple(
            bonus_of(profile["bonus"][row], found) if pays else 0
            for row, found in zip(ROWS, strengths, strict=True)
        ),
        natural=natural,
        declaration=declaration,
        has_puck=owner_of(seat)
        in {owner_of(each) for each in hand["seats"] if each["seat"] == hand["button"]},
        earns_fantasyland=reached and is_a in {"regular", "natural"},
    )


HEIGHT: Final = ("surrendered", "foul", "regular", "natural")


def exchange(one: JudgedHand, two: JudgedHand, profile: Profile) -> dict[str, int]:
    """Return what one hand gains from another, by reason."""
    if HEIGHT.index(one.is_a) < HEIGHT.index(two.is_a):
        return {reason: -points for reason, points in exchange(two, one, profile).items()}
    foul, naturals = profile["foul"], profile["naturals"]
    own_bonuses = sum(one.bonuses)
    if two.is_a == "surrendered":
        return {} if one.is_a == "surrendered" else {"surrender": profile["surrender"]["points"]}
    if one.natural and two.natural:
        if getattr(one.natural, naturals["tie"]) == getattr(two.natural, naturals["tie"]):
            return {}
        return {"natural": one.natural.value if one.natural < two.natural else -two.natural.value}
    if one.natural:
        gained = {
            "natural": one.natural.value,
            "natural_bonus": own_bonuses if naturals["keeps_bonus"] else 0,
        }
        both = two.is_a == "foul" and foul["versus_natural"] == "both"
        return gained | {"foul": foul["points"] if both else 0}
    if two.is_a == "foul":
        if one.is_a == "foul":
            return {}
        return {"foul": foul["points"], "foul_bonus": own_bonuses if foul["pays_bonus"] else 0}
    return compare_rows(one, two, profile)


def plain_category(found: Strength) -> str:
    """Return a strength's category, a royal flush as the straight flush that it is."""
    return CATEGORIES[found[0]].replace("royal_", "straight_")


def compare_rows(one: JudgedHand, two: JudgedHand, profile: Profile) -> dict[str, int]:
    """Return what a regular hand gains from another, by reason."""
    scoring, bonus = profile["scoring"], profile["bonus"]
    results, rows, extra = [], 0, 0
    for mine, theirs, my_bonus, their_bonus in zip(
        one.strengths, two.strengths, one.bonuses, two.bonuses, strict=True
    ):
        higher = (mine > theirs) - (mine < theirs)
        result = higher
        if not higher and scoring["ties"] == "button":
            result = one.has_puck - two.has_puck
        results.append(result)
        earned = my_bonus if result > 0 else their_bonus if result else 0
        if bonus["pays"] == "replaces" and earned:
            twice = bonus["doubles_same_category"] and plain_category(mine) == plain_category(theirs)
            extra += result * earned * (2 if twice else 1)
            continue
        rows += result * scoring["row"]
        if bonus["pays"] == "each" or (bonus["pays"] == "stronger" and not (my_bonus and their_bonus)):
            extra += my_bonus - their_bonus
        elif bonus["pays"] == "stronger":
            extra += my_bonus if higher > 0 else -their_bonus if higher else 0
    for sign in (1, -1):
        won = results.count(sign)
        if won >= 2 and scoring["outcome"]:
            rows = sign * scoring["outcome"]["three" if won == 3 else "two"]
        elif won >= 2:
            rows += sign * scoring["majority"]
    return {"rows": rows, "bonus": extra}


def positions(seats: Sequence[int], puck: int, first: str) -> list[int]:
    """Return the seats in the order in which they settle: clockwise from the first one."""
    starts = {
        "button": min(seats, key=lambda seat: (seat - puck) % 5),
        "left_of_button": min(seats, key=lambda seat: (seat - puck - 1) % 5),
        "right_of_button": min(seats, key=lambda seat: (puck - seat - 1) % 5),
    }
    if first not in starts:
        raise NotCovered(f"order.first = {first!r} is not written a second time")
    return sorted(seats, key=lambda seat: (seat - starts[first]) % 5)


def settle_again(hand: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """Return the answer to a hand: what each hand is, and what each pair owes and pays."""
    judged = {seat["seat"]: judge(seat, hand, profile) for seat in hand["seats"]}
    stacks = {owner_of(seat): seat.get("stack") for seat in hand["seats"]}
    order = positions(list(judged), hand["button"], profile["order"]["first"])
    pairs = [(judged[a], judged[b]) for a, b in combinations(order, 2) if judged[a].owner != judged[b].owner]
    if profile["order"]["naturals_first"]:
        pairs.sort(key=lambda pair: "natural" not in {pair[0].is_a, pair[1].is_a})
    net = dict.fromkeys(stacks, 0)
    points, paid, settled = dict.fromkeys(judged, 0), dict.fromkeys(judged, 0), []
    for a, b in pairs:
        reasons = {reason: gained for reason, gained in exchange(a, b, profile).items() if gained}
        gain = sum(reasons.values())
        owed = gain * hand["unit"]
        winner, payer = (a, b) if gain > 0 else (b, a)
        chips = abs(owed)
        if (stack := stacks[payer.owner]) is not None:
            chips = min(chips, stack + net[payer.owner])
        if (stack := stacks[winner.owner]) is not None:
            chips = min(chips, stack - net[winner.owner])
        net[winner.owner] += chips
        net[payer.owner] -= chips
        moved = chips if gain > 0 else -chips
        for each, sign in ((a, 1), (b, -1)):
            points[each.seat] += sign * gain
            paid[each.seat] += sign * moved
        settled.append(
            {
                "a": a.seat,
                "b": b.seat,
                "points": gain,
                "owed": owed,
                "paid": moved,
                "short": abs(owed) - chips,
                "reasons": reasons,
            }
        )
    return {
        "order": order,
        "hands": {
            one.seat: {
                "foul": one.is_a == "foul",
                "natural": one.natural and one.natural[1:],
                "declaration": one.declaration,
                "fantasyland_next": one.earns_fantasyland,
                "bonuses": one.bonuses,
                "categories": tuple(CATEGORIES[category] for category, _ in one.strengths),
            }
            for one in judged.values()
        },
        "pairs": settled,
        "points": points,
        "paid": paid,
        "stacks": {owner: stack + net[owner] for owner, stack in stacks.items() if stack is not None},
    }
