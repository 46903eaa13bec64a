"""Attacks with a name: somebody claims to be somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.access import control as gate
from tests.firmware.access.gate import OTHER, PIN, Table, logged_on


@pytest.fixture
def staffed(tmp_path: Path) -> Iterator[Table]:
    with logged_on(tmp_path) as table:
        yield table


def test_nobody_acts_in_the_name_of_a_dealer_who_is_not_logged_on(
    staffed: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = staffed.actors()
    refused = staffed.give("log_off", by="Bert")
    assert refused["error"] == "Bert is not the dealer who is logged on."
    assert staffed.actors() == before
    assert staffed.give("log_off", by="Lin")["ok"]
    staffed.give("log_on", person="Lin")
    monkeypatch.setattr(gate, "_stands_for_themselves", lambda *_: True)
    assert staffed.give("log_off", by="Bert")["ok"]
    assert staffed.actors()[-1] == ("logged_off", "dealer:Bert")


def test_the_name_of_a_floor_person_is_not_logged_on_without_the_pin(
    staffed: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = staffed.actors()
    for signed in ({}, {"by": "Lin"}, {"by": "Moreno"}):
        refused = staffed.give("log_on", person="Moreno", **signed)
        assert refused["error"] == "Enter your name and your PIN."
    assert staffed.actors() == before
    assert not staffed.give("log_on", person="Moreno", pin="0001")["ok"]
    session = staffed.give("unlock", by="Ada", pin=OTHER)["session"]
    assert not staffed.give("log_on", person="Moreno", session=session)["ok"], "nor by a technician"
    assert staffed.give("log_on", person="Moreno", pin=PIN)["ok"]
    assert staffed.actors()[-1] == ("logged_on", "floor:Moreno")
    staffed.give("log_off")
    monkeypatch.setattr(gate, "_is_dealer", lambda *_: True)
    assert staffed.give("log_on", person="Moreno")["ok"]
    assert staffed.actors()[-1] == ("logged_on", "dealer:Moreno")
