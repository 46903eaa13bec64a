"""The table of cheats in the threat model, written by the bench and read back by its test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tests.campaigns.security.cheats.registry import CHEATS, Outcome

BEGIN: Final = (
    "<!-- cheats: written by python -m tests.campaigns.security.cheats --write docs/security.md -->"
)
END: Final = "<!-- cheats: end -->"
NOT_YET: Final = "not played yet"

DefenceVerdict = tuple[bool, bool, bool]


def written(page: str, outcomes: Mapping[str, Outcome]) -> str:
    """Return the page with these outcomes in its table, and the others as they were."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert end, "the page has no place for the table"
    was = {name: cells for name, (_, cells) in _lines(page).items()}
    cells = was | {name: outcome.cells for name, outcome in outcomes.items()}
    lines = [
        "| somebody | `python -m tests.campaigns.security.cheats` … | on the screen | in the record | proved |",
        "|---|---|---|---|---|",
        *(
            f"| {cheat.said} | `{name}` | {' | '.join(cells.get(name, (NOT_YET,) * 3))} |"
            for name, cheat in CHEATS.items()
        ),
    ]
    return f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}"


def rows(page: str) -> dict[str, tuple[str, DefenceVerdict | None]]:
    """Return the rows of a page's table by name: who does what, and the verdict; None for a cheat not played yet."""
    found: dict[str, tuple[str, DefenceVerdict | None]] = {}
    for name, (title, (seen, told, proved)) in _lines(page).items():
        verdict = seen.startswith("yes"), told.startswith("yes"), proved.startswith("yes")
        found[name] = title, None if NOT_YET in seen else verdict
    return found


def _lines(page: str) -> dict[str, tuple[str, tuple[str, str, str]]]:
    _, _, table = page.partition(BEGIN)
    found = {}
    for line in table.partition(END)[0].splitlines():
        if match := re.fullmatch(r"\| (.+) \| `([a-z-]+)` \| (.+) \| (.+) \| (.+) \|", line):
            title, name, seen, told, proved = match.groups()
            found[name] = title, (seen, told, proved)
    return found
