"""Sealed rows that no release wrote: JSON nested without end, numbers of thousands of digits. Each gets a sentence."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import astuple, fields, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.app.main import main
from firmware.table.journal import FILE, Entry, JournalReader
from tests.table.test_dispute_file import record

DEEP = '{"hand":' + "[" * 100_000 + "]" * 100_000 + "}"
LONG = '{"hand":' + "9" * 6000 + "}"
COMMANDS = (
    ("hands", "list"),
    ("hands", "show", "4"),
    ("hands", "recall", "4"),
    ("hands", "verify", "--all", "--replay"),
    ("people", "list"),
    ("report",),
    ("doctor",),
)


@pytest.mark.parametrize("payload", [DEEP, LONG], ids=["deep", "long"])
@pytest.mark.parametrize("kind", ["hand_opened", "settled", "hand_reopened"])
def test_a_row_that_no_release_wrote_ends_no_command_in_a_traceback(
    tmp_path: Path, kind: str, payload: str
) -> None:
    data = record(tmp_path / "data")
    last = JournalReader(data).events_since(0)[-1]
    row = replace(last, seq=last.seq + 1, hand=4, type=kind, payload=payload, previous=last.hash)
    row = replace(row, hash=row.sealed())
    columns = ", ".join(field.name for field in fields(Entry))
    with closing(sqlite3.connect(data / FILE)) as db, db:
        places = ", ".join("?" for _ in fields(Entry))
        db.execute(f"INSERT INTO journal ({columns}) VALUES ({places})", astuple(row))
    failed = 0
    for command in COMMANDS:
        shown = CliRunner().invoke(main, [*command, "--data", str(data)])
        assert isinstance(shown.exception, SystemExit | None), (command, shown.exception)
        assert max(map(len, shown.output.splitlines())) < 500, "a sentence, not the row"
        failed += shown.exit_code != 0
    assert failed >= 5
