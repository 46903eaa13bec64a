"""How the page says what a look contradicts: what is seen, the house's rule for it, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dealer_ui.words import card_name
from firmware.rules import Profile
from firmware.table.events import IrregularitySeen

THINGS: Final = {
    "back": "a card face down",
    "joker": "a joker",
    "marker": "the natural's marker",
    "hand": "a hand",
    "foreign": "something strange",
}


def things_words(things: Sequence[str]) -> str:
    """Say in a sentence what else lies in a row; nothing where nothing does.

    >>> things_words(("back", "marker"))
    "There also lies a card face down and the natural's marker. "
    """
    if not things:
        return ""
    names = dict.fromkeys(THINGS.get(thing, "something strange") for thing in things)
    return f"There also lies {' and '.join(names)}. "


def irregularity_words(seen: IrregularitySeen, rules: Profile) -> tuple[str, str, str, str, str]:
    """Return title, sentence, the house's rule, and the two answers: the record, the table ("" where it cannot)."""
    house = rules.irregularities
    where = f"seat {seen.seat}, {seen.row}"
    card = f"the {card_name(seen.card)}" if seen.card else "a card"
    now = f"the {card_name(seen.seen.card)}" if seen.seen and seen.seen.card else "another card"
    match seen.what:
        case "card_moved":
            to = f"seat {seen.to_seat}, {seen.to_row}"
            said = f"{card.capitalize()} was set at {where} and lies at {to} now."
            return "A set card has moved", said, house.card_moved, "It is put back", f"It stays at {to}"
        case "card_missing":
            lies = f" {things_words(seen.detail.split(', ') if seen.detail else [])}".rstrip()
            said = f"{card.capitalize()} was set at {where} and is not seen there any more.{lies}"
            return (
                "A set card is missing",
                said,
                house.card_moved,
                "It lies there",
                "It is not part of the hand",
            )
        case "card_changed":
            said = f"The record has {card} at {where}; the camera now sees {now} on its place."
            return "A set card reads otherwise", said, house.card_moved, f"It is {card}", f"It is {now}"
        case "extra_card":
            said = f"{now.capitalize()} lies at {where}, where the row is full."
            return "One card too many", said, house.wrong_number_of_cards, "It is taken away", ""
        case "face_down":
            said = f"{THINGS.get(seen.detail, 'a card').capitalize()} lies at {where}, where cards are placed face up."
            return "A card without a face", said, house.exposed_card, "It is turned up, or taken away", ""
        case "out_of_turn":
            said = f"Seat {seen.seat} has placed {card} before the other seats had theirs."
            return "A card out of turn", said, house.misdeal, "It is taken back", "It stands"
        case "card_twice":
            said = f"{card.capitalize()} is read at {where} and at another place."
            return "A card is there twice", said, house.card_twice, "", ""
