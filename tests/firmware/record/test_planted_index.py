"""A wrong or a planted index next to the record: whatever it says, what is found is what the rows say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from firmware.record.archive import Archive
from firmware.record.journal import index_file
from firmware.record.journal.index_file import FILE
from firmware.record.journal.journal import JournalReader
from tests.firmware.record.test_dispute_file import record


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = record(tmp_path / "data")
    Archive(folder).refresh()
    return folder


def plant(data: Path, *statements: str) -> None:
    """Change the index as somebody would who can write to the folder: its sum fits."""
    with closing(sqlite3.connect(data / FILE)) as db, db:
        for statement in statements:
            db.execute(statement)
    index_file.seal(data / FILE)


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


def test_an_index_whose_sum_does_not_fit_is_not_read_and_made_anew(data: Path) -> None:
    before = Archive(data).hands()
    with closing(sqlite3.connect(data / FILE)) as db, db:
        db.execute("UPDATE seats SET player = 'Eve'")
    index_file._checked.clear()  # another process
    assert Archive(data).hands() == before
    index_file._checked.clear()
    assert index_file.holds(data / FILE)
