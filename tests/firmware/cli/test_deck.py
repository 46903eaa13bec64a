"""The decks of a record: listed, and written into a file that the pit takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firmware.cli.deck import command
from firmware.record.journal.journal import Journal
from firmware.table import CommandRefused
from firmware.table import events as ev
from firmware.table.topics.inbox import deck_of
from tests.pit.files.conftest import deck_text

MODEL = "a" * 64


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with Journal(tmp_path / "data") as journal:
        journal.recover()
        for name in ("Red deck", "Blue deck", "Red deck"):
            text = deck_text(name, MODEL) + " " * len(journal.commands()) + " " * journal.seq
            digest = journal.keep("deck", text.encode())
            made = ev.Calibration(digest, name, {"model": MODEL}, {})
            journal.append([ev.DeckEnrolled(made)], "technician:Tran")
        lost = ev.Calibration("d" * 64, "Lost deck", {"model": MODEL}, {})
        journal.append([ev.DeckEnrolled(lost)], "technician:Tran")
        journal.append([ev.CalibrationDropped("deck")], "technician:Tran")
    return tmp_path / "data"


def run(*words: str) -> Result:
    return CliRunner().invoke(command, [*words])


def test_the_decks_are_listed_the_last_one_first(data: Path) -> None:
    listed = run("list", "--data", str(data))
    assert listed.exit_code == 0
    assert [line.split("  ")[2] for line in listed.output.splitlines()] == [
        *("Lost deck", "Red deck", "Blue deck", "Red deck")
    ]
    facts = json.loads(run("list", "--json", "--data", str(data)).output)
    assert [(one["name"], one["model"], one["in_use"]) for one in facts][1] == ("Red deck", MODEL, False)


def test_a_deck_is_written_as_the_pit_takes_it_and_over_no_other_file(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "red.json"
    done = run("export", "Red deck", "--out", str(out), "--data", str(data))
    assert done.exit_code == 0, done.output
    assert deck_of(out.read_bytes(), MODEL) == ("Red deck", MODEL)
    facts = json.loads(run("list", "--json", "--data", str(data)).output)
    assert facts[1]["hash"] in done.output, "of two with one name the last"
    again = run("export", "Red deck", "--out", str(out), "--data", str(data))
    assert isinstance(again.exception, FileExistsError)
    for name in ("\u3164", "\u202eRed", "-"):
        with pytest.raises(CommandRefused, match="A name has"):
            deck_of(json.dumps(json.loads(out.read_bytes()) | {"name": name}).encode(), MODEL)
    older = tmp_path / "older.json"
    assert run("export", facts[3]["hash"][:8], "--out", str(older), "--data", str(data)).exit_code == 0
    assert older.read_bytes() != out.read_bytes()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("Green deck", "--out", "x.json"), "has learnt no deck Green deck"),
        (("", "--out", "x.json"), "has learnt no deck"),
        (("abc", "--out", "x.json"), "has learnt no deck abc"),
        (("Red deck", "--out", "x.txt"), "does not end in .json"),
        (("Lost deck", "--out", "x.json"), "is missing from the record"),
    ],
)
def test_what_cannot_be_written_is_said(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("export", *words, "--data", str(data))
    assert done.exit_code != 0
    assert why in done.output
    assert not Path(words[2]).exists()


def test_a_folder_without_a_record_is_said(tmp_path: Path) -> None:
    done = run("list", "--data", str(tmp_path))
    assert (done.exit_code, "record" in done.output) == (2, True)
