"""The run of an acceptance on disk. What is measured is durable at once: a cut or a lost terminal costs no answer."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from firmware.acceptance.findings import Result
from firmware.record.journal.disk import make_folder, write_whole
from firmware.runtime.errors import AppError

FOLDER: Final = "reports"
PREFIX: Final = "acceptance-"
FIGURES: Final = "acceptance.json"
WHAT: Final = "feltwatch acceptance"


class RunUnusable(AppError):
    """The run of an acceptance cannot be read or written."""


def now_utc() -> str:
    """Return the time as text, for the report; no time-out follows it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class RunFile:
    """One run: a folder with its figures and pictures."""

    def __init__(self, folder: Path, kept: dict[str, Any]) -> None:
        self.folder = folder
        self.kept = kept

    @classmethod
    def begin(cls, data: Path, software: str, table: str) -> Self:
        """Make a new run. Raises RunUnusable."""
        begun = now_utc()
        name = PREFIX + begun.replace(":", "").replace("+0000", "Z")
        kept = {
            "what": WHAT,
            "software": software,
            "table": table,
            "begun": begun,
            "steps": {},
            "pending": {},
        }
        made = cls(_free(data / FOLDER / name), kept)
        made.save()
        return made

    @classmethod
    def last(cls, data: Path) -> Self | None:
        """Return the newest run; None if there is none. Raises RunUnusable."""
        found = sorted((data / FOLDER).glob(f"{PREFIX}*/{FIGURES}"))
        return cls.read(found[-1].parent) if found else None

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a run. Raises RunUnusable."""
        try:
            kept = json.loads((folder / FIGURES).read_text(encoding="utf-8"))
            made = cls(folder, kept)
            made.results()
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise RunUnusable(
                "%(folder)s holds no run of an acceptance (%(error)s): begin a new one with --new.",
                folder=str(folder),
                error=error,
            ) from error
        return made

    def results(self) -> dict[str, Result]:
        """Return what is measured so far, by step."""
        return {name: Result.from_json(one) for name, one in self.kept["steps"].items()}

    def keep(self, result: Result) -> None:
        """Keep a step's result durably, in place of an earlier one. Raises RunUnusable."""
        self.kept["steps"][result.step] = result.to_json()
        self.save()

    def pending(self, step: str) -> dict[str, Any] | None:
        """Return what a step noted before it was broken off."""
        found: dict[str, Any] | None = self.kept["pending"].get(step)
        return found

    def note(self, step: str, noted: dict[str, Any] | None) -> None:
        """Note durably what a step will need after a power cut; None: nothing more. Raises RunUnusable."""
        self.kept["pending"].pop(step, None)
        if noted is not None:
            self.kept["pending"][step] = noted
        self.save()

    def save(self) -> None:
        """Write the figures durably. Raises RunUnusable."""
        self.write(FIGURES, (json.dumps(self.kept, ensure_ascii=False, indent=1) + "\n").encode())

    def write(self, name: str, content: bytes) -> None:
        """Write a file of this run durably. Raises RunUnusable."""
        try:
            make_folder(self.folder)
            write_whole(self.folder / name, content)
        except OSError as error:
            raise RunUnusable(
                "The acceptance cannot be kept in %(folder)s: %(why)s. Run it as the table's user: "
                "sudo -u feltwatch-table feltwatch acceptance",
                folder=str(self.folder),
                why=error.strerror or error,
            ) from error


def _free(folder: Path) -> Path:
    number, found = 1, folder
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found
