"""Waitress's threads: one that does not start is an error (`firmware.threads`)."""

from collections.abc import Callable

from waitress.task import ThreadedTaskDispatcher

from firmware.threads import start_thread


class RequestThreads(ThreadedTaskDispatcher):
    """Starts all its threads at once. Raises NoThread."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.set_thread_count(count)

    def start_new_thread(self, target: Callable[[int], object], thread_no: int) -> None:
        """Start one; waitress calls it."""
        start_thread(target, thread_no, name=f"waitress-{thread_no}")
