"""Mutation check: what the tests find of faults that are put into the product's code (README.md)."""

from __future__ import annotations

from pathlib import Path

import click

from tests.mutation import fault as stored
from tests.mutation.choose import choose as choose_faults


@click.group()
def main() -> None:
    """Put faults into the product's code and see which tests find them."""


@main.command()
@click.option("--seed", default=17, show_default=True, help="The same seed chooses the same faults.")
@click.option("--count", type=click.IntRange(1), default=40, show_default=True)
@click.option("--commit", required=True, help="The commit that the code stands at; it is written down.")
def choose(seed: int, count: int, commit: str) -> None:
    """Choose faults at random places of the code as it stands, and write them to faults.json."""
    faults = choose_faults(Path.cwd(), count, seed)
    stored.save(faults, {"commit": commit, "seed": seed, "count": count})
    click.echo(f"{len(faults)} faults written to {stored.FAULTS.name}")


if __name__ == "__main__":
    main()
