"""Who may do what, and what a PIN is good for: judged at the gate, on a real journal and real scrypt."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from firmware.access.control import AccessCommand, AccessControl, with_sender
from firmware.access.pins import PinStore, matches_verifier
from firmware.access.sessions import EVIDENCE_SESSION_S, FLOOR_SESSION_S, SESSION_S
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.table import CommandRefused, Phase, State, apply, fold
from firmware.table import events as ev
from firmware.table.command import COMMAND_ROLES, COMMANDS, parse_command
from firmware.table.decide import decide
from firmware.table.errors import CommandNotAllowed, PinError
from firmware.table.events import canonical
from firmware.table.house import House
from firmware.table.people import (
    LONGEST_WAIT_S,
    PIN_ROLES,
    PINS_FOLDER,
    Person,
    Role,
    check_pin,
    is_alarming,
    person_meant,
    wait_after,
)
from tests.firmware.conftest import Deal

# Who may give which command, written down a second time by hand: D dealer, F floor, T technician, A auditor.
MAY = {
    "DF": """
        next confirm look_again key_button declare withdraw surrender withdraw_surrender
        undo_confirm set_card key_row mark_paid void misdeal resolve key_hand place_card archive
        undo_close open_hand back_to_setting keep_button mark_paid_back count_stack sit_out
        pass_round two_hands seat_player leave_seat rename_player buy_in add_on log_on log_off
        call_floor end_floor_call
    """,
    "F": """
        reopen keep_profile dispute close_dispute mark_reviewed read_stick
    """,
    "FT": """
        set_house read_record_fault list_person remove_person set_pin end_wait
    """,
    "DFT": """
        sign_head check_deck job
    """,
    "FTA": """
        export_hand stay
    """,
    "T": """
        drop_images settle_step end_set_up try_device end_trial set_clock name_disk look list_badge
        calibrate_felt calibrate_lens enrol_deck use_calibration read_code join_pit compare_pit_words take_file
    """,
    "DFTA": """
        unlock lock health heartbeat painted
    """,
}
LETTERS = {"D": Role.DEALER, "F": Role.FLOOR, "T": Role.TECHNICIAN, "A": Role.AUDITOR}
PIN, OTHER, AUDITORS, WRONG = "471153", "9021053", "3141553", "1357"


class Table:
    """A journal with a gate before it; `now` is the monotonic clock."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.now = 1000.0
        self.laid: frozenset[str] = frozenset()
        self.start()

    def start(self) -> None:
        self.journal = Journal(self.data)
        self.state: State = self.journal.recover()
        self.access = AccessControl(PinStore(self.data), lambda: self.now, lambda: self.laid)
        self.access.tidy(self.state)

    def restart(self) -> None:
        self.journal.close()
        self.now = 5.0  # the machine started again: its monotonic clock did, too
        self.start()

    def write(self, events: Sequence[ev.Event], actor: str) -> int:
        self.state = fold(events, self.state)
        return self.journal.append(events, actor)

    def give(self, do: str, **fields: Any) -> dict[str, Any]:
        """Give a command as the table process judges it."""
        command = parse_command(canonical({"do": do, **fields}))
        try:
            who = self.access.authorize(command, self)
            if isinstance(command, AccessCommand):
                return self.access.handle(command, self, who) | who.told
            command = with_sender(command, who)
            seq = self.write(decide(self.state, command, _no_house(), _no_house().rules), who.actor)
            return {"ok": True, "seq": seq} | who.told
        except CommandNotAllowed as error:
            return self.access.refusal(error, self.state, command.at)

    def actors(self) -> list[tuple[str, str]]:
        return [(entry.type, entry.actor) for entry in JournalReader(self.data).events_since(0)]


def _no_house() -> House:
    from firmware.rules import load_profile

    return House(load_profile("washington-1-unit"), "washington-1-unit", "", 100, ())


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.journal.close()


@pytest.fixture
def staffed(table: Table) -> Table:
    """Ada is technician, Moreno floor, Lin dealer, Ito auditor."""
    assert table.give("list_person", person="Ada", role="technician", new_pin=OTHER)["ok"]
    ada = {"by": "Ada", "pin": OTHER}
    assert table.give("list_person", person="Moreno", role="floor", new_pin=PIN, **ada)["ok"]
    assert table.give("list_person", person="Lin", role="dealer", **ada)["ok"]
    assert table.give("list_person", person="Ito", role="auditor", new_pin=AUDITORS, **ada)["ok"]
    return table


