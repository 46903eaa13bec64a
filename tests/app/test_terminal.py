"""What is printed at a terminal: one line is one line, whatever a name holds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.app.main import main
from firmware.terminal import escaped, escaped_json, say

HOSTILE = [
    "\x1b[2K\x1b[1A",
    "one\nAll of it holds.",
    "\r",
    "\x07\x08\x7f",
    "\x9b31m",
    "\u202eecalp\u2066",
    "\u2028\u2029\u0085",
    "\ud800",
    "\U000e0041",
    "\ufeff",
]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_character_that_a_terminal_obeys_is_printed(text: str) -> None:
    assert escaped(text).isprintable()
    assert escaped_json([text]).isprintable()
    assert json.loads(escaped_json([text])) == [text]


@pytest.mark.parametrize("text", ["Ada", "陈 美玲", "Ñandú · 3×", "a\u00a0b\u3000c", "👍🏽"])
def test_what_people_write_is_printed_as_it_is(text: str) -> None:
    assert escaped(text) == text


def test_a_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say("Ada\nAll of it holds.")
    say("Bert\x1b[8m", err=True)
    assert capsys.readouterr() == ("Ada^JAll of it holds.\n", "Bert^[[8m\n")


def test_an_error_that_names_a_file_is_one_escaped_line(tmp_path: Path) -> None:
    folder = tmp_path / "no\x1b[2K\nAll of it holds."
    shown = CliRunner().invoke(main, ["hands", "list", "--data", str(folder)])
    assert shown.exit_code == 2
    last = shown.output.splitlines()[-1]
    assert last.startswith("Error: ")
    assert "no^[[2K^JAll of it holds." in last


def test_bytes_that_are_no_text_are_printed_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        say("\udcff")
    assert (tmp_path / "out").read_text() == "\\udcff\n"
