"""`feltwatch run` while the system gives it no memory and no thread: afterwards it answers, and SIGTERM ends it."""

from __future__ import annotations

import json
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from firmware.table_client import TableLink, TableUnreachable
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

CROWD: Final = 200
"""Connections while there is no memory: more than the socket has threads."""


@contextmanager
def running_table(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], TableLink]]:
    """Start `feltwatch run` without devices, and wait until it answers."""
    config = folder / "feltwatch.toml"
    config.write_text(
        f'data = "{folder / "data"}"\nin_memory = true\nkey = "{folder / "key"}"\n'
        f'[camera]\nkind = "files"\ndevice = "{folder / "none"}"\n'
        f'[puck]\nport = "{folder / "no-puck"}"\n'
    )
    command = [sys.executable, "-m", "firmware.cli", "run", "--config", str(config)]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
    ):
        try:
            link = TableLink(folder / "data" / "table.sock", timeout=DEADLINE)
            until(lambda: process.poll() is not None or answer_of(link))
            yield process, link
        finally:
            process.kill()


def answer_of(link: TableLink) -> dict[str, Any] | None:
    """Return the answer to a command that asks nothing of the record; None without one."""
    with suppress(TableUnreachable):
        return link.send({"do": "lock"})
    return None


@contextmanager
def no_more_memory(pid: int) -> Iterator[None]:
    """Let the address space of a process grow no further."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    before = resource.prlimit(pid, resource.RLIMIT_AS)
    resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize(), before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_AS, before)


def crowd(path: Path) -> None:
    """Open many connections, and ask something on each that is accepted."""
    with ExitStack() as stack:
        for number in range(CROWD):
            line = stack.enter_context(socket.socket(socket.AF_UNIX))
            line.settimeout(0.2)
            with suppress(OSError):
                line.connect(str(path))
                line.sendall(json.dumps({"do": "lock", "fill": "x" * 100 * number}).encode() + b"\n")


def test_a_table_that_had_no_memory_for_its_connections_answers_again_and_ends_at_sigterm(
    tmp_path: Path,
) -> None:
    with running_table(tmp_path) as (table, link):
        with no_more_memory(table.pid):
            crowd(link.path)
        until(lambda: answer_of(link))
        assert table.poll() is None
        table.send_signal(signal.SIGTERM)
        assert table.wait(DEADLINE) == 0
