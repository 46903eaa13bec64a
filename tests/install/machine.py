"""A Debian machine of the test's own: a tree that mmdebstrap made, booted by systemd-nspawn, its screen a stand-in.

It needs root, and nothing of systemd outside: `--register=no --keep-unit` works where systemd is not process 1.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from firmware.update.release import sign_release
from firmware.update.trust import Target
from tests.tools import MACHINES, missing
from tests.waiting import DEADLINE

LONG: Final = 5 * DEADLINE
"""Seconds after which the machine hangs. An upgrade makes a whole environment, next to every other test."""
SUITE: Final = "bookworm"
PACKAGES: Final = "systemd,systemd-sysv,dbus,udev,libpam-systemd,python3-venv,nginx-light,libnginx-mod-stream"
NEXT_SUITE: Final = "trixie"
PAGE: Final = "http://127.0.0.1:8013"

_FROM_BEFORE: Final = (
    'list=$1/etc/apt/sources.list && cp "$list" "$list.own" && sed s/{here}/{before}/ "$list.own" >>"$list"'
    ' && chroot "$1" apt-get update --quiet && chroot "$1" env DEBIAN_FRONTEND=noninteractive'
    " apt-get install --yes --quiet --no-install-recommends {packages}"
)

_ASK: Final = """
import json, re, sys, urllib.error, urllib.request
page, order = sys.argv[1:]
def ask(path, body=None, headers={}):
    request = urllib.request.Request(page + path, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)
if order.startswith("/"):
    print(json.dumps(ask(order)))
else:
    token = re.search('name="csrf-token" content="([^"]*)"', ask("/")[1])
    headers = {"Content-Type": "application/json", "X-CSRF-Token": token[1] if token else ""}
    print(json.dumps(ask("/command", order.encode(), headers)))
"""

_CAGE: Final = """#!/usr/bin/python3
# Stands where compositor and browser stand: tells what would be on the screen, and acknowledges it as the page does.
import http.cookiejar, json, os, re, sys, time, urllib.parse, urllib.request
page = sys.argv[-1]
with open(os.environ["RUNTIME_DIRECTORY"] + "/shown", "w") as shown:
    shown.write(page + "\\n")
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
token = ""
while True:
    try:
        if page.startswith("http:"):
            if not token:
                text = browser.open(page, timeout=5).read().decode()
                token = re.search('name="csrf-token" content="([^"]*)"', text)[1]
            seq = json.load(browser.open(urllib.parse.urljoin(page, "/view.json"), timeout=5))["seq"]
            headers = {"Content-Type": "application/json", "X-CSRF-Token": token}
            body = json.dumps({"seq": seq, "leaving": False}).encode()
            browser.open(urllib.request.Request(urllib.parse.urljoin(page, "/painted"), body, headers), timeout=5)
    except (OSError, ValueError, TypeError, KeyError):
        token = ""
    time.sleep(0.4)
