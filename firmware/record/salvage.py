"""Saves what can be saved of a damaged record or backup to a new folder, and lists what is lost.

The rows from the first one up to the first that is lost become a record that can be restored. The rows after it have
their hashes and follow one another, but no journal can begin with them: they go to a file of lines, one row each. All
images that these rows name are copied. What is taken has the hash that the rows say, and nothing else is.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from firmware.record.damaged_pages import find_rows
from firmware.record.evidence.chain import Row, is_sealed
from firmware.record.journal import witness
from firmware.record.journal.captures import CaptureStore, captures_in_json
from firmware.record.journal.disk import make_folder, sync_folder, write_whole
from firmware.record.journal.journal import FILE, Journal
from firmware.table.entry import content_hash
from firmware.table.events import canonical

LATER: Final = "later-rows.jsonl"
LOST: Final = "lost.json"
_BATCH: Final = 2000


@dataclass(frozen=True)
class SalvageResult:
    """What was saved: `rows` in the new record, `later` in the file of lines; and what is lost.

    `lost_rows` are stretches from a first to a last number; `hands` those of whose rows some are lost, or may be.
    `images` are the names of those that are missing or changed. The end of the record may be lost without a trace.
    """

    rows: int
    later: int
    lost_rows: tuple[tuple[int, int], ...]
    hands: tuple[int, ...]
    images: tuple[str, ...]


def salvage(source: Path, to: Path) -> SalvageResult:
    """Save what is left of the record in `source` to the new folder `to`. Raises OSError, JournalError."""
    rows, contents = _sound(source / FILE)
    make_folder(to)
    ordered = _chain(rows)
    with Journal(to) as journal:
        for kind, data in contents.values():
            journal.keep(kind, data)
        whole = [row for number, row in enumerate(ordered, start=1) if row[0] == number]
        for at in range(0, len(whole), _BATCH):
            journal.append_sealed(whole[at : at + _BATCH])
    later = ordered[len(whole) :]
    write_whole(to / LATER, "".join(f"{canonical(list(row))}\n" for row in later).encode())
    seen = witness.read(source)
    gaps = tuple(_gaps([row[0] for row in ordered], seen[0] if seen else 0))
    saved = SalvageResult(
        len(whole), len(later), gaps, _hands(ordered, gaps), tuple(_images(source, to, ordered))
    )
    write_whole(to / LOST, json.dumps(asdict(saved), indent=1).encode())
    sync_folder(to)
    return saved


def _sound(path: Path) -> tuple[dict[int, list[Row]], dict[str, tuple[str, bytes]]]:
    rows: dict[int, list[Row]] = {}
    contents: dict[str, tuple[str, bytes]] = {}
    for found in find_rows(path):
        match found:
            case (str(digest), str(kind), bytes(data)):
                if content_hash(data) == digest:
                    contents[digest] = kind, data
            case (int(seq), *_) if is_sealed(found) and found not in rows.setdefault(seq, []):
                rows[seq].append(found)
    return {seq: some for seq, some in rows.items() if some}, contents


def _chain(rows: Mapping[int, list[Row]]) -> list[Row]:
    """Return one row for each number, in order: of several the one that follows the row before it."""
    ordered: list[Row] = []
    for seq in sorted(rows):
        before = ordered[-1][11] if ordered and ordered[-1][0] == seq - 1 else ""
        ordered.append(next((row for row in rows[seq] if row[10] == before), rows[seq][0]))
    return ordered


def _gaps(numbers: list[int], end: int) -> Iterator[tuple[int, int]]:
    for before, after in zip(
        [0, *numbers], [*numbers, max(end, numbers[-1] if numbers else 0) + 1], strict=True
    ):
        if after - before > 1:
            yield before + 1, after - 1


def _hands(rows: list[Row], gaps: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Return the hands that a gap touches: those of the rows on both sides, and all between."""
    by_number = {row[0]: row for row in rows}
    touched: set[int] = set()
    for first, last in gaps:
        before, after = by_number.get(first - 1), by_number.get(last + 1)
        begin = before[1] if before else 0
        end = begin if after is None else after[1] - (after[8] == "hand_opened")
        touched.update(range(begin, end + 1))
    return tuple(sorted(touched - {0}))


def _images(source: Path, to: Path, rows: list[Row]) -> Iterator[str]:
    """Copy the images that the rows name, and yield the names of those that are not as they were stored."""
    store, kept = CaptureStore(source), CaptureStore(to)
    for image in dict.fromkeys(image for row in rows for image in captures_in_json(_payload(row))):
        if store.check(image) == "ok":
            kept.save(image.name, store.read(image.name))
        else:
            yield image.name


def _payload(row: Row) -> Any:
    try:
        return json.loads(row[9])
    except (ValueError, RecursionError):
        return {}
