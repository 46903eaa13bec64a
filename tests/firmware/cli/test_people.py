"""`feltwatch people`, on the record of a stopped table and through a running one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from firmware.cli.main import main
from firmware.record.journal.journal import JournalReader
from firmware.runtime.config import Config

if TYPE_CHECKING:
    from tests.firmware.running_table import Table

People = Callable[..., Result]


@pytest.fixture
def people(config: Config) -> People:
    """Runs `feltwatch people`; `lines` is what is keyed."""

    def run(*args: str, lines: str = "") -> Result:
        return CliRunner().invoke(main, ["people", *args, "--data", str(config.data)], input=lines)

    return run


def test_an_empty_house_says_how_to_begin(people: People) -> None:
    assert "feltwatch people add NAME --role technician" in people("list").output


def test_people_are_listed_at_the_console_of_a_stopped_table(people: People, config: Config) -> None:
    for args, keyed in (
        (("Ada", "technician"), "471153"),
        (("Moreno", "floor"), "9021053"),
        (("Lin", "dealer"), ""),
    ):
        done = people("add", args[0], "--role", args[1], lines=f"{keyed}\n")
        assert (done.exit_code, done.output) == (0, f"{args[0]} is listed: {args[1]}.\n")
    assert people("pin", "Moreno", lines="8642053\n").exit_code == 0
    assert people("remove", "Lin").exit_code == 0
    told = json.loads(people("list", "--json").output)
    assert [(p["name"], p["role"]) for p in told["people"]] == [("Ada", "technician"), ("Moreno", "floor")]
    entries = JournalReader(config.data).events_since(0)
    assert [e.type for e in entries] == [*["person_listed"] * 3, "pin_set", "person_struck"]
    assert {e.actor for e in entries} == {"console"}


@pytest.mark.parametrize(
    ("args", "keyed", "says"),
    [
        (("add", "Moreno", "--role", "floor"), "12", "6 to 12 digits"),
        (("add", "Moreno", "--role", "floor"), "", "needs a PIN"),
        (("pin", "Nobody"), "471153", "not listed"),
        (("remove", "Nobody"), "", "not listed"),
    ],
)
def test_a_refusal_is_one_sentence(people: People, args: tuple[str, ...], keyed: str, says: str) -> None:
    people("add", "Ada", "--role", "technician", lines="9021053\n")
    done = people(*args, lines=f"{keyed}\n")
    assert done.exit_code == 1
    assert says in done.output
    assert "Traceback" not in done.output
    assert "471153" not in done.output


def test_what_cannot_be_is_refused_before_anybody_keys_a_pin(
    people: People, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object, **__: object) -> str:
        raise AssertionError("a PIN was asked for")

    monkeypatch.setattr("firmware.cli.people.pin_asked", asked)
    none = people("pin", "Ada")
    assert (none.exit_code, "There is no record" in none.output) == (2, True)
    people("add", "Lin", "--role", "dealer")
    for name, says in (("Nobody", "not listed"), ("Lin", "needs no PIN")):
        done = people("pin", name)
        assert (done.exit_code, says in done.output) == (1, True), done.output
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    done = people("add", "Ada", "--role", "technician")
    assert (done.exit_code, "not this user's to write" in done.output) == (2, True), done.output


def test_a_folder_without_a_record_is_said_and_none_is_made_in_it(people: People, config: Config) -> None:
    for args in (("remove", "Nobody"), ("pin", "Nobody")):
        done = people(*args, lines="471153\n")
        assert (done.exit_code, "There is no record" in done.output) == (2, True)
        assert not JournalReader(config.data).path.exists()


@pytest.mark.parametrize("name", ["", "  ", "x" * 41, "Li\x07n", "\u3164"])
def test_what_is_no_name_is_bad_input_and_no_pin_is_asked_for(people: People, name: str) -> None:
    result = people("add", name, "--role", "floor")
    assert result.exit_code == 2
    assert "A name has " in result.output


def test_a_running_table_judges(people: People, table: Table) -> None:
    assert people("add", "Ada", "--role", "technician", lines="471153\n").exit_code == 0
    refused = people("add", "Moreno", "--role", "floor", lines="9021053\n")
    assert refused.exit_code == 1
    assert "--by" in refused.output
    wrong = people("add", "Moreno", "--role", "floor", "--by", "Ada", lines="9021053\n1357\n")
    assert "do not belong together" in wrong.output
    assert people("add", "Moreno", "--role", "floor", "--by", "Ada", lines="9021053\n471153\n").exit_code == 0
    assert people("add", "Lin", "--role", "dealer", "--by", "Moreno", lines="9021053\n").exit_code == 0
    table.do('{"do":"log_on","person":"Lin"}', '{"do":"next"}')
    table.press("next")
    table.until(lambda state: state.phase == "setting")
    by = {entry.type: entry.actor for entry in JournalReader(table.config.data).events_since(0)}
    assert by["hand_opened"] == "dealer:Lin"
    assert by["phase_advanced"] == "button:Lin"
    assert "down 1" in people("list").output


def test_no_pin_is_in_a_log_or_an_answer(
    table: Table, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.do('{"do":"list_person","person":"Ada","role":"technician","new_pin":"471153"}')

    def broken(*_: object) -> bool:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("firmware.access.pins.PinStore.matches", broken)
    answer = table.ask('{"do":"unlock","by":"Ada","pin":"471153"}')
    assert answer["ok"] is False
    assert "fault of ours" in caplog.text
    assert "471153" not in caplog.text + json.dumps(answer)
