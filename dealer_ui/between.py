"""Between hands: who sits with how much and plays next, who deals, and what each owes for the down."""

from __future__ import annotations

from typing import Final

from dealer_ui.downs import DownTime
from dealer_ui.screen import Action, Amount, Down, Player
from dealer_ui.words import counted, money
from firmware.rules import Profile
from firmware.rules.collection import Down as RulesDown
from firmware.rules.collection import fee_due, rates
from firmware.table.people import Role
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.state import State

MOST: Final = 100_000_000
"""Cents that a keypad takes where the house sets no most: a million dollars."""


def players(state: State, rules: Profile | None, *, answering: bool = True) -> tuple[Player, ...]:
    """Return everybody with chips at the table, by seat; those without one come last."""
    if state.opened is None or rules is None:
        return ()
    seats: dict[str, list[int]] = {}
    for seat in state.opened.seats:
        seats.setdefault(seat.player, []).append(seat.seat)
    found = [
        Player(
            player=name,
            seats=tuple(seats.get(name, ())),
            button=state.button in seats.get(name, ()),
            stack=money(stack) if stack is not None else "not counted",
            standing=_standing(state, rules, name, stack),
            amounts=_amounts(state, rules, name, stack) if answering else (),
            actions=_actions(state, name, stack) if answering else (),
        )
        for name, stack in state.stacks.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.seats or (9,), one.player)))


def _standing(state: State, rules: Profile, name: str, stack: int | None) -> str:
    """Say in a few words whether a player is dealt in next, or why not."""
    assert state.opened is not None
    if name in state.sits_out:
        return "sits out"
    if name in state.passes:
        return "passes the next hand"
    least = rules.limits.min_points * state.opened.unit
    if stack is not None and stack < least:
        return f"too few chips: {money(least)} to be dealt in"
    if name in state.fantasyland:
        return "plays · Fantasy Land"
    return "plays"


def _amounts(state: State, rules: Profile, name: str, stack: int | None) -> tuple[Amount, ...]:
    """Return what may be keyed about a stack. The limits are the house's (firmware.rules.chips says the same)."""
    assert state.opened is not None
    unit, limits = state.opened.unit, rules.limits
    most = limits.max_stack * unit or MOST
    at = {"do": "count_stack", "player": name, "hand": state.hand, "phase": str(state.phase)}
    counted_ = Amount("Count", {**at, "reason": "Counted"}, f"{name}: the whole stack", most=MOST)
    if not stack:
        least = limits.buy_in * unit
        return (
            Amount("Buy in", {**at, "reason": "Buy-in"}, f"{name} buys in", least=least, most=most),
            counted_,
        )
    add = Amount("Add", {**at, "reason": "Add-on"}, f"{name} adds chips", base=stack, least=1, most=most)
    return (add, counted_)


def _actions(state: State, name: str, stack: int | None) -> tuple[Action, ...]:
    sits, passes = name in state.sits_out, name in state.passes
    at = {"player": name, "hand": state.hand, "phase": str(state.phase)}
    sit = Action("Plays again" if sits else "Sits out", {"do": "sit_out", "on": not sits, **at})
    skip = Action("Does not pass" if passes else "Passes", {"do": "pass_round", "on": not passes, **at})
    if not sits:
        return (sit, skip)
    if not stack:
        return (sit,)
    leave = {"do": "count_stack", "stack": 0, "reason": f"Leaves with {money(stack)}", **at}
    return (sit, Action("Takes chips", leave, tone="warn", hold=True))


def down(state: State, rules: Profile | None, time: DownTime | None) -> Down | None:
    """Return who deals, since when, and who owes what for it; None where nobody is logged on."""
    if not state.dealer or time is None:
        return None
    length = rules.collection.down_minutes if rules else 0
    over = bool(length) and time.minutes >= length
    clock = f"{time.minutes} of {length} min" if length else f"{time.minutes} min"
    if over:
        clock = f"{time.minutes} min: {counted(time.minutes - length, 'minute')} over"
    return Down(state.dealer, state.down, clock, over, *_collection(state, rules, time))


def _collection(
    state: State, rules: Profile | None, time: DownTime
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the posted rate in words and each player's fee for this down."""
    found = rates(state.opened.unit, rules) if rules and state.opened else ()
    if not found or rules is None:
        return "", ()
    rate = found[0]  # one option is fixed for a table; the profile's schedule has one for each limit
    span = RulesDown(state.down, 0, rules.collection.down_minutes * 60)
    due = tuple(
        (name, money(fee_due(rate, span, 60 * time.joined.get(name, time.minutes), rules)))
        for name in state.stacks
        if name not in state.sits_out
    )
    return f"{money(rate.fee)} a player and down", due


def log_ons(state: State) -> tuple[Action, ...]:
    """Return who may take the table over, and logging off. Possible at any time: dealers change during hands, too."""
    on = tuple(
        Action(person.name, {"do": "log_on", "person": person.name})
        for person in state.people
        if person.role is Role.DEALER and person.name != state.dealer
    )
    return (*on, Action(f"{state.dealer} leaves", {"do": "log_off"}, tone="quiet")) if state.dealer else on


def is_between(state: State) -> bool:
    """Say whether the players' list has the place of the felt: no hand is open, and there are players."""
    return state.phase in BETWEEN_HANDS and bool(state.stacks) and state.opened is not None
