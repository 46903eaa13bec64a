"""Several processes on one listening socket: the first starts them, and another one where one ends or is silent.

A process that has time takes the next connection, so a frozen one takes none. No pre-forking server of others is used:
those report "ready" before any of their processes has answered, and the door's own server would have to run inside.
"""

import ctypes
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

from firmware.stop_signals import stop_at_signals
from firmware.threads import start_thread
from pit.errors import PitError

BEAT_S: Final = 1.0
"""Seconds between two signs of life."""
SILENT_S: Final = 60.0
"""Seconds without one after which a process is killed: nothing that it does lets it be silent for so long."""
STARTS_WITHIN_S: Final = 300.0
"""Seconds until the first one, which says that it serves."""
MAX_FAILED_STARTS: Final = 5
"""Processes that end before they serve, in a row: then the service ends, and says so."""
STOPS_S: Final = 12
"""Seconds that all may take to end; each has its own limit below that."""
_PR_SET_PDEATHSIG: Final = 1
log = logging.getLogger(__name__)
Serve = Callable[[Callable[[], object]], object]
"""Serves until it is told to stop; calls what it is given when it serves."""


@dataclass
class _Child:
    pipe: int
    heard: float
    is_ready: bool = False


def serve_in_processes(
    count: int, serve: Serve, is_ready: Callable[[], object], *, silent_s: float = SILENT_S
) -> None:
    """Run `serve` in so many processes until SIGTERM or SIGINT, which raise SystemExit.

    Call it where no other thread runs yet. `is_ready` is called as soon as all serve. Raises PitError if they end
    again and again before they serve.
    """
    children: dict[int, _Child] = {}
    failed, said = 0, False
    with stop_at_signals(sys.exit, STOPS_S):
        try:
            while True:
                while len(children) < count:
                    pid, pipe = _fork(serve)
                    children[pid] = _Child(pipe, time.monotonic())
                _hear(children)
                for pid in _reap(children):
                    child = children.pop(pid)
                    os.close(child.pipe)
                    failed = 0 if child.is_ready else failed + 1
                    log.error("A process of the pit has ended; another one is started.")
                    if failed >= MAX_FAILED_STARTS:
                        raise PitError("The pit's processes end before they serve: the log says why.")
                for pid, child in children.items():
                    if time.monotonic() - child.heard > (silent_s if child.is_ready else STARTS_WITHIN_S):
                        log.error("A process of the pit is silent: it is killed.")
                        os.kill(pid, signal.SIGKILL)
                if not said and len(children) == count and all(one.is_ready for one in children.values()):
                    is_ready()
                    said = True
        finally:
            _stop(children)


def _hear(children: dict[int, _Child]) -> None:
    """Wait for signs of life, for `BEAT_S` at most."""
    heard, _, _ = select.select([child.pipe for child in children.values()], [], [], BEAT_S)
    for child in children.values():
        if child.pipe in heard and os.read(child.pipe, 4096):
            child.heard, child.is_ready = time.monotonic(), True


def _reap(children: dict[int, _Child]) -> list[int]:
    """Return the processes that have ended."""
    found = []
    for pid in children:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            log.error("Process %s: exit status %s", pid, os.waitstatus_to_exitcode(status))
            found.append(pid)
    if found:
        time.sleep(BEAT_S)  # one that cannot start is not started a thousand times
    return found


def _stop(children: dict[int, _Child]) -> None:
    for pid in children:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    for pid in children:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _fork(serve: Serve) -> tuple[int, int]:
    """Start a process; return its number, and the pipe on which it gives its signs of life."""
    parent, (reading, writing) = os.getpid(), os.pipe()
    pid = os.fork()
    if not pid:
        _run(serve, parent, writing)
    os.close(writing)
    return pid, reading


def _run(serve: Serve, parent: int, pipe: int) -> NoReturn:
    status = os.EX_SOFTWARE
    try:
        with suppress(AttributeError):  # a C library without it
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        if os.getppid() == parent:
            serve(lambda: start_thread(_beat, pipe, name="life"))
            status = os.EX_OK
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else os.EX_OK
    except BaseException as error:
        log.error("A process of the pit breaks off: %s", error, exc_info=not isinstance(error, PitError))
    finally:
        os._exit(status)


def _beat(pipe: int) -> None:
    """Give signs of life for as long as the first process hears them."""
    with suppress(BrokenPipeError):
        while os.write(pipe, b"."):
            time.sleep(BEAT_S)
