"""Past hands to look at: a clock that always tells the same, frames drawn here with every card at its place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

import cv2
import numpy as np

from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import Clock, Timestamp
from firmware.record.journal.journal import JournalReader
from firmware.record.reopening import end_of_hand
from firmware.table import events as ev
from firmware.table.topics.opening import reopen as reopening
from tests.dealer_ui.felt import Felt, Spot

BEGAN_MS: Final = 1_790_000_000_000
SIZE: Final = (1600, 1000)
"""A frame's width and height in pixels."""
CARD: Final = (80, 112)
Corners = tuple[tuple[float, float], ...]


def ticking() -> Clock:
    """Return a clock that begins at a fixed moment and goes on by a second each time that it is looked at."""
    seconds = 0

    def tell() -> Timestamp:
        nonlocal seconds
        seconds += 1
        return Timestamp("boot", seconds * 1_000_000_000, BEGAN_MS + seconds * 1000, "synchronised")

    return tell


def spot_px(seat: int, row: ev.Row, index: int, moved: int = 0) -> Corners:
    """Return the corners of a card's place in the frame."""
    left = 140 + (seat - 1) % 2 * 760 + index * (CARD[0] + 22) + moved
    top = 70 + (seat - 1) // 2 * 470 + list(ev.ROWS).index(row) * (CARD[1] + 26)
    x, y = float(left), float(top)
    return ((x, y), (x + CARD[0], y), (x + CARD[0], y + CARD[1]), (x, y + CARD[1]))


def zone_px(seat: int, row: ev.Row) -> Corners:
    """Return the outline of a zone in the frame."""
    (left, top), *_ = spot_px(seat, row, 0)
    right, bottom = spot_px(seat, row, ev.ROWS[row] - 1)[2]
    return (
        (left - 10, top - 8),
        (right + 10, top - 8),
        (right + 10, bottom + 8),
        (left - 10, bottom + 8),
    )


def reading(
    felt: Felt, unsure: Mapping[Spot, tuple[str, ...]] | None = None, moved: int = 0
) -> tuple[ev.RowReading, ...]:
    """Return what the camera reads of the felt's hands, each card at its place."""
    asked = unsure or {}
    return tuple(
        ev.RowReading(
            seat,
            row,
            felt.seats[seat],
            tuple(
                ev.CardReading(
                    card,
                    0.41 if (seat, row, i) in asked else 0.99,
                    (seat, row, i) not in asked,
                    asked.get((seat, row, i), (card,)),
                    spot_px(seat, row, i, moved if (seat, row, i) == (1, "front", 0) else 0),
                )
                for i, card in enumerate(cards.split())
            ),
            outline=zone_px(seat, row),
        )
        for seat in felt.seats
        for row, cards in zip(ev.ROWS, felt.hands[seat], strict=True)
    )


def look(
    felt: Felt,
    name: str = "frame",
    unsure: Mapping[Spot, tuple[str, ...]] | None = None,
    moved: int = 0,
) -> None:
    """The camera looks at the hands, and keeps what it saw."""
    rows = reading(felt, unsure, moved)
    drawn = tuple((card.card or "", card.corners) for row in rows for card in row.cards)
    frame = felt.captures.save(f"{felt.state.hand:06}/{name}.jpg", _frame(drawn))
    felt.say(ev.ReadingTaken(rows, frame))


def place(felt: Felt, name: str, *cards: str, unsure: bool = False) -> None:
    """Seat 3 places cards face up in its back row; the zone's picture shows them."""
    drawn = tuple((card, spot_px(3, "back", number)) for number, card in enumerate(cards))
    picture = felt.captures.save(f"{felt.state.hand:06}/{name}.jpg", _frame(drawn))
    for card in cards:
        read = ev.CardReading(card, 0.41 if unsure else 0.99, not unsure, (card,))
        felt.say(ev.CardPlaced(3, "back", read, picture))


@cache
def _frame(cards: tuple[tuple[str, Corners], ...]) -> bytes:
    image = np.full((SIZE[1], SIZE[0], 3), (62, 96, 38), np.uint8)
    for code, corners in cards:
        (left, top), (right, bottom) = corners[0], corners[2]
        cv2.rectangle(image, (int(left), int(top)), (int(right), int(bottom)), (238, 244, 244), -1)
        ink = (40, 30, 190) if code[1] in "hd" else (30, 25, 20)
        cv2.putText(image, code, (int(left) + 8, int(top) + 70), cv2.FONT_HERSHEY_SIMPLEX, 1.5, ink, 4)
    return cv2.imencode(".jpg", image)[1].tobytes()


UNSURE: Final[Mapping[Spot, tuple[str, ...]]] = {(3, "middle", 1): ("Td", "Th", "Jd")}


def played(felt: Felt) -> None:
    """Play a hand with pictures: a card is asked, the camera looks twice, all is paid, the hand is closed."""
    felt.to_setting()
    felt.to_reading()
    look(felt, "first", UNSURE)
    felt.do("look_again")
    look(felt, "second", UNSURE, moved=90)
    felt.do("set_card", seat=3, row="middle", index=1, card="Td")
    felt.pay_all()
    felt.do("archive")


def reopen(felt: Felt, hand: int = 1, reason: str = "A card was read wrong") -> None:
    """A floor person lays a past hand on the table again, and goes on in the record's name of the floor."""
    felt.actor = "floor:Moreno"
    felt.say(reopening(end_of_hand(JournalReader(felt.folder), hand), reason))


def corrected(felt: Felt) -> None:
    """Hand 1 was reopened, corrected and closed: somebody pays back."""
    played(felt)
    reopen(felt)
    felt.do("set_card", seat=1, row="front", index=1, card="2d")
    felt.do("set_card", seat=3, row="back", index=4, card="Qd")
    felt.do("next")


def drop_pictures(felt: Felt, hand: int = 1) -> None:
    """The house's rule removes a hand's pictures."""
    store = CaptureStore(felt.folder)
    for path in (store.folder / f"{hand:06}").iterdir():
        path.unlink()
