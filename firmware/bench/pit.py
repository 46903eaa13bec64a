"""`feltwatch bench pit`: a house with many tables: how soon the pit answers, and what it costs.

Everything is real but the tables: PostgreSQL that waits for the disk, the pit's service, nginx, TLS with a certificate
for each table, and rows of hands that the simulated table has played. Processor time does not depend on what else the
machine does; answer times do.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import click

from firmware.bench.harness import conditions, elapsed_ms, json_option, publish, table
from firmware.bench.pit_catch_up import CatchUp
from firmware.bench.pit_house import House
from firmware.bench.pit_load import FloorView, Load, PitTarget, Sample, direct_targets, quantiles
from firmware.bench.pit_screens import Screens
from firmware.bench.played_record import Played, Record, played
from firmware.bench.processes import cleaning_up
from firmware.runtime.errors import AppError
from pit.status.tables import list_tables
from pit.store.database import Database

PLAYED: Final = 12
"""Hands that are played for the load, unless there is a record."""
FIRST: Final = 20
"""Tables that are connected before the memory of a connection is measured: the first fill caches."""
SETTLES_S: Final = 15.0
"""Seconds of play before the load is measured: every table has spoken again after all were connected."""
LOOKS: Final = 20
"""Number of times that the list of tables is requested."""
BOUNDS: Final = {
    "answer_p95_ms": 100,
    "view_p95_ms": 500,
    "tile_p95_ms": 500,
    "times_the_floor_at_200": 4,
    "memory_kb": 40,
    "catching_up_answer_p95_ms": 1000,
}


@click.command("pit")
@click.option(
    "--tables", type=click.IntRange(2), default=200, show_default=True, help="Tables that play at once."
)
@click.option(
    "--hands-an-hour",
    type=click.FloatRange(1),
    default=30,
    show_default=True,
    help="Hands that each table plays in an hour.",
)
@click.option(
    "--seconds",
    type=click.IntRange(1),
    default=60,
    show_default=True,
    help="Seconds for which the load is measured.",
)
@click.option(
    "--catch-up",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of the tables, how many send a long record after an outage while the others play.",
)
@click.option(
    "--behind",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="Hands that a table with --catch-up has to send.",
)
@click.option(
    "--screens",
    type=click.IntRange(0, 60),
    default=0,
    show_default=True,
    help="Screens that follow the floor page meanwhile.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A data folder: send the hands of this record. Without it the demo plays some first.",
)
@click.option(
    "--from-url",
    "url",
    metavar="URL",
    help="An empty PostgreSQL database. Without it a server is started in a temporary folder.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes of the pit (feltwatch pit serve --workers).",
)
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed plays at the same times.")
@json_option
def command(
    tables: int,
    hands_an_hour: float,
    seconds: int,
    catch_up: int,
    behind: int,
    screens: int,
    record: Path | None,
    url: str | None,
    workers: int,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the server of many tables: answer times, processor, memory of a connection.

    The floor under these figures is measured in the same run: psycopg writes the same rows at the same times
    straight into PostgreSQL.
    """
    if catch_up >= tables:
        raise click.UsageError("Some tables must play: --catch-up needs to be less than --tables.")
    began = conditions()
    with cleaning_up(), hands_of(record) as source, House(url, workers) as house:
        result = began | measure(
            house, source, tables, hands_an_hour, seconds, catch_up, behind, screens, seed
        )
    result["workers"] = workers
    result["load_at_the_end"] = conditions()["load"]
    result["bounds"] = verdicts(result)
    publish(
        result,
        as_json,
        f"{result['machine']}; {result['load']}",
        table(("what", "median", "95 %", "99 %", "longest"), _times(result)),
        table(("what", "figure"), _figures(result)),
        table(("bound", "limit", "measured", "held"), _verdicts(result)),
    )


