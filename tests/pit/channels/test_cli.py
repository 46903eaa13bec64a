"""`feltwatch pit channels` at a console, and a pit's service that is killed while a release goes to its tables."""

from __future__ import annotations

import json
import signal

import pytest
from click.testing import CliRunner, Result

from pit.channels.judge import Mark
from pit.channels.store import move, put, read_channels
from pit.cli.main import command
from pit.store.database import Database
from tests.pit.channels.room import FIRST, NEW, OLD, REST, SHA, TENTH, Room, RoomTable
from tests.pit.house import House, house
from tests.tools import NGINX, POSTGRESQL, needs
from tests.waiting import until


def run(room: Room, *arguments: str, code: int = 0) -> str:
    found: Result = CliRunner().invoke(command, ["channels", *arguments, "--url", room.owned])
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return found.output


def test_a_release_is_moved_tried_again_and_withdrawn_at_the_console(room: Room) -> None:
    room.add(3)
    assert "first: no release, 0 of 0 tables updated" in run(room)
    run(room, "Table 2", "first")
    run(room, "tenth")
    assert f"first: {NEW}, 0 of 1 tables updated" in run(room, "move", NEW, "first")
    assert "Not updated yet: Table 2" in run(room, "move", NEW, "tenth", code=1)
    room.turn()
    assert "  Table 2: asked" in run(room)
    room.tables[1].start(NEW)
    room.tables[1].start(OLD)
    room.turn()
    text = run(room, code=1)  # a script sees it
    assert "  stopped: Table 2: runs another release again" in text
    assert f"  Table 2: runs another release again: It runs {OLD}." in text
    assert "only a table that failed" in run(room, "again", NEW, "--without", "Table 9", code=1)
    assert "(left out)" in run(room, "again", NEW, "--without", "Table 2", "--by", "Max")
    [first, tenth, _] = json.loads(run(room, "--json"))
    assert (first["name"], first["release"], first["tables"][0]["is_left_out"]) == ("first", NEW, True)
    assert [one["name"] for one in tenth["tables"]] == ["Table 1"]
    assert "first: no release" in run(room, "withdraw", NEW)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("Table 1", "second"), 2),
        (("Table 9", "first"), 1),
        (("move", NEW, "FIRST"), 2),
        (("move", "nothing", "first"), 1),
        (("move", NEW), 2),
        (("move", NEW, "first"), 1),
        (("again", NEW), 1),
        (("withdraw", NEW), 1),
        (("again",), 2),
        (("a", "b", "c", "d"), 2),
    ],
)
def test_what_moves_nothing_is_said_in_a_sentence(room: Room, arguments: tuple[str, ...], code: int) -> None:
    assert "Error: " in run(room, *arguments, code=code)


# ---- the pit's service, killed ----


def begun(all_of_it: House, tables: int) -> list[RoomTable]:
    """Enrol tables, and offer a release; the pit does not run yet."""
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


@pytest.mark.exhaustive  # test_campaigns.py kills every part of a house once
@pytest.mark.slow
@needs(NGINX, POSTGRESQL)
def test_a_pit_that_is_killed_at_any_moment_goes_on_and_asks_each_table_once() -> None:
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
                    return {
                        its.name: its.mark for one in read_channels(connection).values() for its in one.tables
                    }

            def heard() -> int:
                with database.transaction() as connection:
                    row = connection.execute("SELECT count(*) FROM head WHERE seq > 1").fetchone()
                assert row is not None
                return int(row[0])

            def kill() -> None:
                all_of_it.pit.kill(signal.SIGKILL)
                all_of_it.start()

            until(lambda: heard() == len(tables))
            first, last = tables
            put(database, first.name, FIRST, "Ines")
            move(database, SHA, FIRST, "Ines")
            until(lambda: marks()[first.name] is Mark.ASKED)
            kill()
            first.says_start(NEW)
            until(lambda: marks()[first.name] is Mark.RUNS)
            first.play(1)
            kill()
            until(lambda: marks()[first.name] is Mark.UPDATED)
            for to in (TENTH, REST):
                move(database, SHA, to, "Ines")
            kill()
            until(lambda: marks()[last.name] is Mark.ASKED)
            last.says_start(NEW)
            last.play(1)
            until(lambda: set(marks().values()) == {Mark.UPDATED})
            with database.transaction() as connection:
                asked = connection.execute(
                    "SELECT table_id, count(*) FROM file_request GROUP BY table_id ORDER BY table_id"
                ).fetchall()
                assert not any(one.stopped for one in read_channels(connection).values())
            assert asked == [(table.table_id, 1) for table in tables]
