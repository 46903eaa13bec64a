"""Orders to the simulated room, one JSON line each, over a Unix socket of the demo."""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from firmware.devices.panel.interface import BUTTONS, ButtonName
from firmware.devices.puck.simulated import ACTION_TAG, DEALER_TAG
from firmware.runtime.errors import AppError
from firmware.simulation.live.run import LiveRun
from firmware.simulation.live.table import SimulatedTable

SEATS: Final = range(1, 6)
STRANGER: Final = "04FEEDFACECAFE"
"""The tag of another disk, such as a guest's card."""
KNOBS: Final[Mapping[str, tuple[float, float]]] = {
    "glare": (0.0, 1.0),
    "light": (0.05, 1.5),
    "bands": (0.0, 1.0),
    "late_s": (0.0, 8.0),
}
"""The adjustable faults of the camera and its light, with their ranges."""


Order = Callable[[dict[str, Any]], None]


class BadOrder(AppError, ValueError):
    """The order is invalid."""


class Room:
    """Executes the /sim page's orders, and returns the room's state."""

    def __init__(self, table: SimulatedTable, run: LiveRun) -> None:
        self._table = table
        self._run = run
        puck, panel, camera = table.puck, table.panel, table.camera
        noise = b"AT\r\nAT+GCAP\r\n$STATE,1,2,3:*0000\r\n"
        self._orders: dict[str, Order] = {
            "look": lambda order: None,
            "puck": _one_of(
                "That cannot be done to the puck reader.",
                move=lambda order: puck.move_to(_seat(order)),
                lift=lambda order: puck.lift(),
                unplug=lambda order: puck.unplug(),
                replug=lambda order: puck.replug(),
                freeze=lambda order: puck.freeze(),
                stick=lambda order: puck.stick(),
                thaw=lambda order: puck.thaw(),
                babble=lambda order: puck.babble(os.urandom(300) + noise),
            ),
            "lay": self._lay,
            "antenna": lambda order: (
                puck.mend_antenna(_seat(order)) if _flag(order, "ok") else puck.break_antenna(_seat(order))
            ),
            "push": lambda order: panel.push(_button(order)),
            "let_go": lambda order: panel.let_go(_button(order)),
            "press_two": lambda order: panel.press_together("confirm", "reject", apart=0.02),
            "panel": lambda order: panel.replug() if _flag(order, "plugged") else panel.unplug(),
            "mains": lambda order: panel.restore_mains() if _flag(order, "on") else panel.cut_mains(),
            "camera": _one_of(
                "That cannot be done to the camera.",
                unplug=lambda order: camera.unplug(),
                replug=lambda order: camera.replug(),
                hang=lambda order: camera.hang(),
                freeze=lambda order: camera.change(frozen=True),
                thaw=lambda order: camera.change(frozen=False),
                garbage=lambda order: camera.change(garbage=True),
                clear=lambda order: camera.change(garbage=False),
            ),
            "knob": self._knob,
            "drift": lambda order: camera.drift(_number(order, "value", 0.0, 20.0)),
            "dealer": lambda order: run.go_on() if _flag(order, "plays") else run.rest(),
            "felt": self._felt,
        }
        self._cards = _one_of(
            "That cannot be done with the cards.",
            turn_up=lambda order: run.turn_up(),
            clear=lambda order: table.clear(),
        )

    def answer(self, line: bytes) -> dict[str, Any]:
        """Execute one order; return the new state, or a message about what was wrong."""
        try:
            order = _parse(line)
            do = self._orders.get(str(order.get("do")))
            if do is None:
                raise BadOrder("That is no order of this page.")
            do(order)
        except BadOrder as error:
            return {"ok": False, "error": str(error)}
        return {"ok": True, "room": self.standing()}

    def standing(self) -> dict[str, Any]:
        """Return the state of everything in the room."""
        puck, spoil = self._table.puck.standing, self._table.camera.spoil
        tags = sorted(puck.tags)
        return {
            "puck": {
                "plugged": puck.plugged,
                "silent": puck.frozen,
                "stuck": puck.stuck,
                "dead": sorted(puck.dead),
                "dealer": [seat for seat, tag in tags if tag == DEALER_TAG],
                "action": [seat for seat, tag in tags if tag == ACTION_TAG],
                "strangers": [seat for seat, tag in tags if tag == STRANGER],
            },
            "panel": {
                "plugged": self._table.panel.plugged,
                "down": sorted(self._table.panel.down()),
                "lit": sorted(self._table.panel.lit()),
                "mains": self._table.panel.on_mains(),
            },
            "camera": {
                "plugged": spoil.plugged,
                "frozen": spoil.frozen,
                "garbage": spoil.garbage,
                "drift": spoil.drift_px_s,
                **{name: getattr(spoil, name) for name in KNOBS},
            },
            "dealer": {"plays": not self._run.rests},
        }

    def _lay(self, order: dict[str, Any]) -> None:
        tags = {"dealer": DEALER_TAG, "action": ACTION_TAG, "stranger": STRANGER}
        tag = tags.get(str(order.get("disk")))
        if tag is None:
            raise BadOrder("There is no such disk.")
        if not _flag(order, "copy"):
            self._table.puck.take(tag)
        self._table.puck.lay(tag, _seat(order))

    def _knob(self, order: dict[str, Any]) -> None:
        name = str(order.get("name"))
        if name not in KNOBS:
            raise BadOrder("There is no such knob.")
        self._table.camera.change(**{name: _number(order, "value", *KNOBS[name])})

    def _felt(self, order: dict[str, Any]) -> None:
        if not self._run.rests:
            raise BadOrder("The simulated dealer plays: let it rest first, then the cards are yours.")
        self._cards(order)


def _one_of(refusal: str, **orders: Order) -> Order:
    """Return the order that does what its `what` names."""

    def do(order: dict[str, Any]) -> None:
        named = orders.get(str(order.get("what")))
        if named is None:
            raise BadOrder(refusal)
        named(order)

    return do


def _parse(line: bytes) -> dict[str, Any]:
    try:
        order = json.loads(line)
    except ValueError:
        order = None
    if not isinstance(order, dict):
        raise BadOrder("An order is one JSON object.")
    return order


def _seat(order: dict[str, Any]) -> int:
    seat = order.get("seat")
    if type(seat) is not int or seat not in SEATS:
        raise BadOrder("There is no such seat: 1 to 5 are.")
    return seat


def _button(order: dict[str, Any]) -> ButtonName:
    if order.get("button") not in BUTTONS:
        raise BadOrder("There is no such button.")
    return cast(ButtonName, order["button"])


def _flag(order: dict[str, Any], name: str) -> bool:
    return order.get(name) is True


def _number(order: dict[str, Any], name: str, least: float, most: float) -> float:
    value = order.get(name)
    if type(value) not in (int, float) or not least <= cast(float, value) <= most:
        raise BadOrder(f"Only {least:g} to {most:g} can be set there.")
    return float(cast(float, value))
