"""The campaign of long records on a small record: the figures' shape, and that the page says where they come from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.campaigns.appliance import long_record
from tests.campaigns.appliance.long_record import command


@pytest.mark.exhaustive
def test_a_small_record_is_measured_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_record, "SIZES", (20,))
    monkeypatch.setattr(long_record, "LOOKS", 10)
    monkeypatch.setattr(long_record, "WITH_IMAGES", 2)
    page = tmp_path / "report.md"
    done = CliRunner().invoke(
        command,
        ["--upto", "200", "--folder", str(tmp_path), "--report", str(page), "--json"],
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [one["hands"] for one in told["sizes"]] == [20, 200]
    small, large = told["sizes"]
    assert 8 * 20 < small["events"] < small["events"] * 8 < large["events"]
    for one in told["sizes"]:
        assert 2_000 < one["journal, bytes a hand"] < 60_000
        for what in ("list", "any hand", "its page or the list's"):
            assert 0 < one[f"{what}, median ms"] <= one[f"{what}, worst ms"]
        assert all(figure > 0 for figure in one.values())
    assert told["images"]["mb_per_s"] > 0
    text = page.read_text(encoding="utf-8")
    assert told["machine"] in text
    assert told["load"] in text
    assert all(name in text for name in large)
    assert list(tmp_path.iterdir()) == [page]


def test_a_disk_without_room_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 0, 10**9))
    done = CliRunner().invoke(command, ["--upto", "1000000"])
    assert done.exit_code == 2
    assert "1,000,000 hands take 22 GB" in done.output


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--folder", str(tmp_path / "nowhere")])
    assert done.exit_code == 2
    assert "does not exist" in done.output
