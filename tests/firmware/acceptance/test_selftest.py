"""The acceptance run over the simulated table: real devices' backends, the real reading process, the real socket."""

from __future__ import annotations

import json
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.acceptance import table_trial as selftest
from firmware.acceptance.selftest import report
from firmware.acceptance.table_trial import EXAMPLE, EXAMPLE_PAID, HANDS, STEPS, SelftestError, TableTrial
from firmware.cli.main import main
from firmware.health.check import Check, Verdict
from firmware.messages import Message
from firmware.record.evidence.dispute_verifier import ROWS
from firmware.record.evidence.verify import Problem, Verification, verify
from firmware.record.journal.journal import JournalReader
from firmware.rules import settle_json
from firmware.runtime.config import NO_SCREEN, Config, SeatConfig, TimesConfig
from firmware.simulation.live.table import SimulatedTable
from firmware.table.events import DeviceFault, DeviceRecovered, DeviceTried, PuckSeen
from firmware.table_client import TableLink
from tests.waiting import DEADLINE
from vision.synthetic.render import render_table

pytestmark = pytest.mark.slow

PIN = "284653"
COLOURS: dict[str, Any] = {"white": "next", "green": "confirm", "red": "reject"}


def only(name: str) -> frozenset[str]:
    """Every step but this one, to be left out."""
    return frozenset(step.name for step in STEPS) - {name}


def result(test: TableTrial, name: str) -> Check:
    return next(one for one in test.run(only(name)) if one.name == name)


drawn_table_read = cache(selftest._read_drawn_table)
"""What this machine read, and how long it took: a real reading, once for all tests that judge it."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine's devices may take their time."""
    monkeypatch.setattr(selftest, "SETTLES_IN_S", DEADLINE)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SimulatedTable]]:
    data = tmp_path_factory.mktemp("data")
    config = Config(
        data=data,
        seats=tuple(
            SeatConfig.model_validate({"seat": n, "place": p}) for n, p in enumerate("ABCD", start=1)
        ),
        times=TimesConfig(reading=300.0, reading_start=300.0),
        screen=NO_SCREEN,
    )
    with SimulatedTable(config, tmp_path_factory.mktemp("room"), 1, fresh=True) as simulated:
        ada = {"do": "list_person", "person": "Ada", "role": "technician", "new_pin": PIN}
        assert TableLink(config.socket, timeout=DEADLINE).send(ada)["ok"]
        yield data, simulated


class Hands:
    """Somebody who does what they are asked."""

    def __init__(self, table: SimulatedTable) -> None:
        self.table = table
        self.asked: list[str] = []

    def tell(self, text: str) -> None:
        self.asked.append(text)
        if left := re.search(r"Still to come: (\d)", text):
            self.table.puck.move_to(int(left[1]))
        if button := re.search(r"Press the push-button that blinks: (\w+)", text):
            threading.Thread(target=self.table.panel.press, args=(COLOURS[button[1]], 0.12)).start()

    def ask(self, text: str) -> bool:
        return "lit" in text or "buzzer" in text


def test_a_whole_table_is_tried_from_its_devices_to_its_speed(table: tuple[Path, SimulatedTable]) -> None:
    data, simulated = table
    hands = Hands(simulated)
    # once another test has played a hand
    exported = "ok" if JournalReader(data).recover()[0].hand else "unknown"
    with TableTrial(data, "Ada", PIN, hands.tell, hands.ask) as test:
        results = {result.name: result for result in test.run(frozenset({"speed"}))}
    assert list(results) == [step.name for step in STEPS]
    for name in ("camera", "puck", "buttons", "lamps", "buzzer", "calibration", "rules", "record"):
        assert results[name].verdict == "ok", results[name]
    assert results["puck"].figures["seen"] == results["puck"].figures["wanted"] == 5
    assert results["calibration"].figures["error_px"] < 1
    assert {name: results[name].verdict for name in ("deck", "deck_check", "export", "speed")} == {
        "deck": "ok",  # none of the house's own is needed
        "deck_check": "unknown",
        "export": exported,
        "speed": "unknown",
    }
    tried = {entry.event.device for entry in JournalReader(data).of_type(DeviceTried.type)}  # type: ignore[attr-defined]
    assert tried >= HANDS, "every verdict is in the record"
    assert not JournalReader(data).recover()[0].on_trial


