"""Between hands: the players' seats and stacks, who plays next, and what may be keyed about each."""

from __future__ import annotations

from typing import Any, Final

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.words import money
from dealer_ui.view.screen import Action, Amount, Naming, Player
from firmware.messages import Message
from firmware.rules import SEATS, Profile
from firmware.rules.hand import FEWEST_HANDS
from firmware.table.errors import CommandRefused
from firmware.table.events import SeatOpened
from firmware.table.house import House
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.state import State
from firmware.table.topics.opening import opened
from firmware.table.topics.white import next_refused

MOST: Final = 100_000_000
"""Cents that a keypad takes where the house sets no most: a million dollars."""


def is_between(state: State) -> bool:
    """Return whether the seats replace the felt: no hand is open, and the next hand's rules are known."""
    return state.phase in BETWEEN_HANDS and bool(state.house.unit)


def players(state: State, rules: Profile, *, answering: bool = True) -> tuple[Player, ...]:
    """Return the players at the table by seat, then those with chips and no seat."""
    next_in = _dealt_in(state, rules)
    seated = list(
        dict.fromkeys(seat.player for seat in sorted(state.house.seats, key=lambda seat: seat.seat))
    )
    names = [*seated, *sorted(set(state.stacks) - set(seated))]
    return tuple(_player(state, rules, name, next_in, answering=answering) for name in names)


def _player(state: State, rules: Profile, name: str, next_in: frozenset[str], *, answering: bool) -> Player:
    stack = state.stack_of(name)
    seats = tuple(seat.seat for seat in state.house.of(name))
    offered = bool(answering and seats)
    return Player(
        player=name,
        seats=seats,
        button=state.button in seats,
        stack=money(stack) if stack is not None else _("not counted"),
        standing=_standing(state, rules, name, stack, next_in) if seats else _("has no seat"),
        amounts=_amounts(state, rules, name, stack) if offered else (),
        actions=_actions(state, name) if offered else (),
        naming=_renaming(state, name) if offered else None,
        moves=_moves(state, name) if offered else (),
        leaving=_leaving(state, name, stack) if offered else None,
    )


def _at(state: State) -> dict[str, Any]:
    """Return the values that tie a command to the state shown."""
    return {"hand": state.hand, "phase": str(state.phase)}


def house_of(state: State, rules: Profile) -> House:
    """Return the rules that the next hand opens with."""
    settings = state.house
    return House(
        rules, settings.profile, settings.profile_hash, settings.unit, _seats(state), settings.options
    )


def next_hand_refused(state: State, rules: Profile | None) -> Message | None:
    """Explain why the next hand cannot be dealt; None if it can, or if it is not the next step."""
    paid = state.phase is Phase.SETTLED and not (state.reopened or state.unpaid)
    if rules is None or not state.house.seats or not (paid or is_between(state)):
        return None
    return next_refused(state, house_of(state, rules))


def _dealt_in(state: State, rules: Profile) -> frozenset[str]:
    """Return the seats that would get cards now; empty if no hand can be dealt."""
    try:
        return frozenset(seat.player for seat in opened(state, house_of(state, rules)).seats)
    except CommandRefused:
        return frozenset()


def _seats(state: State) -> tuple[SeatOpened, ...]:
    return tuple(SeatOpened(s.seat, s.player, s.place, s.stack) for s in state.house.seats)


def _standing(state: State, rules: Profile, name: str, stack: int | None, next_in: frozenset[str]) -> str:
    """Describe in a few words whether a player is dealt in next, or why not."""
    if why := _absence(state, rules, name, stack):
        return why
    ready = {
        one.player
        for one in state.house.seats
        if not _absence(state, rules, one.player, state.stack_of(one.player))
    }
    if len(ready) < FEWEST_HANDS:
        return _("waits for another player")
    if next_in and name not in next_in:
        return _("waits: four others play")
    if name in state.fantasyland:
        return _("plays · Fantasy Land")
    return _("plays")


def _absence(state: State, rules: Profile, name: str, stack: int | None) -> str:
    """Explain why a player would get no cards, whichever others play; "" if they would."""
    if name in state.sits_out:
        return _("sits out")
    if name in state.passes:
        return _("passes the next hand")
    least = rules.limits.min_points * state.house.unit
    if stack is not None and stack < least:
        return _("too few chips: %(least)s to be dealt in", least=money(least))
    return ""


