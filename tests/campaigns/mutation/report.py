"""The result as a table: of each fault its place, and the test of either suite that finds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.campaigns.mutation.fault import Fault
from tests.campaigns.mutation.find import Finding, Results

_HEAD: Final = (
    "| | place | kind | change | found by the old suite | found by the new one |\n|---|---|---|---|---|---|\n"
)


def table(faults: Sequence[Fault], old: Results, new: Results) -> str:
    rows = "".join(
        f"| {fault.number} | `{fault.file}:{fault.line}` | {fault.kind} | {_change(fault)}"
        f" | {_said(old[fault])} | {_said(new[fault])} |\n"
        for fault in faults
    )
    return _HEAD + rows


def lost(faults: Sequence[Fault], old: Results, new: Results) -> list[Fault]:
    """The faults that the old suite finds and the new one, all of it, does not."""
    return [fault for fault in faults if _is_found(old[fault]) and (late := new[fault]) and late.test == ""]


def found(faults: Sequence[Fault], results: Results) -> int:
    return sum(_is_found(results[fault]) for fault in faults)


def _is_found(finding: Finding | None) -> bool:
    return finding is not None and bool(finding.test)


def _change(fault: Fault) -> str:
    """What differs: the rest of the line, with the fault's own words in the place of the others."""
    old, new = " ".join(fault.old.split()), " ".join(fault.new.split())
    same = next((at for at, (was, now) in enumerate(zip(old, new, strict=False)) if was != now), len(new))
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = max(old.rfind(" ", 0, max(same - 12, 0)), 0)
    end = old.find(" ", len(old) - tail + 12)
    rest = len(old) - end if end >= 0 else 0
    if fault.kind == "dropped":
        return _code(old[:60] + ("…" if len(old) > 60 else "")) + " dropped"
    return f"{_code(old[start : len(old) - rest].strip())} → {_code(new[start : len(new) - rest].strip())}"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _said(finding: Finding | None) -> str:
    if finding is None:
        return "not run"
    if finding.test is None:
        return finding.gone or "not by the likeliest files; the others were not run"
    return _code(finding.test.removeprefix("tests/")) if finding.test else "nothing"
