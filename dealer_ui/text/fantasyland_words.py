"""Fantasy Land in a few words, with its cards where they are more than 13."""

from collections.abc import Mapping

from dealer_ui.text.i18n import gettext as _
from firmware.rules import LAID


def fantasyland_words(cards: int) -> str:
    """Say that a player is in Fantasy Land; `cards`: those that they are dealt, 0 if not known."""
    return _("Fantasy Land: %(cards)s cards", cards=cards) if cards > LAID else _("Fantasy Land")


def next_words(cards: int, *, kept: bool) -> str:
    """Say that a player is in Fantasy Land on the next hand; who kept it is to announce it."""
    if cards > LAID:
        return (
            _("Keeps Fantasy Land, %(cards)s cards: announce", cards=cards)
            if kept
            else _("Fantasy Land next hand: %(cards)s cards", cards=cards)
        )
    return _("Keeps Fantasy Land: announce") if kept else _("Fantasy Land next hand")


def deal_words(seats: Mapping[int, int]) -> str:
    """Say how many cards seats in Fantasy Land are dealt, of which some get more than 13."""
    deals = (_("%(cards)s to seat %(seat)s", cards=cards, seat=seat) for seat, cards in seats.items())
    return _(
        "Face down: %(deals)s. Of more than 13 cards, 13 are laid; the others lie aside, face down. White push-button: "
        "the cards are out.",
        deals=_(", ").join(deals),
    )


def aside_words(seat: int, cards: int) -> str:
    """Say why a row of a seat in Fantasy Land may hold too many cards; "" if it was dealt 13."""
    if cards <= LAID:
        return ""
    return _(
        "Seat %(seat)s was dealt %(cards)s cards and lays 13: the others (%(rest)s) lie aside, face down.",
        seat=seat,
        cards=cards,
        rest=cards - LAID,
    )
