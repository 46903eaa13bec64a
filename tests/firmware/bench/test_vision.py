"""`feltwatch bench vision` on rendered tables, and where the photographs of this project are not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main


@pytest.mark.parametrize("folder", ["", "missing"])
def test_a_folder_without_photographs_is_said_before_anything_is_measured(
    folder: str, tmp_path: Path
) -> None:
    result = CliRunner().invoke(main, ["bench", "vision", "--photos", str(tmp_path / folder)])
    assert result.exit_code == 2, result.output
    said = " ".join(result.output.split())
    assert (
        f"There are no labelled photographs in {tmp_path / folder}. They are no part of this repository"
        in said
    )
    assert "../shared/data" in said


@pytest.mark.exhaustive
def test_a_table_of_each_condition_is_read_and_timed() -> None:
    result = CliRunner().invoke(main, ["bench", "vision", "--tables", "1", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    ordinary = found["conditions"][0]
    assert ordinary["condition"] == "ordinary evening"
    assert (ordinary["cards"], ordinary["whole pictures"]) == (52, "1/1")
    assert ordinary["silently wrong"].startswith("0 ")
    ms = found["median ms from a decoded frame"]
    assert ms["total"] > ms["network"] > 0
