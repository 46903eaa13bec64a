"""Waves with real uplinks, a real door and a real database: nothing is called updated that is not."""

from __future__ import annotations

import psycopg
import pytest

from firmware.messages import Message
from firmware.pit.errors import PitError
from firmware.pit.status.table_facts import Need, TableFacts
from firmware.pit.tables import strike
from firmware.pit.waves.plan import Accepted, Failure, Mark, Phase, Rules
from firmware.pit.waves.stepper import Stepper
from firmware.pit.waves.store import resume, stop
from firmware.pit.waves.words import said
from firmware.table import events as ev
from tests.firmware.pit.waves.room import NEW, OLD, Room

HOUR = 3600
HOSTILE = (
    *("", "{", "[]", "null", "7", '{"software": 7}', '{"software": null}', "[" * 5000),
    *('{"software": "feltwatch \\ud800\\u0000<b>"}', '{"software": "' + "x" * 9000 + '"}'),
)
"""Payloads of `table_started` that no release writes."""


def why(room: Room) -> str:
    return str(said(room.wave(), room.shown()))


def test_the_good_way_goes_through_all_tables_in_three_steps(room: Room) -> None:
    room.add(6)
    room.begin(first="Table 3", rules=Rules(share=30))
    steps = []
    while room.phase is Phase.RUNNING:
        room.turn()
        asked = room.asked()
        steps.append(asked)
        for one in room.tables:
            if one.name in asked:
                one.start(NEW)
        assert Mark.UPDATED not in [room.of(one).mark for one in room.tables if one.name in asked]
        marks = room.turn()
        assert marks.count(Mark.RUNS) == len(asked), "it has started and settled nothing yet"
        for one in room.tables:
            if one.name in asked:
                room.says(one, "in_force")
                one.play(1)
        room.turn()
    assert steps == [["Table 3"], ["Table 1"], ["Table 2", "Table 4", "Table 5", "Table 6"]]
    assert room.turn() == [Mark.UPDATED] * 6
    assert (room.phase, room.asked()) == (Phase.DONE, [])
    assert why(room) == "The wave is over. 6 of 6 tables are updated."


def test_a_release_that_starts_and_settles_nothing_stops_the_wave(room: Room) -> None:
    room.add(3)
    room.begin()
    room.turn()
    room.tables[0].start(NEW)
    room.says(room.tables[0], "in_force")  # installed, running, heard of: and no hand
    for _ in range(4):
        room.later(6 * HOUR)
        assert Mark.UPDATED not in room.turn()
    assert (room.phase, room.asked()) == (Phase.STOPPED, [])
    assert why(room) == "The wave was stopped: Table 1: not updated in time. 0 of 3 tables are updated."


def test_a_hand_that_the_old_release_opened_does_not_count(room: Room) -> None:
    room.add(1)
    room.begin()
    room.turn()
    room.tables[0].play(5)
    room.tables[0].start(NEW)
    assert room.turn() == [Mark.RUNS]


def test_a_table_that_goes_back_stops_the_wave_and_is_not_called_updated(room: Room) -> None:
    room.add(3)
    room.begin()
    room.turn()
    room.tables[0].start(NEW)
    room.tables[0].start(OLD)  # both between two turns: the rows know
    room.tables[0].play(1)
    assert room.turn() == [Mark.FAILED, Mark.WAITS, Mark.WAITS]
    assert (room.of(room.tables[0]).failure, room.phase) == (Failure.WENT_BACK, Phase.STOPPED)
    assert str(room.of(room.tables[0]).why) == f"It runs {OLD}."


def test_a_table_that_goes_back_after_it_was_updated_takes_that_name_from_it(room: Room) -> None:
    room.add(3)
    room.begin()
    room.turn()
    room.update(room.tables[0])
    assert room.turn() == [Mark.UPDATED, Mark.ASKED, Mark.ASKED]
    room.tables[0].start(OLD)
    assert room.turn() == [Mark.FAILED, Mark.WAITS, Mark.WAITS]
    assert (room.phase, room.asked()) == (Phase.STOPPED, [])


@pytest.mark.parametrize("has_started", [False, True])
def test_a_table_that_is_switched_off_in_the_middle_stops_the_wave(room: Room, has_started: bool) -> None:
    room.add(3)
    room.begin()
    room.turn()
    if has_started:
        room.tables[0].start(NEW)
        room.turn()
    room.tables[0].is_on = False
    room.later(29 * 60)
    room.turn()
    assert room.phase is Phase.RUNNING
    room.later(2 * 60)
    assert room.turn() == [Mark.FAILED, Mark.WAITS, Mark.WAITS]
    assert (room.of(room.tables[0]).failure, room.phase) == (Failure.SILENT, Phase.STOPPED)
    assert (room.asked(), room.turn().count(Mark.UPDATED)) == ([], 0)
    room.tables[0].is_on = True
    assert room.turn()[0] is Mark.FAILED, "that it is back does not hide why the wave stopped"


