"""A program under a service manager, with a shim that has its n-th allocation, thread start, open or read fail."""

from __future__ import annotations

import errno
import mmap
import os
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

SHIM: Final = Path(__file__).with_name("failure_shim.c")
KINDS: Final = ("allocation", "thread", "open", "read")
ERRORS: Final = {
    "allocation": (errno.ENOMEM,),
    "thread": (errno.EAGAIN,),
    "open": (errno.EMFILE, errno.ENOMEM, errno.EIO),
    "read": (errno.EIO,),
}
_CONTROL: Final = struct.Struct("=4i7q")
START_WITHIN: Final = 90.0
"""Seconds as TimeoutStartSec of the table's unit."""
STOP_WITHIN: Final = 20.0
FOR_EVER: Final = 1 << 60


def load_shim(folder: Path) -> Path:
    """Compile the shim and return its file."""
    out = folder / "failure_shim.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", out, SHIM, "-ldl", "-lpthread"], check=True)
    return out


@dataclass(frozen=True)
class Failure:
    """The calls of one kind that fail, by their numbers since arming, from 1."""

    kind: str
    first: int
    last: int
    error: int

    def __str__(self) -> str:
        upto = "" if self.last == self.first else f" to {self.last}"
        return f"{self.kind} {self.first}{upto}, {errno.errorcode[self.error]}"


class Service:
    """Starts a program, feeds on its watchdog messages, and starts it again when it ends or is silent."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        shim: Path,
        watchdog_s: float,
        port: socket.socket | None = None,
    ) -> None:
        """`watchdog_s`: seconds; `port`: a listening socket that is handed over, as by feltwatch-ui.socket."""
        self._command, self._shim, self._limit, self._port = command, shim, watchdog_s, port
        self.log = folder / "log"
        self._notify = folder / "notify"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self._notify))
        self._socket.settimeout(0.05)
        control = folder / "control"
        control.write_bytes(bytes(mmap.PAGESIZE))
        with control.open("r+b") as file:
            self._control = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self._environment = {
            **os.environ,
            "LD_PRELOAD": str(shim),
            "FAILURE_CONTROL": str(control),
            "PYTHONMALLOC": "malloc",
            "PYTHONFAULTHANDLER": "1",
            "NOTIFY_SOCKET": str(self._notify),
            "WATCHDOG_USEC": str(int(watchdog_s * 1e6)),
        }
        self.limit_at_start = START_WITHIN
        self.process: subprocess.Popen[bytes] | None = None
        self.ends: list[str] = []
        """How each process ended so far."""
        self._over = threading.Event()
        self._wanted: Failure | None = None
        self._thread = threading.Thread(target=self._manage, name="service manager", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    # ---- what fails ----

    def arm(self, failure: Failure | None, *, at_start: bool = False) -> None:
        """Have calls fail from now on, or in the next process from its start. None: only count."""
        self._wanted = failure if at_start else None
        if not at_start and self.process is not None:
            self._write(self.process.pid, failure)

    def disarm(self) -> tuple[dict[str, int], int]:
        """Let nothing fail; return the calls counted since arming by kind, and how many failed."""
        *_, allocation, thread, opened, read, failed = _CONTROL.unpack_from(self._control)
        self._wanted = None
        self._write(0, None)
        return dict(zip(KINDS, (allocation, thread, opened, read), strict=True)), failed

    @property
    def failed(self) -> int:
        """Calls that failed since arming."""
        return int(_CONTROL.unpack_from(self._control)[-1])

    def _write(self, pid: int, failure: Failure | None) -> None:
        self._control[:4] = bytes(4)  # nobody, while the rest changes
        what = failure or Failure("allocation", 0, 0, 0)
        kind = KINDS.index(what.kind)
        self._control[: _CONTROL.size] = _CONTROL.pack(
            0, kind, what.error, 0, what.first, what.last, 0, 0, 0, 0, 0
        )
        self._control[:4] = struct.pack("=i", pid)

    # ---- the service manager ----

    def _manage(self) -> None:
        while not self._over.is_set():
            self._run_once()

    def _run_once(self) -> None:
        wanted, self._wanted = self._wanted, None
        self._write(0, None)
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *self._command],
                env=self._environment | ({"LISTEN_FDS": "1"} if self._port else {}),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=() if self._port is None else (3, self._port.fileno()),
                preexec_fn=self._hand_over if self._port is not None else None,
            )
        if wanted is not None:
            self._write(process.pid, wanted)
        self.process = process
        heard, limit = time.monotonic(), self.limit_at_start
        while process.poll() is None and not self._over.is_set():
            try:
                self._socket.recv(256)
                heard, limit = time.monotonic(), self._limit
            except TimeoutError:
                if time.monotonic() - heard > limit:
                    self.ends.append("silent")
                    self._end(process, signal.SIGABRT)
                    return
        if self._over.is_set():
            self._end(process, signal.SIGTERM)
        else:
            self.ends.append(f"ended {process.returncode}")
            self._end(process, signal.SIGKILL)

    def _hand_over(self) -> None:
        assert self._port is not None
        os.dup2(self._port.fileno(), 3)

    def _end(self, process: subprocess.Popen[bytes], number: int) -> None:
        """End it and its children, as KillMode=mixed does."""
        with suppress(ProcessLookupError):
            process.send_signal(number)
        try:
            process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self.ends.append("killed")
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
