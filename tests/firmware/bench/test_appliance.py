"""`bench appliance` starts the real demo and watches it; what does not come up is said."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.bench import appliance
from firmware.cli.main import main


@pytest.mark.exhaustive
def test_the_demo_is_started_watched_and_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One start of the two that the command asks for at least, and no waiting for rest: minutes on a busy machine."""

    def once(runs: int, seconds: float) -> dict[str, Any]:
        with appliance.demo("--speed", "20", "--hands", "1") as (program, port):
            ready = program.until(partial(appliance._is_ready, port), appliance.READY_WITHIN)
            watched = appliance.watch(program, seconds)
        assert not Path(f"/proc/{program.pid}").exists()
        return {"ready_s": [ready] * runs, "seconds": seconds, "rest": watched, "play": watched}

    monkeypatch.setattr(appliance, "measure", once)
    report = tmp_path / "report.md"
    asked = ["--runs", "2", "--seconds", "2", "--json", "--report", str(report)]
    done = CliRunner().invoke(main, ["bench", "appliance", *asked])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert 0 < told["ready_s"][0] < appliance.READY_WITHIN
    assert 50 < told["rest"]["memory_mb"] < 4000
    assert told["rest"]["cpu_percent"] > 0
    assert told["rest"]["processes"] >= 2
    assert f"| rest | memory_mb {told['rest']['memory_mb']}, cpu_percent" in report.read_text()


@pytest.mark.slow
def test_a_demo_that_does_not_come_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    ends_at_once = shutil.which("false")
    assert ends_at_once is not None
    monkeypatch.setattr("sys.executable", ends_at_once)
    done = CliRunner().invoke(main, ["bench", "appliance", "--runs", "2"])
    assert done.exit_code == 1
    assert "ended by itself" in done.output
    assert "Traceback" not in done.output
