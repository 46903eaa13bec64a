"""What the record's defences cost, next to an earlier version of the code, in one run.

    git worktree add ../before 981b999
    python -m tests.campaigns.appliance.record_cost --before ../before --hands 100000 --folder DISK

Each version makes a record by its own code from the same seed. Then both take turns: a table's start (the journal
opened with all of its checks, the state recovered, nothing cached in the process), and commits of one event; after each
one of the earlier version 64 bytes are written in place and synced, which is what the witness may cost. At the end
`verify` of this version runs next to a loop that only reads the rows and hashes them; both in seconds of one processor.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click

from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import FILE
from firmware.table.entry import COLUMNS

ROUNDS: Final = 9
COMMITS: Final = 200
WITNESS: Final = 64
"""Bytes of one synced write."""
_MAKE: Final = """
import sys
from pathlib import Path
from tests.generated_record import generate_record
generate_record(Path(sys.argv[1]), int(sys.argv[2]), seed=int(sys.argv[3]))
"""
_START: Final = """
import json, sys, time
from pathlib import Path
from firmware.record.journal.journal import Journal
began = time.perf_counter()
with Journal(Path(sys.argv[1])) as journal:
    journal.recover()
    if hasattr(journal, "commands"):
        journal.commands()
    print(json.dumps(time.perf_counter() - began))
"""
_COMMITS: Final = """
import json, os, sys, time
from pathlib import Path
from firmware.table.events import DeviceRecovered
from firmware.record.journal.journal import Journal
commits, writes = [], []
size = int(sys.argv[3])
synced = os.open(Path(sys.argv[1]) / "synced", os.O_RDWR | os.O_CREAT | os.O_DSYNC, 0o600)
os.pwrite(synced, bytes(size), 0)
with Journal(Path(sys.argv[1])) as journal:
    for n in range(int(sys.argv[2])):
        began = time.perf_counter()
        journal.append([DeviceRecovered("puck")], "table")
        committed = time.perf_counter()
        os.pwrite(synced, n.to_bytes(size, "big"), 0)
        writes.append(time.perf_counter() - committed)
        commits.append(committed - began)
print(json.dumps([commits, writes]))
"""


def run(tree: Path, code: str, *given: object) -> Any:
    """Run a program on a version's code, and return what it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, given)], cwd=tree, check=True, stdout=subprocess.PIPE
    )
    return json.loads(done.stdout) if done.stdout else None


def bare_loop(path: Path, columns: str) -> float:
    """Read the rows and hash each; return the seconds of the processor."""
    began = time.process_time()
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        for row in db.execute(f"SELECT {columns} FROM journal ORDER BY seq"):
            hashlib.sha256("\n".join(map(str, row)).encode()).hexdigest()
    return time.process_time() - began


def verified(data: Path) -> float:
    """Verify the record's rows in one process; return the seconds of the processor."""
    began = time.process_time()
    found = verify(data, images=False, replayed=False)
    taken = time.process_time() - began
    if not found.ok:
        raise click.ClickException(f"The generated record does not hold: {found.problems[0].what}")
    return taken


@click.command(help=__doc__)
@click.option("--before", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--hands", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--folder", type=click.Path(exists=True, file_okay=False, path_type=Path), help="On the disk.")
def main(before: Path, hands: int, seed: int, folder: Path | None) -> None:
    versions = {"before": before.resolve(), "after": Path.cwd()}
    starts: dict[str, list[float]] = {name: [] for name in versions}
    commits: dict[str, list[float]] = {name: [] for name in versions}
    writes: list[float] = []
    with tempfile.TemporaryDirectory(prefix="feltwatch-cost-", dir=folder and folder.resolve()) as made:
        data = {name: Path(made) / name for name in versions}
        for name, tree in versions.items():
            run(tree, _MAKE, data[name], hands, seed)
        for _ in range(ROUNDS):
            for name, tree in versions.items():
                starts[name].append(run(tree, _START, data[name]))
        for _ in range(ROUNDS):
            for name, tree in versions.items():
                taken, synced = run(tree, _COMMITS, data[name], COMMITS, WITNESS)
                commits[name] += taken
                writes += synced if name == "before" else []
        pairs = [(bare_loop(data["after"] / FILE, COLUMNS), verified(data["after"])) for _ in range(3)]
    start, commit = ({n: statistics.median(v) for n, v in of.items()} for of in (starts, commits))
    click.echo(
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {hands:,} hands"
    )
    click.echo(
        f"start: {1000 * start['before']:.0f} ms before, {1000 * start['after']:.0f} ms after: "
        f"{start['after'] / start['before']:.2f} times"
    )
    click.echo(
        f"commit of one event, median: {1e6 * commit['before']:.0f} us before, {1e6 * commit['after']:.0f} after: "
        f"{1e6 * (commit['after'] - commit['before']):.0f} more; a synced write of {WITNESS} bytes "
        f"{1e6 * statistics.median(writes):.0f} us"
    )
    share = statistics.median(bare / whole for bare, whole in pairs)
    click.echo(f"verify: {share:.2f} of the rows a second of a loop that only reads and hashes them")


if __name__ == "__main__":
    main()
