"""Who may do what: judged at the gate, on a real journal and real scrypt."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from firmware.record.journal.journal import JournalReader
from firmware.table import CommandRefused, Phase, apply
from firmware.table import events as ev
from firmware.table.command import COMMAND_ROLES, COMMANDS, parse_command
from firmware.table.decide import decide
from firmware.table.errors import CommandNotAllowed
from firmware.table.house import House
from firmware.table.people import (
    Role,
)
from tests.firmware.access.gate import AUDITORS, OTHER, PIN, Table, no_house
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


def test_every_command_asks_for_the_roles_of_the_table_above_and_no_other() -> None:
    expected = {
        do: frozenset(LETTERS[letter] for letter in letters)
        for letters, dos in MAY.items()
        for do in dos.split()
    }
    assert expected == COMMAND_ROLES
    assert set(COMMANDS) == set(COMMAND_ROLES)


@pytest.mark.parametrize("role", list(Role))
def test_each_role_may_give_its_commands_and_no_others(staffed: Table, role: Role) -> None:
    name = {
        Role.TECHNICIAN: "Ada",
        Role.FLOOR: "Moreno",
        Role.DEALER: "Lin",
        Role.AUDITOR: "Ito",
    }[role]
    pin = {Role.TECHNICIAN: OTHER, Role.FLOOR: PIN, Role.AUDITOR: AUDITORS}.get(role, "")
    if role is Role.DEALER:
        staffed.give("log_on", person=name)

    def actor(do: str) -> str | None:
        # Its own fields are judged later: what is asked here is who.
        own: dict[str, Any] = {"person": name, "at": "screen"} if do == "log_on" else {"at": "screen"}
        wanted = COMMANDS[do].model_construct(
            _fields_set=None, do=do, by=name, pin=SecretStr(pin), role=Role.AUDITOR, **own
        )
        try:
            return staffed.access.authorize(wanted, staffed).actor
        except CommandNotAllowed:
            return None

    may = {do: f"{role}:{name}" if role in roles else None for do, roles in COMMAND_ROLES.items()}
    assert {do: actor(do) for do in COMMAND_ROLES} == may


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
    """Such a record is an earlier release's.

    A person whose name shows as nothing cannot log on: nobody could read who deals.
    """
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


def test_the_felt_is_laid_by_whoever_stands_there_until_a_technician_is_listed(table: Table) -> None:
    orders = [parse_command(f'{{"do": "{do}"}}') for do in ("look", "calibrate_felt")]
    assert table.give("end_set_up", skipped=True)["ok"]
    assert [table.access.authorize(order, table).actor for order in orders] == ["set-up", "set-up"]
    with pytest.raises(CommandNotAllowed):
        table.access.authorize(parse_command('{"do": "enrol_deck", "step": "begin"}'), table)
    assert table.give("list_person", person="Ada", role="technician", new_pin=OTHER)["ok"]
    for order in orders:
        with pytest.raises(CommandNotAllowed):
            table.access.authorize(order, table)


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
    house = no_house()
    seats = tuple(ev.SeatOpened(n, f"p{n}", "ABCD"[n - 1]) for n in (1, 2))
    house = House(house.rules, house.profile, "", 100, seats)
    staffed.give("log_on", person="Lin")
    (opened,) = decide(staffed.state, parse_command('{"do":"next"}'), house, house.rules)
    after = apply(staffed.state, opened)
    assert (after.people, after.dealer, after.down) == (staffed.state.people, "Lin", 1)
    assert ev.parse(opened.type, ev.payload(opened)) == opened
