"""`feltwatch bench uplink`: the table is not slowed by its uplink, whatever the pit does; the uplink stays small.

Four pits: none at the address, one that hangs, one that floods with answers, and a real one. Hands are measured as
`feltwatch bench table` does, by wall time, in pairs: one with the uplink and one without it, in turn. Memory and
processor of the uplink are then measured alone, on a record that grows at a table's pace and on one that rests.
"""

from __future__ import annotations

import multiprocessing
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import click

from firmware.bench.harness import conditions, json_option, median_and_p95, publish, table
from firmware.bench.hostile_pit import FLOODS, HostilePit
from firmware.bench.pit import hands_of
from firmware.bench.pit_house import House
from firmware.bench.played_record import Played, Record
from firmware.bench.processes import cleaning_up, processor_s, resident_mb
from firmware.bench.table import played_table
from firmware.record.journal.journal import Journal
from firmware.runtime.errors import AppError
from pit.authority import Authority
from pit.store.temporary_postgres import binaries

PITS: Final = ("absent", "hanging", "flooding", "normal")
HAND_S: Final = 120.0
"""Seconds of a hand at a table."""
SETTLES_S: Final = 0.5
"""An uplink that takes next to no processor for so long has started."""
STARTS_WITHIN_S: Final = 60.0
BOUNDS: Final = {"slower": 0.03, "memory_mb": 60, "core": 0.02}


@click.command("uplink")
@click.option(
    "--pairs",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Pairs of hands with each pit: one with the uplink, one without it.",
)
@click.option(
    "--seconds",
    type=click.IntRange(1),
    default=60,
    show_default=True,
    help="Seconds for which memory and processor of the uplink are measured, at play and at rest.",
)
@click.option(
    "--pit",
    "pits",
    type=click.Choice(PITS),
    multiple=True,
    help="Only with this pit; may be given several times. Without it with all of them.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A data folder: send the hands of this record. Without it the demo plays some first.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed deals the same cards.")
@json_option
def command(
    pairs: int, seconds: int, pits: tuple[str, ...], record: Path | None, seed: int, as_json: bool
) -> None:
    """Measure what the uplink takes from its table, with a pit that is absent, hangs, floods, or answers."""
    began = conditions()
    chosen = [one for one in pits or PITS if one != "normal" or binaries() is not None]
    with cleaning_up(), hands_of(record) as source, ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-bench-")))
        enrolments = {one: stack.enter_context(_pit(one, folder / one)) for one in chosen}
        result: dict[str, Any] = dict(began) | {"pairs": pairs, "seconds": seconds}
        result["uplink"] = _alone(source, enrolments, folder, seconds)
        result["hand_ms"] = _pairs(enrolments, folder, pairs, seed) if pairs else {}
    result["load_at_the_end"] = conditions()["load"]
    publish(
        result,
        as_json,
        f"{result['machine']}; {result['load']}",
        table(("pit", "record", "memory, MB", "most", "of a core", "held"), _uplinks(result)),
        table(("pit", "hand without, ms", "with, ms", "with to without", "held"), _hands(result)),
    )


@contextmanager
def _pit(kind: str, folder: Path) -> Iterator[Path]:
    """Give an enrolment at a pit of a kind."""
    enrolment = folder / "enrolment"
    if kind == "normal":
        with House() as house:
            yield house.enrol(["Table 1"])[0].folder
        return
    authority = Authority(folder / "authority")
    with ExitStack() as stack:
        if kind == "absent":
            with socket.create_server(("127.0.0.1", 0)) as free:
                address = f"127.0.0.1:{free.getsockname()[1]}"
        else:
            floods = tuple(FLOODS) if kind == "flooding" else ()
            address = stack.enter_context(_hostile(authority.folder, floods))
        authority.enrol("Table 1", enrolment, [address])
        yield enrolment


