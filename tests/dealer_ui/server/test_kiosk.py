"""`feltwatch kiosk` as a process, with a stand-in for the compositor and a server that says what it is told to.

The real browser on a real display: tests/kiosk.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dealer_ui.server.kiosk import BROWSER, address_to_show, command
from dealer_ui.server.kiosk_turn import COMPOSITOR, compositor, turned_deg
from tests.dealer_ui.served import listening
from tests.processes import is_alive
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow

CAGE = """#!/bin/sh
# Stands where the compositor stands; what it starts does not end when it is asked to.
for last; do :; done
printf '%s\\n' "$*" >"$HOME/arguments"
sh -c 'trap "" TERM; while :; do sleep 0.1; done' &
echo "$$ $! $last" >>"$HOME/starts"
[ -e "$HOME/stays" ] || exit 7
wait
"""


@dataclass
class Page:
    """What the page's server answers."""

    painting: bool = True
    """Whether the page acknowledges what it paints."""
    answers: bool = True
    leaving: bool = False
    asked: int = 0
    _last: float = field(default_factory=time.monotonic)

    def __call__(self, _: Any, start: Any) -> list[bytes]:
        """Answer a request."""
        self.asked += 1
        now = time.monotonic()
        if self.painting:
            self._last = now
        start("200 OK" if self.answers else "503 Busy", [("Content-Type", "application/json")])
        said = {"painted_s": now - self._last, "leaving": self.leaving, "up_s": 1000.0}
        return [json.dumps(said).encode()]


@dataclass
class KioskProcess:
    """The command, and what it has started."""

    folder: Path
    page: Page
    address: str
    process: subprocess.Popen[bytes]

    @property
    def starts(self) -> list[list[str]]:
        """The process id of each compositor and of its child, and what it was to show."""
        try:
            lines = (self.folder / "home/starts").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [line.split(" ", 2) for line in lines]

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def wait_for_asking(self, times: int = 8) -> None:
        before = self.page.asked
        until(lambda: self.page.asked >= before + times)

    def wait_for_start(self, number: int) -> None:
        until(lambda: len(self.starts) >= number)


@pytest.fixture
def page() -> Page:
    return Page()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "cage").write_text(CAGE)
    (programs / "cage").chmod(0o755)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/stays").touch()
    (tmp_path / "faults").mkdir()
    return {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "RUNTIME_DIRECTORY": str(tmp_path / "home"),
        "FELTWATCH_FAULTS": str(tmp_path / "faults"),
    }


@pytest.fixture
def kiosk(tmp_path: Path, page: Page, environment: dict[str, str]) -> Iterator[KioskProcess]:
    """The command, running; whatever a test puts into its environment is there before."""
    with listening(page) as port, (tmp_path / "log").open("wb") as log:
        address = f"http://127.0.0.1:{port}/?kiosk"
        arguments = ["kiosk", "--page", address, "--training", ""]
        process = subprocess.Popen(
            [sys.executable, "-m", "firmware.cli", *arguments], env=environment, stderr=log, stdout=log
        )
        supervised = KioskProcess(tmp_path, page, address, process)
        try:
            supervised.wait_for_start(1)
            yield supervised
        finally:
            process.terminate()
            assert process.wait(DEADLINE) == 0, supervised.log
            assert not [one for pids in supervised.starts for one in pids[:2] if is_alive(int(one))]


def test_a_page_that_is_painted_is_left_alone(kiosk: KioskProcess) -> None:
    kiosk.wait_for_asking(10)
    assert [shown for *_, shown in kiosk.starts] == [kiosk.address]
    assert (
        (kiosk.folder / "home/arguments")
        .read_text()
        .startswith(" ".join((*COMPOSITOR[1:], "--", *BROWSER[:2])))
    )


