"""A stranger at the channels: several persons at once, a cloned table, requests in the way."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable

import psycopg
import pytest

from firmware.uplink.inbox.requests import MAX_OPEN_REQUESTS
from pit.channels.facts import TWO_RECORDS
from pit.channels.judge import Mark
from pit.channels.stepper import Stepper
from pit.channels.store import history, move, try_again, withdraw
from pit.errors import PitError
from pit.files.offers import find_offered
from pit.files.requests import ask, remove
from pit.files.requests import withdraw as withdraw_request
from tests.pit.channels.room import FIRST, NEW, OLD, SHA, TENTH, Room


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


def test_of_several_persons_at_once_one_moves_tries_again_and_withdraws_a_release(room: Room) -> None:
    room.add(2)
    room.put(FIRST, "Table 1")
    said = at_once(*[room.move] * 3, room.stepper.turn)
    assert sorted(said) == ["", "", *["It is in this channel already."] * 2]
    room.turn()
    room.tables[0].start(NEW)
    room.tables[0].start(OLD)
    room.turn()
    again = at_once(*[lambda: try_again(room.database, SHA, "Ines")] * 3, room.stepper.turn)
    assert sorted(again) == ["", "", *["It is not stopped any more. Look again."] * 2]
    gone = at_once(*[lambda: withdraw(room.database, SHA, "Max")] * 3, room.stepper.turn)
    assert sorted(gone) == ["", "", *["It is in no channel any more. Look again."] * 2]
    mixed = at_once(
        lambda: move(room.database, SHA, FIRST, "Vu"),
        lambda: withdraw(room.database, SHA, "Max"),
        lambda: room.put(TENTH, "Table 1"),
        room.stepper.turn,
    )
    with room.database.transaction() as connection:
        told = [str(what) for _, _, what in history(connection)]
    done = [one for one in mixed[:3] if not one]
    assert len(told) == 6 + len(done) - 1, "what was refused is not in the history, and what was done is"


def test_two_pits_at_one_database_ask_each_table_once(room: Room) -> None:
    room.begin(4)
    other = Stepper(room.database)
    for _ in range(3):
        assert at_once(room.stepper.turn, other.turn) == ["", ""]
    assert room.asked() == ["Table 1"]


def test_a_clone_of_the_first_table_with_its_own_record_makes_it_no_updated_one(room: Room) -> None:
    """Somebody has the first table's card: it starts the new release, and plays hands of its own."""
    room.begin(3)
    room.turn()
    clone = room.second_card("clone")
    clone.start(NEW)
    clone.play(1)
    for _ in range(2):
        assert room.turn()[0] is Mark.RUNS
        assert room.of(clone).why == TWO_RECORDS
    assert room.asked() == ["Table 1"]


def test_a_new_card_that_follows_the_old_one_is_no_clone(room: Room) -> None:
    room.begin(2)
    room.turn()
    room.tables[0].is_on = False
    room.later(120)
    card = room.second_card("new card")
    card.start(NEW)
    card.play(1)
    room.turn()
    assert room.of(card).mark is Mark.UPDATED


def test_a_clone_that_goes_on_with_the_first_tables_record_is_a_fork_and_updates_nothing(room: Room) -> None:
    room.begin(3)
    room.turn()
    shutil.copytree(room.tables[0].data, room.pit.folder / "clone")
    room.tables[0].play(1)
    room.turn()
    clone = room.second_card("clone")
    clone.start(NEW)
    clone.play(1)
    marks = room.turn()
    assert marks[0] is not Mark.UPDATED, marks
    assert room.asked() == ["Table 1"]


def test_a_request_that_a_person_withdraws_is_asked_again_until_the_release_is_withdrawn(room: Room) -> None:
    room.begin(2)
    room.turn()
    with room.database.transaction() as connection:
        assert withdraw_request(connection, room.tables[0].table_id, "Max", sha256=SHA)
    room.turn()
    assert room.asked() == ["Table 1"]
    withdraw(room.database, SHA, "Max")
    room.turn()
    assert room.asked() == []


def test_a_release_stays_while_a_channel_holds_it(room: Room) -> None:
    """Also an older one in another channel, and one that every table has taken."""
    room.add(1)
    with room.database.transaction() as connection:
        release = find_offered(connection, SHA)
    assert release is not None
    room.begin()
    with pytest.raises(PitError, match=f"A channel holds {NEW}. Withdraw it first"):
        remove(room.database, room.pit.house, release, "Ines")
    room.turn()
    room.update(room.tables[0])
    room.turn()
    with pytest.raises(PitError, match=f"A channel holds {NEW}. Withdraw it first"):
        remove(room.database, room.pit.house, release, "Ines")
    withdraw(room.database, SHA, "Ines")
    remove(room.database, room.pit.house, release, "Ines")
    with pytest.raises(PitError, match="There is no such release"):
        room.move()


def test_of_a_release_that_is_moved_and_removed_at_one_moment_one_is_refused(room: Room) -> None:
    room.add(1)
    room.put(FIRST, "Table 1")
    with room.database.transaction() as connection:
        release = find_offered(connection, SHA)
    assert release is not None
    for _ in range(8):
        said = at_once(room.move, lambda: remove(room.database, room.pit.house, release, "Ines"))
        assert "" in said
        assert said != ["", ""]
        with psycopg.connect(room.owned) as connection:
            connection.execute("UPDATE channel SET sha256 = NULL")
            connection.execute("UPDATE offered_file SET removed_at = NULL")


def test_a_table_that_is_asked_for_too_much_already_says_so_on_the_page_of_releases(room: Room) -> None:
    room.add(2)
    with psycopg.connect(room.owned) as connection:
        for n in range(MAX_OPEN_REQUESTS):
            connection.execute(
                "INSERT INTO offered_file (sha256, kind, name, size, offered_by)"
                " VALUES (%s, 'deck', %s, 1, 'test')",
                (f"{n:064x}", f"deck {n}"),
            )
    with room.database.transaction() as connection:
        for n in range(MAX_OPEN_REQUESTS):
            ask(connection, room.tables[0].table_id, f"{n:064x}", "Ines")
    room.begin()
    for _ in range(2):
        room.turn()
        assert "is asked for 20 files already" in str(room.of(room.tables[0]).why)
    with room.database.transaction() as connection:
        withdraw_request(connection, room.tables[0].table_id, "Ines", sha256=f"{0:064x}")
    room.turn()
    room.turn()
    assert (room.asked().count("Table 1"), room.of(room.tables[0]).why) == (MAX_OPEN_REQUESTS, "")


def test_a_table_that_says_in_force_and_settled_without_a_start_is_not_updated(room: Room) -> None:
    room.begin(2)
    room.turn()
    liar = room.tables[0]
    liar.follower._release = NEW
    liar.play(2)
    room.send()
    room.says(liar, "in_force")
    assert room.turn()[0] is not Mark.UPDATED


def test_a_first_table_that_dies_for_good_stops_the_release_and_is_left_out(room: Room) -> None:
    room.add(3)
    room.put(FIRST, "Table 2")
    room.begin()
    room.turn()
    room.tables[0].is_on = False
    room.later(1900)
    room.update(room.tables[1])
    room.turn()
    assert (room.stopped, room.of(room.tables[0]).mark) == ("Table 1: not heard of", Mark.SILENT)
    room.again("Table 1")
    room.later(7 * 86_400)
    room.turn()
    assert room.stopped == ""
    room.move(TENTH)
    assert room.of(room.tables[0]).mark is not Mark.UPDATED
