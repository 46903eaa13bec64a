"""What a PIN and a badge are good for: judged at the gate, on a real journal and real scrypt."""

from __future__ import annotations

import json

import pytest

from firmware.access.pins import PinStore
from firmware.access.sessions import EVIDENCE_SESSION_S, FLOOR_SESSION_S, SESSION_S
from firmware.record.journal.journal import JournalReader
from firmware.table import CommandRefused, apply, fold
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.errors import CommandNotAllowed
from firmware.table.events import canonical
from firmware.table.people import (
    LONGEST_WAIT_S,
    Person,
    Role,
    is_alarming,
    person_meant,
    wait_after,
)
from tests.firmware.access.gate import AUDITORS, OTHER, PIN, WRONG, Table
from tests.firmware.conftest import Deal


def test_a_pin_with_a_command_is_good_for_that_command(staffed: Table) -> None:
    assert staffed.give("log_on", person="Lin", by="Moreno", pin=PIN)["ok"]
    types = [(kind, actor) for kind, actor in staffed.actors()[-3:]]
    assert types == [("pin_tried", "table"), ("pin_accepted", "table"), ("logged_on", "floor:Moreno")]
    assert not staffed.give("remove_person", person="Lin")["ok"]


def test_a_session_is_opened_used_and_over(staffed: Table) -> None:
    opened = staffed.give("unlock", by="Moreno", pin=PIN)
    assert (opened["role"], opened["name"], opened["expires_s"]) == ("floor", "Moreno", FLOOR_SESSION_S)
    token = {"session": opened["session"]}
    staffed.now += FLOOR_SESSION_S - 1
    assert staffed.give("log_on", person="Lin", **token)["ok"]
    assert staffed.actors()[-1] == ("logged_on", "floor:Moreno")
    staffed.now += FLOOR_SESSION_S - 1  # used since
    assert staffed.give("log_off", **token)["ok"]
    staffed.now += FLOOR_SESSION_S + 1
    assert "session is over" in staffed.give("log_on", person="Lin", **token)["error"]
    again = {"session": staffed.give("unlock", by="Moreno", pin=PIN)["session"]}
    assert staffed.give("lock", **again) == {"ok": True}
    assert "session is over" in staffed.give("log_on", person="Lin", **again)["error"]


def test_a_session_goes_on_while_somebody_is_there_and_not_for_a_page_that_looks(staffed: Table) -> None:
    token = {"session": staffed.give("unlock", by="Ada", pin=OTHER)["session"]}
    staffed.now += SESSION_S - 1
    assert staffed.give("stay", **token) == {"ok": True, "expires_s": SESSION_S}
    staffed.now += SESSION_S - 1
    look = parse_command(canonical({"do": "try_device", "device": "puck", **token}))
    assert staffed.access.authorize(look, staffed).actor == "technician:Ada"
    staffed.now += 2
    with pytest.raises(CommandNotAllowed, match="session is over"):
        staffed.access.authorize(look, staffed)


def test_a_floor_session_lasts_while_evidence_is_open_up_to_a_limit_and_no_longer(staffed: Table) -> None:
    token = {"session": staffed.give("unlock", by="Moreno", pin=PIN)["session"]}
    assert staffed.give("stay", evidence=True, **token) == {"ok": True, "expires_s": EVIDENCE_SESSION_S}
    staffed.now += EVIDENCE_SESSION_S - 1
    assert staffed.give("log_on", person="Lin", **token)["ok"]
    staffed.now += FLOOR_SESSION_S + 1
    assert "session is over" in staffed.give("log_off", **token)["error"], (
        "an act is followed by the usual time"
    )
    again = {"session": staffed.give("unlock", by="Moreno", pin=PIN)["session"]}
    staffed.give("stay", evidence=True, **again)
    assert staffed.give("stay", **again)["expires_s"] == FLOOR_SESSION_S, "the evidence was left"
    staffed.now += FLOOR_SESSION_S + 1
    assert "session is over" in staffed.give("stay", **again)["error"]


