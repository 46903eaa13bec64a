"""SIGTERM and SIGINT end a program whatever state it is in: orderly if it can, else hard."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

NUMBERS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def call_at_signals(call: Callable[[], object]) -> Iterator[None]:
    """Call this at SIGINT and SIGTERM inside the block, on the main thread."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        call()

    before = {number: signal.signal(number, handle) for number in NUMBERS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stop_at_signals(stop: Callable[[], object], within: int) -> Iterator[None]:
    """Call `stop` at SIGINT and SIGTERM inside the block, on the main thread. It may raise SystemExit.

    If the block has not ended `within` seconds later, the kernel ends the process by SIGALRM. That needs no memory, no
    other thread and nothing that may hang. `within` lies below the service manager's own limit, TimeoutStopSec.
    """

    is_asked = False

    def end() -> None:
        nonlocal is_asked
        if not is_asked:  # a second signal gives no more time
            is_asked = True
            signal.alarm(within)
        try:
            stop()
        except MemoryError:  # it would be raised in the midst of anything
            return

    with call_at_signals(end):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        try:
            yield
        finally:
            signal.alarm(0)
