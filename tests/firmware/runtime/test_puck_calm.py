"""A tag that flaps between two antennas is one fault and one answer until it keeps still."""

from __future__ import annotations

from pathlib import Path

from firmware.devices.puck.reading import PuckReading, PuckState
from firmware.record.journal.journal import Journal, JournalReader
from firmware.runtime.config import Config
from firmware.runtime.puck_calm import CALM_S, CHANGES, LOOSE, RESTLESS, CalmPuck
from firmware.simulation.house import make_config
from tests.campaigns.appliance.fault_campaign import _table

A_SECOND = 4
"""Changes a second of a tag between two antennas, as it was measured."""


def at(seat: int) -> PuckReading:
    return PuckReading(PuckState.SEAT, seat, "", frozenset({1, 2, 3}), 0.0)


def flapped(puck: CalmPuck, seconds: float, begin: float = 0.0) -> float:
    for number in range(int(seconds * A_SECOND)):
        puck.take(at(2 + number % 2), begin + number / A_SECOND)
    return begin + (seconds * A_SECOND - 1) / A_SECOND


def test_a_tag_that_flaps_is_nowhere_for_certain_until_it_keeps_still() -> None:
    puck = CalmPuck()
    last = flapped(puck, 10)
    told = puck.reading(last)
    assert told is not None
    assert (told.state, told.seat, told.detail) == (PuckState.AMBIGUOUS, None, RESTLESS)
    assert puck.fault(last + CALM_S - 0.1) == RESTLESS
    assert puck.fault(last + CALM_S) == ""
    assert puck.reading(last + CALM_S) == at(3)
    puck.take(at(1), last + CALM_S + 1)
    assert puck.reading(last + CALM_S + 1) == at(1), "one change is a move"


def test_a_hand_that_moves_the_disk_is_believed() -> None:
    puck, gone = CalmPuck(), PuckReading(PuckState.NONE, None, "", frozenset(), 0.0)
    for number in range(3):  # lifted, laid down, and once more, within seconds
        puck.take(gone, 2.0 * number)
        puck.take(at(1 + number), 2.0 * number + 1)
    assert puck.reading(6.0) == at(3)
    for number in range(100):  # the same again and again is not a change
        puck.take(at(3), 6.0 + number / 10)
    assert puck.fault(16.0) == ""


def test_a_cable_that_comes_and_goes_is_a_loose_cable_and_no_wandering_disk() -> None:
    puck, unplugged = CalmPuck(), PuckReading(PuckState.UNKNOWN, None, "no answer", frozenset(), 0.0)
    for number in range(6):  # pulled and put back six times, the disk lies still
        puck.take(at(1), number * 0.8)
        puck.take(unplugged, number * 0.8 + 0.4)
    assert puck.fault(5.0) == LOOSE
    told = puck.reading(5.0)
    assert told is not None
    assert (told.state, told.seat, told.detail) == (PuckState.AMBIGUOUS, None, LOOSE)
    assert puck.fault(4.4 + CALM_S) == ""


def rows_of(config: Config, seconds: float) -> list[tuple[str, str]]:
    """Have a tag flap under a table for so long, then lie still; return what was written of it."""
    with Journal(config.data) as journal:
        now = 1000.0
        table = _table(config, journal, lambda: now)
        table.begin()
        for number in range(int(seconds * A_SECOND)):
            now += 1 / A_SECOND
            table.turn(at(2 + number % 2))
        for _ in range(100):
            now += 0.25
            table.turn()
        table.end()
    rows = JournalReader(config.data).events_since(0, 100_000)
    return [(row.type, row.payload) for row in rows if row.type != "table_started"]


def test_a_quarter_of_an_hour_of_it_writes_a_few_rows(tmp_path: Path) -> None:
    rows = rows_of(make_config(tmp_path, "washington-1-unit"), 900)
    assert [kind for kind, _ in rows].count("device_fault") == 1
    assert [kind for kind, _ in rows].count("device_recovered") == 1
    assert len(rows) <= CHANGES + 4
    last = [payload for kind, payload in rows if kind == "puck_seen"][-1]
    assert '"seat":3' in last
