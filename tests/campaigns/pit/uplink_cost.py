"""The table is not slowed by its uplink, whatever the pit does; the uplink stays small.

    python -m tests.campaigns.pit.uplink_cost --pairs 40

Four pits: none at the address, one that hangs, one that floods with answers, and a real one. Hands are measured as
`feltwatch bench table` does, by wall time, in pairs: one with the uplink and one without it, in turn. Memory and
processor of the uplink are then measured alone, on a record that grows at a table's pace and on one that rests.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import click

from firmware.bench.harness import Result, benchmark, number, seed_option
from firmware.bench.processes import Program, feltwatch, free_port, processor_s
from firmware.bench.table import table_with_player
from firmware.record.journal.journal import Journal
from pit.authority import Authority
from tests.campaigns.pit.load_house import House
from tests.campaigns.pit.played_record import PlayedRecord, Record, hands_of, record_option
from tests.pit.hostile_pit import FLOODS, hostile_process

PITS: Final = ("absent", "hanging", "flooding", "normal")
HAND_S: Final = 120.0
"""Seconds of a hand at a table."""
SETTLES_S: Final = 0.5
"""An uplink that takes next to no processor for so long has started."""
BOUNDS: Final = {"slower": 0.03, "memory_mb": 60, "core": 0.02}


@benchmark(
    "tests.campaigns.pit.uplink_cost",
    number("--pairs", 10, "Pairs of hands with each pit: one with the uplink, one without it.", 0),
    number("--seconds", 60, "Seconds for which the uplink is measured, at play and at rest."),
    click.option(
        "--pit",
        "pits",
        type=click.Choice(PITS),
        multiple=True,
        default=PITS,
        help="Only with this pit; may be given several times. Without it with all of them.",
    ),
    record_option,
    seed_option,
)
def command(pairs: int, seconds: int, pits: tuple[str, ...], record: Path | None, seed: int) -> Result:
    """Measure what the uplink takes from its table, with a pit that is absent, hangs, floods, or answers."""
    with ExitStack() as stack:
        source = stack.enter_context(hands_of(record))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-bench-")))
        enrolments = {one: stack.enter_context(_enrolment(one, folder / one)) for one in pits}
        alone = list(_alone(source, enrolments, folder, seconds))
        hands = list(_pairs(enrolments, folder, pairs, seed)) if pairs else []
    return Result(
        "The table unharmed by its uplink",
        f"{pairs} pairs of hands with each pit; memory is the most that was ever resident.",
        {"pairs": pairs, "seconds": seconds, "uplink": alone, "hands": hands},
    )


@contextmanager
def _enrolment(pit: str, folder: Path) -> Iterator[Path]:
    """Give an enrolment at a pit of a kind."""
    if pit == "normal":
        with House() as house:
            yield house.enrol(["Table 1"])[0].folder
        return
    authority = Authority(folder / "authority")
    with ExitStack() as stack:
        address = f"127.0.0.1:{free_port()}"
        if pit != "absent":
            floods = tuple(FLOODS) if pit == "flooding" else ()
            address = stack.enter_context(hostile_process(authority.folder, floods))
        authority.enrol("Table 1", folder / "enrolment", [address])
        yield folder / "enrolment"


@contextmanager
def _uplink(data: Path, enrolment: Path, state: Path) -> Iterator[Program]:
    """Run the uplink's own process; it has started when it is given."""
    state.mkdir(exist_ok=True)
    order = feltwatch("uplink", "--data", data, "--enrolment", enrolment, "--state", state)
    with Program(order) as program:

        def settled() -> bool:
            before = processor_s(program.pid)
            time.sleep(SETTLES_S)
            return before >= SETTLES_S / 10 >= processor_s(program.pid) - before

        program.until(settled)
        yield program


def _alone(
    source: PlayedRecord, enrolments: Mapping[str, Path], folder: Path, seconds: float
) -> Iterator[dict[str, Any]]:
    """Watch an uplink with each pit, all at once: first at play, then at rest."""
    with ExitStack() as stack:
        growing, watched = [], {}
        for pit, enrolment in enrolments.items():
            journal = stack.enter_context(Journal(folder / pit / "data"))
            record = Record(source, pit)
            commits = record.commits()
            journal.append_sealed(record.opening() or next(commits))
            growing.append((journal, commits))
            watched[pit] = stack.enter_context(
                _uplink(folder / pit / "data", enrolment, folder / pit / "state")
            )
        for state in ("at play", "at rest"):
            before, began = {pit: processor_s(one.pid) for pit, one in watched.items()}, time.monotonic()
            while (left := began + seconds - time.monotonic()) > 0:
                for journal, commits in growing if state == "at play" else ():
                    journal.append_sealed(next(commits))
                time.sleep(min(left, HAND_S / source.commits_a_hand))
            passed = time.monotonic() - began
            for pit, program in watched.items():
                program.check()
                core = (processor_s(program.pid) - before[pit]) / passed
                most = _most_resident_mb(program.pid)
                held = most <= BOUNDS["memory_mb"] and core <= BOUNDS["core"]
                yield {
                    "pit": pit,
                    "record": state,
                    "most_mb": round(most, 1),
                    "core": round(core, 4),
                    "held": held,
                }


def _pairs(enrolments: Mapping[str, Path], folder: Path, pairs: int, seed: int) -> Iterator[dict[str, Any]]:
    """Play pairs of hands with each pit, and yield the milliseconds of both and their ratio."""
    rng = random.Random(seed)
    with table_with_player(seed) as (data, play):
        for pit, enrolment in enrolments.items():
            ms: dict[bool, list[float]] = {True: [], False: []}
            while min(map(len, ms.values())) < pairs:
                for on in rng.sample((True, False), 2):
                    with _uplink(data, enrolment, folder / "state") if on else ExitStack():
                        if (one := play()) is not None:
                            ms[on].append(one["total"])
            without, with_it = statistics.median(ms[False]), statistics.median(ms[True])
            slower = round(with_it / without - 1, 4)
            held = slower <= BOUNDS["slower"]
            yield {"pit": pit, "without_ms": without, "with_ms": with_it, "slower": slower, "held": held}


def _most_resident_mb(pid: int) -> float:
    """Return the most megabytes of resident memory that a process ever had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


if __name__ == "__main__":
    command()