def test_what_needs_hands_can_be_left_out_and_the_report_is_kept(table: tuple[Path, SimulatedTable]) -> None:
    data, _ = table
    args = ["--data", str(data), "--by", "Ada", "--skip", "hands", "--skip", "calibration", "--json"]
    done = CliRunner().invoke(
        main, ["selftest", *args, "--skip", "speed", "--skip", "camera"], input=f"{PIN}\n"
    )
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
    with pytest.raises(SelftestError, match="do not belong together"):
        TableTrial(table[0], "Ada", "9999", lambda text: None, lambda text: True)


def test_without_a_technician_every_device_says_who_may(table: tuple[Path, SimulatedTable]) -> None:
    with TableTrial(table[0], None, None, lambda text: None, lambda text: True) as test:
        disk = result(test, "disk")
    assert disk.verdict == "bad"
    assert "technician" in str(disk.says)


@pytest.fixture(scope="module")
def played(table: tuple[Path, SimulatedTable]) -> Path:
    """The table once a hand was opened and is void: there is something to export."""
    link = TableLink(table[0] / "table.sock", timeout=DEADLINE)
    signed = {"by": "Ada", "pin": PIN}
    for order in (
        {"do": "end_set_up", "skipped": True} | signed,
        {"do": "list_person", "person": "Robin", "role": "dealer"} | signed,
        {"do": "log_on", "person": "Robin"},
        {"do": "next"},
        {"do": "void", "reason": "a test"},
    ):
        answer = link.send(order)
        assert answer["ok"], (order, answer)
    return table[0]


def test_a_hand_is_exported_and_verified_by_a_python_that_has_nothing_of_ours(played: Path) -> None:
    with TableTrial(played, "Ada", PIN, lambda text: None, lambda text: True) as test:
        found = result(test, "export")
    assert found.verdict == "ok", found
    assert found.figures["hand"] == 1
    assert found.figures["bytes"] == (played / "exports/hand-000001.zip").stat().st_size


def alter(file: Path) -> None:
    """Change a word in the exported rows."""
    with zipfile.ZipFile(file) as packed:
        held = {name: packed.read(name) for name in packed.namelist()}
    assert b"a test" in held[ROWS]
    held[ROWS] = held[ROWS].replace(b"a test", b"a jest")
    with zipfile.ZipFile(file, "w") as packed:
        for name, data in held.items():
            packed.writestr(name, data)


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (alter, "rows.jsonl"),
        (lambda file: file.write_bytes(b"no archive at all"), "not a zip file"),
        (lambda file: file.unlink(), "No such file"),
    ],
)
def test_an_export_that_does_not_verify_fails_and_says_where_to_look(
    played: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], object], says: str
) -> None:
    with TableTrial(played, "Ada", PIN, lambda text: None, lambda text: True) as test:
        order = test.order

        def then_harmed(do: str, **fields: Any) -> dict[str, Any]:
            answer = order(do, **fields)
            if do == "export_hand":
                harm(played / "exports" / answer["file"])
            return answer

        monkeypatch.setattr(test, "order", then_harmed)
        found = result(test, "export")
    assert found.verdict == "bad"
    assert "does not verify" in str(found.says)
    assert says in str(found.says)
    assert str(found.says).endswith("feltwatch hands verify --all")


def test_a_verifier_that_never_ends_fails_the_export(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "VERIFIED_S", 0.0)
    with TableTrial(played, "Ada", PIN, lambda text: None, lambda text: True) as test:
        found = result(test, "export")
    assert (found.verdict, "timed out" in str(found.says)) == ("bad", True)


def test_an_export_that_is_refused_fails_with_the_tables_words(played: Path) -> None:
    with TableTrial(played, None, None, lambda text: None, lambda text: True) as test:
        found = result(test, "export")
    assert (found.verdict, str(found.says).endswith(".")) == ("bad", True)