def test_every_command_asks_for_the_roles_of_the_table_above_and_no_other() -> None:
    expected = {
        do: frozenset(LETTERS[letter] for letter in letters)
        for letters, dos in MAY.items()
        for do in dos.split()
    }
    assert expected == COMMAND_ROLES
    assert set(COMMANDS) == set(COMMAND_ROLES)


@pytest.mark.parametrize("do", sorted(COMMAND_ROLES))
@pytest.mark.parametrize("role", list(Role))
def test_each_role_may_give_its_commands_and_no_others(staffed: Table, do: str, role: Role) -> None:
    name = {
        Role.TECHNICIAN: "Ada",
        Role.FLOOR: "Moreno",
        Role.DEALER: "Lin",
        Role.AUDITOR: "Ito",
    }[role]
    pin = {Role.TECHNICIAN: OTHER, Role.FLOOR: PIN, Role.AUDITOR: AUDITORS}.get(role, "")
    # Its own fields are judged later: what is asked here is who.
    own: dict[str, Any] = {"person": name, "at": "screen"} if do == "log_on" else {"at": "screen"}
    wanted = COMMANDS[do].model_construct(
        _fields_set=None, do=do, by=name, pin=SecretStr(pin), role=Role.AUDITOR, **own
    )
    if role is Role.DEALER:
        staffed.give("log_on", person=name)
    if role in COMMAND_ROLES[do]:
        assert staffed.access.authorize(wanted, staffed).actor == f"{role}:{name}"
    else:
        with pytest.raises(CommandNotAllowed):
            staffed.access.authorize(wanted, staffed)


