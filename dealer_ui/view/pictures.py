"""Stored pictures next to a question, and cards cut out of the full frame. Corners are the frame's pixels."""

import math
from collections.abc import Sequence

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.words import row_name
from dealer_ui.view.screen import Crop, Picture
from firmware.table.events import Row
from firmware.table.readings import Capture
from firmware.table.state import Seat, State

Corners = Sequence[tuple[float, float]]


def svg_points(corners: Corners) -> str:
    """Return corners in SVG notation."""
    return " ".join(f"{round(x)},{round(y)}" for x, y in corners)


def middle(corners: Corners) -> tuple[float, float]:
    """Return the middle of corners."""
    return sum(x for x, _y in corners) / len(corners), sum(y for _x, y in corners) / len(corners)


def upright(corners: Corners) -> Crop | None:
    """Return the square around a card and the turn that sets it upright; None for a card without corners."""
    if len(corners) != 4:
        return None
    (x0, y0), (x1, y1) = corners[0], corners[1]
    x, y = middle(corners)
    side = 1.25 * max(math.dist(corners[0], corners[1]), math.dist(corners[1], corners[2]))
    turn = -math.degrees(math.atan2(y1 - y0, x1 - x0))
    return Crop(round(x - side / 2), round(y - side / 2), round(side), round(side), round(turn))


def row_pictures(seat: Seat, row: Row) -> tuple[Picture, ...]:
    """Return the picture of a row's zone, if one was stored."""
    capture = seat.captures.get(row)
    if not capture:
        return ()
    caption = _("seat %(seat)s, %(row)s, as its player sees it", seat=seat.seat, row=row_name(row))
    return (Picture(capture.name, caption),)


def enlarge_card(state: State, seat: Seat, row: Row, index: int) -> tuple[Picture, ...]:
    """Return the card cut out of the full frame and turned upright, if the frame and the card's corners are known."""
    corners = seat.row(row)[index].corners
    crop = upright(corners)
    if state.frame is None or crop is None:
        return ()
    return (Picture(state.frame.name, _("this card, enlarged"), crop),)


def mark_card(frame: Capture, corners: Corners) -> tuple[Picture, ...]:
    """Return a card of a frame with its surroundings, the card's place marked; nothing without corners."""
    near = upright(corners)
    if near is None:
        return ()
    side = near.width
    wide = Crop(near.x - side, near.y - side // 4, 3 * side, side * 3 // 2, near.turn_deg)
    return (Picture(frame.name, _("as the camera sees it now"), wide, svg_points(corners)),)