def test_a_table_that_refuses_stops_the_wave_with_its_own_reason(room: Room) -> None:
    room.add(2)
    room.begin()
    room.turn()
    room.says(room.tables[0], "refused", Message("300 MB are left; 1500 MB are needed."))
    room.turn()
    one = room.of(room.tables[0])
    assert (one.failure, str(one.why)) == (Failure.REFUSED, "300 MB are left; 1500 MB are needed.")
    assert (room.phase, room.asked()) == (Phase.STOPPED, [])


def test_a_share_of_asked_cards_that_doubles_stops_the_wave(room: Room) -> None:
    room.add(2, hands=20)
    room.begin()
    room.turn()
    room.tables[0].start(NEW)
    room.tables[0].play(20)
    assert room.turn()[0] is Mark.UPDATED
    with psycopg.connect(room.owned) as connection:
        connection.execute(
            "UPDATE hand SET cards = 52, unsure = CASE WHEN hand > 20 THEN 5 ELSE 1 END WHERE record_id ="
            " (SELECT record_id FROM record WHERE table_id = %s)",
            (room.tables[0].table_id,),
        )
    assert room.turn() == [Mark.FAILED, Mark.WAITS]
    assert (room.of(room.tables[0]).failure, room.phase) == (Failure.ASKS, Phase.STOPPED)


def test_a_fault_keeps_a_table_from_being_updated_until_it_is_over(room: Room) -> None:
    room.add(1)
    room.begin()
    room.turn()
    room.tables[0].start(NEW)
    room.tables[0].play(1)
    room.tables[0].say(ev.DeviceFault("camera", "The camera is gone."))
    assert room.turn() == [Mark.RUNS]
    assert str(room.of(room.tables[0]).why) == "The camera is gone."
    room.tables[0].say(ev.DeviceRecovered("camera"))
    assert room.turn() == [Mark.UPDATED]


def test_a_table_that_was_off_for_a_week_is_not_waited_for_and_finds_the_release_when_it_comes_back(
    room: Room,
) -> None:
    room.add(3)
    away = room.tables[0]
    away.is_on = False
    room.later(HOUR)
    room.send()
    room.begin()
    assert room.turn() == [Mark.WAITS, Mark.ASKED, Mark.WAITS]
    room.update(room.tables[1])
    room.turn()
    room.update(room.tables[2])
    room.turn()
    assert room.phase is Phase.DONE
    assert (room.of(away).mark, room.of(away).accepted) == (Mark.ASKED, Accepted.NO_WAIT)
    assert why(room) == "The wave is over. 2 of 3 tables are updated."
    room.later(7 * 24 * HOUR)
    assert (room.turn()[0], room.asked()) == (Mark.FAILED, ["Table 1"])
    away.is_on = True
    assert room.turn()[0] is Mark.ASKED
    away.start(NEW)
    assert room.turn()[0] is Mark.RUNS
    away.play(1)
    assert room.turn() == [Mark.UPDATED] * 3


def test_a_table_that_was_updated_by_stick_counts_as_what_it_shows(room: Room) -> None:
    room.add(3)
    room.tables[1].start(NEW)
    room.update(room.tables[2])
    room.begin()
    assert room.turn() == [Mark.ASKED, Mark.RUNS, Mark.UPDATED]
    room.update(room.tables[0])
    assert room.turn() == [Mark.UPDATED, Mark.RUNS, Mark.UPDATED]
    assert (room.asked(), room.phase) == ([], Phase.RUNNING), "what runs there is not fetched again"
    room.tables[1].play(1)
    assert room.turn() == [Mark.UPDATED] * 3
    assert room.phase is Phase.DONE


def test_a_table_that_is_struck_off_in_a_wave_is_left_out_and_one_that_is_first_is_replaced(
    room: Room,
) -> None:
    room.add(3)
    room.begin()
    room.turn()
    strike(room.database, "Table 1")
    assert room.turn() == [Mark.STRUCK, Mark.ASKED, Mark.WAITS]
    room.update(room.tables[1])
    room.turn()
    strike(room.database, "Table 3")
    assert room.turn() == [Mark.STRUCK, Mark.UPDATED, Mark.STRUCK]
    assert (room.phase, room.asked()) == (Phase.DONE, [])


def test_a_person_stops_a_wave_and_lets_it_go_on(room: Room) -> None:
    room.add(2)
    number = room.begin()
    room.turn()
    stop(room.database, number, "Ines")
    assert room.turn() == [Mark.WAITS, Mark.WAITS]
    assert room.asked() == []
    assert why(room) == "The wave was stopped by Ines. 0 of 2 tables are updated."
    with pytest.raises(PitError, match="Look again"):
        stop(room.database, number, "Ines")
    resume(room.database, number, "Ines")
    assert room.turn() == [Mark.ASKED, Mark.WAITS]
    assert room.asked() == ["Table 1"]
    with pytest.raises(PitError, match="Look again"):
        resume(room.database, number, "Ines")


