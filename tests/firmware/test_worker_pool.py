"""Work on all cores ends when a person ends it: at once, and without a word from those that did it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from firmware.worker_pool import ignore_interrupts, worker_pool
from tests.waiting import DEADLINE

WORKING = """
import os, signal, time
from firmware.worker_pool import worker_pool, ignore_interrupts

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it
with worker_pool(2) as pool:
    with ignore_interrupts():
        jobs = [pool.submit(os.getpid), *(pool.submit(time.sleep, 3600) for _ in range(20))]
    jobs[0].result()
    print("at work", flush=True)
    jobs[-1].result()
"""


@pytest.mark.slow
def test_who_interrupts_it_need_not_wait_for_what_is_left_and_reads_one_word_of_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WORKING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as working:
        assert working.stdout is not None
        assert working.stdout.readline() == "at work\n"
        os.killpg(working.pid, signal.SIGINT)
        try:
            _, said = working.communicate(timeout=DEADLINE)
        finally:
            if working.poll() is None:
                os.killpg(working.pid, signal.SIGKILL)
    assert said.count("Traceback") == 1, said  # of the one that was told, which a command says as "Aborted!"
    assert said.rstrip().endswith("KeyboardInterrupt")


def test_what_is_done_is_given_back_and_what_fails_is_raised() -> None:
    before = signal.getsignal(signal.SIGINT)
    with worker_pool(2) as pool:
        with ignore_interrupts():
            jobs = [pool.submit(abs, number) for number in (-1, -2)]
        assert [job.result() for job in jobs] == [1, 2]
    assert signal.getsignal(signal.SIGINT) is before
    with worker_pool(1) as pool, ignore_interrupts():
        job = pool.submit(divmod, 1, 0)
    with pytest.raises(ZeroDivisionError):
        job.result()
