"""What a badge is good for, at the gate."""

from __future__ import annotations

import json

import pytest

from firmware.record.journal.journal import JournalReader
from firmware.table import CommandRefused
from firmware.table import events as ev
from tests.firmware.access.gate import OTHER, PIN, WRONG, Table


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


def test_a_floor_person_sets_their_own_pin_and_nobody_elses(staffed: Table) -> None:
    moreno = {"by": "Moreno", "pin": PIN}
    assert not staffed.give("set_pin", person="Ada", new_pin="8642053", **moreno)["ok"]
    assert not staffed.give("list_person", person="Ada", role="dealer", **moreno)["ok"]
    assert not staffed.give("list_person", person="Eve", role="floor", new_pin="8642053", **moreno)["ok"]
    assert not staffed.give("remove_person", person="Ada", **moreno)["ok"]
    assert staffed.give("set_pin", person="Moreno", new_pin="8642053", **moreno)["ok"]
    assert not staffed.give("unlock", **moreno)["ok"]
    assert staffed.give("unlock", by="Moreno", pin="8642053")["ok"]
