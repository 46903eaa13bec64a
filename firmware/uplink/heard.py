"""How far the pit has heard of this table, in a small file: the table's pages and commands read it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware.record.journal.disk import write_whole
from firmware.uplink.follow import Heard

FILE: Final = "heard.json"


@dataclass(frozen=True)
class Report:
    """What the file says: up to which row the pit has the record, how many rows it lacks, since when it is silent."""

    have: int
    behind: int
    at_ms: int
    trouble: str


def write(folder: Path, heard: Heard, at_ms: int) -> None:
    """Replace the file. Raises OSError."""
    value = {"have": heard.have.seq, "behind": heard.behind, "at_ms": at_ms, "trouble": heard.trouble}
    write_whole(folder / FILE, json.dumps(value).encode())


def read(folder: Path) -> Report | None:
    """Return what the file says; None where there is no uplink, or it has not spoken yet."""
    try:
        value = json.loads((folder / FILE).read_bytes())
        return Report(int(value["have"]), int(value["behind"]), int(value["at_ms"]), str(value["trouble"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None
