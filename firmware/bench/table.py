"""`feltwatch bench table`: the time from the last card at rest until the settlement is durable, and on the page.

Real processes run on the simulated table. The reading process reads rendered frames with the real card reader, the
table process writes the real journal, the page's own process sends the view, and a client here receives it. All times
are of the machine's monotonic clock.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from firmware.bench.harness import Result, benchmark, number, seed_option, spread
from firmware.bench.processes import Program, feltwatch, fetch, free_port
from firmware.command_options import progress_bar
from firmware.record.journal.journal import Entry, JournalReader
from firmware.rules import CARDS
from firmware.runtime.config import Config, TimesConfig
from firmware.runtime.errors import AppError
from firmware.simulation.live.table import SimulatedTable
from firmware.table import Phase
from firmware.table.dealing import due_button
from firmware.table.events import ROWS, ReadingTaken
from firmware.table_client import TableLink

STAGES: Final = {
    "frame": "waiting for the frames of the still table",
    "reading": "one frame through the card reader",
    "agreement": "the other frames that must agree",
    "images": "what is still to do then: encode the frame and the crops, write and sync them",
    "table": "the rest: between the processes, rules, events; below 0 where the stages above overlap",
    "commit": "the events in the journal, synced",
    "page": "journal read, view made, sent, received",
    "total": "from the last card lying still to the page",
}
METHOD: Final = """Hands of four players, from the last card lying still to the settlement being durable and on the
page. Real processes on the simulated table: rendered frames of the reference camera go through the card reader, the
journal is synced (`synchronous=FULL`), the page is received over its event stream. The showdown signal is given while
one card is missing. When the table says that a card is missing, the card is laid: the time runs from that moment."""
ANSWERS_WITHIN: Final = 60.0
HandTimes = Mapping[str, float]
"""One hand's times in milliseconds, by stage."""


@benchmark("table", number("--hands", 20, "Settled hands to measure."), seed_option)
def command(hands: int, seed: int) -> Result:
    """Measure the time from the last card lying still to the settlement on the page, stage by stage.

    Four hands of 13 cards lie under the simulated camera. Hands in which the dealer would be asked about a card are
    not counted.
    """
    measured: list[HandTimes] = []
    played = 0
    with table_with_player(seed) as (_, play), progress_bar("hands") as progress:
        while len(measured) < hands:
            played += 1
            if one := play():
                measured.append(one)
            progress(len(measured), hands)
    return result(measured, played - hands)


def result(measured: Sequence[HandTimes], asked: int) -> Result:
    """Return medians and 95th percentiles by stage; `asked`: hands that are not counted."""
    found = {stage: spread([one[stage] for one in measured]) for stage in STAGES}
    share = round(found["commit"]["median"] / found["total"]["median"], 4)
    stages = [
        {"stage": name, "median_ms": ms["median"], "p95_ms": ms["p95"], "what": STAGES[name]}
        for name, ms in found.items()
    ]
    return Result(
        "How long the table takes",
        METHOD,
        {"hands": len(measured), "asked": asked, "commit_share": share, "stages": stages},
        [
            f"{len(measured)} hands; {asked} more had an unsure card and are not counted: there the dealer is asked. "
            f"A commit is {share:.1%} of the whole. The camera's frames come at its own pace; nothing here was "
            "measured on the reference hardware."
        ],
    )


@contextmanager
def table_with_player(seed: int) -> Iterator[tuple[Path, Callable[[], HandTimes | None]]]:
    """Give the data folder of a table with a page, and what plays and measures its next hand.

    It returns None for a hand in which the dealer would be asked about a card. Raises AppError if the table or the page
    makes no progress.
    """
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="feltwatch-bench-") as folder:
        room, data = Path(folder) / "room", Path(folder) / "data"
        room.mkdir()
        times = TimesConfig(turn_up=0.0, reading=60.0, reading_start=120.0)
        config = Config(data=data, profile="washington-1-unit", times=times)
        with (
            SimulatedTable(config, room, seed) as table,
            Program(feltwatch("ui", "--data", data, "--port", port)) as ui,
        ):
            ui.until(lambda: fetch(port, "/"))
            play = _Play(table, _Stream(port), config, seed)
            play.hand()  # warm-up: loads the model and the page's templates
            yield data, play.hand


