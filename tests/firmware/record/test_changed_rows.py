"""A row that was changed after it was written is never shown as if it were sound."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firmware.cli.main import main
from firmware.record.archive import Archive
from firmware.record.finished_reader import FinishedReader
from firmware.record.hand_history import load_hand
from firmware.record.journal.journal import FILE, Entry, JournalReader
from firmware.record.journal.row_index import forget_index
from firmware.record.report_span import Span, report_of_span
from firmware.table.errors import RowChanged
from tests.firmware.record.test_dispute_file import record
from tests.firmware.record.test_verify import bend

HAND = 1
Change = Callable[[Path, Entry], None]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("record") / "data")


@pytest.fixture
def data(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "data"))


def with_its_old_hash(data: Path, row: Entry) -> None:
    bend(data, "UPDATE journal SET wall_ms = wall_ms + 1 WHERE seq = ?", values=(row.seq,))


def with_a_hash_made_for_it(data: Path, row: Entry) -> None:
    """As a cheat who knows how rows are hashed, but leaves the rows after it alone."""
    changed = row._replace(wall_ms=row.wall_ms + 1)
    values = (changed.wall_ms, changed.sealed(), row.seq)
    bend(data, "UPDATE journal SET wall_ms = ?, hash = ? WHERE seq = ?", values=values)


def run(data: Path, *command: str) -> Result:
    return CliRunner().invoke(main, [*command, "--data", str(data)])


@pytest.mark.parametrize("change", [with_its_old_hash, with_a_hash_made_for_it])
def test_no_row_of_a_hand_can_be_changed_without_the_hand_being_refused(data: Path, change: Change) -> None:
    rows = JournalReader(data).of_hand(HAND)
    sound = (data / FILE).read_bytes()
    for row in rows:
        (data / FILE).write_bytes(sound)
        change(data, row)
        # with a new hash it is the following row that does not fit any more
        named = f"Row ({row.seq}|{row.seq + 1}) of the record was changed"
        for reader in (JournalReader(data), FinishedReader(data)):
            for read in (
                lambda of=reader: load_hand(of, HAND),
                lambda of=reader: Archive(data, of).hand(HAND),
            ):
                with pytest.raises(RowChanged, match=named):
                    read()
        with pytest.raises(RowChanged, match=named):
            report_of_span(JournalReader(data), Span())


def test_a_row_is_compared_with_the_one_before_it_where_a_query_ends_between_them(data: Path) -> None:
    rows = JournalReader(data).events_since(0)
    with_a_hash_made_for_it(data, rows[4])
    reader = JournalReader(data)
    assert reader.events_since(0, 4) == rows[:4]
    assert reader.events_since(5 + 1) == rows[6:]
    with pytest.raises(RowChanged, match="Row 6 "):
        reader.events_since(5)


@pytest.mark.parametrize("command", [("hands", "show"), ("hands", "recall"), ("hands", "export")])
def test_the_commands_name_the_row_and_other_hands_are_shown_as_before(
    data: Path, command: tuple[str, str]
) -> None:
    other = ("--out", str(data / "other.zip")) if command[1] == "export" else ()
    before = run(data, *command, "2", *other)
    (data / "other.zip").unlink(missing_ok=True)
    with_its_old_hash(data, row := JournalReader(data).of_hand(HAND)[2])
    found = run(data, *command, str(HAND))
    assert found.exit_code == 1
    assert f"Row {row.seq} of the record was changed after it was written" in found.output
    after = run(data, *command, "2", *other)
    assert (after.exit_code, after.output) == (before.exit_code, before.output)


def test_the_report_names_the_row_in_the_place_of_figures(data: Path) -> None:
    assert run(data, "report", "--from", "2001-01-01").exit_code == 0
    with_its_old_hash(data, row := JournalReader(data).of_hand(HAND)[2])
    found = run(data, "report", "--from", "2001-01-01")
    assert found.exit_code == 1
    assert f"Row {row.seq} of the record was changed" in found.output


@pytest.mark.parametrize("change", [with_its_old_hash, with_a_hash_made_for_it])
def test_the_list_marks_the_hand_as_soon_as_its_index_is_made_from_the_changed_rows(
    data: Path, change: Change
) -> None:
    change(data, JournalReader(data).of_hand(HAND)[2])
    forget_index(data)
    lines = {line.hand: line for line in Archive(data).hands()}
    assert {hand: line.changed for hand, line in lines.items() if line.changed} == {HAND: 1}
    text = run(data, "hands", "list").output
    assert text.count("RECORD CHANGED") == 1
    found = [json.loads(line) for line in run(data, "hands", "list", "--json").output.splitlines()]
    assert [one["hand"] for one in found if one["changed"]] == [HAND]


def test_the_audit_goes_on_with_the_other_hands(data: Path) -> None:
    with_its_old_hash(data, row := JournalReader(data).of_hand(HAND)[2])
    found = run(data, "audit", "--no-pictures", "--processes", "1")
    assert found.exit_code == 1
    assert (
        f"hand {HAND}, row {row.seq}: the hand cannot be followed: Row {row.seq} of the record"
        in found.output
    )
    assert "2 hands, " in found.output, "the third is still open"


def test_a_program_that_lists_what_was_changed_reads_the_rows_as_they_are(data: Path) -> None:
    sound = JournalReader(data).events_since(0)
    with_its_old_hash(data, sound[4])
    found = JournalReader(data, are_checked=False).events_since(0)
    assert [row.seq for row in found if row not in sound] == [sound[4].seq]
