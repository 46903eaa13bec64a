"""A server of ours running on a thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

from waitress.channel import HTTPChannel

from tests.waiting import DEADLINE


@contextmanager
def running(server: Any, parts: dict[int, Any]) -> Iterator[None]:
    """Run a server of `dealer_ui.web.serve.make_server`; `parts` is what its loop looks at."""
    thread = Thread(target=server.run)
    thread.start()
    try:
        yield
    finally:
        server.task_dispatcher.shutdown()

        def close_all() -> None:
            for one in list(parts.values()):
                if isinstance(one, HTTPChannel):
                    one.handle_close()  # closes the files that it was sending, and wakes the thread that serves it
                else:
                    one.close()

        with suppress(OSError):
            server.trigger.pull_trigger(close_all)
        thread.join(DEADLINE)
