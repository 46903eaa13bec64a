"""A fault: one small change to the product's code, stored so that it can be put into later versions as well."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

FAULTS: Final = Path(__file__).with_name("faults.json")
AROUND: Final = 6
"""Lines of context that are stored before and after a fault: they tell apart two places with the same text."""


class NoPlace(Exception):
    """The place of a fault is not in this version of the code, or cannot be told from another."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Whole lines of one file, as they are and with the fault; `line` is where they began when it was chosen."""

    number: int
    area: str
    kind: str
    file: str
    line: int
    before: str
    old: str
    new: str
    after: str

    def put_into(self, source: str) -> str:
        """Return the source with the fault; of several places with the same text the one that stands in the same
        context.

        Raises:
            NoPlace: The text of the fault's place is not there, or two places fit equally well.
        """
        lines, old = source.splitlines(keepends=True), self.old.splitlines(keepends=True)
        starts = [at for at in range(len(lines)) if lines[at : at + len(old)] == old]
        if not starts:
            raise NoPlace(f"{self.file}: no line reads {old[0].strip()!r} any more")
        scores = [self._likeness(lines, start, start + len(old)) for start in starts]
        best = max(scores)
        if scores.count(best) > 1:
            raise NoPlace(
                f"{self.file}: {scores.count(best)} places read {old[0].strip()!r} in the same context"
            )
        start = starts[scores.index(best)]
        return "".join([*lines[:start], self.new, *lines[start + len(old) :]])

    def _likeness(self, lines: list[str], start: int, end: int) -> int:
        """Count the lines of the context that are the same, from the place outwards."""
        before, after = self.before.splitlines(keepends=True), self.after.splitlines(keepends=True)
        above = zip(reversed(before), reversed(lines[:start]), strict=False)
        below = zip(after, lines[end:], strict=False)
        return sum(was == now for was, now in [*above, *below])


def load(path: Path = FAULTS) -> list[Fault]:
    return [Fault(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))["faults"]]


def save(faults: Iterable[Fault], chosen: dict[str, object], path: Path = FAULTS) -> None:
    """Write the faults, and how they were chosen."""
    entries = [asdict(fault) for fault in faults]
    text = json.dumps({"chosen": chosen, "faults": entries}, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
