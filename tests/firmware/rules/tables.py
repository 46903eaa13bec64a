"""Hands for the tests of the rules: short ways to lay them, settle them and read what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from firmware.rules import Hand, Profile, Rows, SeatHand, Settlement, load_profile, settle

# Rows of one deck, none of which is a foul or a natural, and where nobody has a bonus hand.
PLAIN = {
    1: "Qc Th 5d / Ad Kd 8s 8d 5c / Ks Kh 4s 4h 3d",
    2: "Tc 6c 2d / Qd Jd 7s 7d 6h / Js Jh Ts 2s 2h",
    3: "Kc 4c 3c / Ac 9s 9d 4d 2c / Qs Qh 9h 3s 3h",
    4: "Jc 8c 7c / Td 9c 7h 6s 6d / As Ah 8h 5s 5h",
}


def rules(profile: Profile | str, **options: object) -> Profile:
    """Return a profile with options set: `foul__points=4` is foul.points."""
    loaded = load_profile(profile) if isinstance(profile, str) else profile
    return loaded.with_options({path.replace("__", "."): value for path, value in options.items()})


def play(
    profile: Profile | str,
    rows: Mapping[int, str],
    *,
    button: int = 1,
    unit: int = 1,
    stacks: Mapping[int, int] | None = None,
    players: Mapping[int, str] | None = None,
    declares: Iterable[int] = (),
    surrenders: Iterable[int] = (),
    acted: Mapping[int, int] | None = None,
    fantasyland: Iterable[int] | Mapping[int, int] = (),
) -> Settlement:
    """Settle the rows of each seat; empty rows belong to a seat that surrenders. The cards must be of one deck.

    `fantasyland`: seats in Fantasy Land, with the cards that they were dealt there if it says so.
    """
    hands = tuple(
        SeatHand(
            seat=seat,
            rows=Rows.parse(text) if text else None,
            player=(players or {}).get(seat, ""),
            stack=(stacks or {}).get(seat),
            declares=seat in tuple(declares),
            surrenders=seat in tuple(surrenders),
            acted=(acted or {}).get(seat),
            fantasyland=seat in tuple(fantasyland),
            fantasyland_cards=fantasyland.get(seat) if isinstance(fantasyland, Mapping) else None,
        )
        for seat, text in rows.items()
    )
    settlement = settle(Hand(seats=hands, button=button, unit=unit), rules(profile))
    assert not settlement.irregularities
    return settlement


def gains(settlement: Settlement) -> dict[tuple[int, int], int]:
    """Return what the lower seat of each pair gains from the higher one."""
    return {
        (min(pair.a, pair.b), max(pair.a, pair.b)): pair.points if pair.a < pair.b else -pair.points
        for pair in settlement.pairs
    }


def duel(
    profile: Profile | str, first: str, second: str, *, button: int = 3, declares: Iterable[int] = ()
) -> int:
    """Return what seat 1 gains from seat 2. The button is at neither unless it is said."""
    return play(profile, {1: first, 2: second}, button=button, declares=declares).points[1]


def lines(
    profile: Profile | str, first: str, second: str, *, button: int = 3, declares: Iterable[int] = ()
) -> list[tuple[str, int]]:
    """Return the lines between seats 1 and 2: what each is, and what seat 1 gains by it."""
    (pair,) = play(profile, {1: first, 2: second}, button=button, declares=declares).pairs
    sign = 1 if pair.a == 1 else -1
    return [(line.id, sign * line.points) for line in pair.lines]
