"""The panel for a state: a lamp is lit if its button does something now. Also the buzzer."""

from firmware.devices.panel.interface import LampName, Light
from firmware.table.offers import Offers
from firmware.table.state import State


def lights(state: State, may: Offers, trouble: bool, *, unknown: bool = False) -> dict[LampName, Light]:
    """Return the lamps for a state and what may be done in it. `trouble`: there is a fault.

    `unknown`: a part has not answered yet, so that nothing says that all is well.

    Green blinks while a natural waits for it: the only lamp that requests a press.
    """
    shown: dict[LampName, Light] = {}
    if trouble or not unknown:
        shown["fault" if trouble else "ready"] = Light.ON
    if state.waiting:
        return shown  # a correction is made on the screen; no push-button counts for the hand that waits
    if may.white:
        shown["next"] = Light.ON
    if may.of("confirm"):
        shown["confirm"] = Light.BLINK
    if may.of("look_again"):
        shown["reject"] = Light.ON
    return shown


def beeps(before: tuple[bool, bool], now: tuple[bool, bool]) -> int:
    """Return the number of beeps for a change of (fault, question to the dealer).

    Two: a new fault. One: a new question. None for what was so before or has ended.
    """
    trouble, asks = (is_so and not was for was, is_so in zip(before, now, strict=True))
    return 2 if trouble else 1 if asks else 0
