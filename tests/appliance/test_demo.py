"""The whole appliance in one command: pixels, pty, pins, journal, rules, page."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Journal, JournalReader
from firmware.table import Phase
from firmware.table.events import CardPlaced
from firmware.table_client import TableLink
from tests.dealer_ui.felt import Felt
from tests.processes import children, is_alive
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

Demo = Callable[..., subprocess.CompletedProcess[str]]
Check = Callable[[dict[str, Any]], None]


def test_two_hands_from_pixels_to_their_settlements(demo: Demo, check: Check, tmp_path: Path) -> None:
    played(demo, check, tmp_path, hands=2)


@pytest.mark.exhaustive
def test_three_hands_from_pixels_to_settlements(demo: Demo, check: Check, tmp_path: Path) -> None:
    played(demo, check, tmp_path, hands=3)


def played(demo: Demo, check: Check, tmp_path: Path, hands: int) -> None:
    """Play hands and look at all that a demo leaves behind."""
    done = demo("--headless", "--hands", hands, "--seed", 1, "--json", "--data", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["hand"] for report in reports] == list(range(1, hands + 1))
    for report in reports:
        check(report)
        assert report["profile"] == "washington-1-unit"
    pairs = [
        (truth, read)
        for report in reports
        for seat, rows in report["truth"].items()
        for row in rows
        for truth, read in zip(rows[row].split(), report["reading"][seat][row].split(), strict=False)
    ]
    assert len(pairs) >= 39 * hands
    assert sum(truth == read for truth, read in pairs) >= 0.9 * len(pairs)
    found = verify(tmp_path)
    assert found.ok, found.problems
    assert found.hands == hands
    assert len(list(tmp_path.glob("captures/*/*-frame.jpg"))) >= hands


@pytest.mark.exhaustive
def test_a_face_up_hand_from_pixels_to_its_settlement(demo: Demo, check: Check, tmp_path: Path) -> None:
    done = demo(
        *(
            "--headless",
            "--profile",
            "california-face-up",
            "--hands",
            1,
            "--seed",
            1,
            "--json",
            "--data",
            tmp_path,
        )
    )
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    check(report)
    entries = JournalReader(tmp_path).of_hand(1)
    placed = [entry.event for entry in entries if isinstance(entry.event, CardPlaced)]
    assert len(placed) == 52
    assert all(card.capture is not None for card in placed)
    showdown = next(k for k, entry in enumerate(entries) if entry.payload == '{"to":"showdown"}')
    assert all(entry.type != "reading_taken" for entry in entries[:showdown])
    found = verify(tmp_path)
    assert found.ok, found.problems
    assert sum(picture.stat().st_size for picture in tmp_path.glob("captures/*/*")) <= 10_000_000


@pytest.mark.parametrize(
    "ending", [pytest.param(signal.SIGINT, marks=pytest.mark.exhaustive), signal.SIGKILL]
)
def test_the_page_shows_the_table_live_and_no_end_of_the_demo_leaves_a_process_behind(
    feltwatch: list[str], tmp_path: Path, ending: signal.Signals
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*feltwatch, "demo", "--port", str(port), "--speed", "50", "--data", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/" in process.stderr.readline()
        until(lambda: len(children(process.pid)) > 1)  # the page and the reading process
        started = children(process.pid)
        if ending == signal.SIGINT:
            reader = JournalReader(tmp_path)
            until(lambda: reader.recover()[0].settlement)
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=DEADLINE) as page:
                assert b"Ann" in page.read()
            floor = {"do": "unlock", "by": "Kim", "pin": "246813"}
            assert TableLink(tmp_path / "table.sock").send(floor, within=DEADLINE)["ok"]
        process.send_signal(ending)
        assert process.wait(DEADLINE) == (0 if ending == signal.SIGINT else -ending)
        told = process.stderr.read()
        assert "Traceback" not in told
        assert "Sign on as floor: Kim, PIN 246813" in told or ending == signal.SIGKILL
        until(lambda: not any(is_alive(child) for child in started))
        assert (tmp_path / "table.sock").exists() == (ending == signal.SIGKILL)
        assert verify(tmp_path).ok
    finally:
        process.kill()
        process.communicate()


@pytest.mark.exhaustive  # test_kills.py kills the table's process itself
def test_a_killed_table_leaves_a_record_that_verifies_and_is_gone_on_with(
    feltwatch: list[str], demo: Demo, check: Check, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [*feltwatch, "demo", "--headless", "--hands", "50", "--data", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        reader = JournalReader(tmp_path)
        until(lambda: reader.recover()[0].hand >= 2)
        started = children(process.pid)
    finally:
        process.kill()
        process.wait()
    until(lambda: not any(is_alive(child) for child in started))
    before, seq = reader.recover()
    assert verify(tmp_path).ok
    Journal(tmp_path).close()  # the dead process's lock is gone
    done = demo("--headless", "--hands", 1, "--json", "--data", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    check(report)
    assert report["hand"] > before.hand or before.phase is Phase.DEALING
    after = JournalReader(tmp_path).events_since(seq)
    assert after[0].type == "table_started"
    found = verify(tmp_path)
    assert found.ok, found.problems


@pytest.mark.sampled
def test_a_hand_that_an_earlier_run_left_unpaid_is_no_hand_of_this_one(
    demo: Demo, check: Check, tmp_path: Path
) -> None:
    felt = Felt(tmp_path)
    felt.to_settled()
    assert felt.state.unpaid
    felt.journal.close()
    done = demo("--headless", "--hands", 1, "--json", "--data", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    check(report)
    assert report["hand"] == felt.state.hand + 1


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (("--profile", "nope"), 2, 'there is no profile "nope"'),
        (("--hands", "0"), 2, "--hands"),
    ],
)
def test_bad_input_is_one_sentence(args: tuple[str, ...], code: int, why: str) -> None:
    done = CliRunner().invoke(main, ["demo", "--headless", *args])
    assert done.exit_code == code
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_taken_port_is_said_before_anything_starts() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = CliRunner().invoke(main, ["demo", "--port", str(other.getsockname()[1]), "--hands", "1"])
    assert done.exit_code == 1
    assert "choose another with --port" in done.stderr


def test_run_without_any_hardware_shows_its_faults_and_is_played_by_hand(
    feltwatch: list[str], tmp_path: Path
) -> None:
    config = tmp_path / "feltwatch.toml"
    config.write_text(
        f'data = "{tmp_path}"\nkey = "{tmp_path}-key"\nin_memory = true\nscreen.kiosk = false\n'
        f'[camera]\nkind = "files"\ndevice = "{tmp_path}/nothing"\n'
    )
    process = subprocess.Popen(
        [*feltwatch, "run", "--config", str(config)], stderr=subprocess.PIPE, text=True
    )
    try:
        reader = JournalReader(tmp_path)
        until(lambda: len(reader.recover()[0].faults) == 3)
        state = reader.recover()[0]
        assert set(state.faults) == {"puck", "buttons", "camera"}
        assert "The puck reader is not connected" in str(state.faults["puck"])
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(tmp_path / "table.sock"))
            line.sendall(b'{"do":"next"}\n')
            assert json.loads(line.recv(1000))["ok"] is True
        os.kill(process.pid, signal.SIGTERM)
        _, said = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0
        assert "Traceback" not in said
    finally:
        process.kill()
        process.communicate()
    assert verify(tmp_path).ok
