"""Where a bit can flip: the parts of each file of a record, page by page, and a choice that leaves no page out."""

from __future__ import annotations

import random
import sqlite3
import struct
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware.record.journal.journal import FILE
from firmware.record.journal.witness import FILE as WITNESS

WAL: Final = f"{FILE}-wal"
FILES: Final = (FILE, WAL, WITNESS)
_HEADER: Final = 100
_WAL_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_SLOTS: Final = (0, 4096)


@dataclass(frozen=True)
class Part:
    """Bytes of a file from `begin` to before `end`, and what they are."""

    record: str
    file: str
    what: str
    begin: int
    end: int


@dataclass(frozen=True, order=True)
class Flip:
    """One bit of one file of a record."""

    record: str
    file: str
    offset: int
    bit: int
    what: str = ""

    def __str__(self) -> str:
        return f"{self.record}:{self.file}:{self.offset}:{self.bit}"

    @classmethod
    def parse(cls, text: str) -> Flip:
        """Read what `str` gives."""
        record, file, offset, bit = text.split(":")
        return cls(record, file, int(offset), int(bit))


def parts(record: str, folder: Path) -> list[Part]:
    """Return every part of a record's files; a database's part is a page."""
    found: list[Part] = []
    for file in FILES:
        path = folder / file
        if not path.exists() or not path.stat().st_size:
            continue
        if file == WAL:
            told = _of_wal(path)
        elif file == WITNESS:
            told = iter([("slot", at, at + 64) for at in _SLOTS])
        else:
            told = _of_database(path)
        found += [Part(record, file, what, begin, end) for what, begin, end in told]
    return found


def _of_database(path: Path) -> Iterator[tuple[str, int, int]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
        pages = path.stat().st_size // size
        used = {
            number: (name, kind)
            for number, name, kind in db.execute("SELECT pageno, name, pagetype FROM dbstat")
        }
        kinds = dict(db.execute("SELECT name, type FROM sqlite_master"))
    yield "header", 0, _HEADER
    for number in range(1, pages + 1):
        begin = (number - 1) * size + (_HEADER if number == 1 else 0)
        name, kind = used.get(number, ("", "freelist"))
        if name == "sqlite_schema":
            what = "schema"
        elif path.name == FILE and name:
            what = f"{name}, {kind}"
        else:
            what = f"{kinds.get(name, 'index')}, {kind}" if name else kind
        yield what, begin, number * size


def _of_wal(path: Path) -> Iterator[tuple[str, int, int]]:
    data = path.read_bytes()
    size, salt = struct.unpack_from(">I", data, 8)[0], data[16:24]
    yield "header", 0, _WAL_HEADER
    for begin in range(_WAL_HEADER, len(data) - size - _FRAME_HEADER + 1, size + _FRAME_HEADER):
        old = "" if data[begin + 8 : begin + 16] == salt else " of an earlier round"
        yield f"frame header{old}", begin, begin + _FRAME_HEADER
        yield f"frame{old}", begin + _FRAME_HEADER, begin + _FRAME_HEADER + size


def choose(every: list[Part], number: int, rng: random.Random) -> list[Flip]:
    """Choose different bits: one of each part as far as that goes, then of each kind of part in turn."""
    order = rng.sample(every, len(every))
    by_kind: dict[tuple[str, str, str], list[Part]] = defaultdict(list)
    for part in order:
        by_kind[part.record, part.file, part.what].append(part)
    chosen: dict[Flip, None] = {}

    def take(part: Part) -> None:
        for _ in range(20):
            flip = Flip(
                part.record, part.file, rng.randrange(part.begin, part.end), rng.randrange(8), part.what
            )
            if flip not in chosen:
                chosen[flip] = None
                return

    turn = 0
    if number >= len(order):
        for part in order:
            take(part)
    while len(chosen) < number:
        for of_kind in by_kind.values():
            if len(chosen) < number:
                take(of_kind[turn % len(of_kind)])
        turn += 1
    return list(chosen)
