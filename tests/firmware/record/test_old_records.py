"""Records, backups and dispute files that release 0.1 wrote are read, verified and settled by the code of today."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.table.events import BY_TYPE

OLD = Path(__file__).with_name("records_of_0_1")
FIGURES: dict[str, dict[str, list[dict[str, Any]]]] = json.loads((OLD / "figures.json").read_text())


def feltwatch(*arguments: object, exits: int = 0) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == exits, result.output
    return result.output


@pytest.fixture(params=["washington", "face-up", "washington-backup"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a record as it lay on its disk."""
    with tarfile.open(OLD / f"{request.param}.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / str(request.param)


def test_an_old_record_verifies_row_by_row_and_what_its_rows_mean_can_be_followed(old: Path) -> None:
    said = feltwatch("hands", "verify", "--all", "--replay", "--data", old, exits=1)
    assert "WRONG" not in said
    assert "NOT signed" in said, "release 0.1 signed no head at the end of a hand"


def test_an_old_record_shows_the_figures_that_were_shown_then(old: Path) -> None:
    for hand, settlements in FIGURES[old.name.removesuffix("-backup")].items():
        shown = json.loads(feltwatch("hands", "show", hand, "--json", "--data", old))["settlements"]
        assert [{name: s["settlement"][name] for name in ("paid", "points")} for s in shown] == settlements


def test_every_ended_hand_of_an_old_record_is_settled_to_the_same_figures(old: Path) -> None:
    *ended, _ = FIGURES[old.name.removesuffix("-backup")].values()
    settlements = sum(map(len, ended))
    audited = feltwatch("audit", "--no-pictures", "--processes", 1, "--data", old)
    assert f"{settlements} settlements" in audited
    assert "0 differences" in audited


def test_an_old_backup_is_restored_and_verifies(tmp_path: Path) -> None:
    with tarfile.open(OLD / "washington-backup.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    words = ("restore", tmp_path / "washington-backup", "--data", tmp_path / "restored", "--yes")
    assert "NOT signed" in feltwatch(*words, exits=1)
    feltwatch(*words, "--unproven")
    said = feltwatch("hands", "verify", "--all", "--data", tmp_path / "restored", exits=1)
    assert "WRONG" not in said


@pytest.mark.parametrize("hand", [2, 7])
def test_an_old_dispute_file_holds_and_names_the_same_key(hand: int) -> None:
    verified = feltwatch("hands", "verify", OLD / f"hand-{hand}.zip")
    assert "All of it holds." in verified
    assert "juviv-zajum-hidat-lurof-daduz" in verified


def test_every_event_of_an_old_journal_keeps_its_name() -> None:
    assert set((OLD / "event-types.txt").read_text().split()) <= set(BY_TYPE)
