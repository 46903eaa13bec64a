"""A wrong or a planted index: whatever it says, what is found is what the rows say."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from firmware.record.archive import Archive
from firmware.record.journal.journal import JournalReader
from firmware.record.journal.row_index import index_paths, index_to_write
from firmware.table.errors import JournalError
from tests.firmware.record.test_dispute_file import record


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = record(tmp_path / "data")
    Archive(folder).refresh()
    return folder


def plant(data: Path, *statements: str) -> None:
    """Change the index as somebody would who can write to the runtime folder."""
    with closing(sqlite3.connect(index_to_write(data))) as db, db:
        for statement in statements:
            db.execute(statement)


def found(data: Path) -> list[object]:
    """What is looked for by the index."""
    reader = JournalReader(data)
    return [
        *(reader.of_hand(hand) for hand in (1, 2, 3)),
        reader.openings(),
        reader.last_key(),
        reader.last_anchor(),
        reader.of_type("hand_reopened"),
        reader.about(1),
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE places SET seq = seq + 1",
        "UPDATE places SET seq = 1 WHERE type = 'hand_reopened'",
        "UPDATE places SET hand = 2 WHERE type = 'hand_opened' AND hand = 1",
        "UPDATE places SET seq = seq + 1 WHERE type = 'head_signed'",
        "UPDATE head SET hash = 'of another journal'",
        "DROP TABLE places",
        "DROP TABLE head",
    ],
)
def test_an_index_that_says_what_no_row_says_is_not_believed(data: Path, statement: str) -> None:
    before = found(data)
    plant(data, statement)
    assert found(data) == before
    assert found(data) == before, "and again, once it is made again"


@pytest.mark.parametrize("hand", [1, 2, 3])
def test_a_hand_that_a_planted_index_leaves_out_is_found_in_the_record(data: Path, hand: int) -> None:
    before = JournalReader(data).of_hand(hand)
    plant(data, f"DELETE FROM places WHERE hand = {hand} AND type = 'hand_opened'")
    assert JournalReader(data).of_hand(hand) == before


def test_an_index_beside_the_record_is_not_read_and_that_of_an_earlier_release_is_removed(data: Path) -> None:
    before = Archive(data).hands()
    index = index_to_write(data)
    for name in ("index.sqlite", index.name):
        (data / name).write_bytes(index.read_bytes().replace(b"Lin", b"Eve"))
    assert Archive(data).hands() == before
    assert not (data / "index.sqlite").exists()


def test_an_index_in_a_folder_that_others_may_write_to_is_neither_read_nor_made(data: Path) -> None:
    index = index_to_write(data)
    plant(data, "UPDATE seats SET player = 'Eve'")
    index.parent.chmod(0o777)
    try:
        with pytest.raises(JournalError, match="somebody else"):
            Archive(data).hands()
        assert JournalReader(data).openings(), "found by a scan"
    finally:
        index.parent.chmod(0o700)


def test_an_index_that_is_not_complete_is_not_read(data: Path) -> None:
    before = found(data)
    plant(data, "DELETE FROM places", "DELETE FROM hands", "PRAGMA user_version = -4")
    assert found(data) == before


def test_the_tables_index_is_read_where_it_reaches_further(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = index_paths(data)[1]
    plant(data, "UPDATE seats SET player = 'Own'", "UPDATE head SET seq = 1")
    monkeypatch.setattr("firmware.record.journal.row_index.RUNTIME", tmp_path / "run")
    (tmp_path / "run").mkdir()
    Archive(data).refresh()
    assert index_to_write(data) != own
    assert all(seat.player != "Own" for line in Archive(data).hands() for seat in line.seats)


def test_where_the_tables_index_is_left_behind_another_one_is_made(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Archive(data).hands()
    monkeypatch.setattr("firmware.record.journal.row_index.RUNTIME", tmp_path / "run")
    (tmp_path / "run").mkdir()
    Archive(data).refresh()
    plant(data, "DELETE FROM hands WHERE hand > 1", "UPDATE head SET seq = 2")
    monkeypatch.setattr("firmware.record.journal.row_index.LATE", 3)
    monkeypatch.setattr("os.access", lambda path, mode: not mode & os.W_OK)  # as the page's user
    assert Archive(data).hands() == before
