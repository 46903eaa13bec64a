"""The panel for a state: a lamp is lit if its button does something now. Also the buzzer."""

from __future__ import annotations

from typing import Final

from firmware.devices.panel.interface import LampName, Light
from firmware.table import Ask, CommandRefused, Phase, State, apply
from firmware.table.dealing import need_right_seats
from firmware.table.events import LookedAgain
from firmware.table.house import House
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.streets import not_complete
from firmware.table.topics.white import looks_again, payback_refused

WHITE_GOES_ON: Final = {Phase.DEALING, Phase.SETTING, Phase.SETTLED}
"""White is lit during placing once all cards are placed."""


def lights(
    state: State, trouble: bool, house: House | None = None, *, unknown: bool = False
) -> dict[LampName, Light]:
    """Return the lamps for a state. `trouble`: there is a fault; `house`: the setup of the next hands.

    `unknown`: a part has not answered yet, so that nothing says that all is well.

    Green blinks while a natural waits for it: the only lamp that requests a press.
    """
    asked = {question.what for question in state.questions}
    shown: dict[LampName, Light] = {}
    if trouble or not unknown:
        shown["fault" if trouble else "ready"] = Light.ON
    if state.waiting:
        return shown  # a correction is made on the screen; no push-button counts for the hand that waits
    if (
        looks_again(state)
        or (state.phase in BETWEEN_HANDS and payback_refused(state) is None and not state.puck_awaited)
        or (state.phase in WHITE_GOES_ON and not (state.puck_awaited or _wrong_button(state, house)))
        or (state.phase is Phase.PLACING and not not_complete(state))
    ):
        shown["next"] = Light.ON
    if asked == {Ask.NATURAL}:
        shown["confirm"] = Light.BLINK
    if _looks_again(state):
        shown["reject"] = Light.ON
    return shown


def _wrong_button(state: State, house: House | None) -> bool:
    """Return whether the puck's seat must be asked for first; otherwise the wrong one of five would be dealt in."""
    if house is None or state.phase is not Phase.DEALING:
        return False
    try:
        need_right_seats(state, house)
    except CommandRefused:
        return True
    return False


def _looks_again(state: State) -> bool:
    try:
        apply(state, LookedAgain(None))
    except CommandRefused:
        return False
    return True


def beeps(before: tuple[bool, bool], now: tuple[bool, bool]) -> int:
    """Return the number of beeps for a change of (fault, question to the dealer).

    Two: a new fault. One: a new question. None for what was so before or has ended.
    """
    trouble, asks = (is_so and not was for was, is_so in zip(before, now, strict=True))
    return 2 if trouble else 1 if asks else 0
