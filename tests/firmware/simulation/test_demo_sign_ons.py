"""The people whose PINs the demo prints: listed in spite of a busy table, found again, or named as missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from click.testing import CliRunner

from firmware.cli.people import command as people
from firmware.record.journal.journal import JournalReader
from firmware.runtime.config import Config
from firmware.simulation.demo import sign_ons
from firmware.table.events import PersonListed
from firmware.table_client import TableLink

if TYPE_CHECKING:
    from tests.firmware.running_table import Table

LINES = ["Sign on as technician: Lee, PIN 135724", "Sign on as floor: Kim, PIN 246813"]
LATE: Final = "The table did not answer in time."
GIVEN_UP: Final[dict[str, Any]] = {"ok": False, "error": LATE, "uncertain": True}


class BusyLink(TableLink):
    """Gives up each new command so many times before it brings it to the table; or, `late`, brings it all the same."""

    given_up = 2
    late = False

    def send(self, command: dict[str, Any], within: float | None = None) -> dict[str, Any]:
        tries = self.__dict__.setdefault("tries", {})
        tries[command["person"]] = tries.get(command["person"], 0) + 1
        if tries[command["person"]] > self.given_up:
            return super().send(command, within)
        if self.late:
            super().send(command, within)
        return GIVEN_UP


class LateLink(BusyLink):
    late = True


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware.simulation.demo.RETRY_S", 0.0)


@pytest.mark.parametrize("link", [TableLink, BusyLink, LateLink])
def test_a_command_that_a_busy_table_gave_up_is_given_again(
    link: type[TableLink], table: Table, config: Config
) -> None:
    assert list(sign_ons(link(config.socket), config.data)) == LINES
    listed = [
        entry.event
        for entry in JournalReader(config.data).events_since(0)
        if isinstance(entry.event, PersonListed)
    ]
    assert [event.person for event in listed] == ["Lee", "Kim"]


def test_who_was_listed_by_an_earlier_demo_is_found_again(table: Table, config: Config) -> None:
    link = TableLink(config.socket)
    assert list(sign_ons(link, config.data)) == list(sign_ons(link, config.data)) == LINES


def test_a_table_that_is_busy_for_too_long_is_said(table: Table, config: Config) -> None:
    class NeverLink(BusyLink):
        given_up = 10**6

    lines = list(sign_ons(NeverLink(config.socket), config.data, within=0.0))
    assert [line.split(" could not be listed: ")[0] for line in lines] == [
        "The demo's technician",
        "The demo's floor",
    ]
    assert all(LATE in line for line in lines)
    assert all(line.endswith(f"feltwatch people list --data {config.data}") for line in lines)


def test_a_record_with_a_technician_of_its_own_keeps_their_pin_to_itself(
    config: Config, table: Table
) -> None:
    words = ["add", "Ada", "--role", "technician", "--data", str(config.data)]
    assert CliRunner().invoke(people, words, input="471153\n").exit_code == 0
    lines = list(sign_ons(TableLink(config.socket), config.data))
    assert all("could not be listed: That asks for a PIN" in line for line in lines)
    assert "471153" not in "".join(lines)
