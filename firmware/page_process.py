"""The page in a process of its own, next to a table that one command starts: the demo's, and a webcam's."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from firmware.runtime.errors import AppError
from firmware.threads import start_thread

STARTS_WITHIN: Final = 120.0
"""Timeout in seconds for the busiest machine; a page process that ends earlier is reported at once."""
HOST: Final = "127.0.0.1"


@dataclass(frozen=True)
class PageProcess:
    """A running page."""

    process: subprocess.Popen[bytes]
    port: int
    output: IO[bytes]

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://{HOST}:{self.port}/"

    def wait(self) -> None:
        """Wait until it answers, be it that it starts. Raises AppError if it does not."""
        import urllib.error
        import urllib.request

        deadline = time.monotonic() + STARTS_WITHIN
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                with suppress(urllib.error.HTTPError), urllib.request.urlopen(self.address, timeout=10):
                    pass
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
                continue
            if self.process.poll() is None:
                return
        self.output.seek(0)
        last = self.output.read().decode(errors="replace").strip().splitlines()[-1:]
        raise AppError(
            last[0].removeprefix("Error: ")
            if last
            else "The page did not start; look for what holds its port."
        )


@contextmanager
def page_process(module: str, arguments: Sequence[object], port: int, folder: Path) -> Iterator[PageProcess]:
    """Run a module that serves the page on a port, and end it with the block. Its log lies in the folder."""
    with (folder / "page.log").open("w+b") as log:
        page = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments), str(port)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for this process, which then ends the page
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            yield PageProcess(page, port, log)
        finally:
            assert page.stdin is not None
            page.stdin.close()
            page.terminate()
            try:
                page.wait(5)
            except subprocess.TimeoutExpired:
                page.kill()
                page.wait()


def listen(port: int) -> socket.socket:
    """Open the page's port. Raises AppError."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise AppError(f"Port {port} is taken ({why}); choose another with --port.") from error


def need_free(port: int) -> None:
    """Check that the port is free: another program on it would answer instead of the page. Raises AppError."""
    listen(port).close()


def end_with_starter() -> None:
    """End this process once its starter, which holds the other end of the standard input, has ended."""
    start_thread(_wait_for_starter, name="starter")


def _wait_for_starter() -> None:
    os.read(sys.stdin.fileno(), 1)  # raw: the buffer's lock would prevent a clean end
    os._exit(0)
