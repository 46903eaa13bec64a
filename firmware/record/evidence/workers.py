"""Work shared out among the cores, that ends when its user ends it."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def shared_out(
    processes: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of processes; `begin(*given)` makes each ready. Submit under `undisturbed`.

    Anyone who is interrupted in the middle has it end at once: the work that is left, and what is being done.
    """
    before = set(multiprocessing.active_children())
    # Threads of ours, onnxruntime's too, do not survive a fork.
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=spawned, initializer=begin, initargs=given)
    try:
        yield pool
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:  # Waiting for the pool's own thread, too: Python's exit would wake it while it closes its pipe.
        pool.shutdown()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Start processes that a person's Ctrl-C does not reach: one is told of it, in one sentence."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a process that is started so stays so
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
