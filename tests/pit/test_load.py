"""The load campaigns, in short: real processes, few tables. The figures' shape is looked at, not their size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.table.entry import Entry
from tests.campaigns.pit.load import command as pit_command
from tests.campaigns.pit.load import verdicts
from tests.campaigns.pit.played_record import Record, read_played
from tests.campaigns.pit.uplink_cost import command as uplink_command
from tests.generated_record import generate_record
from tests.tools import NGINX, POSTGRESQL, needs


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("record")
    generate_record(folder, 3, pool=3)
    return folder


def test_a_played_record_is_written_again_as_another_tables_and_chained(record: Path) -> None:
    source = read_played(record)
    one, two = Record(source, "one"), Record(source, "two", first=1)
    rows: list[Entry] = [*one.opening()]
    for commit in one.commits():
        rows += commit
        if one.hands == 4:
            break
    before = ("", 0)
    for row in rows:
        assert (row.previous, row.seq) == (before[0], before[1] + 1)
        assert row.hash == row.sealed()
        before = (row.hash, row.seq)
    assert one.head == (rows[-1].seq, rows[-1].hash)
    assert one.genesis == rows[0].hash
    assert [json.loads(row.payload)["hand"] for row in rows if row.type == "hand_opened"] == [1, 2, 3, 4]
    next(two.commits())
    assert two.genesis != one.genesis


@pytest.mark.exhaustive
@needs(POSTGRESQL)
@needs(NGINX)
def test_a_house_is_measured_while_a_table_catches_up(record: Path) -> None:
    order = ["--tables", "5", "--hands-an-hour", "900", "--seconds", "4", "--catch-up", "1", "--behind", "40"]
    done = CliRunner().invoke(pit_command, [*order, "--record", str(record), "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["live"]["requests"] > 0
    assert result["live"]["rows"] >= result["live"]["requests"]
    assert result["floor"]["requests"] > 0
    assert 0 < result["live"]["answer_ms"]["median"] <= result["live"]["answer_ms"]["longest"]
    assert set(result["live"]["core"]) >= {"pit", "postgres", "centre"}
    assert result["catching_up"]["hands"] == 40
    assert result["catching_up"]["rows_caught_up"] > 40 * 5
    assert {one["bound"] for one in result["bounds"]} >= {
        "answer_p95_ms",
        "times_the_floor_at_200",
        "memory_kb",
    }


@pytest.mark.exhaustive
def test_an_uplink_with_a_pit_that_is_absent_and_one_that_floods_is_measured(record: Path) -> None:
    order = [
        "--pairs",
        "0",
        "--seconds",
        "1",
        "--pit",
        "absent",
        "--pit",
        "flooding",
        "--record",
        str(record),
    ]
    done = CliRunner().invoke(uplink_command, [*order, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["uplink"]
    assert [(one["pit"], one["record"]) for one in found] == [
        (pit, state) for state in ("at play", "at rest") for pit in ("absent", "flooding")
    ]
    assert all(20 < one["most_mb"] < 200 for one in found)


def test_a_bound_is_held_up_to_its_limit_and_not_beyond() -> None:
    found = verdicts({"a": 100, "b": 4, "c": 1}, {"a": 100.0, "b": 4.2, "c": None})
    assert [(one["bound"], one["held"]) for one in found] == [("a", "yes"), ("b", "no")]
