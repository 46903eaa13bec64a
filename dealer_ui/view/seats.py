"""Between hands: the players' seats and stacks, who plays next, and what may be keyed about each."""

from collections.abc import Iterator
from typing import Any, Final

from dealer_ui.text.fantasyland_words import fantasyland_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import money
from dealer_ui.view.screen import Action, Amount, NameEntry, Player
from firmware.messages import Message
from firmware.rules import SEATS, Profile
from firmware.rules.hand import MAX_HANDS, MIN_HANDS
from firmware.table.events import HandOpened
from firmware.table.offers import NO_OFFERS, Offer, Offers
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.state import State

MAX_CENTS: Final = 100_000_000
"""Cents that a keypad takes where the house sets no maximum: a million dollars."""


def is_between(state: State) -> bool:
    """Return whether the seats replace the felt: no hand is open, and the next hand's rules are known."""
    return state.phase in BETWEEN_HANDS and bool(state.house.unit)


def players(state: State, rules: Profile, may: Offers, *, answering: bool = True) -> tuple[Player, ...]:
    """Return the players at the table by seat, then those with chips and no seat."""
    opens = () if isinstance(may.next_hand, Message) else may.next_hand
    next_in = frozenset(
        seat.player for event in opens if isinstance(event, HandOpened) for seat in event.seats
    )
    offered = may if answering else NO_OFFERS
    seated = list(
        dict.fromkeys(seat.player for seat in sorted(state.house.seats, key=lambda seat: seat.seat))
    )
    names = [*seated, *sorted(set(state.stacks) - set(seated))]
    return tuple(_player(state, rules, name, next_in, offered) for name in names)


def _player(state: State, rules: Profile, name: str, next_in: frozenset[str], may: Offers) -> Player:
    stack = state.stack_of(name)
    seats = tuple(seat.seat for seat in state.house.seats_of(name))
    return Player(
        player=name,
        seats=seats,
        button=state.button in seats,
        stack=money(stack) if stack is not None else _("not counted"),
        standing=_standing(state, rules, name, stack, next_in) if seats else _("has no seat"),
        amounts=_amounts(state, rules, name, stack, may),
        actions=tuple(map(Action.of, may.of("sit_out", "pass_round", player=name))),
        naming=_renaming(state, name, may),
        moves=tuple(map(Action.of, may.of("seat_player", player=name))),
        leaving=_leaving(name, stack, may),
    )


def _standing(state: State, rules: Profile, name: str, stack: int | None, next_in: frozenset[str]) -> str:
    """Describe in a few words whether a player is dealt in next, or why not."""
    if why := _absence(state, rules, name, stack):
        return why
    ready = {
        one.player
        for one in state.house.seats
        if not _absence(state, rules, one.player, state.stack_of(one.player))
    }
    if len(ready) < MIN_HANDS:
        return _("waits for another player")
    if next_in and name not in next_in:
        four = rules.limits.players == MAX_HANDS
        return _("waits: four others play") if four else _("waits: the others play")
    if name in state.fantasyland:
        return _("plays · %(what)s", what=fantasyland_words(state.fantasyland[name]))
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


def _amounts(state: State, rules: Profile, name: str, stack: int | None, may: Offers) -> tuple[Amount, ...]:
    """Return what may be keyed about a stack. The table enforces the house's limits; here they are only displayed."""
    unit, limits = state.house.unit, rules.limits
    most = limits.max_stack * unit or MAX_CENTS
    on_table = sum(filter(None, (state.stack_of(seat.player) for seat in state.house.seats)))

    def keyed(do: str, title: str, **how: Any) -> Iterator[Amount]:
        for offer in may.of(do, player=name):
            yield Amount(say(offer.words), {**offer.command}, title, old=stack, **how)

    has = stack or 0
    return (
        *(_buy_in(offer, "amount", name, unit, rules) for offer in may.of("buy_in", player=name)),
        *keyed(
            "add_on",
            _("%(player)s adds chips", player=name),
            base=has,
            least=1,
            most=most,
            limit=0 if limits.max_stack else max(on_table, has),
            chips=chip_sums(unit, most - has),
            into="amount",
        ),
        *keyed(
            "count_stack",
            _("%(player)s: the whole stack", player=name),
            most=MAX_CENTS,
            limit=limits.max_stack * unit or on_table,
        ),
    )


def chip_sums(unit: int, most: int) -> tuple[int, ...]:
    """Return sums that players often bring, in cents: of whole hundreds of cents, for a point worth `unit` cents."""
    sums = (unit * points for points in (20, 50, 100, 200))
    return tuple(cents for cents in sums if cents % 100 == 0 and cents <= most)


def _buy_in(offer: Offer | None, into: Any, name: str, unit: int, rules: Profile) -> Amount:
    """Return what a player brings; without an `offer` it's a part of the command that seats them."""
    limits = rules.limits
    return Amount(
        _("Buy in"),
        {**offer.command} if offer else {},
        _("%(player)s buys in", player=name) if name else _("Buy in"),
        least=max(1, limits.buy_in * unit),
        most=limits.max_stack * unit or MAX_CENTS,
        chips=tuple(
            cents
            for cents in chip_sums(unit, limits.max_stack * unit or MAX_CENTS)
            if cents >= limits.buy_in * unit
        ),
        into=into,
        old=0,
    )


def _renaming(state: State, name: str, may: Offers) -> NameEntry | None:
    offer = may.first("rename_player", player=name)
    if offer is None:
        return None
    title = _("Another name for %(player)s", player=name)
    return NameEntry(say(offer.words), {**offer.command}, title, into="name", offers=names_to_offer(state))


def _leaving(name: str, stack: int | None, may: Offers) -> Action | None:
    offer = may.first("leave_seat", player=name)
    label = _("Leaves with %(stack)s", stack=money(stack)) if stack else ""
    return Action.of(offer, label, tone="warn") if offer else None


def names_to_offer(state: State) -> tuple[str, ...]:
    """Return recent players' names, and one for a player without a name: one touch instead of typing."""
    taken = {*state.stacks, *(seat.player for seat in state.house.seats)}
    guests = (_("Guest"), *(_("Guest %(number)s", number=number) for number in range(2, len(SEATS) + 2)))
    guest = next(name for name in guests if name not in taken)
    return (guest, *(name for name in state.recent if name not in (*taken, guest)))


def free_seats(state: State, rules: Profile, may: Offers) -> tuple[NameEntry, ...]:
    """Return the actions that seat a player at each free seat: a name, then their chips if stacks are tracked."""
    counted = any(state.stack_of(seat.player) is not None for seat in state.house.seats)
    counted = counted or bool(rules.limits.buy_in)
    return tuple(
        NameEntry(
            say(offer.words),
            {**offer.command},
            _("Who sits down at seat %(seat)s?", seat=offer.command["seat"]),
            into="player",
            then=_buy_in(None, "stack", "", state.house.unit, rules) if counted else None,
            offers=names_to_offer(state),
        )
        for offer in may.of("seat_player", comes=True)
    )
