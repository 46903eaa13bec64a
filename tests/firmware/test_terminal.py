"""What is printed at a terminal: one line is one line, whatever a name holds."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.terminal import escape, json_to_print, say

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
    assert escape(text).isprintable()
    assert json_to_print([text]).isprintable()
    assert json.loads(json_to_print([text])) == [text]


@pytest.mark.parametrize("text", ["Ada", "陈 美玲", "Ñandú · 3×", "a\u00a0b\u3000c", "👍🏽"])
def test_what_people_write_is_printed_as_it_is(text: str) -> None:
    assert escape(text) == text


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


def test_every_command_prints_through_the_one_place_that_escapes() -> None:
    here = Path(__file__).parents[2]
    others = {
        f"{file.relative_to(here)}:{number}"
        for folder in (
            "firmware/cli",
            "firmware/record",
            "firmware/runtime",
            "firmware/simulation",
            "dealer_ui",
            "pit",
        )
        for file in (here / folder).rglob("*.py")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"click\.s?echo\(|sys\.std(out|err)\.write\(|\bprint\(", line)
        and "console.print(" not in line
        and file.name not in ELSEWHERE
    }
    assert not others


ELSEWHERE = {
    "dispute_verifier.py": "travels alone and has its own copy",
    "bench.py": "prints names of our own",
    "bring_in.py": "prints the colours of a QR code",
    "set_clock.py": "root's: it imports nothing of ours, and prints words of its own and what timedatectl said",
}


def test_a_settlement_with_names_that_move_the_cursor_is_shown_a_line_a_line(tmp_path: Path) -> None:
    hand = {
        "unit": 100,
        "button": 1,
        "profile": "traditional",
        "seats": [
            {
                "seat": 1,
                "front": "As Ah Kd",
                "middle": "2s 2h 3d 3c 4s",
                "back": "5s 6s 7s 8s 9s",
                "stack": 900,
            },
            {
                "seat": 2,
                "front": "Qs Qh Jd",
                "middle": "Ts Th 9d 9c 8d",
                "back": "5h 6h 7h 8h 9h",
                "stack": 900,
            },
        ],
    }
    named = [hand, hand | {"profile": "no\x9b2K\nSeat 1 pays seat 2"}]
    file = tmp_path / "hands.json"
    file.write_text(json.dumps(named), encoding="utf-8")
    shown = CliRunner().invoke(main, ["settle", str(file)])
    assert shown.exit_code == 2
    assert all(line.isprintable() for line in shown.output.splitlines())
    assert not any(line.startswith("Seat 1 pays seat 2") for line in shown.stderr.splitlines())


def test_a_profile_whose_title_breaks_the_line_is_shown_in_one(tmp_path: Path) -> None:
    text = CliRunner().invoke(main, ["profiles", "show", "traditional"]).output
    loud = re.sub('(?m)^title = "', 'title = "x\\\\n\\\\u001b[2Kall is well ', text, count=1)
    assert loud != text
    file = tmp_path / "house.toml"
    file.write_text(loud, encoding="utf-8")
    for command in (["show"], ["document"], ["check"]):
        shown = CliRunner().invoke(main, ["profiles", *command, str(file)])
        lines = shown.output.splitlines()
        assert lines
        assert all(line.isprintable() and "\x1b" not in line for line in lines)
        assert not any(line.startswith("all is well") or line.startswith("^[[2Kall") for line in lines)