@contextmanager
def hands_of(folder: Path | None) -> Iterator[Played]:
    """Give the hands of a record; without one the demo plays some. Raises AppError."""
    if folder is not None:
        yield played(folder)
        return
    with tempfile.TemporaryDirectory(prefix="feltwatch-bench-") as made:
        order = ["demo", "--headless", "--hands", str(PLAYED), "--data", made, "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "firmware.cli", *order], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise AppError(f"The demo could not play: {done.stderr.strip()[-300:]}")
        yield played(Path(made))


def measure(
    house: House,
    source: Played,
    tables: int,
    hands_an_hour: float,
    seconds: float,
    catch_up: int,
    behind: int,
    screens: int,
    seed: int,
) -> dict[str, Any]:
    """Enrol and connect the tables, play, and return the figures. Raises AppError, UplinkError, DatabaseError."""
    settings = house.enrol(f"Table {number}" for number in range(tables))
    live = tables - catch_up
    with ExitStack() as stack:
        away = stack.enter_context(CatchUp(source, settings[live:], behind)) if catch_up else None
        view = stack.enter_context(FloorView(house.url))
        records = [Record(source, f"live-{number}", number) for number in range(live)]
        targets = [
            PitTarget(one, record, source.contents) for one, record in zip(settings, records, strict=False)
        ]
        for target in targets:
            stack.callback(target.client.close)
        floor = Load(
            direct_targets(stack, house.url, [Record(source, f"floor-{n}", n) for n in range(live)]),
            hands_an_hour,
            seed,
            heartbeats=False,
        )
        shown = stack.enter_context(Screens(house.url, house.folder / "floor", screens)) if screens else None
        watched = [
            shown.watched(f"Table {number}", target) if shown else target
            for number, target in enumerate(targets)
        ]
        load = Load(watched, hands_an_hour, seed, answered=view.expect)
        below = _measured(house, floor, seconds)  # first: nginx ends a connection on which nothing comes
        memory = _connect(house, load, targets)
        settled = time.monotonic() + min(SETTLES_S, seconds)
        load.run(lambda: time.monotonic() >= settled)
        view.poll_ms.clear()
        view.seen_ms.clear()
        if shown:
            shown.forget()
        again = sum(target.again for target in targets)
        result: dict[str, Any] = {
            "tables": tables,
            "hands_an_hour": hands_an_hour,
            "seconds": seconds,
            "front": house.front,
            "rows_a_hand": round(source.rows_a_hand, 2),
            "bytes_a_hand": round(source.bytes_a_hand),
            "memory_kb_a_connection": memory,
            "floor": below,
            "live": _measured(house, load, seconds),
        }
        floors = below["core"]["centre"] + below["core_of_senders"]
        result["times_the_floor"] = round(result["live"]["core"]["centre"] / floors, 2)
        result["sent_again"] = sum(target.again for target in targets) - again
        result["heads_ms"] = quantiles(view.poll_ms)
        result["view_ms"] = quantiles(view.seen_ms)
        with Database(house.url, connections=1) as database:
            result["list_ms"] = quantiles([elapsed_ms(lambda: list_tables(database)) for _ in range(LOOKS)])
        if shown is not None:
            result["screens"] = {"count": screens, "missing": shown.missing, "ms": quantiles(shown.seen_ms)}
        if away is not None:
            result["catching_up"] = _catching_up(house, load, view, away)
        return result


def _connect(house: House, load: Load, targets: list[PitTarget]) -> dict[str, float]:
    """Connect all tables; return the kilobytes that each takes after the first ones."""
    first = min(FIRST, len(targets) // 2)
    load.connect(0, first)
    before = house.memory()
    load.connect(first, len(targets))
    after = house.memory()
    each = {name: 1000 * (after[name] - before[name]) / (len(targets) - first) for name in after}
    return {name: round(kb, 1) for name, kb in each.items()} | {"centre": round(sum(each.values()), 1)}


def _measured(house: House, load: Load, seconds: float) -> dict[str, Any]:
    before, began, sender = house.processor(), time.monotonic(), load.sender_s
    samples = load.run(lambda: time.monotonic() >= began + seconds)
    passed = time.monotonic() - began
    used = {name: (now - before[name]) / passed for name, now in house.processor().items()}
    return _summary(samples) | {
        "core": {name: round(share, 4) for name, share in used.items()}
        | {"centre": round(sum(used.values()), 4)},
        "core_of_senders": round((load.sender_s - sender) / passed, 4),
    }


def _summary(samples: list[Sample]) -> dict[str, Any]:
    rows = [sample for sample in samples if sample.rows]
    return {
        "requests": len(rows),
        "heartbeats": len(samples) - len(rows),
        "rows": sum(sample.rows for sample in rows),
        "answer_ms": quantiles([1000 * (one.answered - one.sent) for one in rows]),
        "heartbeat_ms": quantiles([1000 * (one.answered - one.sent) for one in samples if not one.rows]),
        "sent_late_ms": quantiles([1000 * (one.sent - one.due) for one in samples]),
    }


def _catching_up(house: House, load: Load, view: FloorView, away: CatchUp) -> dict[str, Any]:
    """Let some tables catch up while the others play on."""
    view.seen_ms.clear()
    before, began = house.processor(), time.monotonic()
    away.start()
    samples = load.run(lambda: away.is_done)
    caught = away.result()
    while not view.is_followed():
        time.sleep(0.2)
    used = sum(now - before[name] for name, now in house.processor().items())
    return _summary(samples) | {
        "tables": away.tables,
        "hands": caught.hands,
        "rows_caught_up": caught.rows,
        "seconds": round(caught.seconds, 1),
        "seconds_until_listed": round(time.monotonic() - began, 1),
        "longest_request_ms": round(caught.longest_ms),
        "put_off": caught.later,
        "processor_ms_a_hand": round(1000 * used / caught.hands, 2),
        "view_ms": quantiles(view.seen_ms),
    }


def _times(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    live, floor = result["live"], result["floor"]
    shown = {
        "answer to rows": live["answer_ms"],
        "answer to a heartbeat": live["heartbeat_ms"],
        "the same rows by psycopg, straight into PostgreSQL": floor["answer_ms"],
        "from sending to the floor view, which polls every 100 ms": result["view_ms"],
        "a poll of all tables' heads": result["heads_ms"],
        "the list of tables": result["list_ms"],
        "how late the bench itself sent": live["sent_late_ms"],
    }
    if screens := result.get("screens"):
        shown[f"from an opened hand to the tile on {screens['count']} screens"] = screens["ms"]
    if caught := result.get("catching_up"):
        shown["answer to rows while others catch up"] = caught["answer_ms"]
        shown["floor view while others catch up"] = caught["view_ms"]
    for name, ms in shown.items():
        yield name, *(f"{value:,.1f} ms" for value in ms.values())


def _figures(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    live, floor = result["live"], result["floor"]
    yield "tables; hands an hour each", f"{result['tables']}; {result['hands_an_hour']:g}"
    yield "processes of the pit", f"{result['workers']}"
    yield "rows, bytes of payload a hand", f"{result['rows_a_hand']}, {result['bytes_a_hand']:,}"
    yield "requests with rows; heartbeats", f"{live['requests']:,}; {live['heartbeats']:,}"
    yield "processor of the centre", _shares(live["core"])
    yield "processor of the centre to that of the floor", f"{result['times_the_floor']:g}"
    yield "processor of the floor", f"{_shares(floor['core'])}, psycopg {floor['core_of_senders']:.1%}"
    memory = ", ".join(f"{name} {kb:g} kB" for name, kb in result["memory_kb_a_connection"].items())
    yield "memory of a connection", memory
    if caught := result.get("catching_up"):
        yield (
            f"{caught['tables']} tables caught up",
            f"{caught['hands']:,} hands in {caught['seconds']:g} s, listed after {caught['seconds_until_listed']:g} s; "
            f"{caught['processor_ms_a_hand']:g} ms of the centre's processor a hand",
        )


def _shares(core: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share:.1%}" for name, share in core.items()) + " of a core"


def verdicts(result: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return each bound that applies to this run: its limit, what was measured, whether it was held."""
    found = {
        "answer_p95_ms": result["live"]["answer_ms"].get("p95"),
        "view_p95_ms": result["view_ms"].get("p95"),
        "memory_kb": result["memory_kb_a_connection"]["centre"],
    }
    if result["tables"] <= 200:
        found["times_the_floor_at_200"] = result["times_the_floor"]
    if screens := result.get("screens"):
        found["tile_p95_ms"] = screens["ms"].get("p95")
    if caught := result.get("catching_up"):
        found["catching_up_answer_p95_ms"] = caught["answer_ms"].get("p95")
    return {
        name: {"limit": BOUNDS[name], "measured": value, "held": value <= BOUNDS[name]}
        for name, value in found.items()
        if value is not None
    }


def _verdicts(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, one in result["bounds"].items():
        yield name, f"{one['limit']:g}", f"{one['measured']:g}", "yes" if one["held"] else "no"
