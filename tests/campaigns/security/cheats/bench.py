"""Play cheats against the table and say what came of them.

python -m tests.campaigns.security.cheats NAME ...                       # some of them
python -m tests.campaigns.security.cheats --write docs/security.md       # all, into the book's table
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

import click

from tests.campaigns.security.cheats import dealers, house, outsiders, players, signals  # noqa: F401  (they register themselves)
from tests.campaigns.security.cheats.registry import CHEATS, Outcome
from tests.campaigns.security.cheats.report import written
from tests.campaigns.security.cheats.stage import Stage, stage


def played(made: Stage, name: str) -> Outcome:
    """Play one cheat, and put the table in order after it."""
    try:
        return CHEATS[name].play(made)
    finally:
        made.tidy()


def bench(names: Iterable[str]) -> dict[str, Outcome]:
    """Play cheats at one table, one after another."""
    with stage() as made:
        outcomes = {}
        for name in names:
            try:
                outcomes[name] = played(made, name)
            except Exception:
                traceback.print_exc()
            else:
                click.echo(f"{name}: {' | '.join(outcomes[name].cells)}")
    return outcomes


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(sorted(CHEATS)))
@click.option(
    "--write", "path", type=click.Path(path_type=Path, exists=True), help="Write the table into this page."
)
def main(names: tuple[str, ...], path: Path | None) -> None:
    """Play these cheats, by default all."""
    logging.basicConfig(level=logging.ERROR)
    logging.getLogger("tests").setLevel(logging.WARNING)
    names = names or tuple(CHEATS)
    outcomes = bench(names)
    if path is not None:
        path.write_text(written(path.read_text(encoding="utf-8"), outcomes), encoding="utf-8")

    sys.exit(len(outcomes) < len(names))