def test_a_command_that_is_not_in_the_table_is_nobodys(
    staffed: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(COMMAND_ROLES, "void")
    assert staffed.give("void", reason="x", by="Ada", pin=OTHER)["error"] == "Nobody may give that command."


# ---- before and at the first PIN ----


def test_before_any_pin_is_set_the_dealer_may_play_and_what_the_floor_may_do_is_closed(table: Table) -> None:
    assert table.access.authorize(parse_command('{"do":"next"}'), table).actor == "dealer"
    answer = table.give("list_person", person="Lin", role="dealer")
    assert not answer["ok"]
    assert "is listed yet" in answer["error"]
    assert "feltwatch people add NAME --role technician" in answer["error"], "the first to be listed"
    assert not table.give("list_person", person="Moreno", role="floor", new_pin=PIN)["ok"]


def test_the_first_technician_comes_with_a_pin_once(table: Table) -> None:
    with pytest.raises(CommandRefused, match="needs a PIN"):
        table.give("list_person", person="Ada", role="technician")
    assert table.give("list_person", person="Ada", role="technician", new_pin=OTHER)["ok"]
    second = table.give("list_person", person="Eve", role="technician", new_pin=PIN)
    assert not second["ok"]
    assert second["ask"] == ["technician"]
    assert table.actors() == [("person_listed", "technician:Ada")]


@pytest.mark.parametrize("name", ["moreno", "M\u043ereno", "Moren0", " ADA", "\uff21da"])
def test_who_looks_like_a_listed_person_is_not_listed(staffed: Table, name: str) -> None:
    with pytest.raises(CommandRefused, match=r"looks like (Ada|Moreno), a name that is taken"):
        staffed.give("list_person", person=name, role="dealer", by="Ada", pin=OTHER)
    assert len(staffed.state.people) == 4


@pytest.mark.parametrize(
    "name", ["\u3164", "\u2800", "\u115f", "\u1160", "\uffa0", "Ki\u200em", "\U000e0041", "Kim\ufe0f"]
)
def test_who_shows_as_nothing_is_not_listed(staffed: Table, name: str) -> None:
    with pytest.raises(CommandRefused, match="only letters that can be seen"):
        staffed.give("list_person", person=name, role="dealer", by="Ada", pin=OTHER)


@pytest.mark.parametrize("name", ["Ito ", " Ito", "Ito\u2003"])
def test_spaces_around_a_name_open_no_way_to_another_persons_role(staffed: Table, name: str) -> None:
    answer = staffed.give("list_person", person=name, role="dealer", by="Moreno", pin=PIN)
    assert "Only a technician may change who is auditor" in answer["error"]
    assert [(one.name, one.role) for one in staffed.state.people if one.name.strip() == "Ito"] == [
        ("Ito", Role.AUDITOR)
    ]


@pytest.mark.parametrize("name", ["moreno", "\U0001f0cf", "Kim\ufe0f", "\u3164"])
def test_a_name_that_would_not_be_listed_today_replays_and_keeps_its_rights(
    staffed: Table, name: str
) -> None:
    """Such a record is an earlier release's. Who shows as nothing cannot log on: nobody could read who deals."""
    ada = {"by": "Ada", "pin": OTHER}
    staffed.write([ev.PersonListed(name, Role.DEALER)], "technician:Ada")
    staffed.restart()
    assert staffed.state.person(name) is not None
    if name == "\u3164":
        with pytest.raises(CommandRefused, match="That name shows as nothing"):
            staffed.give("log_on", person=name)
    else:
        assert staffed.give("log_on", person=name)["ok"]
        assert staffed.give("list_person", person=name, role="floor", new_pin=PIN, **ada)["ok"]
    assert staffed.give("remove_person", person=name, **ada)["ok"]
    assert staffed.state.person(name) is None


def test_a_fresh_boxs_first_technician_is_recorded_under_the_name_as_listed(table: Table) -> None:
    with pytest.raises(CommandRefused, match=r"U\+3164"):
        table.give("list_person", person="\u3164", role="technician", new_pin=OTHER)
    assert table.give("list_person", person=" Jose\u0301 ", role="technician", new_pin=OTHER)["ok"]
    assert table.actors() == [("person_listed", "technician:José")]


def test_the_last_technician_can_neither_be_struck_nor_moved(staffed: Table) -> None:
    for do, fields in (("remove_person", {}), ("list_person", {"role": "dealer"})):
        with pytest.raises(CommandRefused, match="only technician"):
            staffed.give(do, person="Ada", by="Ada", pin=OTHER, **fields)


def test_a_fresh_box_takes_its_language_and_leaving_the_set_up_out_from_whoever_stands_there(
    table: Table,
) -> None:
    french = parse_command('{"do": "set_house", "reason": "set-up", "language": "es"}')
    assert table.access.authorize(french, table).actor == "set-up"
    assert table.give("settle_step", step="language")["ok"]
    table.give("list_person", person="Ada", role="technician", new_pin=OTHER)
    with pytest.raises(CommandNotAllowed):
        table.access.authorize(french, table)
    assert not table.give("end_set_up", skipped=True)["ok"]
    assert table.give("end_set_up", by="Ada", pin=OTHER)["ok"]
    assert table.state.set_up
    with pytest.raises(CommandRefused, match="over already"):
        table.give("end_set_up", by="Ada", pin=OTHER)


def test_a_table_that_was_left_without_a_set_up_is_nobodys_to_set(table: Table) -> None:
    assert table.give("end_set_up", skipped=True)["ok"]
    assert not table.give("settle_step", step="language")["ok"]
    table.restart()
    assert table.state.set_up


# ---- who did it ----


def test_a_down_begins_with_a_log_on_and_the_dealer_stands_in_what_follows(staffed: Table) -> None:
    assert staffed.give("log_on", person="Lin")["ok"]
    assert (staffed.state.dealer, staffed.state.down) == ("Lin", 1)
    staffed.give("log_on", person="Moreno", pin=PIN)
    downs = [row for row in staffed.actors() if row[0] == "logged_on"]
    assert downs == [("logged_on", "dealer:Lin"), ("logged_on", "floor:Moreno")]
    assert staffed.state.down == 2
    began = JournalReader(staffed.data).last_log_on()
    assert began is not None
    assert began.event == ev.LoggedOn("Moreno", 2)
    staffed.give("log_off")
    assert staffed.state.dealer == ""
    assert staffed.access.authorize(parse_command('{"do":"next"}'), staffed).actor == "dealer"


def test_only_listed_dealers_log_on(staffed: Table) -> None:
    assert staffed.give("log_on", person="Nobody")["error"] == staffed.give("log_on", person="Ito")["error"]
    for person, pin in (("Ito", AUDITORS), ("Ada", OTHER)):
        assert not staffed.give("log_on", person=person, pin=pin)["ok"]
    staffed.give("log_on", person="Lin")
    with pytest.raises(CommandRefused, match="logged on already"):
        staffed.give("log_on", person="Lin")
    staffed.give("remove_person", person="Lin", by="Moreno", pin=PIN)
    assert staffed.state.dealer == ""


def test_people_and_the_dealer_outlive_the_hand_that_opens(staffed: Table, deal: Deal) -> None:
    staffed.give("log_on", person="Lin")
    before = staffed.state
    opened = deal.opened()
    carried = {"dealer": before.dealer, "down": before.down, "people": before.people}
    staffed.write([ev.HandOpened(**{**opened.__dict__, **carried})], "test")
    staffed.restart()
    assert staffed.state.phase is Phase.DEALING
    assert (staffed.state.people, staffed.state.dealer, staffed.state.down) == (before.people, "Lin", 1)


def test_an_opened_hand_carries_the_people(staffed: Table) -> None:
    house = _no_house()
    seats = tuple(ev.SeatOpened(n, f"p{n}", "ABCD"[n - 1]) for n in (1, 2))
    house = House(house.rules, house.profile, "", 100, seats)
    staffed.give("log_on", person="Lin")
    (opened,) = decide(staffed.state, parse_command('{"do":"next"}'), house, house.rules)
    after = apply(staffed.state, opened)
    assert (after.people, after.dealer, after.down) == (staffed.state.people, "Lin", 1)
    assert ev.parse(opened.type, ev.payload(opened)) == opened


# ---- PINs ----


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


# ---- badges ----


def test_a_badge_lets_its_owner_in_while_the_screen_waits_with_the_pin_alone(staffed: Table) -> None:
    staffed.write([ev.BadgeListed("Moreno", "04B1B2B3")], "technician:Ada")
    for _ in range(6):
        staffed.now += staffed.give("unlock", by="Moreno", pin=WRONG)["wait_s"]
    staffed.now -= 50
    assert staffed.give("unlock", by="Moreno", pin=PIN)["wait_s"] == 50
    staffed.laid = frozenset({"04B1B2B3"})
    asked = staffed.give("unlock")
    assert (asked["badge"], asked["wait_s"]) == (True, 0)
    assert "Moreno" not in json.dumps(asked)
    assert staffed.give("unlock", by="Ada", pin=OTHER)["wait_s"] == 50, "it is no other person's"
    assert staffed.give("unlock", pin=PIN)["name"] == "Moreno"
    assert staffed.give("unlock", by="Moreno", pin=PIN)["ok"]
    tried = [row.event for row in JournalReader(staffed.data).events_since(0) if row.type == "pin_tried"]
    assert tried[-1] == ev.PinTried("Moreno", "badge")


def test_a_cloned_badge_gives_no_right_and_its_wrong_pins_wait_apart(staffed: Table) -> None:
    staffed.write([ev.BadgeListed("Moreno", "04B1B2B3")], "technician:Ada")
    staffed.laid = frozenset({"04B1B2B3"})
    waits = []
    for _ in range(5):
        answer = staffed.give("unlock", pin=WRONG)
        waits.append(answer["wait_s"])
        assert not answer["ok"]
        staffed.now += answer["wait_s"]
    assert waits == [0, 0, 30, 60, 60]
    staffed.give("unlock", pin=WRONG)
    assert not staffed.give("unlock", pin=PIN)["ok"]
    staffed.laid = frozenset()
    assert staffed.give("unlock", by="Moreno", pin=PIN)["ok"], "without the badge it is the screen's count"


def test_two_badges_at_once_name_nobody(staffed: Table) -> None:
    staffed.write([ev.BadgeListed("Moreno", "04B1B2B3"), ev.BadgeListed("Ada", "04B1B2B4")], "technician:Ada")
    staffed.laid = frozenset({"04B1B2B3", "04B1B2B4"})
    assert "Key your name" in staffed.give("unlock", pin=PIN)["error"]
    assert staffed.give("unlock", by="Ada", pin=OTHER)["ok"]


def test_a_badge_is_one_persons_and_ends_with_the_role(staffed: Table) -> None:
    staffed.write([ev.BadgeListed("Moreno", "04B1B2B3")], "technician:Ada")
    with pytest.raises(CommandRefused, match="somebody else"):
        staffed.write([ev.BadgeListed("Ada", "04B1B2B3")], "technician:Ada")
    with pytest.raises(CommandRefused, match="needs no PIN"):
        staffed.write([ev.BadgeListed("Lin", "04B1B2B4")], "technician:Ada")
    staffed.give("list_person", person="Moreno", role="dealer", by="Ada", pin=OTHER)
    assert {person.badge for person in staffed.state.people} == {""}


def test_a_floor_person_sets_his_own_pin_and_nobody_elses(staffed: Table) -> None:
    moreno = {"by": "Moreno", "pin": PIN}
    assert not staffed.give("set_pin", person="Ada", new_pin="8642053", **moreno)["ok"]
    assert not staffed.give("list_person", person="Ada", role="dealer", **moreno)["ok"]
    assert not staffed.give("list_person", person="Eve", role="floor", new_pin="8642053", **moreno)["ok"]
    assert not staffed.give("remove_person", person="Ada", **moreno)["ok"]
    assert staffed.give("set_pin", person="Moreno", new_pin="8642053", **moreno)["ok"]
    assert not staffed.give("unlock", **moreno)["ok"]
    assert staffed.give("unlock", by="Moreno", pin="8642053")["ok"]


@pytest.mark.parametrize(
    "pin",
    [
        "",
        "47115",
        "47a153",
        "000000",
        "123456",
        "987654",
        "471471",
        "121212",
        "1" * 13,
        "47195" + "1" * 8,
        "١٢٣٥١٩",
    ],
)
def test_a_poor_pin_is_refused(pin: str) -> None:
    with pytest.raises(CommandRefused, match="PIN"):
        check_pin(pin)


def test_no_pin_and_no_verifier_is_in_the_journal_or_in_a_message(
    staffed: Table, capfd: pytest.CaptureFixture[str]
) -> None:
    answers = [staffed.give("unlock", by="Moreno", pin=pin) for pin in (WRONG, PIN)]
    for line in (f'{{"do":"unlock","pin":{WRONG}}}', f'{{"do":"next","x":"{PIN}"}}', f'"{PIN}"'):
        with pytest.raises(CommandRefused) as refused:
            parse_command(line)
        assert PIN not in f"{refused.value} {refused.value.__cause__}"
        assert WRONG not in f"{refused.value} {refused.value.__cause__}"
    assert PIN not in repr(parse_command(canonical({"do": "unlock", "by": "Moreno", "pin": PIN})))
    verifiers = [json.loads(path.read_text()) for path in (staffed.data / PINS_FOLDER).glob("*.json")]
    assert len(verifiers) == 3
    staffed.journal.close()
    rows = " ".join(f"{e.actor} {e.payload}" for e in JournalReader(staffed.data).events_since(0))
    stored = (staffed.data / FILE).read_bytes()
    for secret in (
        PIN,
        OTHER,
        AUDITORS,
        WRONG,
        *(v["key"] for v in verifiers),
        *(v["salt"] for v in verifiers),
    ):
        assert f'"{secret}"' not in rows
        assert secret not in json.dumps(answers)
        if len(secret) > 5:
            assert secret.encode() not in stored
    assert verify(staffed.data).ok
    assert capfd.readouterr() == ("", "")


# ---- the store ----


def test_verifiers_are_for_the_tables_own_user(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    name = store.keep(PIN)
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((store.folder / f"{name}.json").stat().st_mode) == 0o600
    assert store.matches(name, PIN)
    assert not store.matches(name, WRONG)
    assert store.keep(PIN) != name


def test_a_try_costs_what_the_product_says_and_not_what_the_tests_pay() -> None:
    code = "import json; from firmware.access.pins import verifier; print(json.dumps(verifier('284653')))"
    made = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert (made["scrypt"]["n"] >= 2**15, made["scrypt"]["r"], made["scrypt"]["p"]) == (True, 8, 1)
    assert matches_verifier(made, "284653")
    assert not matches_verifier(made, "2847")


def test_a_lost_or_broken_verifier_opens_nothing_and_says_so(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    name = store.keep(PIN)
    for text in ("", "{}", '{"scrypt":{"n":3,"r":8,"p":1},"salt":"00","key":"00"}', "[]"):
        (store.folder / f"{name}.json").write_text(text)
        with pytest.raises(PinError, match="set a new PIN"):
            store.matches(name, PIN)
    with pytest.raises(PinError, match="set a new PIN"):
        store.matches("", PIN)


def test_replaced_and_orphaned_verifiers_are_removed(staffed: Table) -> None:
    store = PinStore(staffed.data)
    orphan = store.keep(PIN)  # a stop between the file and its event
    staffed.restart()
    assert orphan not in store.known()
    before = {person.pin for person in staffed.state.people if person.role in PIN_ROLES}
    assert store.known() == before
    staffed.give("set_pin", person="Moreno", new_pin="8642053", by="Ada", pin=OTHER)
    assert store.known() == {person.pin for person in staffed.state.people if person.pin}
    assert len(store.known()) == 3
