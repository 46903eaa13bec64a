"""Irregularities in a reading, in words: what the camera sees, the house's rule for it, and the answers."""

from collections.abc import Sequence
from typing import Final

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.rule_words import rule_text
from dealer_ui.text.words import capital, card_name, row_name
from firmware.rules import Profile
from firmware.table.events import Irregularity

THINGS: Final = {
    "back": N_("a card face down"),
    "joker": N_("a joker"),
    "marker": N_("the natural's marker"),
    "hand": N_("a hand"),
    "foreign": N_("something strange"),
}


def things_words(things: Sequence[str]) -> str:
    """Describe in a sentence what else lies in a row; empty if nothing does.

    >>> things_words(("back", "marker"))
    "There also lies a card face down and the natural's marker."
    """
    if not things:
        return ""
    names = dict.fromkeys(_(THINGS.get(thing, N_("something strange"))) for thing in things)
    return _("There also lies %(things)s.", things=_(" and ").join(names))


def _the(code: str | None, otherwise: str) -> str:
    return _("the %(card)s", card=card_name(code)) if code else otherwise


def irregularity_words(seen: Irregularity, rules: Profile) -> tuple[str, str, str, str, str]:
    """Return title, sentence, the house's rule, and two answers: the record, the table ("" if not possible)."""
    house = rules.irregularities
    where = _place(seen.seat, seen.row)
    card = _the(seen.card, _("a card"))
    now = _the(seen.seen.card if seen.seen else None, _("another card"))
    match seen.what:
        case "card_moved":
            to = _place(seen.to_seat, seen.to_row or "")
            return (
                _("A set card has moved"),
                _(
                    "%(card)s was set at %(place)s and lies at %(to)s now.",
                    card=capital(card),
                    place=where,
                    to=to,
                ),
                rule_text(house.card_moved),
                _("It is put back"),
                _("It stays at %(place)s", place=to),
            )
        case "card_missing":
            statement = _(
                "%(card)s was set at %(place)s and is not seen there any more.",
                card=capital(card),
                place=where,
            )
            lies = things_words(seen.detail.split(", ") if seen.detail else [])
            return (
                _("A set card is missing"),
                f"{statement} {lies}".rstrip(),
                rule_text(house.card_moved),
                _("It lies there"),
                _("It is not part of the hand"),
            )
        case "card_changed":
            return (
                _("A set card reads otherwise"),
                _(
                    "The record has %(card)s at %(place)s; the camera now sees %(other)s on its place.",
                    card=card,
                    place=where,
                    other=now,
                ),
                rule_text(house.card_moved),
                _("It is %(card)s", card=card),
                _("It is %(card)s", card=now),
            )
        case "extra_card":
            return (
                _("One card too many"),
                _("%(card)s lies at %(place)s, where the row is full.", card=capital(now), place=where),
                rule_text(house.wrong_number_of_cards),
                _("It is taken away"),
                "",
            )
        case "face_down":
            thing = _(THINGS.get(seen.detail, N_("a card")))
            return (
                _("A card without a face"),
                _(
                    "%(thing)s lies at %(place)s, where cards are placed face up.",
                    thing=capital(thing),
                    place=where,
                ),
                rule_text(house.exposed_card),
                _("It is turned up, or taken away"),
                "",
            )
        case "out_of_turn":
            return (
                _("A card out of turn"),
                _(
                    "Seat %(seat)s has placed %(card)s before the other seats had theirs.",
                    seat=seen.seat,
                    card=card,
                ),
                rule_text(house.misdeal),
                _("It is taken back"),
                _("It stands"),
            )
        case "card_twice":
            return (
                _("A card is there twice"),
                _("%(card)s is read at %(place)s and at another place.", card=capital(card), place=where),
                rule_text(house.card_twice),
                "",
                "",
            )


def _place(seat: int | None, row: str) -> str:
    return _("seat %(seat)s, %(row)s", seat=seat, row=row_name(row))
