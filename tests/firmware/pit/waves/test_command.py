"""`feltwatch pit wave` at a console, and a pit's service that is killed in the middle of a wave."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firmware.pit.command import command
from firmware.pit.database import Database
from firmware.pit.waves.plan import Mark, Phase
from firmware.pit.waves.store import newest, start, tables_of
from tests.firmware.pit.down.conftest import maker, packed
from tests.firmware.pit.house import IS_INSTALLED, House, house
from tests.firmware.pit.waves.room import NEW, SHA, Room, RoomTable
from tests.waiting import until


def run(room: Room, *arguments: str, code: int = 0) -> Result:
    found = CliRunner().invoke(command, ["wave", *arguments, "--url", room.owned])
    assert found.exit_code == code, found.output
    return found


def test_a_wave_of_a_file_is_begun_shown_stopped_and_continued(room: Room, tmp_path: Path) -> None:
    assert "There was no wave yet" in run(room, "show").output
    assert json.loads(run(room, "show", "--json").output) == {}
    assert "There was no wave yet" in run(room, "stop", code=1).output
    room.add(3)
    archive = packed(tmp_path, NEW, maker(tmp_path))
    of_key = ("--maker-root", str(tmp_path / "root.json"), "--folder", str(room.pit.folder))
    shown = run(room, "start", str(archive), "--first", "Table 2", "--tenth", "50%", *of_key).output
    assert shown.startswith(f"Release {NEW}: 0 of 3 tables are updated.")
    assert room.turn() == [Mark.WAITS, Mark.ASKED, Mark.WAITS]
    assert "The wave waits for Table 2." in run(room, "show").output
    assert "under way" in run(room, "start", SHA, code=1).output
    assert "The wave was stopped by console." in run(room, "stop").output
    assert "stopped by console" in run(room, "show", code=1).output, "a script sees it"
    room.turn()
    assert "only a table that failed" in run(room, "resume", "--without", "Table 1", code=1).output
    assert "no table Table 9" in run(room, "resume", "--without", "Table 9", code=1).output
    run(room, "resume")
    room.turn()
    room.tables[1].start(NEW)
    room.tables[1].start("0.1.0")
    room.turn()
    text = run(room, "show", code=1).output
    assert "The wave was stopped: Table 2: runs another release again." in text
    assert "It runs 0.1.0." in text
    run(room, "resume", "--without", "Table 2")
    room.turn()
    found = json.loads(run(room, "show", "--json").output)
    assert [(one["table"], one["mark"], one["accepted"]) for one in found["tables"]] == [
        *(("Table 2", "failed", 2), ("Table 1", "asked", 0), ("Table 3", "waits", 0)),
    ]
    assert "Table 2: runs another release again (left out)" in run(room, "show").output


@pytest.mark.parametrize(
    "arguments",
    [
        ("nowhere.tar.gz",),
        (SHA[:-1],),
        (SHA, "--tenth", "0"),
        (SHA, "--tenth", "x%"),
        ("33" * 32,),
        (SHA, "--tenth", "0010000"),
    ],
)
def test_what_begins_no_wave_is_said_in_a_sentence(room: Room, arguments: tuple[str, ...]) -> None:
    room.add(1)
    found = CliRunner().invoke(
        command, ["wave", "start", *arguments, "--url", room.owned, "--folder", str(room.pit.folder)]
    )
    assert found.exit_code in (1, 2)
    assert "Error: " in found.output
    assert "Traceback" not in found.output


# ---- the pit's service, killed ----


def begun(all_of_it: House, tables: int) -> list[RoomTable]:
    """Enrol tables of the old release, and begin a wave; the pit does not run yet."""
    all_of_it.add_tables(tables)
    found = []
    with Database(all_of_it.url, connections=1) as database, database.transaction() as connection:
        names = connection.execute("SELECT name, table_id FROM gaming_table ORDER BY table_id").fetchall()
        connection.execute(
            "INSERT INTO offered_file (sha256, kind, name, version, size, offered_by)"
            " VALUES (%s, 'release', 'feltwatch', %s, 1, 'test')",
            (SHA, NEW),
        )
    for (name, table_id), data in zip(names, all_of_it.data, strict=True):
        table = RoomTable(name, table_id, data, None)  # type: ignore[arg-type] # its uplink is a process
        found.append(table)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not IS_INSTALLED, reason="PostgreSQL or nginx is not installed")
def test_a_pit_that_is_killed_at_any_moment_goes_on_with_its_wave_and_asks_each_table_once() -> None:
    """Real processes: the pit is killed with SIGKILL as soon as each thing has happened, and before it can."""
    with house(durable=False) as all_of_it:
        tables = begun(all_of_it, 2)
        for table in tables:
            table.says_start("0.2.0-aaaaaaaa")
            table.play(1)
        all_of_it.start()
        for uplink in all_of_it.uplinks:
            uplink.start()
        with Database(all_of_it.url, connections=2) as database:

            def marks() -> dict[str, Mark]:
                with database.transaction() as connection:
                    wave = newest(connection)
                    return {one.name: one.mark for one in tables_of(connection, wave)} if wave else {}

            def heard() -> int:
                with database.transaction() as connection:
                    row = connection.execute("SELECT count(*) FROM head WHERE seq > 1").fetchone()
                assert row is not None
                return int(row[0])

            def kill() -> None:
                all_of_it.pit.kill(signal.SIGKILL)
                all_of_it.start()

            until(lambda: heard() == len(tables))
            start(database, SHA, "Ines")
            first, last = tables
            until(lambda: marks()[first.name] is Mark.ASKED)
            kill()
            first.says_start(NEW)
            until(lambda: marks()[first.name] is Mark.RUNS)
            kill()
            first.play(1)
            kill()
            until(lambda: marks() == {first.name: Mark.UPDATED, last.name: Mark.ASKED})
            last.says_start(NEW)
            last.play(1)
            until(lambda: set(marks().values()) == {Mark.UPDATED})
            with database.transaction() as connection:
                wave = newest(connection)
                asked = connection.execute(
                    "SELECT table_id, count(*) FROM file_request GROUP BY table_id ORDER BY table_id"
                ).fetchall()
            assert wave is not None
            assert wave.phase is Phase.DONE
            assert asked == [(table.table_id, 1) for table in tables]
