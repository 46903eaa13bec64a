"""Two cards swapped by the dealer's correction: shown with both positions, and with an undo. Pure."""

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.words import card_name, row_name
from dealer_ui.view.screen import Action, Group
from firmware.table.offers import Offer, Offers
from firmware.table.state import State
from firmware.table.swaps import Spot, is_whole, spots, swaps_made


def _undo_offers(may: Offers) -> tuple[Offer, ...]:
    return tuple(offer for offer in may.of("set_card", swap=True) if not offer.asks)


def pairs(state: State, may: Offers) -> tuple[tuple[Spot, Spot], ...]:
    """Return the swaps that can still be undone."""
    return swaps_made(state) if _undo_offers(may) else ()


def swap_notices(state: State, may: Offers) -> tuple[str, ...]:
    """Describe the new position of each pair of swapped cards."""
    return tuple(
        _("Changed places: %(one)s; %(other)s.", one=_format_spot(one), other=_format_spot(other))
        for one, other in pairs(state, may)
    )


def _format_spot(spot: Spot) -> str:
    return _(
        "seat %(seat)s, %(row)s, card %(number)s is the %(card)s",
        seat=spot.seat,
        row=row_name(spot.row),
        number=spot.index + 1,
        card=card_name(spot.code),
    )


def swap_undo_actions(may: Offers) -> tuple[Action, ...]:
    """Return an action that undoes each swap."""
    return tuple(Action.of(offer, tone="quiet", takes_back=True) for offer in _undo_offers(may))


def swap_groups(state: State, may: Offers) -> tuple[Group, ...]:
    """Return a group for each pair."""
    groups = zip(swap_notices(state, may), swap_undo_actions(may), strict=True)
    return tuple(Group(notice, (undo,)) for notice, undo in groups)


def cards_in_use(state: State) -> tuple[tuple[str, int, bool], ...]:
    """Return each sure card's code, its seat, and whether it may be swapped with another."""
    found = spots(state)
    whole = is_whole(found)
    return tuple((spot.code, spot.seat, whole and spot.card.as_read) for spot in found)