def test_a_wait_is_told_before_a_name_or_a_pin_is_keyed(staffed: Table) -> None:
    for _ in range(3):
        staffed.give("unlock", by="Moreno", pin=WRONG)
    rows = len(staffed.actors())
    staffed.now += 10
    for asked in ({}, {"by": "Moreno"}, {"by": "Ada"}, {"by": "Nobody"}):
        assert staffed.give("unlock", **asked)["wait_s"] == 20, asked
    assert len(staffed.actors()) == rows, "asking is no try"


def test_an_auditor_of_an_older_release_has_no_pin_and_opens_nothing(staffed: Table) -> None:
    staffed.write([ev.PersonListed("Old", Role.AUDITOR)], "technician:Ada")
    staffed.restart()
    rows = len(staffed.actors())
    assert not staffed.give("unlock", by="Old")["ok"]
    assert len(staffed.actors()) == rows
    nobodys = staffed.give("unlock", by="Nobody", pin=PIN)["message"]
    assert staffed.give("unlock", by="Old", pin=PIN)["message"] == nobodys
    assert staffed.give("set_pin", person="Old", new_pin="8642053", by="Ada", pin=OTHER)["ok"]
    assert staffed.give("unlock", by="Old", pin="8642053")["role"] == "auditor"
    with pytest.raises(CommandRefused, match="needs a PIN"):
        staffed.give("list_person", person="New", role="auditor", by="Ada", pin=OTHER)
    assert not staffed.give("list_person", person="New", role="auditor", new_pin=PIN, by="Moreno", pin=PIN)[
        "ok"
    ]


def test_a_session_does_not_outlive_its_pin_or_a_restart(staffed: Table) -> None:
    token = {"session": staffed.give("unlock", by="Moreno", pin=PIN)["session"]}
    staffed.give("set_pin", person="Moreno", new_pin="8642053", by="Ada", pin=OTHER)
    assert "was changed" in staffed.give("log_on", person="Lin", **token)["error"]
    token = {"session": staffed.give("unlock", by="Moreno", pin="8642053")["session"]}
    staffed.restart()
    assert "session is over" in staffed.give("log_on", person="Lin", **token)["error"]


def test_wrong_pins_make_the_place_wait_and_never_longer_than_a_minute(staffed: Table) -> None:
    waits = []
    for _ in range(7):
        answer = staffed.give("unlock", by="Moreno", pin=WRONG)
        assert not answer["ok"]
        waits.append(answer["wait_s"])
        staffed.now += answer["wait_s"]
    assert waits == [0, 0, 30, 60, 60, 60, 60]
    staffed.give("unlock", by="Moreno", pin=WRONG)
    for name, pin in (("Moreno", PIN), ("Ada", OTHER)):  # not even looked at
        refused = staffed.give("unlock", by=name, pin=pin)
        assert (refused["ok"], refused["wait_s"]) == (False, 60)
        assert "60 s" in refused["error"]
    staffed.now += 59
    assert staffed.give("unlock", by="Moreno", pin=PIN)["wait_s"] == 1
    staffed.now += 1
    assert staffed.give("unlock", by="Moreno", pin=PIN)["ok"]
    assert staffed.give("unlock", by="Moreno", pin=WRONG)["wait_s"] == 0, "the count began again"


def test_a_stranger_tries_for_an_hour_and_the_floor_person_gets_in_within_a_minute(staffed: Table) -> None:
    names, ends = ("Moreno", "Ada", "Ito", "Nobody", "M"), staffed.now + 3600
    tries = 0
    while staffed.now < ends:
        tries += 1
        staffed.now += staffed.give("unlock", by=names[tries % 5], pin=WRONG)["wait_s"] or 0.5
    staffed.give("unlock", by="Moreno", pin=WRONG)
    came = staffed.now
    while not (answer := staffed.give("unlock", by="Moreno", pin=PIN))["ok"]:
        staffed.now += answer["wait_s"]
    assert staffed.now - came <= LONGEST_WAIT_S == 60
    assert tries > 50, "this stranger was not kept off, but put off"


def test_whoever_has_a_pin_cannot_begin_the_count_of_somebody_elses_again(staffed: Table) -> None:
    for _ in range(3):
        staffed.now += staffed.give("unlock", by="Moreno", pin=WRONG)["wait_s"]
    for _ in range(5):
        assert staffed.give("unlock", by="Ito", pin=AUDITORS)["ok"]
        answer = staffed.give("unlock", by="Moreno", pin=WRONG)
        assert answer["wait_s"] == 60, "at once: this person was tried often"
        staffed.now += answer["wait_s"]
    assert staffed.give("unlock", by="Ito", pin=AUDITORS)["ok"]
    assert staffed.give("unlock", by="Ada", pin=WRONG)["wait_s"] == 0, "a mistake of another person's is one"


