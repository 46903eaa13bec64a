"""The players of a simulated face-up game: they place street by street, and know the true cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firmware.simulation.live.players import SetHand, Spot
from firmware.table import Question, State
from firmware.table.events import ROWS, Irregularity
from firmware.table.streets import cards_by, open_seats
from vision.synthetic.render import FACE_DOWN

Rows = dict[str, list[str]]


def lying(
    state: State, hands: Mapping[int, SetHand], orders: Mapping[int, Sequence[Spot]], street: int
) -> dict[int, Rows]:
    """Return the cards at each seat after this many streets; a closed hand lies face down."""
    felt: dict[int, Rows] = {}
    for seat in state.seats:
        if seat.open:
            came = orders[seat.seat][: cards_by(street)]
            felt[seat.seat] = {row: [card for r, card in came if r == row] for row in ROWS}
        elif not hands[seat.seat].surrenders:
            felt[seat.seat] = {row: [FACE_DOWN] * count for row, count in ROWS.items()}
    return felt


def all_seen(state: State, street: int) -> bool:
    """Return whether the record has every open seat's cards of this many streets."""
    return all(seat.placed >= cards_by(street) for seat in open_seats(state))


def true_card(state: State, question: Question, truth: Sequence[str]) -> str:
    """Return the true card at a question's position, given its row's true cards.

    Cards that were seen one by one may be on record in another order: those already named are left out.
    """
    assert question.seat is not None
    assert question.row is not None
    assert question.index is not None
    seat = state.seat(question.seat)
    cards = seat.row(question.row) if seat else ()
    named = [card.card for k, card in enumerate(cards) if card.sure and k != question.index]
    left = [card for card in truth if card not in named] or list(truth)
    likely = [card for card in question.cards if card in left]
    at = truth[question.index] if question.index < len(truth) else left[0]
    return at if at in left else (likely or left)[0]


def stands(seen: Irregularity, shown: Mapping[int, Mapping[str, Sequence[str]]]) -> str:
    """Return which side of an irregularity the true cards confirm: "record" or "table"."""
    here = shown[seen.seat].get(seen.row, ())
    match seen.what:
        case "card_missing":
            return "record" if seen.card in here else "table"
        case "card_moved":
            there = shown[seen.to_seat or seen.seat].get(seen.to_row or seen.row, ())
            return "table" if seen.card in there else "record"
        case "card_changed":
            other = seen.seen.card if seen.seen else None
            return "table" if other in here and seen.card not in here else "record"
        case "out_of_turn":
            return "table"
    return "record"