@pytest.mark.parametrize("is_without", [False, True])
def test_after_a_table_went_back_the_wave_goes_on_with_it_or_without(room: Room, is_without: bool) -> None:
    room.add(2)
    number = room.begin()
    room.turn()
    room.update(room.tables[0])
    room.turn()
    room.tables[0].start(OLD)
    room.turn()
    assert room.phase is Phase.STOPPED
    resume(room.database, number, "Ines", {room.tables[0].table_id} if is_without else ())
    if not is_without:
        assert room.turn() == [Mark.ASKED, Mark.ASKED], "both were asked already"
        assert room.asked() == ["Table 1", "Table 2"]
        return
    assert room.turn() == [Mark.FAILED, Mark.ASKED]
    assert room.asked() == ["Table 2"]
    room.update(room.tables[1])
    assert room.turn() == [Mark.FAILED, Mark.UPDATED]
    assert why(room) == "The wave is over. 1 of 2 tables are updated."


def test_without_every_table_a_wave_does_not_go_on_and_a_well_one_is_not_left_out(room: Room) -> None:
    room.add(1)
    number = room.begin()
    room.turn()
    room.tables[0].start(NEW)
    room.tables[0].start(OLD)
    room.turn()
    with pytest.raises(PitError, match="No table would be left"):
        resume(room.database, number, "Ines", {room.tables[0].table_id})
    with pytest.raises(PitError, match="only a table that failed"):
        resume(room.database, number, "Ines", {room.tables[0].table_id + 1})
    assert room.phase is Phase.STOPPED


def test_a_pit_that_was_away_for_hours_calls_no_table_silent(room: Room) -> None:
    room.add(2)
    room.begin()
    room.turn()
    room.later(5 * HOUR)
    room.stepper = Stepper(room.database)  # and heard of nobody yet
    room.stepper.turn()
    assert room.phase is Phase.RUNNING


def test_a_wave_needs_a_release_and_a_table_that_is_heard_of_and_only_one_runs(room: Room) -> None:
    with pytest.raises(PitError, match="No table is heard of"):
        room.begin()
    room.add(2)
    for more, says in (
        ({"first": "Table 9"}, "There is no table Table 9"),
        ({"without": ["Table 9"]}, "There is no table Table 9"),
        ({"first": "Table 1", "without": ["Table 1"]}, "cannot be first"),
        ({"without": ["Table 1", "Table 2"]}, "No table is heard of"),
        ({"rules": Rules(share=0)}, "1 to 100"),
    ):
        with pytest.raises(PitError, match=says):
            room.begin(**more)
    room.begin(without=["Table 2"])
    with pytest.raises(PitError, match="under way"):
        room.begin()
    room.turn()
    room.update(room.tables[0])
    assert room.turn() == [Mark.UPDATED, Mark.WAITS]
    assert (room.phase, room.of(room.tables[1]).accepted) == (Phase.DONE, Accepted.LEFT_OUT)
    room.begin()
    room.turn()
    assert room.asked() == ["Table 2"], "another wave of the same release goes to who lacks it"


def test_what_a_person_asks_of_a_table_is_not_withdrawn_by_a_wave(room: Room) -> None:
    from firmware.pit.down.requests import ask

    room.add(2)
    number = room.begin()
    with room.database.transaction() as connection:
        ask(connection, room.tables[1].table_id, room.wave().sha256, "Bo")
    room.turn()
    stop(room.database, number, "Ines")
    room.turn()
    assert room.asked() == ["Table 2"]


@pytest.mark.parametrize("payload", HOSTILE)
def test_a_start_that_no_release_writes_says_nothing_and_holds_up_no_wave(room: Room, payload: str) -> None:
    room.add(2)
    room.begin()
    with psycopg.connect(room.owned) as connection:  # as a table may send it: rows are opaque to the door
        connection.execute(
            "INSERT INTO entry (record_id, seq, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type,"
            " payload, previous, hash) SELECT record_id, 99999, 0, 'b', 1, 1, 'synchronised', 't', '', 'table_started',"
            " %s, '', '' FROM record WHERE table_id = %s",
            (payload, room.tables[1].table_id),
        )
    room.turn()
    room.update(room.tables[0])
    assert room.turn() == [Mark.UPDATED, Mark.ASKED]
    why(room).encode()
    assert room.of(room.tables[1]).mark is Mark.ASKED


def test_a_reason_that_the_database_does_not_take_as_it_is_holds_up_no_wave(room: Room) -> None:
    room.add(2)
    room.begin()
    room.turn()
    room.tables[0].start(NEW)
    room.turn()
    with psycopg.connect(room.owned) as connection:
        connection.execute(
            "UPDATE table_now SET facts = %s WHERE record_id = (SELECT record_id FROM record WHERE table_id = %s)",
            (
                TableFacts(needs=(Need("fault:camera", "fault", 0, text="gone\0{"),)).as_json(),
                room.tables[0].table_id,
            ),
        )
    room.stepper.turn()
    assert (room.of(room.tables[0]).mark, room.of(room.tables[0]).why) == (Mark.RUNS, "gone\0{")
