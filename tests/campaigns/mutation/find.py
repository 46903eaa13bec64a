"""Which test finds a fault.

A test finds a fault when it fails with it (twice, where all tests were run at once) and passes without.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.campaigns.mutation.fault import Fault, NoPlace
from tests.campaigns.mutation.suite import NoTest, Suite

LIKELIEST: Final = 4
"""So many files are run for each fault alone: most faults are found there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one fault: the test that finds it, "" if none does, None while not all of them were run."""

    test: str | None = None
    gone: str = ""
    """Why the code has no place for this fault any more."""
    seconds: float = 0.0


class Results:
    """What was found so far, in a file: a run that was broken off goes on where it was."""

    def __init__(self, path: Path) -> None:
        self._path = path
        entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self._found = {int(number): Finding(**entry) for number, entry in entries.items()}

    def __getitem__(self, fault: Fault) -> Finding | None:
        return self._found.get(fault.number)

    def __setitem__(self, fault: Fault, finding: Finding) -> None:
        self._found[fault.number] = finding
        entries = {str(number): asdict(found) for number, found in sorted(self._found.items())}
        self._path.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def find_near(
    suite: Suite,
    faults: Sequence[Fault],
    results: Results,
    say: Callable[[str], None],
    hints: Results | None = None,
) -> None:
    """Run the likeliest tests of each fault, one fault after another, to the first that finds it.

    The likeliest of all is the one that the hints name, another suite's results. What failed is run at the end
    without any fault; for those that fail again the next finder is looked for.
    """
    unsound: set[str] = set()
    left = [fault for fault in faults if results[fault] is None]
    while left:
        for fault in left:
            try:
                test = _hinted(suite, fault, hints, unsound) or _first(
                    suite, fault, suite.near(fault)[:LIKELIEST], unsound
                )
            except NoPlace as gone:
                results[fault] = Finding(gone=str(gone))
            else:
                results[fault] = Finding(test, seconds=round(suite.seconds(), 1))
            say(f"{fault.number:2} {fault.file}:{fault.line} {results[fault]}")
        finders = {fault.number: found.test for fault in left if (found := results[fault]) and found.test}
        fails = set(suite.run(sorted(set(finders.values())))) if finders else set()
        if fails & unsound:
            raise RuntimeError(f"cannot be left out, and fail without a fault: {sorted(fails & unsound)}")
        unsound |= fails
        left = [fault for fault in left if finders.get(fault.number) in fails]


def find_far(
    suite: Suite, faults: Sequence[Fault], results: Results, tests: Sequence[str], say: Callable[[str], None]
) -> None:
    """Run all these tests once with every fault not found yet; try those that fail with each of the faults alone."""
    left = [fault for fault in faults if (found := results[fault]) and found.test is None and not found.gone]
    if not left:
        return
    with suite.with_faults(left):
        failed = suite.run(tests)
    say(f"{len(failed)} tests fail with the faults {[fault.number for fault in left]} together")
    unsound = set(suite.run(failed)) if failed else set()
    say(f"{len(unsound)} of them without any: {sorted(unsound)}")
    finders = [test for test in failed if test not in unsound]
    for fault in left if finders else ():
        test = _first(suite, fault, finders)
        if test is not None:
            results[fault] = Finding(test, seconds=round(suite.seconds(), 1))
            say(f"{fault.number:2} {fault.file}:{fault.line} {results[fault]}")


def finish(faults: Sequence[Fault], results: Results) -> None:
    """Say of what is not found that nothing finds it: every test was run."""
    for fault in faults:
        found = results[fault]
        if found is not None and found.test is None and not found.gone:
            results[fault] = Finding("", seconds=found.seconds)


def _hinted(suite: Suite, fault: Fault, hints: Results | None, unsound: set[str]) -> str | None:
    hint = hints[fault] if hints is not None else None
    if hint is None or not hint.test:
        return None
    try:
        return _first(suite, fault, [hint.test], unsound)
    except NoTest:  # this suite has another one in its place
        return None


def _first(suite: Suite, fault: Fault, tests: Sequence[str], unsound: Iterable[str] = ()) -> str | None:
    """Return the first of the tests that fails with the fault, leaving out the unsound ones."""
    with suite.with_faults([fault]):
        failed = suite.run(tests, "-x", *(f"--deselect={test}" for test in unsound))
    return failed[0] if failed else None
