"""`feltwatch bench table`: the time from the last card at rest until the settlement is durable, and on the page.

Real processes run on the simulated table. The reading process reads rendered frames with the real card reader, the
table process writes the real journal, the page's own process sends the view, and a client here receives it. All times
are of the machine's monotonic clock.
"""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.progress import Progress

from firmware.bench.harness import (
    Served,
    conditions,
    json_option,
    median_and_p95,
    publish,
    report_option,
    table,
)
from firmware.runtime.errors import AppError

if TYPE_CHECKING:
    from firmware.record.journal.journal import Entry, JournalReader
    from firmware.simulation.live.table import SimulatedTable
    from firmware.table_client import TableLink

STAGES: Final = {
    "frame": "waiting for the frames of the still table",
    "reading": "one frame through the card reader",
    "agreement": "the other frames that must agree",
    "images": "the frame and the crops on the disk, synced",
    "table": "between the processes, rules, events",
    "commit": "the events in the journal, synced",
    "page": "journal read, view made, sent, received",
    "total": "from the last card lying still to the page",
}
STARTS_WITHIN: Final = 60.0
ANSWERS_WITHIN: Final = 60.0
PROFILE: Final = "washington-1-unit"


Measured = Mapping[str, float]
"""One hand's times in milliseconds, by stage."""


@click.command("table")
@click.option(
    "--hands", type=click.IntRange(1), default=20, show_default=True, help="Settled hands to measure."
)
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed deals the same cards.")
@report_option
@json_option
def command(hands: int, seed: int, report: Path | None, as_json: bool) -> None:
    """Measure the time from the last card lying still to the settlement on the page, stage by stage.

    Four hands of 13 cards lie under the simulated camera. Hands in which the dealer would be asked about a card are
    not counted.
    """
    began = conditions()
    with Progress(console=Console(stderr=True), disable=as_json) as progress:
        bar = progress.add_task("hands", total=hands)
        measured, asked = [], 0
        for one in measure(hands, seed):
            asked += one is None
            if one is not None:
                measured.append(one)
                progress.advance(bar)
    result = summary(measured, asked, began)
    rows = (
        (name, f"{figures['median_ms']:,.1f} ms", f"{figures['p95_ms']:,.1f} ms", STAGES[name])
        for name, figures in result["stages"].items()
    )
    publish(
        result,
        as_json,
        f"{result['machine']}; {result['load']}",
        table(("stage", "median", "95 %", "what it is"), rows),
        f"{result['hands']} hands; {asked} more had an unsure card and are not counted.",
        report=report,
        page=markdown(result),
    )


def measure(hands: int, seed: int) -> Iterator[Measured | None]:
    """Play until this many hands were measured; yield None for a hand in which the dealer would be asked about a card.

    Raises AppError if the table or the page makes no progress.
    """
    with played_table(seed) as (_, hand):
        counted = 0
        while counted < hands:
            one = hand()
            counted += one is not None
            yield one


@contextmanager
def played_table(seed: int) -> Iterator[tuple[Path, Callable[[], Measured | None]]]:
    """Give the data folder of a table with a page, and what plays its next hand as `measure` yields it.

    Raises AppError if the table or the page makes no progress.
    """
    from firmware.record.journal.journal import JournalReader
    from firmware.runtime.config import Config, TimesConfig
    from firmware.simulation.live.table import SimulatedTable
    from firmware.table_client import TableLink

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-bench-")))
        room = folder / "room"
        room.mkdir()
        config = Config(
            data=folder / "data",
            profile=PROFILE,
            times=TimesConfig(turn_up=0.0, reading=60.0, reading_start=120.0),
        )
        simulated = stack.enter_context(SimulatedTable(config, room, seed))
        ui = stack.enter_context(Served("ui", "--data", str(config.data)))
        ui.until(lambda: ui.fetch("/"), STARTS_WITHIN)
        page = _Stream(ui.port)
        bench = _Bench(
            simulated, page, TableLink(config.socket, timeout=10.0), JournalReader(config.data), seed
        )
        bench.hand()  # warm-up: loads the model and the page's templates
        yield config.data, bench.hand


