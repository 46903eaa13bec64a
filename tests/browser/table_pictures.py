"""Pictures of a table's zones, as the reading process stores them: rendered cards, cut out upright for their player."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

import cv2
import numpy as np

from firmware.table import events as ev
from tests.dealer_ui.felt import Felt
from tests.rendered import rendered
from vision.felt.layout import TableLayout
from vision.felt.resample import rectify
from vision.synthetic.props import Thing
from vision.synthetic.render import Conditions, Scene

PX_PER_MM: Final = 2.5
CONDITIONS: Final = Conditions(upside_down=0, overlapped=0, tilt_deg=0, offset_mm=0, noise=0, jpeg=None)
LaidRows = tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]


@cache
def _layout() -> TableLayout:
    return TableLayout.load()


@cache
def _scene(laid: LaidRows, things: tuple[Thing, ...]) -> Scene:
    hands = {place: {row: list(cards) for row, cards in rows} for place, rows in laid}
    return rendered(hands, _layout(), seed=4, conditions=CONDITIONS, things=things)


@cache
def _zone(laid: LaidRows, things: tuple[Thing, ...], place: str, row: str) -> bytes:
    scene = _scene(laid, things)
    picture = rectify(scene.frame, scene.homography, _layout().zone(place, row), PX_PER_MM)
    return cv2.imencode(".jpg", picture)[1].tobytes()


def hand_over(place: str, row: str, card: int) -> Thing:
    """Return a hand that reaches from its player's side over a card of a row, counted from 0 at their left."""
    zone = _layout().zone(place, row)
    at = np.array([[zone.width_mm * (card + 0.5) / zone.capacity, zone.height_mm * 0.6]])
    ((x_mm, y_mm),) = zone.to_felt(at)
    return Thing("hand", float(x_mm), float(y_mm), zone.turned_deg)


def zone_picture(
    felt: Felt,
    seat: int,
    row: ev.Row,
    instead: Mapping[ev.Row, str] | None = None,
    things: Sequence[Thing] = (),
) -> ev.Capture:
    """Store what the camera sees of a seat's row; `instead`: rows of that seat that lie otherwise."""
    laid: dict[int, dict[ev.Row, str]] = {
        number: dict(zip(ev.ROWS, hand, strict=True))
        for number, hand in felt.hands.items()
        if number in felt.seats
    }
    laid[seat] |= instead or {}
    all_rows = tuple(
        (felt.seats[number], tuple((name, tuple(cards.split())) for name, cards in rows.items()))
        for number, rows in laid.items()
    )
    place = felt.seats[seat]
    jpeg = _zone(all_rows, tuple(things), place, row)
    return felt.captures.save(f"{felt.state.hand:06}/{place.lower()}-{row}.jpg", jpeg)


def zone_pictures(felt: Felt) -> Callable[[int, ev.Row], ev.Capture]:
    """Return what stores the picture of any seat's row."""
    return lambda seat, row: zone_picture(felt, seat, row)
