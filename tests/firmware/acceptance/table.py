"""A simulated table for the acceptance, and a technician who does what they are told."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from firmware.acceptance.run_file import RunFile
from firmware.acceptance.table_trial import TableTrial
from firmware.acceptance.walk import Walk
from firmware.devices.panel.interface import ButtonName
from firmware.devices.power import Power, PowerWatch
from firmware.devices.puck.simulated import ACTION_TAG, DEALER_TAG
from firmware.record.journal.clocks import Clock
from firmware.runtime.config import NO_SCREEN, Config, SeatConfig, TimesConfig
from firmware.simulation.live.table import SimulatedTable
from firmware.table_client import TableLink
from tests.waiting import DEADLINE

PIN: Final = "284653"
COLOURS: Final[dict[str, ButtonName]] = {"white": "next", "green": "confirm", "red": "reject"}


class Hands:
    """Somebody at the simulated table who does what they are told."""

    def __init__(self, table: SimulatedTable) -> None:
        self.table = table
        self.told: list[str] = []
        self.presses: Callable[[ButtonName], ButtonName] = lambda button: button
        self.lays: Callable[[int], None] = table.puck.move_to
        self.says_yes = True

    def tell(self, text: str) -> None:
        self.told.append(text)
        puck = self.table.puck
        if at := re.search(r"(?:circle of seat |Seat )(\d)", text):
            self.lays(int(at[1]))
        if apart := re.search(r"DEALER disk at seat (\d) and the ACTION disk at seat (\d)", text):
            puck.lift()
            puck.lay(DEALER_TAG, int(apart[1]))
            puck.lay(ACTION_TAG, int(apart[2]))
        if text.strip() in COLOURS:
            self._press(self.presses(COLOURS[text.strip()]))
        if "white and the green push-button at once" in text:
            self._press("next", "confirm")

    def ask(self, text: str) -> bool:
        self.told.append(text)
        return self.says_yes

    def ready(self, text: str) -> None:
        self.told.append(text)
        if "off the table" in text or "half way" in text:
            self.table.puck.lift()

    def _press(self, *buttons: ButtonName) -> None:
        threading.Thread(target=self.table.panel.press_together, args=buttons).start()


class Pi:
    """The sensors of a simulated Pi: its heat and its flags can be set, also to none."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._script = folder / "vcgencmd"
        self._zone = folder / "sys/class/thermal/thermal_zone0"
        self._zone.mkdir(parents=True)
        (self._zone / "type").write_text("cpu-thermal\n")
        self.be(51.0, 0)
        self.watch = PowerWatch(Power(folder / "sys", str(self._script)), every=0.05)

    def be(self, celsius: float | None, flags: int | None) -> None:
        temperature = self._zone / "temp"
        if celsius is None:
            temperature.unlink(missing_ok=True)
        else:
            temperature.write_text(f"{round(1000 * celsius)}\n")
        new = self._script.with_name(".new")
        new.write_text(
            f"#!/bin/sh\necho throttled={flags:#x}\n" if flags is not None else "#!/bin/sh\nexit 1\n"
        )
        new.chmod(0o755)
        new.rename(self._script)


@contextmanager
def open_table(
    data: Path, room: Path, scale: float, pi: Pi | None = None, wall: Clock | None = None
) -> Iterator[SimulatedTable]:
    """Run the simulated table with its technician Ada."""
    room.mkdir(exist_ok=True)
    seats = (SeatConfig.model_validate({"seat": n, "place": p}) for n, p in enumerate("ABCD", start=1))
    times = TimesConfig(reading=300.0, reading_start=300.0)
    config = Config(data=data, seats=tuple(seats), times=times, screen=NO_SCREEN)
    with SimulatedTable(config, room, 1, scale=scale, sensors=pi.watch if pi else None, wall=wall) as table:
        ada = {"do": "list_person", "person": "Ada", "role": "technician", "new_pin": PIN}
        TableLink(config.socket, timeout=DEADLINE).send(ada)  # refused where she is listed already
        yield table


@contextmanager
def walk_of(table: SimulatedTable, hands: Hands, data: Path, **options: Any) -> Iterator[Walk]:
    """Begin, or go on with, a run at this table."""
    with TableTrial(data, "Ada", PIN, hands.tell, hands.ask) as trial:
        run = RunFile.last(data) or RunFile.begin(data, "feltwatch test", "7")
        yield Walk(trial, hands, run, "Ada", **{"hands_s": DEADLINE, "every_s": 0.0, **options})
