"""A person's badge on the puck reader's own antennas: the shipped simulated reader at a pty, a real table process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.devices.puck.protocol import PuckLine
from firmware.devices.puck.serial_port import SerialPuck
from firmware.devices.puck.simulated import ACTION_TAG, DEALER_TAG, SimulatedPuck
from firmware.runtime.config import Config
from firmware.runtime.disks import BADGE_S
from firmware.table import events as ev
from firmware.table.values import Puck
from tests.firmware.running_table import Table
from tests.waiting import until

PIN, OTHER, WRONG = "471153", "902105", "135799"
BADGE, STRANGE = "04B1D2E3F4A580", "DEADBEEF"
ADA = {"by": "Ada", "pin": OTHER}


@pytest.fixture
def reader() -> Iterator[SimulatedPuck]:
    with SimulatedPuck() as made:
        yield made


@pytest.fixture
def table(config: Config, reader: SimulatedPuck) -> Iterator[Table]:
    """Ada is technician, Moreno floor; the disks lie at seat 2."""
    reader.move_to(2)
    puck = SerialPuck(PuckLine(reader.disks, range(1, 6)), reader.port)
    made = Table(config, puck=puck, disks=reader.disks)
    made.until(lambda state: state.puck.seat == 2)
    give(made, "list_person", person="Ada", role="technician", new_pin=OTHER)
    give(made, "list_person", person="Moreno", role="floor", new_pin=PIN, **ADA)
    yield made
    made.stop()


def give(table: Table, do: str, **fields: Any) -> dict[str, Any]:
    return table.ask(json.dumps({"do": do, **fields}))


def listed(table: Table, reader: SimulatedPuck) -> None:
    """Lay a badge at seat 4 and list it for Moreno."""
    reader.lay(BADGE, 4)
    until(lambda: give(table, "list_badge", person="Moreno", **ADA)["ok"])
    until(lambda: lies(table))


def lies(table: Table) -> bool:
    """Whether the table says that a badge lies there."""
    return bool(give(table, "unlock").get("badge"))


def seats_of_badges(table: Table) -> set[int]:
    reading = table.process._badges._reading
    return {seat for seat, _ in reading.badges} if reading else set()


def let_wait(table: Table, name: str = "Nobody") -> None:
    """Try wrong PINs until the screen waits for a minute."""
    while (answer := give(table, "unlock", by=name, pin=WRONG))["wait_s"] < 60:
        table.let_pass(answer["wait_s"])


def test_a_badge_is_listed_by_laying_it_down_and_lets_its_owner_in_while_the_screen_waits(
    table: Table, reader: SimulatedPuck
) -> None:
    assert "No new badge is read" in give(table, "list_badge", person="Moreno", **ADA)["error"]
    listed(table, reader)
    let_wait(table)
    assert give(table, "unlock", by="Ada", pin=OTHER)["wait_s"] == 60
    assert give(table, "unlock", pin=PIN)["name"] == "Moreno"
    reader.take(BADGE)
    until(lambda: not lies(table))
    assert not give(table, "unlock", by="Moreno", pin=PIN)["ok"]
    rows = [row.event for row in table.reader.events_since(0)]
    assert ev.BadgeListed("Moreno", BADGE) in rows
    assert ev.PinAccepted("Moreno", "badge") in rows


def test_a_badge_that_is_left_lying_counts_for_a_minute_and_again_once_it_was_lifted(
    table: Table, reader: SimulatedPuck
) -> None:
    listed(table, reader)
    let_wait(table)
    table.let_pass(BADGE_S + 1)
    assert not lies(table)
    let_wait(table)
    assert give(table, "unlock", by="Moreno", pin=PIN)["wait_s"] > 0
    reader.take(BADGE)
    until(lambda: not seats_of_badges(table))
    table.let_pass(3)
    reader.lay(BADGE, 1)
    until(lambda: lies(table))
    assert give(table, "unlock", pin=PIN)["ok"]


def test_a_badge_is_never_taken_for_the_puck_nor_for_a_tag_of_somebody_elses(
    table: Table, reader: SimulatedPuck
) -> None:
    reader.lay(STRANGE, 3)
    table.until(lambda state: bool(state.puck.detail))
    reader.take(STRANGE)
    table.until(lambda state: not state.puck.detail)
    listed(table, reader)
    before = [row for row in table.types() if row == "puck_seen"]
    for seat in (2, 5, 1):  # beside the disks, too
        reader.take(BADGE)
        reader.lay(BADGE, seat)
        until(lambda at=seat: at in seats_of_badges(table))  # type: ignore[misc]
        table.turn()
        assert table.process.state.puck == Puck("seat", 2, "")
    assert [row for row in table.types() if row == "puck_seen"] == before
    reader.lift()
    reader.lay(BADGE, 2)
    table.until(lambda state: state.puck.state == "none")
    assert table.state.puck.seat is None


def test_a_disk_is_never_taken_for_a_badge(table: Table, reader: SimulatedPuck) -> None:
    assert "No new badge" in give(table, "list_badge", person="Moreno", **ADA)["error"]
    table.process.attempt([ev.BadgeListed("Moreno", DEALER_TAG)], "test")
    table.turn()
    assert not lies(table)
    assert table.state.puck.seat == 2
    listed(table, reader)
    assert give(table, "end_set_up", **ADA) is not None
    tried = give(table, "try_device", device="puck", **ADA)
    assert {tag for _, tag, _ in tried["tags"]} == {DEALER_TAG, ACTION_TAG}
    named = give(table, "name_disk", tag=BADGE, disk="dealer", **ADA)
    assert "is a person's badge" in named["error"]


def test_a_badge_of_two_at_once_or_without_a_reader_is_not_listed(
    table: Table, reader: SimulatedPuck
) -> None:
    reader.lay(BADGE, 4)
    reader.lay(STRANGE, 5)
    until(lambda: "Several" in give(table, "list_badge", person="Moreno", **ADA)["error"])
    reader.unplug()
    until(lambda: "does not answer" in give(table, "list_badge", person="Moreno", **ADA)["error"])
    assert give(table, "list_badge", person="Moreno", by="Moreno", pin=PIN)["ask"] == ["technician"]


def test_a_pulled_cable_leaves_no_badge_on_the_table(table: Table, reader: SimulatedPuck) -> None:
    listed(table, reader)
    reader.unplug()
    until(lambda: not lies(table))
    let_wait(table)
    assert not give(table, "unlock", pin=PIN)["ok"]


def test_a_badge_is_known_again_after_a_restart(config: Config, table: Table, reader: SimulatedPuck) -> None:
    listed(table, reader)
    table.stop()
    puck = SerialPuck(PuckLine(reader.disks, range(1, 6)), reader.port)
    again = Table(config, puck=puck, disks=reader.disks)
    try:
        until(lambda: lies(again))
        assert give(again, "unlock", pin=PIN)["name"] == "Moreno"
    finally:
        again.stop()


def test_a_badge_is_listed_and_taken_off_and_a_wait_ended_on_the_command_line(
    config: Config, table: Table, reader: SimulatedPuck
) -> None:
    def people(*words: str, pin: str = OTHER) -> str:
        done = CliRunner().invoke(main, ["people", *words, "--data", str(config.data)], input=f"{pin}\n")
        return done.output

    reader.lay(BADGE, 4)
    until(lambda: "is listed for Moreno" in people("badge", "Moreno", "--by", "Ada"))
    until(lambda: lies(table))
    assert "no badge any more" in people("badge", "Moreno", "--off", "--by", "Ada")
    until(lambda: not lies(table))
    let_wait(table, "Moreno")
    assert "belong together" in people("end-wait", "--by", "Moreno", pin=WRONG)
    assert give(table, "unlock", by="Moreno", pin=PIN)["wait_s"] > 0
    assert "takes a PIN again" in people("end-wait", "--by", "Moreno", pin=PIN), (
        "one mistake is free here, too"
    )
    assert give(table, "unlock", by="Moreno", pin=PIN)["ok"]
