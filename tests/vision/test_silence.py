"""The card reader's runtime tells nobody anything: no identifier of the machine, nothing kept to be sent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SWITCHES = ("CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "GITHUB_ACTIONS", "TF_BUILD")
"""What else might keep ONNX Runtime silent here, and is not there on a box."""
READS = (
    "import numpy as np; from vision.reading.network import CardReader; "
    "CardReader(threads=1).indices(np.zeros((64, 64, 3), np.uint8))"
)


@pytest.mark.parametrize("first", ["vision.reading.network", "models.training.measure"])
@pytest.mark.slow
def test_a_reading_leaves_nothing_behind_that_could_be_sent(tmp_path: Path, first: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", f"import {first}, os; {READS}; print(os.environ['ORT_DISABLE_TELEMETRY'])"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1\n"
    assert list(tmp_path.rglob("*")) == []