"""

_SCREEN: Final = """[Unit]
ConditionPathExists=
[Service]
TTYPath=
PAMName=
UtmpIdentifier=
StandardInput=null
"""

_ROOM: Final = """[Service]
Environment=PYTHONPATH=/srv/room TMPDIR=/srv/room
ExecStart=python3 /srv/room/room.py /dev/feltwatch-puck
[Install]
WantedBy=multi-user.target
"""


@cache
def why_not() -> str:
    """Why no machine can be made here; "" where one can."""
    if os.geteuid() != 0:
        return "only root can boot a machine"
    if reason := missing(MACHINES):
        return reason
    mounts = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "none", "/mnt"]
    refused = subprocess.run(mounts, capture_output=True, check=False).returncode != 0
    return "root may mount nothing here, so it can boot no machine" if refused else ""


def base_tree(folder: Path, packages: str = PACKAGES, suite: str = SUITE, *, from_before: str = "") -> Path:
    """Make the tree that machines start from, once. Needs Debian's archive.

    `from_before`: packages of the suite before, as one that was upgraded from it still has them.
    """
    archive = folder / f"{suite}-{zlib.crc32((packages + from_before).encode()):08x}.tar"
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = archive.with_suffix(".new.tar")
        command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}"]
        if from_before:
            command.append(
                f"--customize-hook={_FROM_BEFORE.format(here=suite, before=SUITE, packages=from_before)}"
            )
        subprocess.run([*command, suite, str(made)], check=True)
        made.rename(archive)
    return archive


class RunningMachine:
    """A machine that is up, whatever it runs in: what is typed at it, and what its page answers."""

    PATIENCE_S = LONG
    PAUSE_S = 0.5
    """Between two looks at what is waited for."""

    def run(self, *command: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command on it as root."""
        raise NotImplementedError

    def python(self, program: str, *arguments: str) -> str:
        """Run a program of Python's own modules on it; return what it prints."""
        return self.run("python3", "-c", program, *arguments).stdout

    def log(self) -> str:
        """The end of its log."""
        said = self.run(
            "journalctl", "--no-pager", "--lines=60", "--unit=feltwatch*", "--output=short-monotonic"
        )
        return said.stdout

    def unit(self, name: str, what: str) -> str:
        """A property of a unit."""
        return self.run("systemctl", "show", "--value", f"--property={what}", name).stdout.strip()

    def ask(self, order: str | dict[str, Any]) -> tuple[int, Any]:
        """Ask the page: a path, or a command that is touched on it. The status (0: no answer) and what it says."""
        text = order if isinstance(order, str) else json.dumps(order)
        status, body = json.loads(self.python(_ASK, PAGE, text) or '[0, ""]')
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body

    def is_up(self) -> bool:
        """Whether the page answers, for itself and for the table."""
        status, said = self.ask("/healthz")
        return status == 200 and said["ok"] is True

    def shown(self) -> str:
        """What is on its screen."""
        shown = self.run("cat", "/run/feltwatch-kiosk/shown")
        return shown.stdout.strip()

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something to be so."""
        deadline = time.monotonic() + self.PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"in vain: {what}\n{self.log()}"
            time.sleep(self.PAUSE_S)


class Machine(RunningMachine):
    """One machine. `root` is its tree: what lies on its disk may be looked at from outside."""

    def __init__(self, root: Path, archive: Path) -> None:
        """Unpack the tree and put the room's things in."""
        self.root = root
        root.mkdir(parents=True)
        subprocess.run(["tar", "--extract", "--file", archive, "--directory", root], check=True)
        self._nspawn: subprocess.Popen[bytes] | None = None
        self._leader = 0
        self._begun: list[subprocess.Popen[bytes]] = []

    @property
    def data(self) -> Path:
        """The record, as it lies on its disk."""
        return self.root / "var/lib/feltwatch"

    def file(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file onto its disk."""
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(mode)

    def furnish(self, ours: Path, pyserial: Path) -> None:
        """Put a puck reader and a screen next to it; the reader's far end is run from these wheels."""
        room = self.root / "srv/room"
        for wheel in (ours, pyserial):
            shutil.unpack_archive(wheel, room, "zip")
        shutil.copy(Path(__file__).with_name("room.py"), room)
        self.file("/etc/systemd/system/room.service", _ROOM)
        wanted = self.root / "etc/systemd/system/multi-user.target.wants/room.service"
        wanted.parent.mkdir(exist_ok=True)
        wanted.symlink_to("/etc/systemd/system/room.service")
        self.file("/usr/bin/cage", _CAGE, 0o755)
        self.file("/usr/bin/chromium", "#!/bin/sh\n", 0o755)
        self.file("/etc/systemd/system/feltwatch-kiosk.service.d/test.conf", _SCREEN)

    # ---- power ----

    def boot(self) -> None:
        """Switch it on and wait until it is up."""
        with (self.root.parent / "boot.log").open("ab") as said:
            self._nspawn = subprocess.Popen(
                ["systemd-nspawn", "--register=no", "--keep-unit", "--quiet", "--private-network"]
                + ["--console=pipe", "--directory", str(self.root), "--boot"],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.wait(self._find_leader, "it has a first process")
        self.wait(
            lambda: (
                self.run("systemctl", "is-system-running", "--wait").stdout.strip() in ("running", "degraded")
            ),
            "it booted",
        )

    def _find_leader(self) -> bool:
        assert self._nspawn is not None
        assert self._nspawn.poll() is None, (self.root.parent / "boot.log").read_text(errors="replace")[
            -2000:
        ]
        found = Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children").read_text().split()
        for pid in found:
            if b"systemd\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                self._leader = int(pid)
        return bool(self._leader) and self.run("systemctl", "is-system-running").returncode < 5

    def wait_until_off(self) -> None:
        """Wait until it has switched itself off."""
        assert self._nspawn is not None
        self._nspawn.wait(LONG)
        self._nspawn, self._leader = None, 0

    def cut_power(self) -> None:
        """Pull its plug: every process of it is gone at once.

        What `start` began goes first. The machine's own first process takes some tenths of a second to be gone, in
        which an installer would find no service manager any more, and go back: no real installer gets that far.
        """
        self.stop_begun()
        if self._nspawn is not None:
            self._nspawn.kill()
            self._nspawn.wait()
            if self._leader:
                self._kill_leader()
            self._nspawn, self._leader = None, 0

    def _kill_leader(self) -> None:
        leader = Path(f"/proc/{self._leader}")
        if leader.exists():
            # the first process of its namespace: the kernel kills all others with it
            os.kill(self._leader, 9)
        self.wait(
            lambda: not leader.exists() or "\nState:\tZ" in (leader / "status").read_text(), "it is off"
        )

    # ---- what a technician types ----

    def _inside(self, command: Sequence[str]) -> list[str]:
        enter = ["nsenter", f"--target={self._leader}", "--mount", "--uts", "--ipc", "--net", "--pid"]
        environment = [
            "env",
            "-i",
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME=/root",
        ]
        return [*enter, "--root", "--wd", *environment, *command]

    def run(self, *command: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command on it as root."""
        done = subprocess.run(
            self._inside(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}\n{self.log()}"
        return done

    def start(self, *command: str) -> None:
        """Begin a command on it as root; a power cut ends it."""
        nothing = subprocess.DEVNULL
        begun = subprocess.Popen(
            self._inside(command), stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
        self._begun.append(begun)

    def stop_begun(self) -> None:
        """End what was begun with `start`."""
        for begun in self._begun:
            with suppress(ProcessLookupError):
                os.killpg(begun.pid, signal.SIGKILL)
            begun.wait()
        self._begun.clear()


def make_release(repository: Path, folder: Path, python: str = "3.11") -> Path:
    """Build the checkout's release for this machine and a Debian's Python, and unpack it; return its folder."""
    machine = os.uname().machine
    subprocess.run(
        [repository / "systemd/release", machine, python],
        check=True,
        cwd=repository,
        env={**os.environ, "PYTHON": sys.executable, "FELTWATCH_RELEASE_KEY": str(release_key(folder))},
    )
    (archive,) = (repository / "dist").glob(f"feltwatch-*-{machine}.tar.gz")
    folder.mkdir()
    subprocess.run(["tar", "--extract", "--gzip", "--file", archive, "--directory", folder], check=True)
    (made,) = folder.iterdir()
    return made


def release_key(folder: Path) -> Path:
    """Where the release key of the releases in and next to a folder lies."""
    return folder.parent / "release-key"


def another_release(
    release: Path, name: str, wheel_edits: Sequence[tuple[str, str, str]], later: int = 0
) -> None:
    """Make an unpacked release another one: its name, and files of our wheel in which one text is put for another.

    With nothing to be put away, the file is a new one. `later`: so many seconds later its sources were made.
    """
    _rename_and_edit(release, name, wheel_edits)
    made = int((release / "MADE").read_text()) + later
    (release / "MADE").unlink()  # it is a hard link
    (release / "MADE").write_text(f"{made}\n")


def sign(release: Path, key: Path, into: Path, machine: str = os.uname().machine) -> Target:
    """Pack an unpacked release into the folder of a repository, which is what is carried to a box, and sign it."""
    archive = into / "targets" / f"{release.name}.tar.gz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz", compresslevel=0) as packed:  # wheels are compressed already
        packed.add(release, release.name, filter=_of_root)
    return sign_release(archive, into, key, made=int((release / "MADE").read_text()), machine=machine)


def _of_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _rename_and_edit(release: Path, name: str, wheel_edits: Sequence[tuple[str, str, str]]) -> None:
    (release / "RELEASE").unlink()  # it is a hard link
    (release / "RELEASE").write_text(name + "\n")
    if not wheel_edits:
        return
    (wheel,) = (release / "wheels").glob("feltwatch-*.whl")
    unpacked = release / "unpacked"
    shutil.unpack_archive(wheel, unpacked, "zip")
    for path, old, new in wheel_edits:
        if not old:
            (unpacked / path).write_text(new, encoding="utf-8")
            continue
        text = (unpacked / path).read_text(encoding="utf-8")
        assert old in text, f"{path} is no longer as this test knows it"
        (unpacked / path).write_text(text.replace(old, new, 1), encoding="utf-8")
    Path(shutil.make_archive(str(wheel), "zip", unpacked)).replace(wheel)
    shutil.rmtree(unpacked)