LATER_CAGE = """#!/bin/sh
# Debian 13's, which turns nothing by itself: its usage, or what follows the --.
[ "$1" != -h ] || { printf 'Usage: cage [OPTIONS] [--] APPLICATION\\n\\n -s\\t Allow VT switching\\n'; exit; }
while [ "$1" != -- ]; do shift; done; shift; exec "$@"
"""
RANDR = """#!/bin/sh
[ $# = 0 ] || { echo "$*" >>"$HOME/turned"; exit; }
printf 'HDMI-A-1 "Waveshare"\\n  Enabled: yes\\n  Transform: normal\\nHDMI-A-2 "none"\\n  Enabled: no\\n'
"""


def test_a_compositor_that_cannot_turn_the_picture_has_it_turned_before_the_browser_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one, by picture: tests/kiosk/test_screen.py."""
    for name, text in (("cage", LATER_CAGE), ("wlr-randr", RANDR)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = subprocess.run([*compositor(270), "echo", "a  page"], check=True, capture_output=True, text=True)
    assert shown.stdout == "a  page\n"
    turned = (tmp_path / "turned").read_text().splitlines()
    assert turned == [f"--output HDMI-A-{number} --transform 270" for number in (1, 2)]
    assert compositor(0) == (*COMPOSITOR, "--")


@pytest.mark.parametrize(
    ("said", "turned"),
    [
        ("[screen]\nturned_deg = 90\n", 90),
        ("", 0),
        ("[screen]\nturned_deg = 45\n", 0),
        ("[screen", 0),
        ("screen = 3\n", 0),
    ],
)
def test_a_configuration_that_says_no_turn_leaves_the_picture_as_it_is(
    tmp_path: Path, said: str, turned: int
) -> None:
    (tmp_path / "feltwatch.toml").write_text(said)
    assert turned_deg(tmp_path / "feltwatch.toml") == turned
    assert turned_deg(tmp_path / "none.toml") == turned_deg(None) == 0


def test_a_page_that_is_not_painted_any_more_takes_every_process_with_it_and_comes_again(
    kiosk: KioskProcess,
) -> None:
    kiosk.wait_for_asking()
    kiosk.page.painting = False
    kiosk.wait_for_start(2)
    kiosk.page.painting = True
    first = kiosk.starts[0]
    assert not any(is_alive(int(pid)) for pid in first[:2])
    assert "The browser was killed: it had painted nothing new for 3." in kiosk.log
    kiosk.wait_for_asking()
    assert len(kiosk.starts) == 2


def test_while_the_server_does_not_answer_nothing_is_started_again_and_the_log_says_so(
    kiosk: KioskProcess,
) -> None:
    kiosk.wait_for_asking()
    kiosk.page.painting = kiosk.page.answers = False
    kiosk.wait_for_asking(10)  # that takes more than four seconds
    assert len(kiosk.starts) == 1
    assert "The page's server does not answer: nothing is watched." in kiosk.log
    kiosk.page.painting = kiosk.page.answers = True
    kiosk.wait_for_asking()
    assert len(kiosk.starts) == 1
    assert "The page's server answers." in kiosk.log


def test_a_page_that_is_being_left_is_waited_for(kiosk: KioskProcess) -> None:
    kiosk.wait_for_asking()
    kiosk.page.leaving, kiosk.page.painting = True, False
    kiosk.wait_for_asking(10)
    assert len(kiosk.starts) == 1


@pytest.mark.parametrize("which", [0, 1])
def test_a_browser_that_is_killed_comes_again_at_once(kiosk: KioskProcess, which: int) -> None:
    os.kill(int(kiosk.starts[0][which]), signal.SIGKILL)
    if which == 1:  # `wait` in the stand-in ends with its child
        until(lambda: not is_alive(int(kiosk.starts[0][0])))
    kiosk.wait_for_start(2)
    assert not any(is_alive(int(pid)) for pid in kiosk.starts[0][:2])
    assert "The browser ended: " in kiosk.log
    assert "The browser is started again now." in kiosk.log


def test_a_browser_that_never_stays_is_started_less_and_less_often_and_the_log_says_so(
    kiosk: KioskProcess,
) -> None:
    (kiosk.folder / "home/stays").unlink()
    os.kill(int(kiosk.starts[0][0]), signal.SIGKILL)
    kiosk.wait_for_start(4)
    until(
        lambda: "The browser ended: exit code 7. The browser is started again in 1.0 s, after 3" in kiosk.log
    )
    (kiosk.folder / "home/stays").touch()


def test_a_browser_that_painted_nothing_gets_a_new_profile(kiosk: KioskProcess) -> None:
    damaged = kiosk.folder / "home/chromium/Default"
    damaged.mkdir(parents=True)
    (kiosk.folder / "faults/feltwatch-ui.html").touch()
    os.kill(int(kiosk.starts[0][0]), signal.SIGKILL)
    kiosk.wait_for_start(2)  # the fault page is not watched, so nobody knows what this one paints
    os.kill(int(kiosk.starts[1][0]), signal.SIGKILL)
    kiosk.wait_for_start(3)
    assert not damaged.exists()


def test_the_locks_of_a_killed_browser_are_no_obstacle(kiosk: KioskProcess) -> None:
    kiosk.wait_for_asking(2)
    profile = kiosk.folder / "home/chromium"
    profile.mkdir()
    (profile / "SingletonLock").symlink_to("elsewhere-4711")
    (profile / "Preferences").touch()
    os.kill(int(kiosk.starts[0][0]), signal.SIGKILL)
    kiosk.wait_for_start(2)
    assert [path.name for path in profile.iterdir()] == ["Preferences"]


def test_where_a_service_stays_down_its_page_is_shown_and_nothing_is_watched(kiosk: KioskProcess) -> None:
    fault = kiosk.folder / "faults/feltwatch-table.html"
    fault.touch()
    os.kill(int(kiosk.starts[0][0]), signal.SIGKILL)
    kiosk.wait_for_start(2)
    assert kiosk.starts[1][2] == f"file://{fault}"
    asked = kiosk.page.asked
    fault.unlink()
    os.kill(int(kiosk.starts[1][0]), signal.SIGKILL)
    kiosk.wait_for_start(3)
    assert kiosk.page.asked - asked <= 1, "one question may have been under way"
    assert kiosk.starts[2][2] == kiosk.address


@pytest.mark.parametrize("failed", [(), ("feltwatch-ui",), ("feltwatch-table", "feltwatch-ui")])
def test_the_first_of_several_fault_pages_is_shown(tmp_path: Path, failed: tuple[str, ...]) -> None:
    for name in failed:
        (tmp_path / f"{name}.html").touch()
    (tmp_path / ".fault.x1").touch()
    page = "http://127.0.0.1:8013/?kiosk"
    assert address_to_show(page, tmp_path) == (f"file://{tmp_path}/{failed[0]}.html" if failed else page)
    assert address_to_show(page, tmp_path / "none") == page


def test_the_service_manager_is_told_that_it_is_ready_and_that_it_is_alive(
    tmp_path: Path, page: Page, environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(DEADLINE)
        environment |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "2000000"}
        kiosk = request.getfixturevalue("kiosk")
        assert manager.recv(64) == b"READY=1"
        assert manager.recv(64) == b"WATCHDOG=1"
        kiosk.page.answers = False  # nor is that a reason for silence
        kiosk.wait_for_asking(2)
        while manager.recv(64) == b"WATCHDOG=1" and kiosk.page.asked < 6:
            pass


def test_without_a_folder_of_its_own_it_says_what_is_missing() -> None:
    done = CliRunner().invoke(command, [], env={"RUNTIME_DIRECTORY": None})
    assert done.exit_code == 2
    assert "--home" in done.output


def test_a_compositor_that_is_not_there_is_tried_again_and_said(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "bin/cage").unlink()
    environment["PATH"] = str(tmp_path / "bin")
    log = tmp_path / "log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "firmware.cli", "kiosk"], env=environment, stderr=said
        )
        try:
            until(lambda: "after 3 that did not last" in log.read_text())
            assert "The browser cannot be started: " in log.read_text()
        finally:
            process.terminate()
            assert process.wait(DEADLINE) == 0