def test_the_console_counts_its_own_tries_and_ends_the_screens_wait(staffed: Table) -> None:
    for _ in range(9):
        staffed.now += staffed.give("unlock", by="Moreno", pin=WRONG)["wait_s"]
    staffed.now -= 1
    assert staffed.give("unlock", by="Moreno", pin=PIN)["wait_s"] == 1
    assert staffed.give("end_wait")["ask"] == ["floor", "technician"]
    at_console = {"by": "Moreno", "pin": PIN, "at": "console"}
    assert staffed.give("end_wait", **at_console)["ok"]
    assert staffed.actors()[-3:] == [
        ("pin_tried", "table"),
        ("pin_accepted", "table"),
        ("wait_ended", "floor:Moreno"),
    ]
    assert staffed.give("unlock", by="Ada", pin=OTHER)["ok"], "the screen takes a PIN again"
    for _ in range(3):
        answer = staffed.give("end_wait", by="Ada", pin=WRONG, at="console")
    assert answer["wait_s"] == 30
    assert staffed.give("end_wait", by="Ada", pin=OTHER, at="console")["wait_s"] == 30
    assert staffed.give("unlock", by="Ada", pin=OTHER)["ok"], "the console's wait is not the screen's"


def test_no_refusal_tells_who_has_a_pin(staffed: Table) -> None:
    staffed.give("log_on", person="Lin")
    for pin in ({}, {"pin": WRONG}):
        told = []
        for name in ("Moreno", "Nobody"):
            for order in ({"do": "unlock"}, {"do": "reopen", "past": 1, "reason": "x"}, {"do": "log_on"}):
                staffed.restart()
                staffed.now += 100
                told.append(staffed.give(**order, by=name, **pin))
        for answer in told:
            assert "Moreno" not in json.dumps(answer)
            assert "Ada" not in json.dumps(answer)
        for known, unknown in zip(told[:3], told[3:], strict=True):
            assert {**known, "args": 0, "wait_s": 0, "error": 0} == {
                **unknown,
                "args": 0,
                "wait_s": 0,
                "error": 0,
            }
    assert "Nobody" not in " ".join(str(row) for row in JournalReader(staffed.data).events_since(0))


def test_the_first_letters_of_a_name_are_enough_where_they_are_one_persons(staffed: Table) -> None:
    assert staffed.give("unlock", by=" mor ", pin=PIN)["name"] == "Moreno"
    people = [Person(name, Role.FLOOR, "pin") for name in ("Mo", "Moreno", "Kim", "Kira")]
    people.append(Person("Lin", Role.DEALER))
    meant = {
        typed: person_meant(typed, people) for typed in ("mo", "Mo", "mor", "k", "KIM", "", "l", "Lin", "x")
    }
    assert {typed: person.name for typed, person in meant.items() if person} == {
        "mo": "Mo", "Mo": "Mo", "mor": "Moreno", "KIM": "Kim", "Lin": "Lin"
    }  # fmt: skip


def test_a_floor_person_logs_on_as_dealer_with_the_first_letters_and_a_pin(staffed: Table) -> None:
    assert staffed.give("log_on", by="mor", pin=PIN)["ok"]
    assert staffed.state.dealer == "Moreno"


def test_a_right_pin_tells_how_many_wrong_ones_there_were_and_that_it_is_too_short(staffed: Table) -> None:
    assert "wrong_pins" not in staffed.give("unlock", by="Moreno", pin=PIN)
    for _ in range(4):
        staffed.now += staffed.give("unlock", by="Moreno", pin=WRONG)["wait_s"]
    assert "wrong_pins" not in staffed.give("unlock", by="Ada", pin=OTHER), "those were Moreno's"
    assert staffed.give("unlock", by="Moreno", pin=PIN)["wrong_pins"] == 4
    assert "wrong_pins" not in staffed.give("unlock", by="Moreno", pin=PIN)
    staffed.write([ev.PinSet("Moreno", PinStore(staffed.data).keep("4711"))], "technician:Ada")
    answer = staffed.give("unlock", by="Moreno", pin="4711")
    assert (answer["ok"], answer["short_pin"]) == (True, True), "an older PIN stays valid"
    moreno = staffed.state.person("Moreno")
    assert moreno is not None
    assert moreno.short
    assert staffed.give("set_pin", person="Moreno", new_pin=PIN, by="Moreno", pin="4711")["ok"]
    assert "short_pin" not in staffed.give("unlock", by="Moreno", pin=PIN)


