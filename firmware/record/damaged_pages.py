"""Finds the rows in the file of a damaged journal, page by page, without its trees.

SQLite reaches a row through the pages above it. Here each page is searched for what looks like the head of a row, and
its overflow pages are followed. Anyone who calls this keeps only what has its own hash, so nothing wrong is taken.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

Value = int | str | bytes | None
_ROW: Final = re.compile(rb"[\x0d-\x1f]\x00", re.DOTALL)
"""The head of a row of `journal`: its length, and its first column, which is empty: the number stands before it."""
_CONTENT: Final = re.compile(rb"[\x05-\x0a]\x81\x0d", re.DOTALL)
"""The head of a row of `content`: its length, and a text of 64 characters."""
_SIZES: Final = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""Bytes of a value by its serial type."""
_MAX_RECORD_BYTES: Final = 16 << 20
"""Bytes of a record beyond which its head is taken for damaged."""
_PAGE: Final = 4096
_FRAME: Final = 24
_WAL_HEAD: Final = 32


def find_rows(path: Path) -> Iterator[tuple[Value, ...]]:
    """Yield what looks like a row of `journal` (12 values) or of `content` (3 values). Raises OSError.

    What was written to the `-wal` and not yet copied back is searched, too. A row may be yielded more than once.
    """
    main = path.read_bytes()
    size = int.from_bytes(main[16:18], "big")
    size = size if size in (512, 1024, 2048, 4096, 8192, 16384, 32768) else _PAGE
    pages = {number + 1: main[at : at + size] for number, at in enumerate(range(0, len(main), size))}
    yield from _rows(pages, size)
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists():
        frames = wal.read_bytes()
        for at in range(_WAL_HEAD, len(frames) - _FRAME, size + _FRAME):
            pages[int.from_bytes(frames[at : at + 4], "big")] = frames[at + _FRAME : at + _FRAME + size]
        yield from _rows(pages, size)


def _rows(pages: dict[int, bytes], size: int) -> Iterator[tuple[Value, ...]]:
    for page in list(pages.values()):
        for head in _ROW.finditer(page):
            for number_at in range(max(0, head.start() - 5), head.start()):
                seq, end = _varint(page, number_at)
                if end == head.start():
                    yield from _record(pages, page, size, head.start(), number_at, 12, seq)
        for head in _CONTENT.finditer(page):
            yield from _record(pages, page, size, head.start(), head.start(), 3, None)


def _record(
    pages: dict[int, bytes], page: bytes, size: int, at: int, after: int, columns: int, seq: int | None
) -> Iterator[tuple[Value, ...]]:
    """Yield the record whose head is at `at`; the number of its bytes ends at `after`, wherever it begins."""
    for begin in range(max(0, after - 4), after):
        length, end = _varint(page, begin)
        if end != after or not columns < length < _MAX_RECORD_BYTES:
            continue
        values = _decode(_whole(pages, page[at:], length, size, is_table=seq is not None), columns)
        if values is not None:
            yield (seq, *values[1:]) if seq is not None else values


def _whole(pages: dict[int, bytes], here: bytes, length: int, size: int, *, is_table: bool) -> bytes:
    """Return a record's bytes, with those on overflow pages."""
    least = (size - 12) * 32 // 255 - 23
    most = size - 35 if is_table else (size - 12) * 64 // 255 - 23
    if length <= most:
        return here[:length]
    local = least + (length - least) % (size - 4)
    local = local if local <= most else least
    parts, left = [here[:local]], length - local
    number = int.from_bytes(here[local : local + 4], "big")
    while left > 0 and (more := pages.get(number)) is not None:
        parts.append(more[4 : 4 + left])
        left -= len(parts[-1]) or left
        number = int.from_bytes(more[:4], "big")
    return b"".join(parts)


def _decode(record: bytes, columns: int) -> tuple[Value, ...] | None:
    head, at = _varint(record, 0)
    kinds: list[int] = []
    while at < head <= len(record) and len(kinds) <= columns:
        kind, at = _varint(record, at)
        kinds.append(kind)
    if at != head or len(kinds) != columns:
        return None
    values: list[Value] = []
    for kind in kinds:
        length = (kind - 12) // 2 if kind >= 12 else _SIZES.get(kind, -1)
        raw = record[at : at + length] if length >= 0 else b""
        if length < 0 or len(raw) != length:
            return None
        at += length
        if kind >= 12:
            values.append(raw.decode(errors="replace") if kind % 2 else raw)
        else:
            values.append(
                None if kind == 0 else kind - 8 if kind in (8, 9) else int.from_bytes(raw, "big", signed=True)
            )
    return tuple(values)


def _value(kind: int, raw: bytes) -> Value:
    if kind >= 12:
        return raw.decode(errors="replace") if kind % 2 else raw
    if kind in (8, 9):
        return kind - 8
    return int.from_bytes(raw, "big", signed=True) if kind else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of up to four bytes, and where it ends; (0, -1) where there is none."""
    value = 0
    for index in range(at, min(at + 4, len(data))):
        value = value << 7 | data[index] & 0x7F
        if data[index] < 0x80:
            return value, index + 1
    return 0, -1
