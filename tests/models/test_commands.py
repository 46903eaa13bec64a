"""The training's commands: what they say without torch, without tools, without photographs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from models.training import art, judge, real_decks, unseen
from models.training.__main__ import main
from models.training.samples import TrainingError
from vision.reading.cards import CARDS


def test_the_help_names_every_step_and_needs_no_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.modules['torch'] = None; import runpy; "
         "sys.argv = ['training', '--help']; runpy.run_module('models.training', run_name='__main__')"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in main.commands:
        assert f"  {name}" in done.stdout


def test_a_step_without_its_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "models.training.export", raising=False)
    result = CliRunner().invoke(main, ["export"])
    assert result.exit_code == 1
    assert "make training" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(("step", "tool"), [("art", "npm"), ("unseen", "rsvg-convert")])
def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, step: str, tool: str) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == tool else "/bin/true")
    result = CliRunner().invoke(main, [step])
    assert result.exit_code == 1
    assert tool in result.output
    assert "must be installed" in result.output


def test_a_folder_without_photographs_is_said_in_a_sentence(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        result = CliRunner().invoke(main, ["real", "--data", str(folder)])
        assert result.exit_code == 2, result.output
        said = " ".join(result.output.split())
        assert f"There are no labelled photographs in {folder}. They are no part of this repository" in said
        assert "../shared/data" in said


def test_tables_of_real_cards_name_the_photographs_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_decks, "FOLDER", tmp_path / "cache")
    (tmp_path / "bidly_cards").mkdir()
    (tmp_path / "bidly_cards" / "manifest.csv").touch()
    result = CliRunner().invoke(main, ["real", "--data", str(tmp_path), "--deck", "webcam"])
    assert result.exit_code == 1
    assert "webcam is cut from, cardcounterml. They are no part" in " ".join(result.output.split())
    (tmp_path / "cache" / "webcam").mkdir(parents=True)
    (tmp_path / "cache" / "webcam" / "As.png").touch()
    assert real_decks.cut_deck("webcam", tmp_path) == tmp_path / "cache" / "webcam"


def test_a_deck_of_real_cards_that_is_unknown_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bidly_cards").mkdir()
    (tmp_path / "bidly_cards" / "manifest.csv").touch()
    result = CliRunner().invoke(main, ["real", "--data", str(tmp_path), "--deck", "blue"])
    assert result.exit_code == 1
    assert "no deck of real cards named blue" in result.output


def test_without_a_folder_the_missing_option_says_what_it_names() -> None:
    result = CliRunner().invoke(main, ["real"])
    assert result.exit_code == 2
    assert "names the folder of labelled photographs" in " ".join(result.output.split())


def test_decks_not_fetched_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(unseen, "FOLDER", tmp_path)
    unseen.deck_folder.cache_clear()
    with pytest.raises(TrainingError, match="no pictures of paris: fetch them first"):
        unseen.deck_folder("paris")
    assert not unseen.is_there()


def test_a_deck_of_which_two_cards_look_alike_is_refused(tmp_path: Path) -> None:
    for code in CARDS:
        (tmp_path / f"{code}.png").write_bytes(code.encode())
    unseen.need_52(tmp_path)
    (tmp_path / "4s.png").write_bytes(b"2c")
    with pytest.raises(TrainingError, match="2c and 4s are the same picture"):
        unseen.need_52(tmp_path)


@pytest.mark.slow
def test_results_come_in_the_order_of_the_tasks_and_a_stopped_command_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(judge, "KEPT", tmp_path / "results")
    size: Callable[[Any], int] = abs
    with pytest.raises(TypeError, match="bad operand"):
        judge.on_all_cores(size, {"b": 2, "c": "no number", "a": -3}, "numbers")
    monkeypatch.setattr("sys.argv", ["training", "another command"])
    assert judge.on_all_cores(size, {"a": -4}, "numbers") == {"a": 4}
    monkeypatch.undo()
    monkeypatch.setattr(judge, "KEPT", tmp_path / "results")
    found = judge.on_all_cores(size, {"a": "kept", "b": "kept", "c": -1}, "numbers")
    assert list(found.items()) == [("a", 3), ("b", 2), ("c", 1)]
    assert judge.on_all_cores(size, {"a": -5}, "numbers") == {"a": 5}  # a whole command begins anew


def test_art_is_laid_on_white_and_cut_to_the_card(tmp_path: Path) -> None:
    picture = np.zeros((60, 50, 4), np.uint8)
    picture[10:50, 5:45] = (0, 0, 255, 255)
    picture[20:30, 20:30, 3] = 0
    path = tmp_path / "As.png"
    cv2.imwrite(str(path), picture)
    card = art.on_white(path)
    assert card.shape == (40, 40, 3)
    assert card[0, 0].tolist() == [0, 0, 255]
    assert card[15, 20].tolist() == [255, 255, 255]
    assert art.on_white(path, cut=False).shape == (60, 50, 3)
    cv2.imwrite(str(path), np.zeros_like(picture))
    with pytest.raises(TrainingError, match=r"As\.png"):
        art.on_white(path)
