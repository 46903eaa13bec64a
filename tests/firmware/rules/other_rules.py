"""Every option of a profile flipped alone, and whether hands then settle otherwise."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from firmware.rules import Hand, Profile, Rows, RulesError, SeatHand, settle
from firmware.rules.profiles.dealt_cards import Count, FrontCards
from firmware.rules.profiles.natural_kinds import NaturalKinds
from firmware.rules.profiles.options import (
    Amount,
    AtLeast,
    Bonuses,
    Choice,
    Flag,
    Kind,
    Outcomes,
    RowPoints,
    Schedule,
    SuitOrder,
    Text,
)
from firmware.rules.profiles.row_words import RowsCalled
from tests.firmware.rules.random_settlements import hand as random_hand
from tests.firmware.rules.test_options import CASES, outcome


class Flip(NamedTuple):
    """A profile with one option of another value."""

    path: str
    kind: Kind
    value: Any
    """The other value, in TOML form."""
    profile: Profile


def flips(profile: Profile) -> Iterator[Flip]:
    """Yield every other value of every option; of tables and amounts some."""
    for path, kind, value in profile.options():
        for other in _other_values(kind, value):
            try:
                yield Flip(path, kind, other, profile.with_options({path: other}))
            except RulesError:
                continue


def _other_values(kind: Kind, value: Any) -> Iterable[Any]:
    match kind:
        case Choice():
            return [name for name in kind.values if name != value]
        case Flag():
            return [not value]
        case Count():
            return [other for other in kind.values if other != value]
        case Amount():
            return [value + 2, *([0] if value else [])]
        case SuitOrder():
            return [[], list("sdch")] if value else [list("shcd")]
        case FrontCards():
            return [fronts for fronts in ({}, {"QQ": 15, "KK": 16}) if fronts != dict(value)]
        case Bonuses():
            others = [{**dict(value), hand: points + 1} for hand, points in value]
            hand = "three_of_a_kind" if kind.front else "straight"
            return [*others, {}, {**dict(value), hand: 7}] if value else [{hand: 7}]
        case NaturalKinds():
            listed = [entry.as_toml() for entry in value]
            return [naturals for naturals in _other_naturals(listed) if naturals != listed]
        case Outcomes():
            return [pay for pay in ({}, {"two": 2, "three": 4}, {"two": 1, "three": 6}) if pay != dict(value)]
        case AtLeast():
            return [rows for rows in ({}, {"front": "KK"}, {"back": "straight"}) if rows != dict(value)]
        case RowPoints():
            return [rows for rows in ({}, {"front": 1, "middle": 2, "back": 3}) if rows != dict(value)]
        case RowsCalled():
            return []  # words settle nothing
        case Schedule():
            return [[], [{"option": 1, "limit": 100, "fee": 200}]]
        case Text():
            return ["Another text."]
    raise AssertionError(kind)


def _other_naturals(listed: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for place, entry in enumerate(listed):
        others = listed[:place], listed[place + 1 :]
        yield [*others[0], {**entry, "value": entry["value"] + 1}, *others[1]]
        yield [*others[0], *others[1]]
    yield listed[::-1]
    worth = {"dragon": 5, "six_pairs": 3, "three_straights": 3, "three_flushes": 3}
    yield [{"kind": kind, "value": value} for kind, value in worth.items()]
    yield [{"kind": "two_trips", "value": 2, "trips": 2}, *listed]
    yield []


def built_hands() -> list[Hand]:
    """Return the hands that show one option each (`test_options`)."""
    found = []
    for case in CASES.values():
        how = {"button": 1, **case.how}
        seats = tuple(
            SeatHand(
                seat=seat,
                rows=Rows.parse(text) if text else None,
                stack=how.get("stacks", {}).get(seat),
                declares=seat in how.get("declares", ()),
                surrenders=seat in how.get("surrenders", ()),
                acted=how.get("acted", {}).get(seat),
                fantasyland=seat in how.get("fantasyland", ()),
            )
            for seat, text in case.rows.items()
        )
        found.append(Hand(seats=seats, button=how["button"], unit=1))
    return found


def random_hands(profile: Profile, count: int, seed: int = 45) -> list[Hand]:
    """Return random hands with what a profile offers."""
    deal = random.Random(f"{seed} {profile.name}")
    return [random_hand(deal, profile) for _ in range(count)]


class Settlements:
    """What hands come to under a profile, to compare with another one."""

    def __init__(self, profile: Profile, hands: Iterable[Hand]) -> None:
        self._of = [(hand, _outcome(hand, profile)) for hand in hands]

    def differ(self, other: Profile) -> bool:
        """Return whether any hand settles otherwise."""
        return any(_outcome(hand, other) != before for hand, before in self._of)


def _outcome(hand: Hand, profile: Profile) -> object:
    try:
        return outcome(settle(hand, profile))
    except RulesError:
        return "refused"
