"""The training's commands: what they say without torch, without tools, without photographs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from models.training import art, judge, pseudo, real, unseen
from models.training.__main__ import STEPS, main


def test_the_help_names_every_step_and_needs_no_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.modules['torch'] = None; import runpy; "
         "sys.argv = ['training', '--help']; runpy.run_module('models.training', run_name='__main__')"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in STEPS:
        assert f"  {name}" in done.stdout


def test_a_step_without_its_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "models.training.export", raising=False)
    result = CliRunner().invoke(main, ["export"])
    assert result.exit_code == 1
    assert "make training" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(("command", "tool"), [(art.command, "npm"), (unseen.command, "rsvg-convert")])
def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, command: object, tool: str) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == tool else "/bin/true")
    assert isinstance(command, type(art.command))
    result = CliRunner().invoke(command, [])
    assert result.exit_code == 1
    assert tool in result.output
    assert "must be installed" in result.output


def test_labelling_without_the_photographs_says_which_are_missing(tmp_path: Path) -> None:
    result = CliRunner().invoke(pseudo.command, ["--data", str(tmp_path), "--run", str(tmp_path)])
    assert result.exit_code == 2
    assert pseudo.BOXED in result.output


def test_a_folder_without_photographs_is_said_in_a_sentence(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        result = CliRunner().invoke(real.command, ["--data", str(folder)])
        assert result.exit_code == 2, result.output
        said = " ".join(result.output.split())
        assert f"There are no labelled photographs in {folder}. They are no part of this repository" in said
        assert "../shared/data" in said


def test_tables_of_real_cards_name_the_photographs_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real, "FOLDER", tmp_path / "cache")
    (tmp_path / "bidly_cards").mkdir()
    (tmp_path / "bidly_cards" / "manifest.csv").touch()
    result = CliRunner().invoke(
        real.command, ["--data", str(tmp_path), "--deck", "bidly", "--deck", "webcam"]
    )
    assert result.exit_code == 2
    assert "these decks are cut from: cardcounterml. They are no part" in " ".join(result.output.split())
    assert real.missing_sets(["bidly"], tmp_path) == []
    (tmp_path / "cache" / "webcam").mkdir(parents=True)
    (tmp_path / "cache" / "webcam" / "As.png").touch()
    assert real.missing_sets(["bidly", "webcam"], tmp_path) == []


def test_without_a_folder_the_missing_option_says_what_it_names() -> None:
    result = CliRunner().invoke(real.command, [])
    assert result.exit_code == 2
    assert "names the folder of labelled photographs" in " ".join(result.output.split())


def test_decks_not_fetched_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(unseen, "FOLDER", tmp_path)
    assert unseen.missing(("paris", "tango")) == ["paris", "tango"]


@pytest.mark.slow
def test_results_come_in_the_order_of_the_tasks_whoever_finishes_first() -> None:
    assert judge.on_all_cores(abs, [-3, 2, -1], "numbers") == [3, 2, 1]


def test_a_photographed_cards_box_tells_the_scale_however_it_is_turned() -> None:
    upright = pseudo._px_per_mm((0, 0, 63 * 4, 88 * 4))
    across = pseudo._px_per_mm((0, 0, 88 * 4, 63 * 4))
    assert upright == pytest.approx(4, rel=0.01)
    assert across == pytest.approx(4, rel=0.01)
