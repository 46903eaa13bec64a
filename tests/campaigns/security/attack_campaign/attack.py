"""What an attack is: how it is made, how it is judged, and which defence it is up against."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from firmware.record.journal.journal import FILE
from tests.campaigns.security.attack_campaign.defences import Off, off
from tests.campaigns.security.attack_campaign.flips import Ground


@dataclass(frozen=True)
class Result:
    """Whether an attack got through, and what was said or seen."""

    through: bool
    words: str


@dataclass
class Room:
    """Where an attack is made: the records, and a folder of its own."""

    ground: Ground
    work: Path

    def copy(self, record: str = "closed") -> Path:
        """Return a fresh copy of a record."""
        to = self.work / f"{record}-{len(list(self.work.iterdir()))}"
        return Path(shutil.copytree(self.ground.records[record], to))


@dataclass(frozen=True)
class Attack:
    """One of the attacks of "What was broken", by its number there.

    `make` tries it. `without`: what stands in the way, to be switched off; it must get through then. `forbids`: what of
    the structure itself keeps it from getting through all the same.
    """

    number: str
    what: str
    defence: str
    make: Callable[[Room], Result]
    without: tuple[Off, ...]
    forbids: str = ""

    def tried(self, ground: Ground, work: Path, *, is_naive: bool) -> Result:
        """Make it, in a folder of its own."""
        work = work / f"{self.number}-{'naive' if is_naive else 'defended'}"
        work.mkdir(parents=True)
        try:
            with off(*(self.without if is_naive else ())):
                result = self.make(Room(ground, work))
            return replace(result, words=re.sub(f"{work}/\\S*?/?(?=[^/\\s]*(\\s|$))", "", result.words))
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def is_as_it_must(self, result: Result, *, is_naive: bool) -> bool:
        """Say whether it came out right: held off, and through without the defence."""
        return result.through == (is_naive and not self.forbids)


def bend(data: Path, *statements: str) -> None:
    """Change a record's file as an outsider would: its guards taken off, and put back as they were."""
    with closing(sqlite3.connect(data / FILE)) as db:
        guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)
        for _, text in guards:
            db.execute(text)
        db.commit()
