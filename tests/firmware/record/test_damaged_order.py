"""A damaged page gives rows out of order, or the same ones again: reading them ends, and says so."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from firmware.record.evidence.chain import check_rows, rows_between
from firmware.record.journal.journal import FILE, Journal
from firmware.table import events as ev

ROWS = 40
MANY = 20 * ROWS


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("record")
    with Journal(folder) as journal:
        for number in range(ROWS):
            journal.append([ev.DeviceFault("puck", f"It does not answer, {number:03}.")], "test")
    return folder / FILE


def damaged(closed: Path, to: Path) -> Iterator[int]:
    """Exchange the pointers of two cells of a leaf, and break the text of a row there; yields after each exchange."""
    whole = closed.read_bytes()
    size = struct.unpack_from(">H", whole, 16)[0]
    broken = bytearray(whole)
    at = whole.index(b"It does not answer, 020.")
    broken[at] = 0xFF
    page = at // size * size
    cells = struct.unpack_from(">H", whole, page + 3)[0]
    assert whole[page] == 13, "a leaf"
    for one, other in itertools.combinations(range(cells), 2):
        copy = bytearray(broken)
        places = [page + 8 + 2 * cell for cell in (one, other)]
        pointers = [copy[place : place + 2] for place in places]
        for place, pointer in zip(places, reversed(pointers), strict=True):
            copy[place : place + 2] = pointer
        to.write_bytes(copy)
        yield one


def test_reading_ends_whatever_two_cells_of_a_page_have_changed_places(closed: Path, tmp_path: Path) -> None:
    shutil.copytree(closed.parent, tmp_path / "record")
    path = tmp_path / "record" / FILE
    for _ in damaged(closed, path):
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
            assert sum(1 for _ in itertools.islice(rows_between(db, 1, ROWS), MANY)) < MANY
            assert check_rows(db, 1, ROWS).problems