def test_a_record_that_was_changed_fails_and_says_where_to_look(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Verification(**{**vars(verify(played)), "problems": (Problem(2, "Row 2 is not what it was."),)})
    monkeypatch.setattr("firmware.record.evidence.verify.verify", lambda data: broken)
    with TableTrial(played, None, None, lambda text: None, lambda text: True) as test:
        found = result(test, "record")
    assert (found.verdict, str(found.says)) == (
        "bad",
        "Row 2 is not what it was. See what the record says: feltwatch hands verify --all",
    )


def test_where_no_report_can_be_kept_nothing_is_tried(table: tuple[Path, SimulatedTable]) -> None:
    data, simulated = table
    before = simulated.process.seq
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("firmware.record.journal.disk.make_folder", refused)
        done = CliRunner().invoke(main, ["selftest", "--data", str(data), "--skip", "hands"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "sudo -u feltwatch-table feltwatch selftest" in done.stderr
    told = {row.type for row in JournalReader(data).events_since(before)}
    assert told <= {PuckSeen.type, DeviceFault.type, DeviceRecovered.type}, (
        "only what the devices say meanwhile"
    )


def refused(folder: Path) -> None:
    raise PermissionError(13, "Permission denied")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("limit", "verdict", "says"),
    [
        (60_000.0, "ok", "read right and in time"),
        (0.0, "bad", "too long: is the box too warm, or busy?"),
    ],
)
def test_a_full_table_is_read_here_and_its_speed_is_judged(
    table: tuple[Path, SimulatedTable],
    monkeypatch: pytest.MonkeyPatch,
    limit: float,
    verdict: str,
    says: str,
) -> None:
    monkeypatch.setattr(selftest, "READ_MS", limit)
    monkeypatch.setattr(selftest, "_read_drawn_table", drawn_table_read)
    with TableTrial(table[0], None, None, lambda text: None, lambda text: True) as test:
        found = result(test, "speed")
    assert (found.verdict, says in str(found.says)) == (verdict, True), found
    assert 0 < found.figures["best_ms"] <= found.figures["worst_ms"]
    assert found.figures["wanted_ms"] == limit


def test_a_table_that_is_read_wrong_fails_and_names_the_zones(
    table: tuple[Path, SimulatedTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    def exchanged(hands: dict[str, Any], *args: Any, **options: Any) -> Any:
        a, b = hands["A"], hands["B"]
        moved = {"A": {**a, "front": b["front"]}, "B": {**b, "front": a["front"]}}
        return render_table({**hands, **moved}, *args, **options)

    monkeypatch.setattr("vision.synthetic.render.render_table", exchanged)
    with TableTrial(table[0], None, None, lambda text: None, lambda text: True) as test:
        found = result(test, "speed")
    assert (found.verdict, found.figures["wrong"]) == ("bad", "A front, B front")
    assert "Install the release again." in str(found.says)


def test_a_model_that_is_not_there_fails_and_says_what_to_do(
    table: tuple[Path, SimulatedTable], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("vision.reading.network.default_model", lambda: tmp_path / "none.onnx")
    with TableTrial(table[0], None, None, lambda text: None, lambda text: True) as test:
        found = result(test, "speed")
    assert (found.verdict, "none.onnx" in str(found.says)) == ("bad", True)
    assert str(found.says).endswith("Install the release again.")


def test_without_a_table_nothing_is_tried(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["selftest", "--data", str(tmp_path)])
    assert done.exit_code == 1
    assert "not running" in done.stderr


def test_a_step_that_there_is_not_is_said(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["selftest", "--data", str(tmp_path), "--skip", "coffee"])
    assert done.exit_code == 2
    assert "coffee" in done.stderr


def test_the_steps_are_listed() -> None:
    done = CliRunner().invoke(main, ["selftest", "--list"])
    assert len(done.stdout.splitlines()) == len(STEPS)


def test_the_worked_example_is_the_documents() -> None:
    assert settle_json(EXAMPLE)["paid"] == EXAMPLE_PAID


def test_a_report_passes_only_where_every_step_did() -> None:
    well = Check("disk", Message("Disk"), Verdict.OK, "", Message("well"))
    left_out = replace(well, name="deck", verdict=Verdict.UNKNOWN)
    assert report([well], "Ada", False)["passed"] is True
    assert report([well, left_out], "Ada", False)["passed"] is False