def test_an_alarm_is_raised_by_wrong_pins_of_a_place_and_of_a_person(staffed: Table) -> None:
    def alarm() -> bool:
        return is_alarming(staffed.state.wrong_pins, staffed.state.people)

    for name in ("Moreno", "Ada", "Ito", "Nobody"):
        staffed.now += staffed.give("unlock", by=name, pin=WRONG)["wait_s"]
    assert not alarm()
    staffed.now += staffed.give("unlock", by="Nobody", pin=WRONG)["wait_s"]
    assert alarm()
    assert staffed.give("unlock", by="Ito", pin=AUDITORS)["ok"]
    assert not alarm()
    for _ in range(5):
        staffed.now += staffed.give("unlock", by="Moreno", pin=WRONG)["wait_s"]
    assert staffed.give("unlock", by="Ito", pin=AUDITORS)["ok"]
    assert alarm(), "somebody else's PIN does not end it"
    assert staffed.give("unlock", by="Moreno", pin=PIN)["ok"]
    assert not alarm()


def test_a_wait_survives_a_restart_whatever_the_wall_clock_says(staffed: Table) -> None:
    for _ in range(4):
        staffed.now += staffed.give("unlock", by="Moreno", pin=WRONG)["wait_s"]
    staffed.now -= 1
    assert staffed.give("unlock", by="Moreno", pin=PIN)["wait_s"] == 1
    staffed.restart()
    assert staffed.give("unlock", by="Moreno", pin=PIN)["wait_s"] == 60, "never shorter: it begins again"
    staffed.now += 60
    assert staffed.give("unlock", by="Moreno", pin=PIN)["ok"]


def test_wrong_pins_outlive_the_hand_that_opens_and_one_that_is_reopened(staffed: Table, deal: Deal) -> None:
    staffed.give("unlock", by="Moreno", pin=WRONG)
    staffed.give("unlock", by="Nobody", pin=WRONG)
    carried = {"people": staffed.state.people, "wrong_pins": dict(staffed.state.wrong_pins)}
    staffed.write([ev.HandOpened(**{**deal.opened().__dict__, **carried})], "test")
    staffed.restart()
    assert staffed.state.wrong_pins == {"screen": 2}


def test_a_row_of_an_older_release_counts_as_it_did_and_at_the_screen() -> None:
    state = fold([ev.PersonListed("Moreno", Role.FLOOR, "pin")])
    for _ in range(2):
        state = apply(state, ev.parse("pin_tried", '{"person":"Moreno"}'))
    assert (state.people[0].tried, state.wrong_pins) == (2, {"screen": 2})
    state = apply(state, ev.parse("pin_accepted", '{"person":"Moreno"}'))
    assert (state.people[0].tried, state.wrong_pins, state.people[0].short) == (0, {}, False)


def test_a_try_counts_before_it_is_compared(staffed: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def pulled_plug(*_: object) -> bool:
        raise KeyboardInterrupt

    for name, compared in (("Moreno", "matches"), ("Nobody", "matches_nobody"), ("Moreno", "matches")):
        with monkeypatch.context() as broken:
            broken.setattr(PinStore, compared, pulled_plug)
            with pytest.raises(KeyboardInterrupt):
                staffed.give("unlock", by=name, pin=WRONG)
        staffed.restart()
    assert staffed.give("unlock", by="Moreno", pin=PIN)["wait_s"] == 30


def test_waits_grow_to_a_minute_and_never_shrink() -> None:
    waits = [wait_after(wrong) for wrong in range(40)]
    assert waits == sorted(waits)
    assert waits[:5] == [0.0, 0.0, 0.0, 30.0, 60.0]
    assert waits[-1] == LONGEST_WAIT_S == 60.0
