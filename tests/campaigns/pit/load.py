"""A house with many tables: how soon the pit answers, and what it costs.

    python -m tests.campaigns.pit.load --tables 200

Everything is real but the tables: PostgreSQL that waits for the disk, the pit's service, nginx, TLS with a certificate
for each table, and rows of hands that the simulated table has played. Processor time does not depend on what else the
machine does; answer times do.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import click
import psycopg
from psycopg_pool import ConnectionPool

from firmware.bench.harness import (
    Result,
    benchmark,
    number,
    seed_option,
    spread,
)
from firmware.bench.processes import Program, feltwatch
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.reader import JournalReader
from firmware.uplink.settings import Settings
from pit.status.tables import list_tables
from pit.store.database import Database
from tests.campaigns.appliance.long_record import elapsed_ms
from tests.campaigns.pit.load_house import House
from tests.campaigns.pit.load_tables import DirectTarget, Load, PitTarget, Sample
from tests.campaigns.pit.played_record import Record, hands_of, record_option
from tests.generated_record import generate_record

FIRST: Final = 20
"""Tables that are connected before the memory of a connection is measured: the first fill caches."""
SETTLES_S: Final = 15.0
"""Seconds of play before the load is measured: every table has spoken again after all were connected."""
LOOKS: Final = 20
"""Number of times that the list of tables is requested."""
BOUNDS: Final = {
    "answer_p95_ms": 100,
    "times_the_floor_at_200": 4,
    "memory_kb": 40,
    "catching_up_answer_p95_ms": 1000,
}


@benchmark(
    "tests.campaigns.pit.load",
    number("--tables", 200, "Tables that play at once.", 2),
    number("--hands-an-hour", 30, "Hands that each table plays in an hour."),
    number("--seconds", 60, "Seconds for which the load is measured."),
    number(
        "--catch-up", 0, "Of the tables, how many send a long record after an outage while others play.", 0
    ),
    number("--behind", 2000, "Hands that a table with --catch-up has to send."),
    number("--workers", 1, "Processes of the pit (feltwatch pit serve --workers).", 1, 64),
    record_option,
    seed_option,
)
def command(
    tables: int,
    hands_an_hour: int,
    seconds: int,
    catch_up: int,
    behind: int,
    workers: int,
    record: Path | None,
    seed: int,
) -> Result:
    """Measure the server of many tables: answer times, processor, memory of a connection.

    The floor under these figures is measured in the same run: psycopg writes the same rows at the same times
    straight into PostgreSQL.
    """
    if catch_up >= tables:
        raise click.UsageError("Some tables must play: --catch-up needs to be less than --tables.")
    live = tables - catch_up
    with ExitStack() as stack:
        source = stack.enter_context(hands_of(record))
        house = stack.enter_context(House(workers))
        settings = house.enrol(f"Table {number}" for number in range(tables))
        away = [_Away(one, behind, number) for number, one in enumerate(settings[live:])]
        pool = stack.enter_context(ConnectionPool(house.url, min_size=1, max_size=8, open=True))
        floor = [DirectTarget(pool, n, Record(source, f"floor-{n}", n)) for n in range(live)]
        targets = [PitTarget(settings[n], Record(source, f"live-{n}", n)) for n in range(live)]
        for target in targets:
            stack.callback(target.client.close)
        load = Load(targets, hands_an_hour, seed)
        # first the floor: nginx ends a connection on which nothing comes
        below = _measure(house, Load(floor, hands_an_hour, seed, heartbeats=False), seconds)
        memory = _connect(house, load, live)
        settled = time.monotonic() + min(SETTLES_S, seconds)
        load.run(lambda: time.monotonic() >= settled)
        again = sum(target.again for target in targets)
        facts: dict[str, Any] = {
            "tables": tables,
            "hands_an_hour": hands_an_hour,
            "seconds": seconds,
            "workers": workers,
            "memory_kb_a_connection": memory,
            "floor": below,
            "live": _measure(house, load, seconds),
        }
        facts["times_the_floor"] = round(
            facts["live"]["core"]["centre"] / (below["core"]["centre"] + below["core_of_senders"]), 2
        )
        facts["sent_again"] = sum(target.again for target in targets) - again
        with Database(house.url, connections=1) as database:
            facts["list_ms"] = spread([elapsed_ms(lambda: list_tables(database)) for _ in range(LOOKS)])
        if away:
            facts["catching_up"] = _catching_up(house, load, away)
    facts["bounds"] = verdicts(
        BOUNDS,
        {
            "answer_p95_ms": facts["live"]["answer_ms"].get("p95"),
            "memory_kb": memory["centre"],
            "times_the_floor_at_200": facts["times_the_floor"] if tables <= 200 else None,
            "catching_up_answer_p95_ms": facts.get("catching_up", {}).get("answer_ms", {}).get("p95"),
        },
    )
    method = "Everything is real but the tables; the floor is psycopg, which writes the same rows at the same times."
    return Result("The pit under load", method, facts)


def _connect(house: House, load: Load, tables: int) -> dict[str, float]:
    """Connect all tables; return the kilobytes that each takes after the first ones."""
    first = min(FIRST, tables // 2)
    load.connect(0, first)
    before = house.memory()
    load.connect(first)
    each = {name: 1000 * (mb - before[name]) / (tables - first) for name, mb in house.memory().items()}
    return {name: round(kb, 1) for name, kb in each.items()} | {"centre": round(sum(each.values()), 1)}


def _measure(house: House, load: Load, seconds: float) -> dict[str, Any]:
    before, began = house.processor(), time.monotonic()
    samples = load.run(lambda: time.monotonic() >= began + seconds)
    passed = time.monotonic() - began
    used = {name: (now - before[name]) / passed for name, now in house.processor().items()}
    core = {name: round(share, 4) for name, share in used.items()} | {"centre": round(sum(used.values()), 4)}
    senders = round(sum(one.sender_s for one in samples) / passed, 4)
    return _summary(samples) | {"core": core, "core_of_senders": senders}


def _summary(samples: list[Sample]) -> dict[str, Any]:
    rows = [sample for sample in samples if sample.rows]
    return {
        "requests": len(rows),
        "heartbeats": len(samples) - len(rows),
        "rows": sum(sample.rows for sample in rows),
        "answer_ms": spread([1000 * (one.answered - one.sent) for one in rows]),
        "heartbeat_ms": spread([1000 * (one.answered - one.sent) for one in samples if not one.rows]),
        "sent_late_ms": spread([1000 * (one.sent - one.due) for one in samples]),
    }


class _Away:
    """A table that comes back after an outage with many hands: its record, which its own uplink sends."""

    def __init__(self, settings: Settings, hands: int, number: int) -> None:
        self.hands, self._folder = hands, settings.folder
        self._data = settings.folder / "data"
        key = DeviceKey.open(settings.folder / "key")  # no other table has its rows
        self.rows = generate_record(self._data, hands, seed=number, key=key)
        self.genesis = JournalReader(self._data).events_since(0, 1)[0].hash

    def uplink(self) -> Program:
        state = self._data.with_name("state")
        state.mkdir()
        return Program(
            feltwatch("uplink", "--data", self._data, "--enrolment", self._folder, "--state", state)
        )


def _catching_up(house: House, load: Load, away: Sequence[_Away]) -> dict[str, Any]:
    """Let some tables catch up while the others play on."""
    before, began = house.processor(), time.monotonic()
    missing = "SELECT FROM projection JOIN head USING (record_id) WHERE projection.seq < head.seq LIMIT 1"
    whole = (
        "SELECT count(*) FROM head JOIN record USING (record_id) "
        "JOIN unnest(%s::text[], %s::bigint[]) AS sent (genesis, rows) USING (genesis) WHERE seq >= rows"
    )
    sent = [one.genesis for one in away], [one.rows for one in away]
    with ExitStack() as stack:
        connection = stack.enter_context(psycopg.connect(house.url, autocommit=True))
        for one in away:
            stack.enter_context(one.uplink())
        samples = load.run(lambda: connection.execute(whole, sent).fetchone() == (len(away),))
        seconds = time.monotonic() - began
        while connection.execute(missing).fetchone():
            time.sleep(0.2)
    used = sum(now - before[name] for name, now in house.processor().items())
    hands = sum(one.hands for one in away)
    return _summary(samples) | {
        "tables": len(away),
        "hands": hands,
        "rows_caught_up": sum(one.rows for one in away),
        "seconds": round(seconds, 1),
        "seconds_until_listed": round(time.monotonic() - began, 1),
        "processor_ms_a_hand": round(1000 * used / hands, 2),
    }


def verdicts(bounds: Mapping[str, float], measured: Mapping[str, float | None]) -> list[dict[str, Any]]:
    """Return each bound with what was measured and whether it was held, where it was measured."""
    return [
        {
            "bound": name,
            "limit": bounds[name],
            "measured": found,
            "held": "yes" if found <= bounds[name] else "no",
        }
        for name, found in measured.items()
        if found is not None
    ]


if __name__ == "__main__":
    command()