@contextmanager
def _hostile(authority: Path, floods: tuple[str, ...]) -> Iterator[str]:
    """Give the address of a hostile pit in a process of its own: it must not compute in the table's."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_be_hostile, args=(theirs, authority, floods), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _be_hostile(pipe: Connection, authority: Path, floods: tuple[str, ...]) -> None:
    with HostilePit(Authority(authority), floods) as pit:
        pipe.send(pit.address)
        threading.Event().wait()


class Uplink:
    """The uplink's own process. A context manager that waits until it has started, and ends it."""

    def __init__(self, data: Path, enrolment: Path, state: Path) -> None:
        order = ["uplink", "--data", str(data), "--enrolment", str(enrolment), "--state", str(state)]
        state.mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "firmware.cli", *order],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.pid: Final = self._process.pid

    def __enter__(self) -> Uplink:
        ends, before = time.monotonic() + STARTS_WITHIN_S, -1.0
        while (used := processor_s(self.pid)) - before > SETTLES_S / 10 or used < SETTLES_S / 10:
            if time.monotonic() > ends:
                break
            before = used
            time.sleep(SETTLES_S)
        self.check()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._process.kill()
        self._process.wait()

    def check(self) -> None:
        """Raise AppError if the process has ended."""
        if self._process.poll() is not None:
            raise AppError("The uplink ended by itself.")


# ---- memory and processor ----


def _alone(
    source: Played, enrolments: Mapping[str, Path], folder: Path, seconds: float
) -> list[dict[str, Any]]:
    """Watch an uplink with each pit, all at once: first at play, then at rest."""
    found = []
    with ExitStack() as stack:
        journals, watched = [], []
        for kind, enrolment in enrolments.items():
            journal = stack.enter_context(Journal(folder / kind / "data"))
            record = Record(source, kind)
            journal.append_sealed(record.opening() or next(record.commits()))
            journals.append((journal, record.commits()))
            uplink = stack.enter_context(Uplink(folder / kind / "data", enrolment, folder / kind / "state"))
            watched.append((kind, uplink))
        pause = HAND_S / (sum(map(len, source.hands)) / len(source.hands))
        for state in ("at play", "at rest"):
            before, began = [processor_s(uplink.pid) for _, uplink in watched], time.monotonic()
            while (left := began + seconds - time.monotonic()) > 0:
                for journal, commits in journals if state == "at play" else []:
                    journal.append_sealed(next(commits))
                time.sleep(min(left, pause))
            passed = time.monotonic() - began
            for (kind, uplink), used in zip(watched, before, strict=True):
                uplink.check()
                resident, most = resident_mb(uplink.pid)
                found.append(
                    {
                        "pit": kind,
                        "record": state,
                        "resident_mb": round(resident, 1),
                        "most_mb": round(most, 1),
                        "core": round((processor_s(uplink.pid) - used) / passed, 4),
                    }
                )
    return found


# ---- hands ----


def _pairs(enrolments: Mapping[str, Path], folder: Path, pairs: int, seed: int) -> dict[str, Any]:
    """Play pairs of hands with each pit, and return the milliseconds of both and their ratio."""
    found = {}
    rng = random.Random(seed)
    with played_table(seed) as (data, hand):
        for kind, enrolment in enrolments.items():
            ms: dict[bool, list[float]] = {True: [], False: []}
            while min(map(len, ms.values())) < pairs:
                for on in rng.sample((True, False), 2):
                    with Uplink(data, enrolment, folder / "state") if on else ExitStack():
                        if (one := hand()) is not None:
                            ms[on].append(one["total"])
            without, with_it = median_and_p95(ms[False])[0], median_and_p95(ms[True])[0]
            found[kind] = {
                "pairs": pairs,
                "without_ms": round(without, 1),
                "with_ms": round(with_it, 1),
                "slower": round(with_it / without - 1, 4),
            }
    return found


def _uplinks(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for one in result["uplink"]:
        held = one["most_mb"] <= BOUNDS["memory_mb"] and one["core"] <= BOUNDS["core"]
        memory = f"{one['resident_mb']:.1f}", f"{one['most_mb']:.1f}"
        yield one["pit"], one["record"], *memory, f"{one['core']:.2%}", "yes" if held else "no"


def _hands(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for kind, one in result["hand_ms"].items():
        held = "yes" if one["slower"] <= BOUNDS["slower"] else "no"
        yield kind, f"{one['without_ms']:.0f}", f"{one['with_ms']:.0f}", f"{one['slower']:+.1%}", held
