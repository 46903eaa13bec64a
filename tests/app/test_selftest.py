"""The acceptance run over the simulated table: real devices' backends, the real reading process, the real socket."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dealer_ui.link import TableLink
from firmware.app.config import Config, SeatConfig, TimesConfig
from firmware.app.selftest import EXAMPLE, EXAMPLE_PAID, HANDS, STEPS, Result, Selftest, SelftestError
from firmware.app.selftest_command import command, report
from firmware.app.simulation import SimulatedTable
from firmware.rules import settle_json
from firmware.table.events_setup import DeviceTried
from firmware.table.journal import JournalReader

PIN = "2846"
COLOURS: dict[str, Any] = {"white": "next", "green": "confirm", "red": "reject"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SimulatedTable]]:
    data = tmp_path_factory.mktemp("data")
    config = Config(
        data=data,
        seats=tuple(
            SeatConfig.model_validate({"seat": n, "place": p}) for n, p in enumerate("ABCD", start=1)
        ),
        times=TimesConfig(reading=60.0, reading_start=120.0),
    )
    with SimulatedTable(config, tmp_path_factory.mktemp("room"), 1, fresh=True) as simulated:
        ada = {"do": "list_person", "person": "Ada", "role": "technician", "new_pin": PIN}
        assert TableLink(config.socket, timeout=30).send(ada)["ok"]
        yield data, simulated


class Hands:
    """Somebody who does what he is asked."""

    def __init__(self, table: SimulatedTable) -> None:
        self.table = table
        self.asked: list[str] = []

    def tell(self, text: str) -> None:
        self.asked.append(text)
        if left := re.search(r"Still to come: (\d)", text):
            self.table.puck.move_to(int(left[1]))
        if button := re.search(r"Press the button that blinks: (\w+)", text):
            threading.Thread(target=self.table.panel.press, args=(COLOURS[button[1]], 0.12)).start()

    def ask(self, text: str) -> bool:
        return "lit" in text or "buzzer" in text


def test_a_whole_table_is_tried_from_its_devices_to_its_speed(table: tuple[Path, SimulatedTable]) -> None:
    data, simulated = table
    hands = Hands(simulated)
    with Selftest(data, "Ada", PIN, hands.tell, hands.ask) as test:
        results = {result.name: result for result in test.run(frozenset({"speed"}))}
    assert list(results) == [step.name for step in STEPS]
    for name in ("camera", "puck", "buttons", "lamps", "buzzer", "calibration", "rules", "record"):
        assert results[name].verdict == "pass", results[name]
    assert results["puck"].figures["seen"] == results["puck"].figures["wanted"] == 5
    assert results["calibration"].figures["error_px"] < 1
    assert {name: results[name].verdict for name in ("deck", "deck_check", "export", "speed")} == {
        "deck": "skip",
        "deck_check": "skip",
        "export": "skip",
        "speed": "skip",
    }
    tried = {entry.event.device for entry in JournalReader(data).of_type(DeviceTried.type)}  # type: ignore[attr-defined]
    assert tried >= HANDS, "every verdict is in the record"
    assert not JournalReader(data).recover()[0].on_trial


def test_what_needs_hands_can_be_left_out_and_the_report_is_kept(table: tuple[Path, SimulatedTable]) -> None:
    data, _ = table
    args = ["--data", str(data), "--by", "Ada", "--skip", "hands", "--skip", "calibration", "--json"]
    done = CliRunner().invoke(command, [*args, "--skip", "speed", "--skip", "camera"], input=f"{PIN}\n")
    told = json.loads(done.stdout)
    steps = {step["name"]: step["verdict"] for step in told["steps"]}
    assert steps["buttons"] == steps["puck"] == steps["camera"] == "skip"
    assert steps["rules"] == steps["record"] == "pass"
    assert told["passed"] is False, "what was left out did not pass"
    kept = sorted((data / "reports").iterdir())
    assert {path.suffix for path in kept} == {".json", ".txt"}
    assert json.loads(kept[0].read_text())["steps"] == told["steps"]
    assert "A hand settled" in kept[1].read_text()
    assert done.exit_code == any(verdict == "fail" for verdict in steps.values())


def test_a_wrong_pin_is_said(table: tuple[Path, SimulatedTable]) -> None:
    with pytest.raises(SelftestError, match="not Ada's PIN"):
        Selftest(table[0], "Ada", "9999", lambda text: None, lambda text: True)


def test_without_a_technician_every_device_says_who_may(table: tuple[Path, SimulatedTable]) -> None:
    left_out = frozenset(step.name for step in STEPS) - {"disk"}
    with Selftest(table[0], None, None, lambda text: None, lambda text: True) as test:
        (disk,) = [result for result in test.run(left_out) if result.name == "disk"]
    assert disk.verdict == "fail"
    assert "technician" in disk.says


def test_without_a_table_nothing_is_tried(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--data", str(tmp_path)])
    assert done.exit_code == 1
    assert "not running" in done.stderr


def test_a_step_that_there_is_not_is_said(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--data", str(tmp_path), "--skip", "coffee"])
    assert done.exit_code == 2
    assert "coffee" in done.stderr


def test_the_steps_are_listed() -> None:
    done = CliRunner().invoke(command, ["--list"])
    assert len(done.stdout.splitlines()) == len(STEPS)


def test_the_worked_example_is_the_documents() -> None:
    assert settle_json(EXAMPLE)["paid"] == EXAMPLE_PAID


def test_a_report_passes_only_where_every_step_did() -> None:
    well = Result("disk", "Disk", "pass", "well")
    assert report([well], "Ada", False)["passed"] is True
    assert report([well, Result("deck", "Deck", "skip", "none")], "Ada", False)["passed"] is False
