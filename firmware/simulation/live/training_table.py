"""The training table: the product's table process without devices, and simulated players with their hands."""

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from firmware.devices.puck.reading import PuckReading, PuckState
from firmware.record.journal.journal import Journal
from firmware.runtime.house_config import prepare_house
from firmware.runtime.reading.messages import CameraJob, JobLost, ReaderState, ReadingDone, ReadingJob
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.runtime.timestamps import box_clock
from firmware.simulation.house import make_config
from firmware.simulation.live.players import Habits, Players
from firmware.simulation.policy import Policy
from firmware.table import Phase, State
from firmware.table import events as ev
from firmware.table.dealing import button_due
from firmware.table.state import Ask
from firmware.threads import start

LOOK_EVERY: Final = 0.05
"""Seconds between two polls of the table by the players."""
HABITS: Final = Habits(natural_dealt=0.3, falsely_declared=0.06, fouled=0.15, surrendered=0.05)
"""Far more than at a real table: rare cases need the training."""
BACKS_TRIED: Final = 12
"""Back hands that a player tries when they set their cards: few, to be quick."""


class LaidCards:
    """A substitute for the reading process: returns the cards that the players have laid, without a camera."""

    def __init__(self) -> None:
        self.cards: Mapping[str, Mapping[str, list[str]]] = {}
        self._put: Callable[[Any], None] = lambda answer: None

    def start(self, put: Callable[[Any], None]) -> None:
        """Start; see `Readings.start`."""
        self._put = put
        put(ReaderState())

    def use(self, setup: object) -> None:
        """Ignore the calibration."""

    def request(self, job: ReadingJob | CameraJob) -> None:
        """Return the cards on the table; see `Readings.request`."""
        if isinstance(job, CameraJob):
            self._put(JobLost(job.number, "There is no camera in training.", fault=False))
        else:
            self._put(ReadingDone(job.number, reading_of(self.cards, job.places)))

    def close(self) -> None:
        """End; see `Readings.close`."""


def reading_of(cards: Mapping[str, Mapping[str, list[str]]], places: tuple[str, ...]) -> dict[str, Any]:
    """Return `TableReading.to_json` for cards by place and row, all of them sure."""
    corners = [[0.0, 0.0]] * 4
    zones = [
        {
            "place": place,
            "row": row,
            "cards": [
                {"card": code, "confidence": 1.0, "sure": True, "candidates": [code], "corners": corners}
                for code in cards.get(place, {}).get(row, ())
            ],
            "capture": None,
        }
        for place in places
        for row in ev.ROWS
    ]
    return {"zones": zones, "frame": None, "verdicts": {}, "ms": {}}


class TrainingTable:
    """A table on which hands are played up to their settlement; the rest is left to the trainee.

    >>> with TrainingTable(folder, "traditional", seed=1) as table:  # doctest: +SKIP
    ...     serve_a_page_on(table.data, table.socket)
    """

    def __init__(self, data: Path, profile: str, seed: int) -> None:
        """Open the table. Raises ConfigError, AppError, TableError: a real table's record is refused."""
        config = make_config(data, profile, None, closed=True)  # settling is trained, not placing
        self.data: Final = data
        self.socket: Final = config.socket
        self._readings = LaidCards()
        self._journal = Journal(data, box_clock(), training=True)
        try:
            house = prepare_house(config, self._journal)
            if not self._journal.recover().set_up:
                self._journal.append([ev.SetUpEnded(skipped=True)], "training")
            self.process: Final = TableProcess(
                data, self._journal, house, Devices(None, None, None), self._readings, self.socket, 0.0
            )
        except BaseException:
            self._journal.close()
            raise
        players = Players(seed, house.rules, BACKS_TRIED, HABITS)
        self._policy = Policy(players, lambda state: house.rules, random.Random(seed))
        self._stop = threading.Event()
        self._table = threading.Thread(target=self.process.run, name="table")
        self._hands = threading.Thread(target=self._play, name="players")

    def __enter__(self) -> Self:
        start(self._table)
        start(self._hands)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._hands.join()
        self.process.stop()
        self._table.join()
        self._journal.close()

    # ---- the players ----

    def _play(self) -> None:
        while not self._stop.wait(LOOK_EVERY):
            self._turn(self.process.state)

    def _turn(self, state: State) -> None:
        """Take the players' next step. After a refusal, or an action of the trainee, look again."""
        self._move_puck(state)
        if state.phase is Phase.SETTLED or (state.phase is Phase.REVIEW and not only_naturals(state)):
            return
        act = self._policy.next(state)
        places = {seat.seat: seat.place for seat in state.seats}
        if act.felt is not None:
            self._readings.cards = {places[seat]: rows for seat, rows in act.felt.items()}
        match act.do:
            case "wait" | "lay":
                return
            case "puck":
                self._command(state, "key_button", seat=act.fields["seat"])
            case "next":
                self._command(state, "next", phase=str(state.phase))
            case _:
                self._policy.done_with(act)  # not sent again where the trainee takes it back
                self._command(state, act.do, **act.fields)

    def _move_puck(self, state: State) -> None:
        """Lay the puck where the next hand needs it: settling is trained, not the puck."""
        due = button_due(state, self.process.house)
        if due is not None:
            self.process.put(PuckReading(PuckState.SEAT, due, "", frozenset(), time.monotonic()))

    def _command(self, state: State, do: str, **fields: Any) -> None:
        self.process.ask(json.dumps({"do": do, "hand": state.hand, **fields}).encode())


def only_naturals(state: State) -> bool:
    """Return whether naturals wait for confirmation, and nothing else is asked."""
    return bool(state.questions) and all(question.what is Ask.NATURAL for question in state.questions)
