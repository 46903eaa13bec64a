"""The streets of a face-up hand: five cards, then eight times one or four times two (a profile's `deal`). Pure."""

from functools import lru_cache
from typing import Final

from firmware.messages import Message
from firmware.rules import CARDS, Profile, Rows, RulesError, parse_cards
from firmware.rules.growing import growth
from firmware.rules.order import clockwise_from
from firmware.table.phase import Phase
from firmware.table.readings import ROWS
from firmware.table.state import Ask, Seat, State

FIRST: Final = 5
"""Cards of the first street."""
CARDS_EACH: Final = sum(ROWS.values())

Faces = tuple[str, str, str]
"""The cards of front, middle and back, each row as one string."""


def all_streets(each: int) -> int:
    """Return the number of streets of a hand in which each street after the first has `each` cards."""
    return streets_of(CARDS_EACH, each)


def each_street(state: State) -> int:
    """Return the cards that a seat places at each street after the first."""
    return state.opened.street_cards if state.opened else 1


def streets_of(placed: int, each: int = 1) -> int:
    """Return how many streets are complete with this many cards.

    >>> [streets_of(placed) for placed in (0, 4, 5, 6, 13)]
    [0, 0, 1, 2, 9]
    >>> [streets_of(placed, 2) for placed in (0, 4, 5, 6, 7, 13)]
    [0, 0, 1, 1, 2, 5]
    """
    return max(0, (placed - FIRST) // each + 1)


def begun_streets(placed: int, each: int) -> int:
    """Return how many streets are begun with this many cards.

    >>> [begun_streets(placed, 2) for placed in (0, 1, 5, 6, 7, 8)]
    [0, 1, 1, 2, 2, 3]
    """
    return streets_of(placed + each - 1, each) if placed > FIRST else min(placed, 1)


def cards_by(street: int, each: int = 1) -> int:
    """Return how many cards a seat has when this many streets are complete."""
    return 0 if street == 0 else FIRST + each * (street - 1)


def open_seats(state: State) -> tuple[Seat, ...]:
    """Return the seats that place their cards face up."""
    return tuple(seat for seat in state.seats if seat.open and not seat.surrenders)


def street(state: State) -> int | None:
    """Return the street that is being placed, from 1; None outside placing and when all streets are complete."""
    seats = open_seats(state)
    if state.phase is not Phase.PLACING or not seats:
        return None
    each = each_street(state)
    done = min(streets_of(seat.placed, each) for seat in seats)
    return done + 1 if done < all_streets(each) else None


def turn(state: State) -> int | None:
    """Return the seat whose card is due: the first one left of the puck that has not completed this street."""
    now = street(state)
    if now is None or state.button is None:
        return None
    each = each_street(state)
    behind = {seat.seat for seat in open_seats(state) if streets_of(seat.placed, each) < now}
    order = clockwise_from([seat.seat for seat in open_seats(state)], state.button % 5 + 1)
    return next((seat for seat in order if seat in behind), None)


def not_complete(state: State) -> Message | None:
    """Return why the showdown cannot be signalled while placing; None if it can.

    Without a camera the rows may be incomplete, because they are keyed afterwards.
    """
    if any(question.what is Ask.IRREGULARITY for question in state.questions):
        return Message("An irregularity is open; say what stands, or void the hand.")
    if state.keyed or "camera" in state.faults:
        return None
    short = [seat for seat in open_seats(state) if seat.placed < CARDS_EACH]
    if short:
        seat = short[0]
        return Message(
            "Seat %(seat)s has placed %(placed)s of %(all)s cards.",
            seat=seat.seat,
            placed=seat.placed,
            all=CARDS_EACH,
        )
    return None


def dead_seats(state: State, rules: Profile) -> frozenset[int]:
    """Return the open seats whose foul is certain, whatever cards still come."""
    if state.phase is not Phase.PLACING:
        return frozenset()
    seats = open_seats(state)
    faces = {seat.seat: _faces(seat) for seat in seats}
    if None in faces.values():
        return frozenset()  # an unsure card may be any card, so no foul is certain
    known = frozenset(code for rows in faces.values() if rows for row in rows for code in row.split())
    return frozenset(
        seat for seat, rows in faces.items() if rows and any(rows) and _is_dead(rows, known, rules)
    )


def _faces(seat: Seat) -> Faces | None:
    if any(not card.sure or card.card is None for cards in seat.rows.values() for card in cards):
        return None
    front, middle, back = (" ".join(card.card or "" for card in cards) for cards in seat.rows.values())
    return front, middle, back


_ways_out: Final[dict[tuple[Faces, Profile], frozenset[str]]] = {}
"""A cache: for given rows, the cards of one completion without a foul. While these cards are unseen, the rows are not
dead and no new search is needed. A search takes 5 to 100 ms; a placed card changes the rows of one seat only."""
_WAYS_KEPT: Final = 64


@lru_cache(maxsize=256)
def _is_dead(rows: Faces, known: frozenset[str], rules: Profile) -> bool:
    needed = _ways_out.get((rows, rules))
    if needed is not None and needed.isdisjoint(known):
        return False
    unseen = [card for card in CARDS if card.code not in known]
    laid = Rows(*map(parse_cards, rows))
    try:
        completion = growth(laid, unseen, rules).completion
    except RulesError:
        return False  # irregular: another question is open
    if completion is None:
        return True
    if len(_ways_out) >= _WAYS_KEPT:
        _ways_out.clear()
    _ways_out[rows, rules] = frozenset(card.code for card in completion.cards if card not in laid.cards)
    return False
