"""Markdown of the reports: tables, and sections that are written again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def put_between(marks: tuple[str, str], file: Path, text: str) -> bool:
    """Replace what stands between two marks of a file; return False, and change nothing, if it lacks them."""
    before, mark, rest = file.read_text().partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if mark and end:
        file.write_text(before + mark + text + end + after)
    return bool(mark and end)