class _Bench:
    """Plays hands by commands, and measures the times after the showdown signal."""

    def __init__(
        self, table: SimulatedTable, page: _Stream, link: TableLink, reader: JournalReader, seed: int
    ) -> None:
        self._table, self._page, self._link, self._reader = table, page, link, reader
        self._rng = random.Random(seed)
        self._places = {seat.seat: seat.place for seat in table.house.seats}

    def hand(self) -> Measured | None:
        from firmware.table import Phase

        self._table.clear()
        self._do("next")
        self._do("key_button", seat=min(self._places))
        self._do("next")
        self._table.lay(self._deal())
        self._page.forget()
        still = time.monotonic()  # the signal is given when the last card is at rest
        self._do("next")
        phase, received_at = self._page.wait((Phase.SETTLED, Phase.REVIEW), ANSWERS_WITHIN)
        commit = self._table.commit_s
        if phase != Phase.SETTLED:
            self._do("void", reason="not measured: an unsure card")
            return None
        hand = self._reader.since_last_opened()
        self._do("archive")
        return _times(hand, still, commit, received_at)

    def _deal(self) -> dict[str, dict[str, list[str]]]:
        from firmware.rules import CARDS
        from firmware.table.events import ROWS

        deck = [card.code for card in CARDS]
        self._rng.shuffle(deck)
        return {
            place: {row: [deck.pop() for _ in range(count)] for row, count in ROWS.items()}
            for place in self._places.values()
        }

    def _do(self, do: str, **fields: Any) -> None:
        if self._table.failure is not None:
            raise AppError(f"The table process ended: {self._table.failure}")
        answer = self._link.send({"do": do, **fields})
        if not answer["ok"]:
            raise AppError(f"The table refused {do}: {answer['error']}")


def _times(hand: list[Entry], still: float, commit: float, received: float) -> Measured:
    """Split one hand's time. The reading's own times are in its event; the settlement is committed with it."""
    from firmware.table.events import ReadingTaken

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
        "total": 1000 * (received - still),
    }
    parts = sum(ms for stage, ms in stages.items() if stage != "total")
    return {stage: stages.get(stage, stages["total"] - parts) for stage in STAGES}


class _Stream:
    """Follows the page's event stream as a browser does."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}/events"
        self._news = threading.Condition()
        self._seen: list[tuple[str, float]] = []
        self._thread = threading.Thread(target=self._follow, name="stream", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        kind = ""
        with suppress(OSError), urllib.request.urlopen(self._address, timeout=30) as stream:
            for line in stream:
                if line.startswith(b"event: "):
                    kind = line[7:].strip().decode()
                elif line.startswith(b"data: ") and kind == "view":
                    received_at = time.monotonic()
                    phase = json.loads(line[6:])["phase"]
                    with self._news:
                        self._seen.append((phase, received_at))
                        self._news.notify_all()

    def forget(self) -> None:
        """Drop everything received so far."""
        with self._news:
            self._seen.clear()

    def wait(self, phases: tuple[str, ...], within: float) -> tuple[str, float]:
        """Return the phase of the first view since `forget` that shows one of the phases, and its time."""
        found: list[tuple[str, float]] = []

        def came() -> bool:
            found[:] = [seen for seen in self._seen if seen[0] in phases]
            return bool(found)

        with self._news:
            if not self._news.wait_for(came, within):
                raise AppError(f"The page showed nothing for {within:g} s.")
        return found[0]


def summary(measured: Sequence[Measured], asked: int, began: Mapping[str, str]) -> dict[str, Any]:
    """Return medians and 95th percentiles by stage, with the machine and its load."""
    stages = {}
    for stage in STAGES:
        median, p95 = median_and_p95([one[stage] for one in measured])
        stages[stage] = {"median_ms": round(median, 2), "p95_ms": round(p95, 2)}
    total = stages["total"]["median_ms"]
    return {
        **began,
        "hands": len(measured),
        "asked": asked,
        "commit_share": round(stages["commit"]["median_ms"] / total, 4),
        "stages": stages,
    }


def markdown(facts: Mapping[str, Any]) -> str:
    """Return the figures as a page, with the method."""
    rows = "\n".join(
        f"| {name} | {figures['median_ms']:,.1f} | {figures['p95_ms']:,.1f} | {STAGES[name]} |"
        for name, figures in facts["stages"].items()
    )
    return f"""# How long the table takes

Written by `feltwatch bench table --report FILE` on {facts["measured"]}: {facts["machine"]}; {facts["load"]}.

{facts["hands"]} hands of four players, from the last card lying still to the settlement being durable and on the page.
Real processes on the simulated table: rendered frames of the reference camera go through the card reader, the journal
is synced (`synchronous=FULL`), the page is received over its event stream. The showdown signal is given the moment
the last card lies still. {facts["asked"]} more hands had an unsure card and are not counted: there the dealer is asked.

| stage | median, ms | 95 %, ms | what it is |
|---|---:|---:|---|
{rows}

A commit is {100 * facts["commit_share"]:.1f} % of the whole. The camera's frames come at its own pace; nothing here was
measured on the reference hardware.
"""
