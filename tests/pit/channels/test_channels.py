"""Channels with real uplinks, a real door and a real database: nothing is called updated that is not."""

from __future__ import annotations

import psycopg
import pytest

from firmware.messages import Message
from firmware.table import events as ev
from pit.channels.judge import Mark
from pit.channels.stepper import Stepper
from pit.channels.store import fill_tenth, history, move, withdraw
from pit.errors import PitError
from pit.files.requests import ask
from pit.status.table_facts import Need, TableFacts
from pit.status.tables import strike
from tests.pit.channels.room import FIRST, NEW, NEWER, OLD, REST, SHA, SHA_NEWER, TENTH, Room

HOUR = 3600
HOSTILE = (
    *("", "{", "[]", "null", "7", '{"software": 7}', '{"software": null}', "[" * 5000),
    *('{"software": "feltwatch \\ud800\\u0000<b>"}', '{"software": "' + "x" * 9000 + '"}'),
)
"""Payloads of `table_started` that no release writes."""


def test_a_release_goes_through_three_channels_each_when_the_tables_before_are_updated(room: Room) -> None:
    room.add(4)
    room.put(FIRST, "Table 3")
    room.put(TENTH, "Table 1")
    asked = []
    for to, missing in ((FIRST, ""), (TENTH, "Table 3"), (REST, "Table 1")):
        if missing:
            with pytest.raises(PitError, match=f"Not updated yet: {missing}"):
                room.move(to)
            table = next(one for one in room.tables if one.name == missing)
            table.start(NEW)
            room.turn()
            with pytest.raises(PitError, match="Not updated yet"):  # it has started and settled nothing yet
                room.move(to)
            room.says(table, "in_force")
            table.play(1)
            room.turn()
        room.move(to)
        room.turn()
        asked.append(room.asked())
    assert asked == [["Table 3"], ["Table 1"], ["Table 2", "Table 4"]]
    for one in (room.tables[1], room.tables[3]):
        room.update(one)
    assert room.turn() == [Mark.UPDATED] * 4
    assert (room.asked(), room.stopped) == ([], "")
    with room.database.transaction() as connection:
        notes = [(by, str(what)) for _, by, what in history(connection)]
    assert notes == [
        *(("Ines", f"{NEW} moved to: {to}") for to in ("Rest", "Tenth", "First")),
        *(("Ines", "Table 1 put into: Tenth"), ("Ines", "Table 3 put into: First")),
    ]


def test_a_channel_cannot_be_left_out_and_an_empty_one_cannot_be_first(room: Room) -> None:
    room.add(2)
    with pytest.raises(PitError, match="No table is in this channel"):
        room.move()
    room.begin()
    with pytest.raises(PitError, match="in this channel already"):
        room.move()
    room.turn()
    room.update(room.tables[0])
    room.turn()
    with pytest.raises(PitError, match="not in the channel before"):
        room.move(REST)
    room.move(TENTH)  # no table is in it: a small house has none
    room.move(REST)
    room.turn()
    assert room.asked() == ["Table 2"]
    for sha256 in ("33" * 32, ""):
        with pytest.raises(PitError, match="no such release"):
            move(room.database, sha256, FIRST, "Ines")


def test_a_newer_release_begins_in_first_while_an_older_one_is_in_rest(room: Room) -> None:
    room.begin(3)
    room.update(room.tables[0])
    room.turn()
    room.move(TENTH)
    room.move(REST)
    room.turn()
    room.move(FIRST, SHA_NEWER)
    room.turn()
    assert room.asked() == ["Table 1", "Table 2", "Table 3"]
    room.update(room.tables[1])
    room.update(room.tables[0], NEWER)
    assert room.turn() == [Mark.UPDATED, Mark.UPDATED, Mark.ASKED]
    room.tables[0].start(NEW)  # the newer one fails; the older one goes on
    assert room.turn() == [Mark.WENT_BACK, Mark.UPDATED, Mark.ASKED]
    assert [bool(one.stopped) for one in room.shown().values()] == [True, False, False]
    assert room.asked() == ["Table 3"]


def test_a_tenth_is_filled_with_tables_that_are_heard_of_and_never_with_the_first(room: Room) -> None:
    room.add(12)
    room.put(FIRST, "Table 1")
    room.tables[1].is_on = False
    room.later(HOUR)
    room.send()
    fill_tenth(room.database, "Ines")
    assert [one.name for one in room.shown()[TENTH].tables] == ["Table 3", "Table 4"]
    with pytest.raises(PitError, match="A tenth of the tables"):
        fill_tenth(room.database, "Ines")
    with pytest.raises(PitError, match="no such table"):
        room.put(FIRST, "Table 99")


def test_a_table_that_is_enrolled_or_put_into_the_channel_later_is_asked_too(room: Room) -> None:
    room.begin(2)
    room.turn()
    room.put(FIRST, "Table 2")
    with pytest.raises(PitError, match="Not updated yet: Table 1, Table 2"):  # before any turn, too
        room.move(TENTH)
    room.turn()
    assert room.asked() == ["Table 1", "Table 2"]
    room.put(REST, "Table 1")
    room.turn()
    assert room.asked() == ["Table 2"], "it left the channel"
    room.update(room.tables[1])
    room.turn()
    room.move(TENTH)
    room.move(REST)
    room.add(1)
    room.turn()
    assert room.asked() == ["Table 1", "Table 3"]


