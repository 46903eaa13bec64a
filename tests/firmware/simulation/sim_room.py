"""A simulated room without a table process: puck, panel and camera, and a dealer who remembers what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np

from firmware.devices.camera.simulated import Room as CameraRoom
from firmware.devices.panel.simulated import SimulatedPanel
from firmware.devices.puck.simulated import SimulatedPuck
from firmware.simulation.room_page.room import Room


class Things:
    """What stands in the room."""

    def __init__(self, folder: Path) -> None:
        self.puck = SimulatedPuck()
        self.panel = SimulatedPanel(seed=1)
        self.camera = CameraRoom(folder / "view.npy")
        self.camera.show(np.zeros((4, 4, 3), np.uint8))
        self.rests = False
        self.done: list[str] = []
        self.room = Room(cast(Any, self), cast(Any, self))

    def clear(self) -> None:
        self.done.append("clear")

    def turn_up(self) -> None:
        self.done.append("turn_up")

    def rest(self) -> None:
        self.rests = True

    def go_on(self) -> None:
        self.rests = False


@contextmanager
def things(folder: Path) -> Iterator[Things]:
    """A room, put away afterwards."""
    made = Things(folder)
    try:
        yield made
    finally:
        made.puck.close()
