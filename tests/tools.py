"""What only some tests need and a machine may lack: one table for the reasons to skip, and for the end of a run.

`@needs(GCC)` marks a test, `need(GCC)` stands in a fixture. After the last test, tests/conftest.py names what was
missing, with the command that installs it.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.browser.chrome import CHROMIUM as BROWSER

ROOT: Final = Path(__file__).parents[1]
SHARED: Final = Path(os.environ.get("FELTWATCH_SHARED") or ROOT.parent / "shared")
GO_LIBRARY: Final = Path("/usr/share/gocode")
_MICROPYTHON_MADE: Final = ROOT / "build/micropython/micropython"
MICROPYTHON_PROGRAM: Final = os.environ.get("FELTWATCH_MICROPYTHON") or (
    str(_MICROPYTHON_MADE) if _MICROPYTHON_MADE.exists() else "micropython"
)


@dataclass(frozen=True)
class Tool:
    """Something that a machine may lack; `get` is the command or the step that brings it."""

    name: str
    get: str
    is_there: Callable[[], bool]

    @property
    def reason(self) -> str:
        """Why a test of it is skipped."""
        return f"{self.name} missing: {self.get}"


def _all(*parts: str | Path) -> Callable[[], bool]:
    """Programs of the path, and absolute paths."""
    return lambda: all(Path(p).exists() if Path(p).is_absolute() else shutil.which(p) for p in parts)


def _debian(name: str, packages: str, *parts: str | Path) -> Tool:
    return Tool(name, f"sudo apt-get install {packages}", _all(*parts))


def _has_postgresql() -> bool:
    from pit.store.temporary_postgres import binaries  # loads psycopg, which most workers need not

    return binaries() is not None


CHROMIUM: Final = _debian("Chromium", "chromium", BROWSER)
CONTAINERS: Final = Tool(
    "Docker, Podman or Buildah",
    "sudo apt-get install podman",
    lambda: any(map(shutil.which, ("docker", "podman", "buildah"))),
)
GCC: Final = _debian("gcc", "gcc libc6-dev", "gcc")
GIT: Final = _debian("git", "git", "git")
GO: Final = _debian(
    "Go and its library",
    "golang-go golang-golang-x-mod-dev",
    "go",
    GO_LIBRARY / "src/golang.org/x/mod/sumdb/tlog",
)
KICAD: Final = Tool(
    "KiCad 9",
    "KiCad 9, from Debian 13 or the backports of Debian 12",
    _all("kicad-cli"),
)
KIOSK: Final = _debian(
    "The kiosk's programs",
    "cage chromium libgl1-mesa-dri x11-apps xdotool xvfb xwayland",
    *("Xvfb", "Xwayland", "cage", "chromium", "xwd", "xdotool"),
)
MACHINES: Final = _debian(
    "What boots a Debian", "mmdebstrap systemd-container", "mmdebstrap", "systemd-nspawn", "nsenter", "tar"
)
MICROPYTHON: Final = Tool("MicroPython", "make micropython", _all(MICROPYTHON_PROGRAM))
NGINX: Final = _debian(
    "nginx",
    "nginx-light libnginx-mod-stream",
    "/usr/sbin/nginx",
    "/usr/lib/nginx/modules/ngx_stream_module.so",
)
NPM: Final = _debian("npm", "npm", "npm")
OPENSCAD: Final = _debian("OpenSCAD", "openscad", "openscad")
PHOTOGRAPHS: Final = Tool(
    "The photographs",
    f"put them in {SHARED}, or name their folder in FELTWATCH_SHARED",
    _all(SHARED / "data"),
)
POSTGRESQL: Final = Tool("PostgreSQL", "sudo apt-get install postgresql", _has_postgresql)
PROMTOOL: Final = _debian("promtool", "prometheus", "promtool")
SCREEN: Final = Tool(
    "A screen",
    "sudo apt-get install xauth xvfb",
    lambda: "DISPLAY" in os.environ or shutil.which("xvfb-run") is not None,
)
SYSTEMD: Final = _debian("systemd", "systemd", "systemd-analyze", "systemd-sysusers")

TOOLS: Final = tuple(value for value in globals().values() if isinstance(value, Tool))


def missing(*tools: Tool) -> str:
    """Return the reasons to skip what needs these; "" where all of them are there."""
    return "; ".join(tool.reason for tool in tools if not tool.is_there())


def needs(*tools: Tool) -> pytest.MarkDecorator:
    """Return the mark that skips a test where one of these is missing."""
    reason = missing(*tools)
    return pytest.mark.skipif(bool(reason), reason=reason)


def need(*tools: Tool) -> None:
    """Skip the running test where one of these is missing."""
    if reason := missing(*tools):
        pytest.skip(reason)


def summary(reasons: Iterable[str]) -> list[str]:
    """Return a line for each tool for want of which tests were skipped, the most wanted first."""
    wanted = Counter(tool for reason in reasons for tool in TOOLS if tool.reason in reason)
    return [f"{tool.reason} ({number} skipped)" for tool, number in wanted.most_common()]
