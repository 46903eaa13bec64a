"""The command that stops a run's processes at random moments (tests/disturb.py)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.disturb import can_stop, tree

SLEEPS = "import time; time.sleep(600)"
SEES_ITS_CHILD_STOPPED = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {SLEEPS!r}])
def state():
    with open(f"/proc/{{child.pid}}/stat") as told:
        return told.read().rpartition(")")[2].split()[0]
while state() != "T": pass
while state() == "T": pass
child.kill()
child.wait()
sys.exit(7)
"""
LEAVES_ONE_BEHIND = "left=$(sh -c 'true & echo $!'); while [ -e /proc/$left ]; do :; done"


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", SLEEPS]) as process:
        yield process
        process.kill()


@pytest.mark.slow
def test_a_process_of_the_command_is_stopped_and_goes_on_and_the_exit_status_is_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.disturb", "--seed", "7", "--busy", "1", "--"]
        + [sys.executable, "-c", SEES_ITS_CHILD_STOPPED],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 7
    assert "disturb: seed 7, 1 busy loops" in done.stderr


@pytest.mark.slow
def test_what_a_process_leaves_behind_is_reaped_as_by_init() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.disturb", "--no-stops", "--", "sh", "-c", LEAVES_ONE_BEHIND],
        check=False,
    )
    assert done.returncode == 0


def test_a_process_that_a_test_has_stopped_stays_stopped(child: subprocess.Popen[bytes]) -> None:
    assert child.pid in can_stop(os.getpid(), set())
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
    assert tree(os.getpid())[child.pid] == "T"
    assert child.pid not in can_stop(os.getpid(), set())


def test_what_is_spared_is_not_stopped(child: subprocess.Popen[bytes]) -> None:
    assert child.pid not in can_stop(os.getpid(), {child.pid})
