"""`feltwatch doctor`: with a table that runs, with one that does not, with a record that was changed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from firmware.cli.doctor import command, services
from firmware.health.checks import CHECKS
from firmware.record.journal import ground
from firmware.record.journal.journal import Journal
from firmware.table import events as ev

if TYPE_CHECKING:
    from tests.firmware.running_table import Table


def doctor(data: Path, *args: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(
        command, ["--data", str(data), "--json", *args], env={"FELTWATCH_KEY": str(data / "no-key")}
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return done.exit_code, {check["name"]: check for check in told["checks"]}


def test_a_running_table_tells_of_its_devices(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ground, "find_memory", lambda _: None)  # where tests keep their files
    _status, checks = doctor(table.config.data)
    assert checks["table"]["verdict"] == "ok"
    assert checks["buttons"]["verdict"] == "ok"
    assert checks["chain"]["verdict"] == "ok", checks["chain"]["says"]
    assert checks["model"]["verdict"] == "ok"
    assert checks["profile"]["verdict"] == "ok"
    table.faults["puck"] = "The cable is out."
    status, checks = doctor(table.config.data)
    assert status == 1
    assert (checks["puck"]["verdict"], checks["puck"]["says"]) == ("bad", "The cable is out.")


def test_a_table_that_is_stopped_is_bad_and_what_its_devices_said_last_does_not_count(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.SetUpEnded(), ev.DeviceFault("puck", "The cable is out.")], "test")
    status, checks = doctor(tmp_path)
    assert status == 1
    assert checks["table"]["verdict"] == "bad"
    assert checks["puck"]["verdict"] == "unknown"
    assert checks["room"]["verdict"] in ("ok", "look")


def test_every_row_is_checked_only_where_all_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from firmware.health import record_facts as health_record

    monkeypatch.setattr(health_record, "LAST_ROWS", 2)
    with Journal(tmp_path) as journal:
        for _ in range(6):
            journal.append([ev.DeviceFault("puck", "out"), ev.DeviceRecovered("puck")], "test")
    assert doctor(tmp_path)[1]["chain"]["figure"] == "2 / 12"
    assert doctor(tmp_path, "--full")[1]["chain"]["figure"] == "12 / 12"


def test_the_text_says_what_to_do(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--data", str(tmp_path)])
    assert done.exit_code == 1
    assert "BAD  Table process" in done.stdout
    assert "systemctl start feltwatch.target" in done.stdout
    counts = [int(number) for number in re.findall(r"\d+", done.stdout.splitlines()[-1])]
    assert counts == [
        sum(mark in line[:5] for line in lines(done.stdout)) for mark in ("BAD", "LOOK", "ok", "?")
    ]
    assert sum(counts) == len(CHECKS) - 2, (
        "this table is enrolled with no pit, and its camera took no settings"
    )


def lines(said: str) -> list[str]:
    return said.splitlines()[:-1]


def test_a_record_that_this_user_may_not_see_is_said_in_the_place_of_faults_it_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.F_OK)
    done = CliRunner().invoke(command, ["--data", str(tmp_path)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{tmp_path} is not open to this user" in done.stderr
    assert "sudo -u feltwatch-table" in done.stderr


def test_a_look_needs_a_table(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--data", str(tmp_path), "--look"])
    assert done.exit_code == 1
    assert "start it first" in done.stderr


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("exit 1", None),
        ("exit 0", None),
        (
            "printf 'Id=feltwatch-ui.service\\nLoadState=loaded\\nActiveState=failed\\n\\n"
            "Id=feltwatch-kiosk.service\\nLoadState=not-found\\nActiveState=inactive\\n'",
            {"feltwatch-ui.service": "failed"},
        ),
        (
            "printf 'Id=feltwatch-training.service\\nLoadState=loaded\\nUnitFileState=disabled\\n"
            "ActiveState=inactive\\n\\nId=feltwatch-review.socket\\nLoadState=loaded\\nUnitFileState=enabled\\nActiveState=failed\\n'",
            {"feltwatch-review.socket": "failed"},
        ),
    ],
)
def test_services_are_asked_of_the_service_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, found: dict[str, str] | None
) -> None:
    program = tmp_path / "systemctl"
    program.write_text(f"#!/bin/sh\n{said}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert services() == found


def test_without_a_service_manager_nothing_is_said_of_services(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert services() is None
