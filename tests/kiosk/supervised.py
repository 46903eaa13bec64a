"""The product's kiosk on a display of the test's own: `feltwatch kiosk`, cage, Chromium with its sandbox, no root."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from tests.kiosk.display import SIZE, Display, user
from tests.waiting import DEADLINE, until
from vision.base.arrays import Image

ROOT: Final = Path(__file__).parents[2]
NESTED: Final = {"WLR_BACKENDS": "x11", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"}
"""cage in a window. Its headless backend gives black pictures."""
PAGE_BGR: Final = (14, 16, 10)
"""The page's ground: nothing else on this display has this colour."""
NOTICE_BGR: Final = (92, 199, 242)
"""The ground of the line at its top while that says what is wrong, such as a press that did nothing."""
MIN_LIT: Final = 0.02
"""Minimum share of a page that is letters and cards."""


def is_full(picture: Image, size: tuple[int, int] = SIZE) -> bool:
    """Return whether the page fills a screen of this size, and nothing else is on it.

    All of the screen's edge is the page's ground, the line at its top maybe a notice's: no black part, no browser's
    error, bar or bubble. In it is something to read: in that line, and in the row of buttons at the bottom.
    """
    width, height = size
    page, head = picture[:height, :width], height // 6
    edges = ((page[:1], head), (page[-1:], 0), (page[:, :1], head), (page[:, -1:], head))
    if not all(_is_ground(edge, notice) for edge, notice in edges):
        return False  # before all of it is looked at: a picture is taken many times a second
    lit = page.max(axis=2) > 100
    top, bottom = lit[: height // 20], lit[-height // 8 :]
    return bool(min(lit.mean(), top.mean(), bottom.mean()) > MIN_LIT)


def _is_ground(part: Image, head: int) -> bool:
    """Return whether every pixel is the page's ground, or a notice's in the first rows."""
    ground, notice = (
        np.all(np.abs(part.astype(np.int16) - colour) <= 2, axis=2) for colour in (PAGE_BGR, NOTICE_BGR)
    )
    notice[head:] = False
    return bool((ground | notice).all())


@dataclass
class Kiosk:
    """A running kiosk, and its processes."""

    process: subprocess.Popen[bytes]
    home: Path
    display: Display
    sessions: set[int] = field(default_factory=set)
    """Those of its browsers, as they were seen."""

    @property
    def log(self) -> list[str]:
        """What the supervisor itself said."""
        lines = (self.home / "log").read_text(errors="replace").splitlines()
        return [line for line in lines if line.startswith("kiosk: ")]

    @property
    def starts(self) -> int:
        """How many browsers it has started."""
        return sum("The screen shows " in line for line in self.log)

    def processes(self, word: str = "") -> list[int]:
        """Return the processes of its browsers, also of those that are over, whose command holds a word."""
        found: dict[int, tuple[int, int, str]] = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                state, parent, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:  # one that has just ended
                continue
            if state != "Z" and int(entry.name) != self.process.pid:
                found[int(entry.name)] = int(parent), int(session), words
        self.sessions |= {pid for pid, (parent, _, _) in found.items() if parent == self.process.pid}
        return [
            pid
            for pid, (_, session, words) in found.items()
            if word in words and (session in self.sessions or str(self.home) in words)
        ]

    def signal(self, number: signal.Signals, word: str) -> None:
        """Send a signal to every process whose command holds a word; there must be one."""
        found = self.processes(word)
        assert found, word
        for pid in found:
            os.kill(pid, number)

    def wait_for_picture(self, size: tuple[int, int] = SIZE, *, upside_down: bool = False) -> Image:
        """Wait until the page fills the screen; a compositor that has just begun is given this screen first."""
        step = -1 if upside_down else 1
        seen: list[Image] = []

        def filled() -> bool:
            if self.process.poll() is not None:
                raise AssertionError("\n".join(self.log))
            self.display.resize(*size)
            seen[:] = [self.display.picture()[::step, ::step]]
            return is_full(seen[0], size)

        try:
            until(filled)
        except AssertionError as error:
            raise AssertionError("\n".join([*self.log, f"{error}; see {keep(seen[0])}"])) from error
        return seen[0]

    def wait_for_start(self, number: int) -> None:
        """Wait until so many browsers were started."""
        until(lambda: self.starts >= number)


def keep(picture: Image) -> Path:
    """Keep a picture for anyone who looks into a failed test; return where."""
    import cv2

    path = ROOT / "build/kiosk.png"
    path.parent.mkdir(exist_ok=True)
    cv2.imwrite(str(path), picture)
    return path


@contextmanager
def supervised(display: Display, page: str, config: str = "") -> Iterator[Kiosk]:
    """Run the kiosk on a display, with a house's configuration. Nothing of it is left afterwards."""
    home = Path(tempfile.mkdtemp(prefix="feltwatch-kiosk-"))
    os.chown(home, user(), user()) if os.geteuid() == 0 else None
    (home / "feltwatch.toml").write_text(config)
    command = [sys.executable, "-m", "tests.kiosk.as_user", str(user()), "kiosk"]
    command += ["--config", str(home / "feltwatch.toml")]
    environment = {**os.environ, **NESTED, **display.environment, "RUNTIME_DIRECTORY": str(home)}
    try:
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--page", page, "--training", "", "--faults", str(home / "faults")],
                env=environment,
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )
        kiosk = Kiosk(process, home, display)
        try:
            yield kiosk
        finally:
            kiosk.processes()  # takes note of them
            process.terminate()
            # the latter where it had hardly begun
            assert process.wait(DEADLINE) in (0, -signal.SIGTERM), kiosk.log
            until(lambda: not kiosk.processes())
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """Run the product's demo for a kiosk; yield the address of its page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "firmware.cli", "demo", "--kiosk", "--port", str(port), "--seed", "3"]
    with (folder / "demo.log").open("wb") as log:
        process = subprocess.Popen([*command, "--data", str(folder / "data")], stdout=log, stderr=log)
    try:
        until(
            lambda: "The dealer's page: " in (folder / "demo.log").read_text() or process.poll() is not None
        )
        assert process.poll() is None, (folder / "demo.log").read_text()
        yield f"http://127.0.0.1:{port}/?kiosk"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(DEADLINE)
