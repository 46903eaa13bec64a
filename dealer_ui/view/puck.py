"""Where the puck must lie before the next hand opens, and why it marks no seat."""

from typing import Final

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.view.screen import Action, Group, PuckDue
from firmware.table.offers import Offers
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.state import State

PUCK: Final = {
    "none": N_("The puck reader sees no puck at any seat."),
    "ambiguous": N_("The puck reader sees the puck at two seats."),
    "apart": N_("The dealer disk and the action disk lie at different seats."),
    "fault": N_("The puck reader does not work."),
    "seat": N_("The puck was at no seat when the cards were out."),
}
"""Why the puck names no seat."""
PUCK_SILENT: Final = N_("The puck reader does not tell where the puck is.")


def puck_words(state: State) -> str:
    """Explain in a sentence why the puck marks no seat: in the reader's own words if it has any."""
    if "puck" in state.without:
        return _("This table has no puck reader.")
    if state.puck.detail:
        return say(state.puck.detail)
    return _(PUCK.get(state.puck.state, PUCK_SILENT))


def puck_due(state: State, may: Offers) -> PuckDue | None:
    """Describe where to move the puck before the next hand; None if it lies right or the dealer has said where."""
    due, words = may.puck_due, {offer.command["seat"]: offer for offer in may.of("keep_button")}
    if due is None or not words or not state.house.unit:
        return None
    names = {seat.seat: seat.player for seat in state.house.seats}
    seen = state.puck.seat
    at = seen or state.button or due
    return PuckDue(
        at=at,
        to=due,
        player=names.get(due, ""),
        is_seen=seen is not None,
        title=_("Move the puck") if seen else _("Lay the puck at seat %(seat)s", seat=due),
        sentence=_puck_sentence(state, due, names),
        stays=Action.of(words[at], _("It stays at %(seat)s", seat=at)),
        lies=None if seen else Action.of(words[due], _("It lies at %(seat)s", seat=due)),
        opens=state.puck_awaited,
    )


def _puck_sentence(state: State, due: int, names: dict[int, str]) -> str:
    seen, player = state.puck.seat, names.get(due, "")
    parts = []
    if seen is None:
        parts.append(puck_words(state))
    elif seen not in names:
        parts.append(_("Nobody sits at seat %(seat)s.", seat=seen))
    elif names[seen] in state.sits_out:
        parts.append(_("%(player)s at seat %(seat)s sits out.", player=names[seen], seat=seen))
    if state.phase is Phase.VOID:
        parts.append(
            _("After a void hand the puck stays: seat %(seat)s, %(player)s.", seat=due, player=player)
        )
    else:
        parts.append(_("The puck is due at seat %(seat)s, %(player)s.", seat=due, player=player))
    if state.puck_awaited:
        parts.append(_("Then the next hand opens by itself."))
    return " ".join(parts)


def puck_moves(state: State, may: Offers) -> str | None:
    """Say how the puck moves on a table without a reader; None with one, and where nothing is to be said of it."""
    if "puck" not in state.without:
        return None
    names = {seat.seat: seat.player for seat in state.house.seats}
    is_next = state.is_paid or state.phase in BETWEEN_HANDS
    if is_next and state.button_kept is None and (told := may.puck_told) is not None:
        return _(
            "This table has no puck reader: the puck moves by itself to seat %(seat)s, %(player)s. "
            "Another seat: under “More”.",
            seat=told,
            player=names.get(told, ""),
        )
    if is_next and state.button_kept is not None:
        return _("By touch: the puck of the next hand is at seat %(seat)s.", seat=state.button_kept)
    if state.phase is Phase.DEALING and state.button is None:
        return _("This table has no puck reader: touch the puck's seat under “More”, or when it is asked.")
    return None


def puck_elsewhere(state: State, due: PuckDue | None, may: Offers) -> tuple[Group, ...]:
    """Offer the other seats at which the dealer may say that the puck lies: while it is due, or moves by itself."""
    offered: set[int]
    if due is not None:
        offered = {due.at, due.to} if due.lies else {due.at}
    elif "puck" in state.without and may.of("keep_button"):
        offered = {may.puck_told} if may.puck_told is not None else set()
    else:
        return ()
    others = (offer for offer in may.of("keep_button") if offer.command["seat"] not in offered)
    return (Group(_("The puck of the next hand is at"), tuple(map(Action.of, others))),)
