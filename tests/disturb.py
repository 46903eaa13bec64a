"""Run a command while random processes of it are stopped for a moment, as on a machine that has too much to do.

    python -m tests.disturb -- make test
    python -m tests.disturb --seed 7 --busy 8 -- make test ARGS=tests/firmware/table

One process of the command's tree at a time is stopped for 20 to 300 ms, at random moments. The seed is printed. Two
runs with one seed need not stop the same processes at the same moments: the command's own course decides which there
are.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click

STOPPED_S: Final = (0.02, 0.3)
BETWEEN_S: Final = (0.0, 0.3)
_SUBREAPER: Final = 36
_LOOP: Final = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


def tree(root: int) -> dict[int, str]:
    """Every descendant of a process, and the state that it is in (`proc(5)`: R, S, T when stopped, Z when ended)."""
    parents: dict[int, int] = {}
    states: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        state, parent = told[told.rindex(")") + 2 :].split(maxsplit=2)[:2]
        parents[int(folder.name)], states[int(folder.name)] = int(parent), state
    found: dict[int, str] = {}
    newest = {root}
    while newest:
        newest = {process for process, parent in parents.items() if parent in newest}
        found |= {process: states[process] for process in newest}
    return found


def can_stop(root: int, spared: set[int]) -> list[int]:
    """The descendants that run. One that a test has stopped itself must stay so."""
    return sorted(
        process for process, state in tree(root).items() if state not in "TtZX" and process not in spared
    )


def stop(process: int, seconds: float) -> bool:
    """Stop a process for a time. False: it has ended meanwhile."""
    try:
        handle = os.pidfd_open(process)
    except OSError:
        return False
    try:
        signal.pidfd_send_signal(handle, signal.SIGSTOP)
        time.sleep(seconds)
    except ProcessLookupError:
        return False
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGCONT)
        os.close(handle)
    return True


@contextmanager
def busy_loops(count: int) -> Iterator[set[int]]:
    """So many processes that only compute; they end with this one, however it ends."""
    loops = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(count)]
    try:
        yield {loop.pid for loop in loops}
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def reap(kept: set[int]) -> None:
    """Take the exit status of ended processes that were left behind, as init would: tests wait until such are gone."""
    with suppress(ChildProcessError):  # none is left at all
        while (
            ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        ) and ended.si_pid not in kept:
            os.waitpid(ended.si_pid, 0)


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--seed", type=int, help="Default: a random one, printed.")
@click.option("--busy", type=click.IntRange(0), default=0, help="So many busy loops run next to the command.")
@click.option("--stops/--no-stops", default=True, show_default=True, help="Whether processes are stopped.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def main(seed: int | None, busy: int, stops: bool, command: tuple[str, ...]) -> None:
    """Run COMMAND and stop random processes of it for 20 to 300 ms. Exits as the command does."""
    seed = random.randrange(2**32) if seed is None else seed
    click.echo(f"disturb: seed {seed}, {busy} busy loops", err=True)
    chance, count = random.Random(seed), 0
    # so that what the command's processes leave behind stays in the tree
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    with busy_loops(busy) as loops, subprocess.Popen(command) as run:
        signal.signal(signal.SIGCHLD, lambda *_: reap({*loops, run.pid}))
        reap({*loops, run.pid})  # what ended before the signal had its handler
        try:
            while run.poll() is None:
                time.sleep(chance.uniform(*BETWEEN_S))
                victims = can_stop(os.getpid(), loops) if stops else []
                if victims:
                    count += stop(chance.choice(victims), chance.uniform(*STOPPED_S))
        except KeyboardInterrupt:
            run.wait()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    click.echo(f"disturb: stopped {count} times; seed {seed}", err=True)
    sys.exit(run.returncode if run.returncode >= 0 else 128 - run.returncode)


if __name__ == "__main__":
    main()
