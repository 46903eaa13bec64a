"""The house that a machine under test stands in: its configuration, two deals, and what the camera sees of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import cv2

from vision.felt.layout import TableLayout
from vision.synthetic.render import render_table

DEALS: Final = (
    {
        "A": {"front": "Qs Qd 4c", "middle": "9c 9d 5h 5c 2s", "back": "Ah Kh 8h 6h 3h"},
        "B": {"front": "Kc Jd 7s", "middle": "8c 8d Tc 6s 2d", "back": "9s Ts Js Qh Kd"},
    },
    {
        "A": {"front": "Kc Jd 7s", "middle": "8c 8d Tc 6s 2d", "back": "9s Ts Js Qh Kd"},
        "B": {"front": "Qs Qd 4c", "middle": "9c 9d 5h 5c 2s", "back": "Ah Kh 8h 6h 3h"},
    },
)


def configuration(view: str, **times: float) -> str:
    """Return a configuration of two seats, whose camera sees the picture `view`; `times` in seconds."""
    return f"""# this house's own file
[[seats]]
seat = 1
place = "A"
player = "Ann"
[[seats]]
seat = 2
place = "B"
player = "Bao"
[camera]
kind = "files"
device = "{view}"
[puck]
dealer = ["04D1A2B3C4E580"]
action = ["04AC71B2C3E580"]
[times]
turn_up = 0.0
""" + "".join(f"{name} = {seconds}\n" for name, seconds in times.items())


def draw(hands: Mapping[str, Mapping[str, str]], to: Path) -> None:
    """Draw what the camera sees of these hands, {} of an empty felt; the picture appears whole."""
    laid = {place: {row: cards.split() for row, cards in rows.items()} for place, rows in hands.items()}
    made = to.with_suffix(f".new{to.suffix}")
    assert cv2.imwrite(str(made), render_table(laid, TableLayout.load(), seed=7).frame)
    made.replace(to)
