"""The latency bench on real processes: few hands here, as it is the figures' shape that is looked at."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from firmware.bench.table import STAGES, result
from firmware.cli.main import main


def test_medians_and_percentiles_are_by_stage() -> None:
    told = result([{stage: float(n) for stage in STAGES} for n in range(1, 101)], asked=3)
    commit = {"stage": "commit", "median_ms": 50.5, "p95_ms": 95.0, "what": STAGES["commit"]}
    assert commit in told.facts["stages"]
    assert (told.facts["hands"], told.facts["asked"], told.facts["commit_share"]) == (100, 3, 1.0)


@pytest.mark.exhaustive
def test_a_hand_is_measured_from_the_last_card_to_the_page() -> None:
    done = CliRunner().invoke(main, ["bench", "table", "--hands", "2", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout.splitlines()[-1])
    stages = {one["stage"]: one["median_ms"] for one in told["stages"]}
    assert list(stages) == list(STAGES)
    assert all(ms >= 0 for stage, ms in stages.items() if stage != "table"), stages  # "table" is a remainder
    assert stages["total"] > stages["reading"] > 0
    assert stages["commit"] > 0
