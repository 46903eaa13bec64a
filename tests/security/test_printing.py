"""Attacks by what is printed: a name, a note or a file's name that a terminal would obey."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firmware import terminal
from firmware.cli.main import main
from firmware.record.archive import Archive
from firmware.record.dispute_file import write_dispute_file
from firmware.record.evidence import dispute_verifier
from firmware.record.journal.journal import Journal
from firmware.table import events as ev
from firmware.table.people import Role
from tests.campaigns.security.attack_campaign.from_outside import OBEYED
from tests.firmware.record.test_dispute_file import KEY, contents, record, signed

pytestmark = pytest.mark.slow


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def shows_a_verdict_of_its_own(shown: str) -> bool:
    inner = shown.split("\n")[1:-2]
    return "All of it holds." in inner or any(not line.isprintable() for line in shown.split("\n"))


@pytest.fixture
def forged(tmp_path: Path) -> Path:
    """A dispute file to which another file was added, under such a name; its manifest does not tell of it."""
    data = record(tmp_path / "data")
    whole = write_dispute_file(Archive(data), 1, KEY, tmp_path / "whole.zip")
    out = signed(contents(whole), tmp_path / "forged.zip")
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(OBEYED, b"")
    return out


def test_a_files_name_in_a_dispute_file_shows_no_verdict_of_its_own(
    forged: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dispute_verifier.main([str(forged)]) == 1
    told = capsys.readouterr().out
    assert told.splitlines()[0] == told.splitlines()[-1] == "This file does not hold."
    assert not shows_a_verdict_of_its_own(told)
    by_command = run("hands", "verify", forged)
    assert by_command.exit_code == 1
    assert by_command.stdout == told
    monkeypatch.setattr(dispute_verifier, "escaped", str)
    assert dispute_verifier.main([str(forged)]) == 1
    assert shows_a_verdict_of_its_own(capsys.readouterr().out)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A record in which every text that a person may have written is such a one."""
    data = record(tmp_path / "data")
    with Journal(data) as journal:
        journal.append([ev.PersonListed(f"Ada{OBEYED}", Role.DEALER)], f"dealer:Ada{OBEYED}")
        journal.append([ev.HandVoided(OBEYED)], f"dealer:Ada{OBEYED}")
        journal.append([ev.DisputeClosed(1, OBEYED)], f"floor:{OBEYED}")
        journal.append([ev.HandReviewed(2, OBEYED)], f"auditor:{OBEYED}")
    return data


COMMANDS = (
    ("hands", "list"),
    ("hands", "list", "--json"),
    ("hands", "show", 1),
    ("hands", "show", 1, "--json"),
    ("hands", "show", 3),
    ("hands", "recall", 1),
    ("hands", "verify", "--all"),
    ("people", "list"),
    ("people", "list", "--json"),
    ("report",),
    ("report", "--csv"),
    ("audit", "--no-pictures", "--processes", 1),
    ("keep",),
    ("doctor",),
)


def test_a_note_in_the_record_moves_no_cursor_at_any_command(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in COMMANDS:
        shown = run(*command, "--data", hostile)
        assert shown.output, command
        assert all(line.isprintable() for line in shown.output.split("\n")), command
    monkeypatch.setattr(terminal, "escape", str)
    shown = run("hands", "show", 3, "--data", hostile)
    assert "\x1b[2K" in shown.stdout
    assert "All of it holds." in shown.stdout.split("\n")


def test_an_error_that_names_a_file_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from firmware.cli import main as shell

    shown = run("hands", "list", "--data", tmp_path / OBEYED.strip())
    assert shown.exit_code == 2
    assert all(line.isprintable() for line in shown.output.split("\n"))
    monkeypatch.setattr(shell, "escape", str)
    shown = run("hands", "list", "--data", tmp_path / OBEYED.strip())
    assert "All of it holds." in shown.output.split("\n")


def test_the_verifier_that_travels_escapes_as_every_command_does(monkeypatch: pytest.MonkeyPatch) -> None:
    every = [chr(code) for code in range(0x110000)]
    escaped = [terminal.escape(one) for one in every]
    assert [dispute_verifier.escaped(one) for one in every] == escaped
    assert not any(
        "\n" in shown or not shown.isprintable()
        for one, shown in zip(every, escaped, strict=True)
        if not one.isspace() or ord(one) < 32
    )
    monkeypatch.setattr(terminal, "escape", str)
    assert dispute_verifier.escaped("\x1b") != terminal.escape("\x1b")
