"""One run: builds the table, plays the hands, audits the record, and returns the result."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware.record.evidence.verify import verify
from firmware.runtime.house_config import house_rules
from firmware.simulation.evening.auditor import KINDS, Auditor, Kind, Problem
from firmware.simulation.evening.faults import SHARE, FaultName, Faults
from firmware.simulation.evening.reader_model import ReaderErrors, ReaderModel, with_sure_misreads
from firmware.simulation.evening.stepped_reader import SteppedReadings
from firmware.simulation.evening.stepped_run import GaveUp, SteppedRun
from firmware.simulation.evening.stepped_table import FillableJournal, SteppedTable
from firmware.simulation.habits import CLUMSY
from firmware.simulation.house import make_config

SHOWN: Final = 20
"""Problems that are listed; the rest are only counted."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run: problems, counts by name, faults by name."""

    hands: int
    profile: str
    seed: int
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    faults: Mapping[str, Mapping[str, int]]
    rows: int
    head: str

    @property
    def ok(self) -> bool:
        """Whether no hand was lost or settled wrongly, and nothing failed."""
        return not self.problems

    def number(self, kind: Kind) -> int:
        """Return the number of problems of a kind."""
        return sum(problem.kind == kind for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "hands": self.hands,
            "profile": self.profile,
            "seed": self.seed,
            "ok": self.ok,
            **{kind: self.number(kind) for kind in KINDS},
            "counts": dict(sorted(self.counts.items())),
            "questions_per_hand": round(self.counts["questions"] / max(1, self.counts["opened"]), 4),
            "faults": {name: dict(counts) for name, counts in self.faults.items()},
            "rows": self.rows,
            "head": self.head,
            "problems": [vars(problem) for problem in self.problems[:SHOWN]],
        }


def simulate(
    data: Path,
    hands: int,
    faults: Sequence[FaultName],
    seed: int,
    profile: str,
    played: Callable[[int], None] = lambda hand: None,
    journal: Callable[..., FillableJournal] = FillableJournal,
    share: float = SHARE,
    errors: ReaderErrors | None = None,
) -> Outcome:
    """Play this many hands in a new data folder; the same seed plays the same hands with the same faults.

    `share`: of the hands in which each fault occurs; `journal` makes the table process's journal; `errors`: the
    reader's errors, by default the measured ones.

    Raises AppError, TableError if the run itself cannot continue.
    """
    config = make_config(data, profile)
    _, rules = house_rules(config)
    strikes = Faults(faults, random.Random(f"faults {seed}"), share)
    errors = errors or ReaderErrors.load()
    if "sure-misread" in faults:
        errors = with_sure_misreads(errors)
    readings = SteppedReadings(
        data, ReaderModel(errors, random.Random(f"reader {seed}")), strikes, random.Random(f"camera {seed}")
    )
    auditor = Auditor(strikes, readings.given, profile)
    table = SteppedTable(config, strikes, random.Random(f"table {seed}"), readings, journal)
    run = SteppedRun(table, data, auditor, strikes, seed, rules, CLUMSY)
    try:
        run.play(hands, played)
        state = run.page.follow()
        if table.process is not None and table.process.state != state:
            auditor.problem("broken", "The table process's own state is not what its record says.")
    except GaveUp as error:
        auditor.problem("lost", str(error))
    finally:
        table.close()
    if table.puck.wrong_seats:
        auditor.problem(
            "broken", f"Noise on the puck reader's line moved the puck {table.puck.wrong_seats} times."
        )
    for what in table.failures:
        auditor.problem("broken", what)
    return end_audit(data, hands, seed, profile, auditor, strikes, {"restarts": table.restarts - 1})


def end_audit(
    data: Path,
    hands: int,
    seed: int,
    profile: str,
    auditor: Auditor,
    faults: Faults,
    counts: Mapping[str, int],
) -> Outcome:
    """End the audit: verify the whole record, and return the result."""
    auditor.finish(hands)
    checked = verify(data)
    for found in checked.problems[:SHOWN]:
        auditor.problem("broken", f"Row {found.seq}: {found.what}")
    return Outcome(
        hands,
        profile,
        seed,
        tuple(auditor.problems),
        Counter(auditor.counts) + Counter(counts),
        faults.to_json(),
        checked.entries,
        checked.head,
    )
