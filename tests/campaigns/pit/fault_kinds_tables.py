"""Faults of tables: a copied box, wrong clocks, a backlog. Rows that no release writes: `fault_kind_poison.py`."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from firmware.record.journal.clocks import Timestamp, now
from firmware.record.journal.reader import JournalReader
from firmware.table import events as ev
from firmware.table.entry import Entry
from firmware.table.people import Role
from tests.campaigns.pit.fault_kind import LONG_S, Fault, Kind, every
from tests.campaigns.pit.fault_stage import LATEST_S, Stage, stage
from tests.dealer_ui.felt import Felt
from tests.pit.dealing_table import Deal, DealingTable, dealt
from tests.pit.house import Part, feltwatch

DAY_MS: Final = 86_400_000
DIFFERS: Final = "differs"
"""A word of what the floor says of a record that is another than before."""


# ---- a copied box ----


def _copied(made: Stage, rng: random.Random, is_long: bool) -> tuple[float, list[str]]:
    """Two boxes with one record and one certificate go on, each on its own; the floor must say so, and not stop."""
    with made.joined(lambda data: dealt(data, rng.randrange(1 << 30), ahead=200)) as first:
        made.until(lambda: made.watcher.last.shown.get(first.name, 0) >= first.seq)
        with _copy(made, first, rng) as second:
            began = time.monotonic()
            made.until(lambda: _is_said(made, first, began))
            said_s = made.watcher.last.began - began
            time.sleep(LONG_S if is_long else 3.0)
            wrong = _not_said(made, first, began + said_s)
            if said_s > LATEST_S:
                wrong.append(f"{first.name}: the copy was said after {said_s:.0f} s only")
        time.sleep(0.5)
        kept = _kept(made, first.data)
        if kept not in (_journal(first)[: len(kept)], _journal(second)[: len(kept)]):
            wrong.append(f"{first.name}: rows of two boxes are in one record")
        return said_s, wrong


@contextmanager
def _copy(made: Stage, first: DealingTable, rng: random.Random) -> Iterator[DealingTable]:
    """Copy a table's box, and let it go on with its own hands."""
    number = len(made.house.data)
    own = made.house.enrolments[-1]
    data, enrolment = made.house.folder / f"copy-{number}", made.house.folder / f"own-copy-{number}"
    with first.writing:
        shutil.copytree(first.data, data)
    shutil.copytree(own, enrolment)
    seed = rng.randrange(1 << 30)
    pulse = made.house.folder / f"pulse-copy-{number}.json"
    second = DealingTable(first.name, data, pulse, dealt(data, seed, ahead=200))
    second.write(2)
    second.beat()
    given = ("--data", data, "--enrolment", enrolment, "--state", enrolment, "--pulse", pulse)
    witness = ("--witness", made.house.folder / f"witness-copy-{number}")
    uplink = Part(feltwatch("firmware.uplink.cli", *given, *witness), made.house.folder / "log")
    uplink.start()
    made.everyone.append(second)
    try:
        yield second
    finally:
        made.everyone.remove(second)
        uplink.kill()
        with second.writing:
            pass


def _is_said(made: Stage, one: DealingTable, after: float) -> bool:
    look = made.watcher.last
    return look.began > after and any(DIFFERS in said for said in look.of.get(one.name, ()))


def _not_said(made: Stage, one: DealingTable, after: float) -> list[str]:
    looks = [look for look in made.watcher.since(after) if look.shown]
    bad = [look for look in looks if not any(DIFFERS in said for said in look.of.get(one.name, ()))]
    return [f"{one.name}: {len(bad)} of {len(looks)} looks do not say that there are two"] if bad else []


def _journal(one: DealingTable) -> list[Entry]:
    return list(JournalReader(one.data).events_since(0, 10**9))


def _kept(made: Stage, data: Path) -> list[Entry]:
    genesis = JournalReader(data).events_since(0, 1)[0].hash
    with made.database.transaction() as connection:
        return [
            Entry(*row)
            for row in connection.execute(
                f"SELECT {', '.join(Entry._fields)} FROM entry JOIN record USING (record_id)"
                " WHERE genesis = %s ORDER BY record_id, seq",
                (genesis,),
            ).fetchall()
        ]


# ---- clocks ----


class _Clock:
    """A table's clock; `off_ms`: by how much it is wrong."""

    def __init__(self) -> None:
        self.off_ms = 0
        self.is_trusted = False

    def __call__(self) -> Timestamp:
        at = now()
        return at._replace(
            wall_ms=at.wall_ms + self.off_ms, clock="synchronised" if self.is_trusted else "unknown"
        )


@contextmanager
def _clocked() -> Iterator[Stage]:
    """Tables whose hands are played by the real commands, under a dealer, each with a clock of its own."""
    clocks: list[_Clock] = []
    felts: list[Felt] = []

    def dealing(data: Path, number: int) -> Deal:
        clock = _Clock()
        felt = Felt(data, clock=clock)
        felt.say(
            ev.PersonListed("Lin", Role.DEALER), ev.PersonListed("Bo", Role.DEALER), ev.LoggedOn("Lin", 1)
        )
        clocks.append(clock)
        felts.append(felt)

        def deal(hands: int) -> int:
            for _ in range(min(hands, 2)):
                felt.to_archived()
            return felt.seq

        return deal

    with stage(dealing=dealing) as made:
        made.clocks = clocks
        yield made
    for felt in felts:
        felt.journal.close()


def _off(*days: int) -> Fault:
    @contextmanager
    def fault(made: Stage, rng: random.Random) -> Iterator[None]:
        clocks: list[_Clock] = made.clocks
        for clock in clocks:
            clock.off_ms, clock.is_trusted = rng.choice(days) * DAY_MS, rng.random() < 0.5
        try:
            yield
        finally:
            for clock in clocks:
                clock.off_ms, clock.is_trusted = 0, False

    return fault


@contextmanager
def _stepping(made: Stage, rng: random.Random) -> Iterator[None]:
    """The clocks step back again and again within a dealer's down, by up to two hours each time."""

    def back() -> None:
        for clock in made.clocks:
            clock.off_ms -= rng.randrange(1_000, 7_200_000)
            clock.is_trusted = rng.random() < 0.5

    with every(rng, 0.3, 1.0, back):
        yield
    for clock in made.clocks:
        clock.off_ms, clock.is_trusted = 0, False


# ---- a backlog ----


def _backlog(hands: int) -> Fault:
    @contextmanager
    def fault(made: Stage, rng: random.Random) -> Iterator[None]:
        for uplink in made.house.uplinks:
            uplink.kill()
        for one in made.tables:
            one.write(hands)
        yield
        for uplink in made.house.uplinks:
            uplink.start()

    return fault


def _long_tables() -> AbstractContextManager[Stage]:
    return stage(dealing=partial(dealt, ahead=7_000))


def _one_table() -> AbstractContextManager[Stage]:
    return stage(1, dealing=partial(dealt, ahead=10_500))


KINDS: Final = (
    Kind("copied", "a table's box is copied; both go on, differently", play=_copied, quarantines=True),
    Kind("clock_off", "a table's clock is a day ahead or behind", _off(-1, 1), _clocked),
    Kind("clock_back", "a table's clock steps back within a down", _stepping, _clocked),
    Kind("backlog", "uplinks are away for 250 hands of each table", _backlog(250), _long_tables),
    Kind(
        "backlog_10000",
        "an uplink is away for 10,000 hands (once, at full size)",
        _backlog(10_000),
        _one_table,
        most_rounds=1,
    ),
)
