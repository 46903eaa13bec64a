"""Between hands: the dealer on duty, and what each player owes for the down."""

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.words import money
from dealer_ui.view.downs import DownTime
from dealer_ui.view.screen import Action, Down
from firmware.rules import Profile
from firmware.rules.collection import fee_due, rates
from firmware.table.offers import Offers
from firmware.table.state import State


def down(state: State, rules: Profile | None, time: DownTime | None) -> Down | None:
    """Return who deals, since when, and what each player owes; None if nobody is logged on."""
    if not state.dealer or time is None:
        return None
    length = rules.collection.down_minutes if rules else 0
    over = bool(length) and time.minutes >= length
    if over:
        clock = ngettext(
            "%(minutes)s min: %(num)s minute over",
            "%(minutes)s min: %(num)s minutes over",
            time.minutes - length,
            minutes=time.minutes,
        )
    elif length:
        clock = _("%(minutes)s of %(length)s min", minutes=time.minutes, length=length)
    else:
        clock = _("%(minutes)s min", minutes=time.minutes)
    return Down(state.dealer, state.down, clock, over, *_collection(state, rules, time))


def _collection(
    state: State, rules: Profile | None, time: DownTime
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the posted rate in words and each player's fee for this down."""
    found = rates(_unit(state), rules) if rules else ()
    if not found or rules is None:
        return "", ()
    rate = found[0]  # a table plays one option; the profile's schedule has one for each limit
    due = tuple(
        (name, money(fee_due(rate, 60 * time.joined.get(name, time.minutes), rules)))
        for name in state.stacks
        if name not in state.sits_out
    )
    return _("%(fee)s a player and down", fee=money(rate.fee)), due


def _unit(state: State) -> int:
    return state.opened.unit if state.opened else state.house.unit


def log_ons(may: Offers) -> tuple[Action, ...]:
    """Return the actions to log on and off. They are always offered: dealers also change during hands."""
    off = (Action.of(offer, tone="quiet") for offer in may.of("log_off"))
    on = (Action.of(offer, offer.command["person"]) for offer in may.of("log_on"))
    return (*on, *off)
