"""A folder without a record: every command names the folder that it looked in and says how to name another."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firmware.cli.main import main

NEEDS_ONE = (
    "acceptance",
    "anchor",
    "audit",
    "backup {new}",
    "hands list",
    "hands recall",
    "hands show 1",
    "hands verify --all",
    "keep --days 1",
    "people pin Ada",
    "people remove Ada",
    "report",
)
GOES_ON = ("bundle --out {new}", "doctor", "people list", "selftest")


def run(command: str, tmp_path: Path, **environment: str) -> Result:
    words = command.format(new=tmp_path / "new").split()
    return CliRunner(env={"FELTWATCH_DATA": None, **environment}).invoke(main, words)


@pytest.fixture
def missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default folder of the record, on a machine that has none."""
    folder = tmp_path / "no-such-folder"
    names = ("anchor", "audit", "bundle", "doctor", "hands", "people", "report", "retention")
    for name in (*(f"cli.{one}" for one in names), "acceptance.cli", "acceptance.selftest"):
        module = import_module(f"firmware.{name}")
        groups = [one for one in vars(module).values() if hasattr(one, "params")]
        for command in [
            *groups,
            *(one for group in groups for one in getattr(group, "commands", {}).values()),
        ]:
            for option in command.params:
                if option.name == "data":
                    monkeypatch.setattr(option, "default", folder)
    return folder


@pytest.mark.parametrize("command", NEEDS_ONE)
def test_a_command_that_needs_a_record_names_the_folder_and_how_to_name_another(
    command: str, missing: Path, tmp_path: Path
) -> None:
    done = run(command, tmp_path)
    assert done.exit_code == 2, done.output
    assert f"in {missing}, where a box has it." in done.output
    assert "--data FOLDER" in done.output
    assert "FELTWATCH_DATA" in done.output
    assert "feltwatch demo prints the folder" in done.output
    assert not missing.exists()


@pytest.mark.parametrize("command", GOES_ON)
def test_a_command_that_goes_on_without_a_record_says_which_folder_holds_none(
    command: str, missing: Path, tmp_path: Path
) -> None:
    said = run(command, tmp_path).stderr
    assert f"There is no record in {missing}, where a box has it. Name the folder with --data FOLDER" in said


@pytest.mark.parametrize("command", GOES_ON)
def test_a_file_that_was_emptied_is_no_record(command: str, missing: Path, tmp_path: Path) -> None:
    missing.mkdir()
    (missing / "journal.sqlite").touch()
    assert f"There is no record in {missing}, where a box has it." in run(command, tmp_path).stderr


def test_the_sentence_says_how_the_folder_was_chosen(tmp_path: Path) -> None:
    folder = tmp_path / "mistyped"
    named = run(f"hands list --data {folder}", tmp_path).output
    assert f"There is no record in {folder}. Name the folder" in named
    by_variable = run("hands list", tmp_path, FELTWATCH_DATA=str(folder)).output
    assert f"There is no record in {folder}, the folder in FELTWATCH_DATA. Name the folder" in by_variable


@pytest.mark.parametrize("group", ["hands", "people", "profiles"])
def test_a_group_without_a_command_prints_its_help_on_lines_of_their_own(group: str, tmp_path: Path) -> None:
    said = run(group, tmp_path).output
    assert "^J" not in said
    assert "\nCommands:\n" in said