def test_a_hand_that_the_old_release_opened_does_not_count(room: Room) -> None:
    room.begin(1)
    room.turn()
    room.tables[0].play(5)
    room.tables[0].start(NEW)
    assert room.turn() == [Mark.RUNS]


def test_a_share_of_asked_cards_that_doubles_stops_the_release(room: Room) -> None:
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
    assert room.turn() == [Mark.ASKS, Mark.WAITS]
    assert room.stopped == "Table 1: asks about twice as many cards"
    assert str(room.of(room.tables[0]).why).startswith("Asked about 9.6 of 100 cards")


def test_a_fault_keeps_a_table_from_being_updated_until_it_is_over(room: Room) -> None:
    room.begin(1)
    room.turn()
    room.tables[0].start(NEW)
    room.tables[0].play(1)
    room.tables[0].say(ev.DeviceFault("camera", "The camera is gone."))
    assert room.turn() == [Mark.RUNS]
    assert str(room.of(room.tables[0]).why) == "The camera is gone."
    room.tables[0].say(ev.DeviceRecovered("camera"))
    assert room.turn() == [Mark.UPDATED]


def test_a_table_that_refuses_stops_the_release_with_its_own_reason(room: Room) -> None:
    room.begin(2)
    room.turn()
    room.says(room.tables[0], "refused", Message("300 MB are left; 1500 MB are needed."))
    room.turn()
    one = room.of(room.tables[0])
    assert (one.mark, str(one.why)) == (Mark.REFUSED, "300 MB are left; 1500 MB are needed.")
    assert (room.stopped, room.asked()) == ("Table 1: refused the release", [])


@pytest.mark.parametrize("payload", HOSTILE)
def test_a_start_that_no_release_writes_says_nothing_and_holds_up_no_release(
    room: Room, payload: str
) -> None:
    room.add(2)
    room.put(FIRST, "Table 2")
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
    assert room.stopped == ""


def test_a_reason_that_the_database_does_not_take_as_it_is_holds_up_no_release(room: Room) -> None:
    room.begin(2)
    room.turn()
    room.tables[0].start(NEW)
    room.turn()
    with psycopg.connect(room.owned) as connection:
        connection.execute(
            "UPDATE table_now SET facts = %s WHERE record_id = (SELECT record_id FROM record WHERE table_id = %s)",
            (
                TableFacts(needs=(Need("fault:camera", "fault", 0, text="gone\0{"),)).to_text(),
                room.tables[0].table_id,
            ),
        )
    room.stepper.turn()
    assert (room.of(room.tables[0]).mark, room.of(room.tables[0]).why) == (Mark.RUNS, "gone\0{")


def test_a_pit_that_was_away_for_hours_calls_no_table_silent(room: Room) -> None:
    room.begin(2)
    room.turn()
    room.later(5 * HOUR)
    room.stepper = Stepper(room.database)  # and heard of nobody yet
    room.stepper.turn()
    assert room.stopped == ""


def test_a_release_that_starts_and_settles_nothing_stops_the_release(room: Room) -> None:
    room.begin(3)
    room.turn()
    room.tables[0].start(NEW)
    room.says(room.tables[0], "in_force")  # installed, running, heard of: and no hand
    for _ in range(4):
        room.later(6 * HOUR)
        assert Mark.UPDATED not in room.turn()
    assert (room.stopped, room.asked()) == ("Table 1: not updated in time", [])


def test_a_table_that_goes_back_stops_the_release_and_is_not_called_updated(room: Room) -> None:
    room.begin(3)
    room.turn()
    room.tables[0].start(NEW)
    room.tables[0].start(OLD)  # both between two turns: the rows know
    room.tables[0].play(1)
    assert room.turn() == [Mark.WENT_BACK, Mark.WAITS, Mark.WAITS]
    assert (room.of(room.tables[0]).mark, bool(room.stopped)) == (Mark.WENT_BACK, True)
    assert str(room.of(room.tables[0]).why) == f"It runs {OLD}."


def test_a_table_that_goes_back_after_it_was_updated_takes_that_name_from_it(room: Room) -> None:
    room.begin(3)
    room.turn()
    room.update(room.tables[0])
    room.turn()
    room.move(TENTH)
    room.move(REST)
    assert room.turn() == [Mark.UPDATED, Mark.ASKED, Mark.ASKED]
    room.tables[0].start(OLD)
    assert room.turn() == [Mark.WENT_BACK, Mark.WAITS, Mark.WAITS]
    assert (room.stopped, room.asked()) == ("Table 1: runs another release again", [])
    assert all(one.stopped for one in room.shown().values()), "in every channel"
    with pytest.raises(PitError, match="in this channel already"):
        room.move(REST)


