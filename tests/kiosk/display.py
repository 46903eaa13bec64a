"""An X server of the test's own, without a screen behind it: its picture, and what a hand and a cable do to it."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Self

import numpy as np

from tests.tools import KIOSK, missing
from tests.waiting import DEADLINE, until
from vision.base.arrays import Image

SIZE: Final = (1280, 720)
NOBODY: Final = 65534
_XWD: Final = struct.Struct(">25I")


def user() -> int:
    """Return the user who runs the kiosk: Chromium's own sandbox wants one who is not root."""
    return os.geteuid() or NOBODY


@cache
def why_not() -> str:
    """Why the kiosk cannot be run here; "" where it can."""
    if reason := missing(KIOSK):
        return reason
    as_user = {"user": user(), "group": user(), "extra_groups": []} if os.geteuid() == 0 else {}
    made = subprocess.run(
        ["unshare", "--user", "--pid", "--net", "--fork", "true"],
        check=False,
        capture_output=True,
        cwd="/",
        **as_user,  # type: ignore[call-overload]
    )
    return (
        "" if made.returncode == 0 else "a user may make no namespaces here, which Chromium's sandbox needs"
    )


class Display:
    """One X server. Nothing on it is black; the compositor's window lies at its upper left corner."""

    def __init__(self, folder: Path) -> None:
        """Start it; `folder` takes its log."""
        self._folder = folder
        self.name = ""
        self._process = self._start(["-displayfd", "1"])
        assert self._process.stdout is not None
        self.name = f":{self._process.stdout.readline().decode().strip()}"
        assert self.name != ":", (folder / "xvfb.log").read_text()

    def _start(self, more: list[str]) -> subprocess.Popen[bytes]:
        width, height = SIZE
        screen = ["-screen", "0", f"{width}x{height}x24", "-ac", "-noreset", "-nolisten", "tcp"]
        with (self._folder / "xvfb.log").open("ab") as log:
            return subprocess.Popen(["Xvfb", *more, *screen], stdout=subprocess.PIPE, stderr=log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pull()

    def pull(self) -> None:
        """Pull its cable: it is gone, and all windows on it."""
        self._process.kill()
        self._process.communicate()

    def plug(self) -> None:
        """Put the cable back: the same display, empty."""
        for left in (f"/tmp/.X{self.name[1:]}-lock", f"/tmp/.X11-unix/X{self.name[1:]}"):
            Path(left).unlink(missing_ok=True)
        self._process = self._start([self.name])
        until(lambda: self._run("xwd", "-root", "-silent", check=False).returncode == 0)

    @property
    def environment(self) -> Mapping[str, str]:
        """What a program needs to find it."""
        return {"DISPLAY": self.name}

    def picture(self) -> Image:
        """Return what is on it now, without the window's frame: it has none."""
        raw = self._run("xwd", "-root", "-silent").stdout
        header = _XWD.unpack_from(raw)
        size, width, height, bits, line, colours = (header[at] for at in (0, 4, 5, 11, 12, 19))
        pixels = np.frombuffer(raw, np.uint8, line * height, size + 12 * colours).reshape(height, line)
        depth = bits // 8  # 4 bytes; 3 where a window leaves a part of it free
        return pixels[:, : depth * width].reshape(height, width, depth)[:, :, :3].copy()

    def window(self) -> str:
        """Return the compositor's window, "" where there is none."""
        found = self._run("xdotool", "search", "--onlyvisible", "--name", "", check=False).stdout.split()
        return found[-1].decode() if found else ""

    def resize(self, width: int, height: int) -> bool:
        """Make the compositor's screen another one in size; False where there is none yet."""
        window = self.window()
        return (
            bool(window)
            and not self._run(
                "xdotool", "windowsize", window, str(width), str(height), check=False
            ).returncode
        )

    def switch_off(self) -> str:
        """Take the compositor's screen away; return what `switch_on` needs to give it back."""
        window = self.window()
        self._run("xdotool", "windowunmap", window)
        return window

    def switch_on(self, window: str) -> None:
        """Give the compositor's screen back."""
        self._run("xdotool", "windowmap", window)

    def click(self, x: int, y: int) -> None:
        """Press and let go at a point, in pixels."""
        self._run("xdotool", "mousemove", str(x), str(y), "click", "1")

    def press(self, *keys: int) -> None:
        """Press keys by their numbers one after the other, and let go of them."""
        downs = (word for key in keys for word in ("keydown", str(key)))
        ups = (word for key in reversed(keys) for word in ("keyup", str(key)))
        self._run("xdotool", *downs, *ups)

    def _run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command,
            check=check,
            capture_output=True,
            timeout=DEADLINE,
            env={**os.environ, **self.environment},
        )
