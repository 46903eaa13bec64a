"""A stranger at the waves: several persons at once, a cloned table, a pit that was set back, requests in the way."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable

import psycopg

from firmware.pit.down.requests import ask, withdraw
from firmware.pit.errors import PitError
from firmware.pit.waves.facts import TWO_RECORDS
from firmware.pit.waves.plan import Failure, Mark, Phase
from firmware.pit.waves.stepper import Stepper
from firmware.pit.waves.store import resume, start, stop
from firmware.uplink.inbox.wire import MOST_OPEN
from tests.firmware.pit.waves.room import NEW, SHA, Room, RoomTable


def at_once(*calls: Callable[[], object]) -> list[str]:
    """Do several things at the same moment; return what each of them says, "" for well."""
    ready, said = threading.Barrier(len(calls)), [""] * len(calls)

    def one(at: int) -> None:
        ready.wait()
        try:
            calls[at]()
        except PitError as error:
            said[at] = str(error)

    threads = [threading.Thread(target=one, args=(at,)) for at in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def test_of_several_persons_at_once_one_begins_stops_and_continues_a_wave(room: Room) -> None:
    room.add(2)
    said = at_once(*[lambda: start(room.database, SHA, "Ines")] * 3)
    assert sorted(said) == ["", *["A wave is under way. Stop it first."] * 2]
    number = room.wave().wave_id
    stopped = at_once(*[lambda: stop(room.database, number, "Max")] * 2, room.stepper.turn)
    assert sorted(stopped) == ["", "", "The wave is not as it was shown any more. Look again."]
    assert room.phase is Phase.STOPPED
    resumed = at_once(*[lambda: resume(room.database, number, "Ines")] * 3)
    assert sorted(resumed) == ["", *["The wave is not as it was shown any more. Look again."] * 2]
    mixed = at_once(
        lambda: stop(room.database, number, "Max"),
        lambda: resume(room.database, number, "Ines"),
        lambda: start(room.database, SHA, "Vu"),
        room.stepper.turn,
    )
    assert room.phase in (Phase.RUNNING, Phase.STOPPED), mixed
    with psycopg.connect(room.owned) as connection:
        row = connection.execute("SELECT count(*) FROM wave WHERE phase = 'running'").fetchone()
    assert row is not None
    assert row[0] <= 1


def test_two_pits_at_one_database_ask_each_table_once(room: Room) -> None:
    room.add(4)
    room.begin()
    other = Stepper(room.database)
    for _ in range(3):
        at_once(room.stepper.turn, other.turn)
    assert room.asked() == ["Table 1"]


def test_a_clone_of_the_first_table_with_its_own_record_makes_it_no_updated_one(room: Room) -> None:
    """Somebody has the first table's card: it starts the new release, and plays hands of its own."""
    room.add(3)
    room.begin(first="Table 1")
    room.turn()
    data = room.pit.folder / "clone"
    data.mkdir()
    clone = RoomTable(
        "Table 1", room.tables[0].table_id, data, room.pit.follower(room.pit.folder / "Table 1", data)
    )
    clone.start(NEW)
    clone.play(1)
    room.tables.append(clone)
    for _ in range(2):
        assert room.turn()[0] is Mark.RUNS
        assert room.of(clone).why == TWO_RECORDS
    assert room.asked() == ["Table 1"]


def test_a_new_card_that_follows_the_old_one_is_no_clone(room: Room) -> None:
    room.add(2)
    room.begin(first="Table 1")
    room.turn()
    room.tables[0].is_on = False
    room.later(120)
    data = room.pit.folder / "new card"
    data.mkdir()
    card = RoomTable(
        "Table 1", room.tables[0].table_id, data, room.pit.follower(room.pit.folder / "Table 1", data)
    )
    card.start(NEW)
    card.play(1)
    room.tables.append(card)
    room.turn()
    assert room.of(card).mark is Mark.UPDATED


def test_a_clone_that_goes_on_with_the_first_tables_record_is_a_fork_and_updates_nothing(room: Room) -> None:
    room.add(3)
    room.begin(first="Table 1")
    room.turn()
    data = room.pit.folder / "clone"
    shutil.copytree(room.tables[0].data, data)
    room.tables[0].play(1)
    room.turn()
    clone = RoomTable(
        "Table 1", room.tables[0].table_id, data, room.pit.follower(room.pit.folder / "Table 1", data)
    )
    clone.start(NEW)
    clone.play(1)
    room.tables.append(clone)
    marks = room.turn()
    assert marks[0] is not Mark.UPDATED, marks
    assert room.asked() == ["Table 1"]


def test_a_table_that_is_enrolled_while_a_wave_runs_is_in_the_next_one(room: Room) -> None:
    room.add(2)
    room.begin()
    room.add(1)
    room.turn()
    for table in room.tables[:2]:
        room.update(table)
        room.turn()
        room.turn()
    assert room.phase is Phase.DONE
    assert "Table 3" not in room.asked()
    room.begin()
    room.turn()
    assert room.asked() == ["Table 3"]


def test_a_request_that_a_person_withdraws_is_asked_again_until_the_wave_is_stopped(room: Room) -> None:
    room.add(2)
    number = room.begin()
    room.turn()
    with room.database.transaction() as connection:
        assert withdraw(connection, room.tables[0].table_id, SHA, "Max")
    room.turn()
    assert room.asked() == ["Table 1"]
    stop(room.database, number, "Max")
    room.turn()
    assert room.asked() == []


def test_a_table_that_is_asked_for_too_much_already_says_so_on_the_page_of_the_wave(room: Room) -> None:
    room.add(2)
    with psycopg.connect(room.owned) as connection:
        for n in range(MOST_OPEN):
            connection.execute(
                "INSERT INTO offered_file (sha256, kind, name, size, offered_by)"
                " VALUES (%s, 'deck', %s, 1, 'test')",
                (f"{n:064x}", f"deck {n}"),
            )
    with room.database.transaction() as connection:
        for n in range(MOST_OPEN):
            ask(connection, room.tables[0].table_id, f"{n:064x}", "Ines")
    room.begin(first="Table 1")
    for _ in range(2):
        room.turn()
        assert "is asked for 20 files already" in str(room.of(room.tables[0]).why)
    with room.database.transaction() as connection:
        withdraw(connection, room.tables[0].table_id, f"{0:064x}", "Ines")
    room.turn()
    room.turn()
    assert (room.asked().count("Table 1"), room.of(room.tables[0]).why) == (MOST_OPEN, "")


def test_a_table_that_says_in_force_and_settled_without_a_start_is_not_updated(room: Room) -> None:
    room.add(2)
    room.begin(first="Table 1")
    room.turn()
    liar = room.tables[0]
    liar.follower._release = NEW
    liar.play(2)
    room.send()
    room.says(liar, "in_force")
    assert room.turn()[0] is not Mark.UPDATED


def test_a_first_table_that_dies_for_good_stops_the_wave_and_is_left_behind(room: Room) -> None:
    room.add(3)
    number = room.begin(first="Table 1")
    room.turn()
    room.tables[0].is_on = False
    room.later(1900)
    room.turn()
    assert (room.phase, room.of(room.tables[0]).failure) == (Phase.STOPPED, Failure.SILENT)
    resume(room.database, number, "Ines", {room.tables[0].table_id})
    for table in room.tables[1:]:
        room.turn()
        room.update(table)
        room.turn()
    assert room.phase is Phase.DONE
    assert room.of(room.tables[0]).mark is not Mark.UPDATED
