"""Sealed rows that no release wrote: JSON nested without end, numbers of thousands of digits. Each gets a sentence."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.evidence.verify import verify
from firmware.record.journal import witness
from firmware.record.journal.journal import FILE, Entry, JournalReader
from tests.firmware.record.test_dispute_file import record

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


def with_row(folder: Path, kind: str, payload: str) -> Path:
    """A record whose last row is well sealed and holds this."""
    data = record(folder / "data")
    last = JournalReader(data).events_since(0)[-1]
    row = last._replace(seq=last.seq + 1, hand=4, type=kind, payload=payload, previous=last.hash)
    row = row._replace(hash=row.sealed())
    columns = ", ".join(Entry._fields)
    with closing(sqlite3.connect(data / FILE)) as db, db:
        places = ", ".join("?" for _ in Entry._fields)
        db.execute(f"INSERT INTO journal ({columns}) VALUES ({places})", row)
    (data / witness.FILE).unlink()
    with witness.Witness(data) as seen:
        seen.write((row.seq, row.hash))
    return data


@pytest.mark.parametrize("payload", [DEEP, LONG], ids=["deep", "long"])
@pytest.mark.parametrize("kind", ["hand_opened", "settled", "hand_reopened"])
def test_a_row_that_no_release_wrote_ends_no_command_in_a_traceback(
    tmp_path: Path, kind: str, payload: str
) -> None:
    data = with_row(tmp_path, kind, payload)
    failed = 0
    for command in COMMANDS:
        shown = CliRunner().invoke(main, [*command, "--data", str(data)])
        assert isinstance(shown.exception, SystemExit | None), (command, shown.exception)
        assert max(map(len, shown.output.splitlines())) < 500, "a sentence, not the row"
        failed += shown.exit_code != 0
    assert failed >= 5


@pytest.mark.parametrize("payload", [DEEP, LONG, "no JSON", "[1]"], ids=["deep", "long", "none", "list"])
@pytest.mark.parametrize("kind", ["hand_reopened", "head_signed", "images_dropped", "of_another_world"])
@pytest.mark.parametrize("images", [True, False])
def test_a_row_that_no_reader_of_json_can_read_does_not_hold(
    tmp_path: Path, kind: str, payload: str, images: bool
) -> None:
    data = with_row(tmp_path, kind, payload)
    found = verify(data, images=images, replayed=False)
    assert [(one.seq, str(one.what)) for one in found.problems if str(one.what).startswith("No release")] == [
        (found.entries, "No release can read the row.")
    ]


@pytest.mark.parametrize(
    ("kind", "payload"), [("hand_opened", DEEP), ("hand_opened", LONG), ("settled", DEEP), ("settled", LONG)]
)
def test_what_is_too_long_or_too_deep_for_a_frequent_row_does_not_hold(
    tmp_path: Path, kind: str, payload: str
) -> None:
    found = verify(with_row(tmp_path, kind, payload), replayed=False)
    assert [str(one.what) for one in found.problems] == ["No release can read the row."]


def test_what_was_not_looked_at_is_said_beside_the_verdict(tmp_path: Path) -> None:
    data = str(with_row(tmp_path, "settled", "{}"))
    unread = "Only --replay checks"
    shown = CliRunner().invoke(main, ["hands", "verify", "--all", "--data", data])
    assert (shown.exit_code, unread in shown.output) == (0, True)
    shown = CliRunner().invoke(main, ["hands", "verify", "--all", "--replay", "--data", data])
    assert (shown.exit_code, unread in shown.output) == (1, False)
