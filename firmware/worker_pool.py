"""A pool of processes that ends cleanly when its user interrupts it."""

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def worker_pool(
    processes: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes; `begin(*given)` initialises each. Submit work inside `ignore_interrupts`.

    An exception in the `with` block, such as an interrupt, ends the processes and their work at once.
    """
    before = set(multiprocessing.active_children())
    # Not "fork": threads, such as those of onnxruntime, do not survive it.
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=spawned, initializer=begin, initargs=given)
    try:
        yield pool
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:  # Also wait for the pool's own thread: Python's exit would wake it while it closes its pipe.
        pool.shutdown()


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Start processes inside the `with` block that ignore Ctrl-C, so that only the parent reports it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # child processes inherit it
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