@pytest.mark.parametrize("has_started", [False, True])
def test_a_table_that_is_switched_off_in_the_middle_stops_the_release(room: Room, has_started: bool) -> None:
    room.begin(3)
    room.turn()
    if has_started:
        room.tables[0].start(NEW)
        room.turn()
    room.tables[0].is_on = False
    room.later(29 * 60)
    room.turn()
    assert room.stopped == ""
    room.later(2 * 60)
    assert room.turn() == [Mark.SILENT, Mark.WAITS, Mark.WAITS]
    assert (room.of(room.tables[0]).mark, room.stopped) == (Mark.SILENT, "Table 1: not heard of")
    assert (room.asked(), room.turn().count(Mark.UPDATED)) == ([], 0)
    room.tables[0].is_on = True
    assert room.turn()[0] is Mark.SILENT, "that it is back does not hide why the release was stopped"


def gone_back(room: Room) -> None:
    """A release that has stopped in First: its table runs the old one again. Table 2 is there, too."""
    room.add(3)
    room.put(FIRST, "Table 2")
    room.begin()
    room.turn()
    room.update(room.tables[0])
    room.turn()
    room.tables[0].start(OLD)
    room.turn()
    assert (room.stopped, room.asked()) == ("Table 1: runs another release again", [])


def test_a_stopped_release_goes_no_further_until_a_person_tries_it_again(room: Room) -> None:
    gone_back(room)
    room.update(room.tables[1])
    assert room.turn() == [Mark.WENT_BACK, Mark.UPDATED, Mark.WAITS]
    with pytest.raises(PitError, match="It was stopped"):
        room.move(TENTH)
    room.again()
    with pytest.raises(PitError, match="not stopped any more"):
        room.again()
    with pytest.raises(PitError, match="Not updated yet: Table 1"):
        room.move(TENTH)
    assert room.turn()[0] is Mark.ASKED, "it has its whole time again"
    assert room.asked() == ["Table 1"]
    room.update(room.tables[0])
    room.turn()
    room.move(TENTH)


def test_a_table_that_is_left_out_counts_no_more_until_it_is_put_into_a_channel_again(room: Room) -> None:
    gone_back(room)
    for name in ("Table 2", "Table 3", "Table 9"):
        with pytest.raises(PitError, match=f"{name}: only a table that failed"):
            room.again("Table 1", name)
    room.again("Table 1")
    assert room.turn() == [Mark.WENT_BACK, Mark.ASKED, Mark.WAITS]
    assert (room.stopped, room.asked()) == ("", ["Table 2"])
    room.update(room.tables[1])
    room.turn()
    room.move(TENTH)
    room.put(FIRST, "Table 1")
    assert room.turn()[0] is Mark.ASKED


def test_where_every_table_is_left_out_a_release_goes_no_further(room: Room) -> None:
    gone_back(room)
    room.put(REST, "Table 2")
    room.again("Table 1")
    room.turn()
    with pytest.raises(PitError, match="No table that counts runs it"):
        room.move(TENTH)


def test_a_release_that_is_withdrawn_is_asked_of_nobody_and_moved_in_again_it_is_judged_again(
    room: Room,
) -> None:
    gone_back(room)
    withdraw(room.database, SHA, "Ines")
    with pytest.raises(PitError, match="in no channel any more"):
        withdraw(room.database, SHA, "Ines")
    room.turn()
    assert (room.asked(), room.stopped, room.shown()[FIRST].release) == ([], "", "")
    room.move()
    assert room.turn() == [Mark.ASKED, Mark.ASKED, Mark.WAITS]
    with room.database.transaction() as connection:
        notes = [(by, str(what)) for _, by, what in history(connection)]
    assert notes[:3] == [
        ("Ines", f"{NEW} moved to: First"),
        ("Ines", f"{NEW} withdrawn"),
        ("", f"{NEW} stopped: Table 1: runs another release again"),
    ]


def test_a_table_that_is_struck_off_is_not_waited_for(room: Room) -> None:
    room.add(2)
    room.put(FIRST, "Table 2")
    room.begin()
    room.turn()
    strike(room.database, "Table 1")
    room.update(room.tables[1])
    assert room.turn() == [Mark.UPDATED]
    room.move(TENTH)


def test_a_table_that_was_updated_by_stick_counts_as_what_it_shows(room: Room) -> None:
    room.add(2)
    room.put(FIRST, "Table 2")
    room.tables[1].start(NEW)
    room.update(room.tables[0])
    room.begin()
    assert room.turn() == [Mark.UPDATED, Mark.RUNS]
    assert room.asked() == [], "what runs there is not fetched again"
    room.tables[1].play(1)
    assert room.turn() == [Mark.UPDATED] * 2


def test_what_a_person_asks_of_a_table_is_not_withdrawn_by_a_channel(room: Room) -> None:
    room.add(2)
    room.put(FIRST, "Table 2")
    room.begin()
    with room.database.transaction() as connection:
        ask(connection, room.tables[1].table_id, SHA, "Bo")
    room.turn()
    withdraw(room.database, SHA, "Ines")
    room.turn()
    assert room.asked() == ["Table 2"]
