"""The latency bench on real processes: few hands here, as it is the figures' shape that is looked at."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from firmware.bench.table import STAGES, markdown, summary
from firmware.cli.main import main


def test_medians_and_percentiles_are_by_stage() -> None:
    measured = [{stage: float(n) for stage in STAGES} for n in range(1, 101)]
    told = summary(
        measured, asked=3, began={"machine": "a machine", "load": "0.5 other processes", "measured": "today"}
    )
    assert told["stages"]["commit"] == {"median_ms": 50.5, "p95_ms": 95.0}
    assert (told["hands"], told["asked"], told["commit_share"]) == (100, 3, 1.0)
    page = markdown(told)
    assert "| commit | 50.5 | 95.0 |" in page
    assert told["machine"] in page
    assert "0.5 other processes" in page


@pytest.mark.exhaustive
def test_a_hand_is_measured_from_the_last_card_to_the_page() -> None:
    done = CliRunner().invoke(main, ["bench", "table", "--hands", "1", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout.splitlines()[-1])
    stages = {name: figures["median_ms"] for name, figures in told["stages"].items()}
    assert list(stages) == list(STAGES)
    assert all(ms >= 0 for ms in stages.values()), stages
    assert stages["total"] > stages["reading"] > 0
    assert stages["commit"] > 0
