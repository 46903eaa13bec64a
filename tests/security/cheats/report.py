"""The table of cheats in the threat model, written by the bench and read back by its test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tests.security.cheats.registry import CHEATS, Outcome

BEGIN: Final = "<!-- cheats: written by python -m tests.security.cheats --write docs/security.md -->"
END: Final = "<!-- cheats: end -->"


def written(page: str, outcomes: Mapping[str, Outcome]) -> str:
    """Return the page with this table between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert end, "the page has no place for the table"
    lines = [
        "| somebody | `python -m tests.security.cheats` … | on the screen | in the record | proved |",
        "|---|---|---|---|---|",
        *(
            f"| a {cheat.who} {cheat.title} | `{name}` | {' | '.join(outcomes[name].cells)} |"
            for name, cheat in CHEATS.items()
        ),
    ]
    return f"{before}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{after}"


def rows(page: str) -> dict[str, tuple[str, bool, bool, bool]]:
    """Return the rows of a page's table by name: who does what, and the verdict."""
    _, _, table = page.partition(BEGIN)
    found = {}
    for line in table.partition(END)[0].splitlines():
        if match := re.fullmatch(r"\| (.+) \| `([a-z-]+)` \| (.+) \| (.+) \| (.+) \|", line):
            title, name, *cells = match.groups()
            seen, told, proved = (cell.startswith("yes") for cell in cells)
            found[name] = title, seen, told, proved
    return found
