"""A simulated table as a process of its own, which may be frozen and killed; people's hands reach it over a socket.

    python -m tests.appliance.simulated_table DATA ROOM SEED

It is the demo's table with a screen of its own: push-buttons count for what a browser at `/?kiosk` has painted. The
hands, the dealer and the page are in other processes (`Hands`).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from firmware.runtime.config import ScreenConfig
from firmware.runtime.socket_server import CommandSocket
from firmware.simulation.house import make_config
from firmware.simulation.live.table import SimulatedTable

PROFILE: Final = "washington-1-unit"
STACK_UNITS: Final = 2000
TURN_UP_S: Final = 0.7
HANDS: Final = "hands.sock"


class Hands:
    """What a dealer's and the players' hands do at a table in another process, as `SimulatedTable` has it.

    Whatever they do while it is frozen comes to it once it goes on.
    """

    failure: None = None

    def __init__(self, room: Path, within: float) -> None:
        """`within`: seconds that an act may take."""
        self._path = room / HANDS
        self._within = within
        self.puck = self.panel = self

    def _do(self, **order: Any) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(self._within)
            line.connect(str(self._path))
            line.sendall(json.dumps(order).encode() + b"\n")
            with line.makefile("rb") as answers:
                answer: dict[str, Any] = json.loads(answers.readline())
        return answer

    def lay(self, hands: Mapping[str, Any]) -> None:
        """Lay these cards, by place and row."""
        self._do(do="lay", hands=hands)

    def clear(self) -> None:
        """Collect all cards."""
        self._do(do="clear")

    def move_to(self, seat: int) -> None:
        """Move the puck."""
        self._do(do="puck", seat=seat)

    def lift(self) -> None:
        """Lift the puck."""
        self._do(do="puck", seat=None)

    def press(self, button: str, seconds: float = 0.12) -> None:
        """Press a push-button."""
        self._do(do="press", button=button, seconds=seconds)

    def lit(self) -> frozenset[str]:
        """Return the lamps that are lit."""
        return frozenset(self._do(do="look")["lit"])


@contextmanager
def simulated_table(data: Path, room: Path, seed: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process; it is there once its sockets answer. It ends with the context, frozen or not."""
    command = [sys.executable, "-m", "tests.appliance.simulated_table", str(data), str(room), str(seed)]
    with (room / "table.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=Path(__file__).parents[2])
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main(data: str, room: str, seed: str) -> None:
    """Run the table until SIGTERM."""
    config = make_config(Path(data), PROFILE, STACK_UNITS, TURN_UP_S)
    config = config.model_copy(update={"screen": ScreenConfig(kiosk=True)})
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    with SimulatedTable(config, Path(room), int(seed)) as table:

        def answer(line: bytes) -> dict[str, Any]:
            order = json.loads(line)
            match order["do"]:
                case "lay":
                    table.lay(order["hands"])
                case "clear":
                    table.clear()
                case "puck" if order["seat"] is None:
                    table.puck.lift()
                case "puck":
                    table.puck.move_to(order["seat"])
                case "press":
                    table.panel.press(order["button"], order["seconds"])
            return {"lit": sorted(table.panel.lit())}

        with closing(CommandSocket(Path(room) / HANDS, answer)) as hands:
            hands.start()
            while not over.wait(0.2):
                if table.failure is not None:
                    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