def _amounts(state: State, rules: Profile, name: str, stack: int | None) -> tuple[Amount, ...]:
    """Return what may be keyed about a stack. The table enforces the house's limits; here they are only displayed."""
    unit, limits = state.house.unit, rules.limits
    most = limits.max_stack * unit or MOST
    at = {"player": name, **_at(state)}
    on_table = sum(filter(None, (state.stack_of(seat.player) for seat in state.house.seats)))
    count = Amount(
        _("Count"),
        {"do": "count_stack", "reason": "Counted", **at},
        _("%(player)s: the whole stack", player=name),
        most=MOST,
        old=stack,
        limit=limits.max_stack * unit or on_table,
    )
    if not stack:
        return (_buy_in({"do": "buy_in", **at}, "amount", name, unit, rules), count)
    add = Amount(
        _("Add"),
        {"do": "add_on", **at},
        _("%(player)s adds chips", player=name),
        base=stack,
        least=1,
        most=most,
        old=stack,
        limit=0 if limits.max_stack else max(on_table, stack),
        chips=chip_sums(unit, most - stack),
        into="amount",
    )
    return (add, count)


def chip_sums(unit: int, most: int) -> tuple[int, ...]:
    """Return sums that players often bring, in cents: of whole hundreds of cents, for a point worth `unit` cents."""
    sums = (unit * points for points in (20, 50, 100, 200))
    return tuple(cents for cents in sums if cents % 100 == 0 and cents <= most)


def _buy_in(command: dict[str, Any], into: Any, name: str, unit: int, rules: Profile) -> Amount:
    limits = rules.limits
    return Amount(
        _("Buy in"),
        command,
        _("%(player)s buys in", player=name) if name else _("Buy in"),
        least=max(1, limits.buy_in * unit),
        most=limits.max_stack * unit or MOST,
        chips=tuple(
            cents
            for cents in chip_sums(unit, limits.max_stack * unit or MOST)
            if cents >= limits.buy_in * unit
        ),
        into=into,
        old=0,
    )


def _actions(state: State, name: str) -> tuple[Action, ...]:
    sits, passes = name in state.sits_out, name in state.passes
    at = {"player": name, **_at(state)}
    sit = Action(_("Plays again") if sits else _("Sits out"), {"do": "sit_out", "on": not sits, **at})
    if sits:
        return (sit,)
    skip = Action(_("Does not pass") if passes else _("Passes"), {"do": "pass_round", "on": not passes, **at})
    return (sit, skip)


def _renaming(state: State, name: str) -> Naming:
    at = {"player": name, **_at(state)}
    title = _("Another name for %(player)s", player=name)
    label = _("Another name")
    return Naming(label, {"do": "rename_player", **at}, title, into="name", offers=offered_names(state))


def _free(state: State) -> list[int]:
    taken = {seat.seat for seat in state.house.seats}
    return [number for number in SEATS if number not in taken]


def _moves(state: State, name: str) -> tuple[Action, ...]:
    if len(state.house.of(name)) > 1:
        return ()
    at = {"player": name, **_at(state)}
    return tuple(
        Action(_("Seat %(seat)s", seat=seat), {"do": "seat_player", "seat": seat, **at})
        for seat in _free(state)
    )


def _leaving(state: State, name: str, stack: int | None) -> Action:
    label = _("Leaves with %(stack)s", stack=money(stack)) if stack else _("Leaves")
    return Action(label, {"do": "leave_seat", "player": name, **_at(state)}, tone="warn", hold=True)


def offered_names(state: State) -> tuple[str, ...]:
    """Return recent players' names, and one for a player without a name: one touch instead of typing."""
    taken = {*state.stacks, *(seat.player for seat in state.house.seats)}
    guests = (_("Guest"), *(_("Guest %(number)s", number=number) for number in range(2, len(SEATS) + 2)))
    guest = next(name for name in guests if name not in taken)
    return (guest, *(name for name in state.recent if name not in (*taken, guest)))


def free_seats(state: State, rules: Profile) -> tuple[Naming, ...]:
    """Return the actions that seat a player at each free seat: a name, then their chips if stacks are tracked."""
    counted = any(state.stack_of(seat.player) is not None for seat in state.house.seats)
    counted = counted or bool(rules.limits.buy_in)
    return tuple(
        Naming(
            _("Seat %(seat)s", seat=seat),
            {"do": "seat_player", "seat": seat, "comes": True, **_at(state)},
            _("Who sits down at seat %(seat)s?", seat=seat),
            into="player",
            then=_buy_in({}, "stack", "", state.house.unit, rules) if counted else None,
            offers=offered_names(state),
        )
        for seat in _free(state)
    )