class _Play:
    """Plays hands by commands, and measures the times after the showdown signal."""

    def __init__(self, table: SimulatedTable, page: _Stream, config: Config, seed: int) -> None:
        self._table, self._page = table, page
        self._link, self._reader = TableLink(config.socket, timeout=10.0), JournalReader(config.data)
        self._rng = random.Random(seed)
        self._places = {seat.seat: seat.place for seat in table.house.seats}

    def hand(self) -> HandTimes | None:
        self._table.clear()
        due = due_button(self._reader.recover()[0], self._table.house)
        self._do("next")
        if due is None:
            self._do("key_button", seat=min(self._places))
        else:
            self._do("keep_button", seat=due)
        self._do("next")
        hand = self._reader.since_last_opened()[0].hand
        deck = self._rng.sample([card.code for card in CARDS], len(CARDS))
        hands: dict[str, dict[str, list[str]]] = {
            place: {row: [deck.pop() for _ in range(count)] for row, count in ROWS.items()}
            for place in self._places.values()
        }
        whole = self._table.picture(hands, hand)
        place, shown = next(iter(hands.items()))
        self._table.camera.show(
            self._table.picture({**hands, place: {**shown, "back": shown["back"][:-1]}}, hand)
        )
        self._do("next")
        self._await_the_last_card()
        self._table.camera.show(whole)
        still = time.monotonic()
        phase, received_at = self._page.wait(hand, (Phase.SETTLED, Phase.REVIEW))
        commit = self._table.commit_s
        if phase != Phase.SETTLED:
            self._do("void", reason="not measured: an unsure card")
            return None
        rows = self._reader.since_last_opened()
        self._do("archive")
        return _times(rows, still, commit, received_at)

    def _await_the_last_card(self) -> None:
        ends = time.monotonic() + ANSWERS_WITHIN
        while not any(entry.type == "cards_awaited" for entry in self._reader.since_last_opened()):
            if time.monotonic() > ends:
                raise AppError(f"The table noticed no missing card for {ANSWERS_WITHIN:g} s.")
            time.sleep(0.01)

    def _do(self, do: str, **fields: Any) -> None:
        if self._table.failure is not None:
            raise AppError(f"The table process ended: {self._table.failure}")
        answer = self._link.send({"do": do, **fields})
        if not answer["ok"]:
            raise AppError(f"The table refused {do}: {answer['error']}")


def _times(hand: list[Entry], still: float, commit: float, received: float) -> HandTimes:
    """Split one hand's time. The reading's own times are in its event; the settlement is committed with it."""
    taken = next(entry for entry in reversed(hand) if entry.type == "reading_taken")
    settled = next(entry for entry in reversed(hand) if entry.type == "settled")
    read_ms: dict[str, float] = json.loads(taken.payload)["ms"]
    assert isinstance(taken.event, ReadingTaken)
    reading = taken.event.frame_ms
    durable = settled.monotonic_ns / 1e9 + commit
    stages = {
        "frame": read_ms["frames"],
        "reading": reading,
        "agreement": read_ms["all_frames"] - reading,
        "images": read_ms["images"],
        "commit": 1000 * commit,
        "page": 1000 * (received - durable),
    }
    total = 1000 * (received - still)
    return {**stages, "table": total - sum(stages.values()), "total": total}


class _Stream:
    """Follows the page's event stream as a browser does."""

    def __init__(self, port: int) -> None:
        self._lines = urllib.request.urlopen(f"http://127.0.0.1:{port}/events", timeout=ANSWERS_WITHIN)

    def wait(self, hand: int, phases: tuple[str, ...]) -> tuple[str, float]:
        """Return the phase of the first view that shows a hand in one of the phases, and when it came."""
        ends, kind = time.monotonic() + ANSWERS_WITHIN, b""
        for line in self._lines:
            came = time.monotonic()
            if came > ends:
                break
            if line.startswith(b"event: "):
                kind = line[7:].strip()
            elif line.startswith(b"data: ") and kind == b"view":
                view = json.loads(line[6:])
                if view["hand"] == str(hand) and view["phase"] in phases:
                    return view["phase"], came
        raise AppError(f"The page showed nothing for {ANSWERS_WITHIN:g} s.")
