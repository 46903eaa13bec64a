"""What all benchmarks share: the command, the machine, timing, and the page that is printed or written.

A benchmark is a function that takes its options and returns a `Result`. Processor time does not depend on what else the
machine does; wall time does.
"""

import functools
import gc
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from firmware.command_options import FILE
from firmware.stop_signals import stop_at_signals
from firmware.terminal import say, say_json

Run = Callable[[], object]
Decorator = Callable[[Callable[..., None]], Callable[..., None]]
ENDS_WITHIN_S: Final = 60


def option(name: str, default: Any, words: str, **more: Any) -> Decorator:
    """Return an option of a benchmark, with its default shown."""
    return click.option(name, default=default, show_default=default is not None, help=words, **more)


def number(name: str, default: int, words: str, least: int = 1, most: int | None = None) -> Decorator:
    """Return an option for a whole number."""
    return option(name, default, words, type=click.IntRange(least, most))


seed_option: Final = option("--seed", 1, "The same seed deals the same cards.")


@dataclass(frozen=True)
class Result:
    """What a benchmark found.

    Attributes:
        title, method: of the report.
        facts: for JSON, and shown as tables: a list of like mappings has a column for each name.
        notes: sentences below them.
    """

    title: str
    method: str
    facts: Mapping[str, Any]
    notes: Sequence[str] = ()


def benchmark(name: str, *options: Decorator) -> Callable[[Callable[..., Result]], click.Command]:
    """Make a command of a function that returns a Result: it prints a page or JSON, and writes a report.

    `name`: a part of `feltwatch bench`, or a module of its own, by its path. The function's docstring is the help.
    """

    def made(measure: Callable[..., Result]) -> click.Command:
        @functools.wraps(measure)
        def run(*, is_json: bool, report: Path | None, **chosen: Any) -> None:
            began = conditions()
            with stop_at_signals(lambda: sys.exit(1), ENDS_WITHIN_S):  # what was started is ended, too
                result = measure(**chosen)
            facts = {**began, **result.facts, "load_at_the_end": conditions()["load"]}
            if report is not None:
                report.write_text(markdown(name, result, facts), encoding="utf-8")
            say_json(facts) if is_json else _show(result, facts)

        outputs: tuple[Decorator, ...] = (
            click.option("--report", type=FILE, help="Write the figures as Markdown."),
            click.option("--json", "is_json", is_flag=True, help="Print one JSON object."),
        )
        command: Any = run
        for decorator in reversed((*options, *outputs)):
            command = decorator(command)
        return click.command(name.rpartition(".")[2])(command)

    return made


def _show(result: Result, facts: Mapping[str, Any]) -> None:
    say(f"{facts['machine']}; {facts['load']}")
    for head, *rows in tables(result.facts):
        table = Table(*head)
        for row in rows:
            table.add_row(*row)
        Console().print(table)
    for note in result.notes:
        say(note)


def markdown(name: str, result: Result, facts: Mapping[str, Any]) -> str:
    """Return the report of a result."""
    program = f"python -m {name}" if "." in name else f"feltwatch bench {name}"
    origin = f"Written by `{program} --report FILE` on {facts['measured']}: {facts['machine']};"
    parts = [f"# {result.title}", f"{origin}\n{facts['load']}.", result.method]
    for head, *rows in tables(result.facts):
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)))
    return "\n\n".join([*parts, *result.notes]) + "\n"


def tables(facts: Mapping[str, Any]) -> Iterator[list[Sequence[str]]]:
    """Yield facts as tables, each a head and its rows."""
    if rows := list(_rows(facts, "")):
        yield [("what", "figure"), *rows]
    for found in facts.values():
        if isinstance(found, list) and found and isinstance(found[0], Mapping):
            names = list(dict.fromkeys(name for one in found for name in one))
            table: list[Sequence[str]] = [
                names,
                *([_text(one.get(name, "")) for name in names] for one in found),
            ]
            is_wide = len(names) > 8
            yield list(zip(*table, strict=True)) if is_wide else table


def _rows(facts: Mapping[str, Any], within: str) -> Iterator[tuple[str, str]]:
    for name, found in facts.items():
        if isinstance(found, Mapping) and any(isinstance(one, Mapping) for one in found.values()):
            yield from _rows(found, f"{within}{name}, ")
        elif isinstance(found, Mapping):
            yield within + name, ", ".join(f"{what} {_text(one)}" for what, one in found.items())
        elif not isinstance(found, list):
            yield within + name, _text(found)
        elif found and not isinstance(found[0], Mapping):
            yield within + name, ", ".join(map(_text, found))


def _text(figure: object) -> str:
    return f"{figure:,.4g}" if isinstance(figure, float) else str(figure)


def machine() -> str:
    """Return this machine's description in a line, for quoted figures."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def conditions() -> dict[str, str]:
    """Return the machine, its load now and the date. Call it before measuring: a benchmark is a load itself."""
    return {
        "machine": machine(),
        "load": f"{os.getloadavg()[0]:.1f} other processes wanted the processor at the start",
        "measured": datetime.now(UTC).date().isoformat(),
    }


def fastest(rounds: int, run: Run, clock: Callable[[], float] = time.thread_time) -> float:
    """Return the seconds of the fastest round, by default of this thread's processor time.

    An unmeasured run first fills the caches. Garbage collection is off meanwhile.
    """
    run()
    gc.collect()
    gc.disable()
    seconds = []
    try:
        for _ in range(rounds):
            began = clock()
            run()
            seconds.append(clock() - began)
    finally:
        gc.enable()
    return min(seconds)


def each(function: Callable[[Any], object], items: Iterable[Any]) -> Run:
    """Return a run that calls a function for each item, and discards the results."""

    def run() -> None:
        for item in items:
            function(item)

    return run


def spread(ms: Sequence[float]) -> dict[str, float]:
    """Return the median, the values that 95 % and 99 % do not exceed, and the longest; nothing of nothing."""
    if not ms:
        return {}
    p95, p99 = (sorted(ms)[max(0, -(-percent * len(ms) // 100) - 1)] for percent in (95, 99))
    figures = {"median": statistics.median(ms), "p95": p95, "p99": p99, "longest": max(ms)}
    return {name: round(value, 2) for name, value in figures.items()}
