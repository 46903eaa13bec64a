"""`feltwatch bench vision` where the photographs of this project are not there."""

from __future__ import annotations

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
