"""Mutation check: what the tests find of faults that are put into the product's code (README.md)."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import click

from tests.campaigns.mutation import fault as stored
from tests.campaigns.mutation.choose import choose as choose_faults
from tests.campaigns.mutation.find import Results, find_far, find_near, finish
from tests.campaigns.mutation.report import found as count_found
from tests.campaigns.mutation.report import lost, table
from tests.campaigns.mutation.suite import Suite


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


@main.command()
@click.option(
    "--tree",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="The working tree whose code gets the faults, with an environment (.venv) of its own.",
)
@click.option("--options", default="", help="What its `make test` gives pytest.")
@click.option("--results", type=click.Path(path_type=Path), required=True, help="The file to go on with.")
@click.option(
    "--hints",
    type=click.Path(exists=True, path_type=Path),
    help="Another suite's results: a fault's finder there is tried first.",
)
@click.option("--only", multiple=True, type=int, help="Numbers of faults; default: all.")
@click.option(
    "--stage", type=click.Choice(["near", "far", "browser"]), multiple=True, help="Default: all three."
)
@click.option("--workers", default=2, show_default=True, help="Of the runs of all tests.")
def run(
    tree: Path,
    options: str,
    results: Path,
    hints: Path | None,
    only: tuple[int, ...],
    stage: tuple[str, ...],
    workers: int,
) -> None:
    """Put each fault into a working tree and run its tests: the likeliest first, the browser's last."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the tree gets its code back
    faults = [fault for fault in stored.load() if not only or fault.number in only]
    found = Results(results)
    one = Suite(tree.absolute(), f"{options} -n 0")
    many = Suite(tree.absolute(), f"{options} -n {workers} --dist loadfile")
    if not stage or "near" in stage:
        find_near(one, faults, found, click.echo, Results(hints) if hints else None)
    if not stage or "far" in stage:
        find_far(many, faults, found, many.test_files(), click.echo)
    if not stage or "browser" in stage:
        find_far(many, faults, found, many.browser_files(), click.echo)
        finish(faults, found)


@main.command()
@click.argument("old", type=click.Path(exists=True, path_type=Path))
@click.argument("new", type=click.Path(exists=True, path_type=Path))
def report(old: Path, new: Path) -> None:
    """Print the table of two suites' results, in Markdown; exit with 1 where the new one finds less."""
    faults, before, after = stored.load(), Results(old), Results(new)
    count = len(faults)
    click.echo(f"Of {count} faults the old suite finds {count_found(faults, before)}, ", nl=False)
    click.echo(f"the new one {count_found(faults, after)}.\n")
    click.echo(table(faults, before, after), nl=False)
    for fault in lost(faults, before, after):
        click.echo(f"\nFound by the old suite only: {fault.number}, {fault.file}:{fault.line}")
    raise SystemExit(bool(lost(faults, before, after)))


if __name__ == "__main__":
    main()
