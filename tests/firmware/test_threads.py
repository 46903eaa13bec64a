"""Threads that break off or cannot be started, and signals: each in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from firmware.threads import Worker
from tests.waiting import DEADLINE

FULL = """
import resource
def full():
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(),) * 2)
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script to its end."""
    return subprocess.run(
        [sys.executable, "-c", FULL + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


def test_a_thread_that_cannot_be_started_is_an_error_with_a_sentence() -> None:
    done = run("""
        from firmware.threads import NoThread, start_thread
        full()
        try:
            start_thread(print, name="x")
        except NoThread as error:
            print(error.strerror)
    """)
    assert done.stdout.startswith("No thread can be started"), done


def test_a_command_that_can_start_no_thread_ends_with_one_sentence() -> None:
    done = run("""
        import click
        from firmware.cli.main import LazyGroup
        from firmware.threads import start_thread

        @click.group(cls=LazyGroup, entry_group="none")
        def main(): pass

        main.get_command = lambda context, name: click.Command("x", callback=lambda: start_thread(print, name="x"))
        full()
        main(["x"])
    """)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: No thread can be started")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("error", ["MemoryError()", "RuntimeError('a fault of ours')", "SystemExit(0)"])
def test_a_thread_that_breaks_off_ends_the_process(error: str) -> None:
    done = run(f"""
        import threading
        from firmware.threads import end_with_its_threads, start_thread
        def breaks():
            raise {error}
        end_with_its_threads()
        start_thread(breaks, name="the one")
        threading.Event().wait({DEADLINE})
    """)
    assert done.returncode == os.EX_SOFTWARE
    assert "The thread the one broke off; the process ends with it." in done.stderr


def test_a_thread_of_the_pages_server_that_breaks_off_ends_the_process() -> None:
    done = run(f"""
        import threading
        from firmware.request_threads import RequestThreads
        from firmware.threads import end_with_its_threads
        class Task:
            def service(self): raise MemoryError
        class Log:
            def exception(self, *_): raise MemoryError
        end_with_its_threads()
        threads = RequestThreads(3)
        threads.logger = Log()
        threads.add_task(Task())
        threading.Event().wait({DEADLINE})
    """)
    assert done.returncode == os.EX_SOFTWARE


def test_a_worker_does_its_jobs_in_order_and_says_what_became_of_each() -> None:
    worker, done = Worker("test"), list[int]()
    for number in range(5):
        worker.submit(done.append, number)
    broken = worker.submit(lambda: 1 // 0)
    assert worker.submit(lambda: list(done)).result(DEADLINE) == [0, 1, 2, 3, 4]
    assert isinstance(broken.exception(DEADLINE), ZeroDivisionError)
    worker.close()


def test_a_worker_that_is_closed_ends_its_job_and_cancels_the_rest() -> None:
    worker, begun, goes_on = Worker("test"), threading.Event(), threading.Event()

    def work() -> bool:
        begun.set()
        return goes_on.wait(DEADLINE)

    first = worker.submit(work)
    second = worker.submit(lambda: None)
    assert begun.wait(DEADLINE)
    closing = threading.Thread(target=worker.close)
    closing.start()
    while not second.cancelled():
        closing.join(0.01)
    goes_on.set()
    closing.join(DEADLINE)
    assert first.result(0) is True
    worker.close()


# ---- signals ----

STOPS = """
import os, signal, sys, threading
from firmware.stop_signals import stop_at_signals
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_that_hangs_is_ended_hard_once_its_time_is_over(number: signal.Signals) -> None:
    done = run(f"""
        {STOPS.strip().replace(chr(10), chr(10) + "        ")}
        with stop_at_signals(lambda: print("asked", flush=True), 1):
            os.kill(os.getpid(), {int(number)})
            threading.Lock().acquire()
            stuck = threading.Lock()
            stuck.acquire()
            stuck.acquire()
    """)
    assert (done.stdout, done.returncode) == ("asked\n", -signal.SIGALRM)


def test_a_stop_without_memory_or_swallowed_by_somebody_is_ended_hard_too() -> None:
    for how in ("raise MemoryError", "sys.exit(0)"):
        done = run(f"""
            {STOPS.strip().replace(chr(10), chr(10) + "            ")}
            def stop(): {how}
            with stop_at_signals(stop, 1):
                while True:
                    try:
                        os.kill(os.getpid(), signal.SIGTERM)
                        threading.Event().wait()
                    except SystemExit:
                        pass
        """)
        assert done.returncode == -signal.SIGALRM, done


def test_a_program_that_ends_in_time_is_not_ended_hard() -> None:
    done = run(f"""
        {STOPS.strip().replace(chr(10), chr(10) + "        ")}
        over = threading.Event()
        with stop_at_signals(over.set, 1):
            os.kill(os.getpid(), signal.SIGTERM)
            over.wait()
        print(signal.getitimer(signal.ITIMER_REAL)[0], signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
    """)
    assert (done.stdout, done.returncode) == ("0.0 True\n", 0)


# ---- no other way ----


def test_threads_are_started_by_these_functions_alone() -> None:
    """The puck reader's program, the camera's, real or simulated, and benchmarks end with an error of their own."""
    started = re.compile(
        r"threading\.(Thread|Timer)\([^)]*\)\.start|ThreadPoolExecutor|_thread\.start_new_thread"
    )
    own = re.compile(r"\bstart_thread\(|\bstart\(")
    found = []
    for top in ("firmware", "dealer_ui", "pit"):
        for path in Path(__file__).parents[2].joinpath(top).rglob("*.py"):
            text = path.read_text()
            alone = path.name in ("rpicam_child.py", "threads.py")
            elsewhere = alone or "bench" in path.parts
            makes = re.search(r"threading\.(Thread|Timer)\b\(", text)
            if not elsewhere and (started.search(text) or (makes and not own.search(text))):
                found.append(str(path))
    assert found == []
