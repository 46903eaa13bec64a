"""Every command that the book and the READMEs name exists, takes what is named, and runs where that is harmless."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from docs.facts import ROOT, commands, help_text, targets
from firmware.app.generated_record import generate_record
from firmware.app.main import main
from tests.docs.lines import Line, lines, module_of, parsed

FELTWATCH: Final = lines("feltwatch")
MAKE: Final = lines("make")
PYTHON: Final = [line for line in lines("python") if line.words[1:2] == ("-m",)]
RUN: Final = frozenset(
    {"anchor", "audit", "backup", "bundle", "hands", "keep", "profiles", "report", "settle"}
)
"""Commands that are quick and touch nothing but the folder that they are given."""
NOT_HERE: Final = frozenset({"--key", "--anchor", "--do"})
"""These need a running table, or a slip of this very record."""


def test_enough_is_named() -> None:
    assert len(FELTWATCH) > 60
    assert len(MAKE) > 20
    assert {line.words[1] for line in FELTWATCH} >= {name for name in commands() if " " not in name} & RUN


@pytest.mark.parametrize("line", FELTWATCH, ids=str)
def test_what_is_named_is_what_the_command_takes(line: Line) -> None:
    assert parsed(line.words) == []


@pytest.mark.parametrize(
    "wrong", ["hands lst", "settle --jsn", "keep --days many", "hands show 1 2", "demo --hands 0"]
)
def test_a_line_that_no_command_takes_is_found(wrong: str) -> None:
    assert parsed(("feltwatch", *wrong.split())) != []


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_says_what_it_is_for(name: str) -> None:
    done = CliRunner().invoke(main, [*name.split(), "--help"])
    assert done.exit_code == 0
    assert help_text(name).startswith("Usage: feltwatch ")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a record of twenty hands, and the files that the book's lines name."""
    folder = tmp_path_factory.mktemp("book")
    generate_record(folder / "data", 20)
    hand = (
        '{"seats": [{"seat": 1, "front": "As Ah Kd", "middle": "2c 2d 2h 5s 5c", "back": "Jh Jd Js Jc 3d"},'
    )
    hand += '{"seat": 2, "front": "9s 9h 8d", "middle": "Qc Qd 3c 4c 6c", "back": "7c 6d 5h 4s 3h"}],'
    hand += '"button": 2, "profile": "traditional"}'
    (folder / "hands.json").write_text(hand)
    shown = CliRunner().invoke(main, ["profiles", "show", "traditional"])
    (folder / "ours.toml").write_text(shown.stdout)
    return folder


def runs(line: Line) -> bool:
    _, name, *rest = line.words
    return name in RUN and not NOT_HERE & set(rest) and (bool(rest) or name in ("report", "audit"))


@pytest.mark.parametrize("line", [line for line in FELTWATCH if runs(line)], ids=str)
def test_what_is_harmless_runs(line: Line, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("FELTWATCH_DATA", str(place / "data"))
    words = [str(place / Path(word).name) if word.startswith("/media/") else word for word in line.words[1:]]
    if words[0] in ("anchor",) or words[:2] == ["hands", "export"]:
        words += ["--key-folder", str(place / "key")]
    if words[0] == "backup":
        shutil.rmtree(words[1], ignore_errors=True)
    done = CliRunner().invoke(main, words, input=(place / "hands.json").read_text())
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("line", MAKE, ids=str)
def test_make_knows_the_target(line: Line) -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", *line.words[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_make_help_lists_what_can_be_made() -> None:
    made = set(targets()) - {"help", "clean"}
    phony = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:"))
    assert made == set(phony.split()[1:]) - {"help", "clean"}


@pytest.mark.parametrize("line", PYTHON, ids=str)
def test_a_module_that_is_named_is_there(line: Line) -> None:
    assert module_of(line.words).is_file()
