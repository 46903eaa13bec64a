"""A card in QEMU: the very image that is written to a Pi's card, on an emulated 64-bit ARM machine (`virt`).

The image's own kernel and initial RAM disk are given to QEMU, which has no Pi's firmware to read them. Nothing on the
card is changed: the test's things (an agent, a puck reader's far end, pictures for the camera) come in a second archive
behind the initial RAM disk, and lie in /run. What the box writes goes to an overlay of the image.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.image.check import partitions
from tests.install.machine import RunningMachine

HERE: Final = Path(__file__).parent
CARD_BYTES: Final = 8_000_000_000
"""The smallest card that can be bought is larger."""
BOOT_AT: Final = "4M"
ROOM: Final = "/run/room"
PATIENCE_S: Final = 7200.0
"""Seconds after which an emulated machine hangs: an update takes half an hour on a computer with much else to do."""
SHIFT: Final = 0
"""An instruction takes 2**SHIFT ns of the machine's own time, a Pi 5's about a quarter of one. Its deadlines are then
kept or missed by how much it has to do, however busy the computer is that emulates it."""

_ORDER: Final = """/scripts/local-bottom/card "$@"
[ -e /conf/param.conf ] && . /conf/param.conf
/scripts/local-bottom/room "$@"
"""
_INITIAL: Final = """#!/bin/sh
[ "${1-}" != prereqs ] || exit 0
mkdir -p /run/room /run/systemd/system/multi-user.target.wants
for file in /room/*; do cat "$file" >"/run$file"; done # the RAM disk's own programs have no cp
for unit in room-agent room-puck; do
    mv /run/room/$unit.service /run/systemd/system/
    ln -s /run/systemd/system/$unit.service /run/systemd/system/multi-user.target.wants/
done
"""
_AGENT: Final = """[Unit]
StartLimitIntervalSec=0
[Service]
ExecStart=/usr/bin/python3 -I /run/room/agent.py /dev/virtio-ports/room
Restart=always
RestartSec=1
"""
_PUCK: Final = """[Unit]
StartLimitIntervalSec=0
[Service]
Environment=TMPDIR=/run/room
ExecStart=/opt/feltwatch/current/bin/python /run/room/room.py /dev/feltwatch-puck
Restart=on-failure
"""


class Card(RunningMachine):
    """One card, and the machine that it is in. `disk` is what the machine has written."""

    PATIENCE_S = PATIENCE_S
    PAUSE_S = 2.0

    def __init__(
        self, image: Path, folder: Path, pictures: Path, stick: Path | None = None, pages: str = "16k"
    ) -> None:
        """Put the image into a machine.

        `pictures`: what the camera may see. `stick`: a disk that is plugged in. `pages`: of its kernel, 16k or 4k.
        """
        self.image = image
        self.folder = folder
        self.disk = folder / "card.qcow2"
        self._pages = pages
        self._stick = stick.resolve() if stick else None
        self._qemu: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._heard = b""
        self.lines: list[str] = []
        """What programs that are followed have printed."""
        for name in (f"vmlinuz-{pages}", f"initrd-{pages}.img"):
            source = f"{image}@@{BOOT_AT}"
            subprocess.run(["mcopy", "-n", "-o", "-i", source, f"::/{name}", folder / name], check=True)
        self._furnish(pictures)
        if not self.disk.exists():
            made = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(image.resolve())]
            subprocess.run([*made, str(self.disk), str(CARD_BYTES)], check=True)

    def _furnish(self, pictures: Path) -> None:
        tree = self.folder / "room"
        shutil.rmtree(tree, ignore_errors=True)
        scripts = tree / "scripts/local-bottom"
        scripts.mkdir(parents=True)
        (scripts / "ORDER").write_text(_ORDER)
        (scripts / "room").write_text(_INITIAL)
        (scripts / "room").chmod(0o755)
        shutil.copytree(pictures, tree / "room")
        for program in (HERE / "agent.py", HERE / "player.py", HERE.parent / "install/room.py"):
            shutil.copy(program, tree / "room")
        (tree / "room/room-agent.service").write_text(_AGENT)
        (tree / "room/room-puck.service").write_text(_PUCK)
        names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
        packed = subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc"],
            input=names.encode(),
            cwd=tree,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        first = (self.folder / f"initrd-{self._pages}.img").read_bytes()
        padding = bytes(-len(first) % 512)
        (self.folder / "initrd-and-room").write_bytes(first + padding + packed)

    # ---- power ----

    def switch_on(self, *, state: str = "", screen: bool = False) -> None:
        """Begin: cold, or from a state that `keep_state` kept; with a screen, or without."""
        arguments = "" if screen else "systemd.mask=feltwatch-kiosk.service"
        for old in ("room.sock", "monitor.sock"):
            (self.folder / old).unlink(missing_ok=True)
        stick = ["-drive", f"file={self._stick},if=none,id=stick,format=raw,readonly=on"]
        stick += ["-device", "virtio-blk-pci,drive=stick"]
        kernel = (
            f"console=ttyAMA0 root=PARTUUID=f317c0de-02 rootfstype=squashfs ro rootwait panic=10 {arguments}"
        )
        command = [
            *("qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a76", "-m", "2048"),
            *("-icount", f"shift={SHIFT},sleep=on", "-rtc", "base=utc,clock=vm"),
            *("-nodefaults", "-display", "none", "-nic", "none", "-device", "virtio-rng-pci"),
            *("-kernel", f"vmlinuz-{self._pages}", "-initrd", "initrd-and-room", "-append", kernel),
            *("-drive", "file=card.qcow2,if=none,id=card,format=qcow2,discard=unmap"),
            *("-device", "virtio-blk-pci,drive=card"),
            *(stick if self._stick else []),
            *("-device", "i6300esb", "-action", "watchdog=reset"),
            *("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=room,name=room"),
            *("-chardev", "socket,id=room,path=room.sock,server=on,wait=off"),
            *("-chardev", "socket,id=monitor,path=monitor.sock,server=on,wait=off"),
            *("-mon", "chardev=monitor,mode=readline", "-serial", "file:console.log"),
            *(["-device", "virtio-gpu-pci,xres=1280,yres=720"] if screen else []),
            *(["-loadvm", state, "-S"] if state else []),
        ]
        with (self.folder / "qemu.log").open("ab") as said:
            self._qemu = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        if self._line is not None:
            self._line.close()
        self._line, self._heard = None, b""
        self.lines.clear()
        self._line = self._reach("room.sock")
        if state:
            self._monitor("cont")  # nothing is said before there is somebody who listens

    def _reach(self, name: str) -> socket.socket:
        """Return a connection to one of QEMU's sockets, which come one after the other when it starts."""
        reached: list[socket.socket] = []

        def is_reached() -> bool:
            line = socket.socket(socket.AF_UNIX)
            try:
                line.connect(os.path.relpath(self.folder / name))
            except OSError:  # not there yet, or nobody listens yet
                line.close()
                return False
            reached.append(line)
            return True

        self._until(is_reached, f"QEMU opened {name}")
        return reached[0]

    def wait_until_up(self) -> None:
        """Wait until the agent answers."""
        self._until(lambda: self._hear(1.0).get("up") is True, "it is up")

    def cut_power(self) -> None:
        """Pull its plug: QEMU is killed."""
        if self._qemu is not None:
            self._qemu.send_signal(signal.SIGKILL)
            self._qemu.wait()
        self._qemu = None

    def wait_until_off(self) -> None:
        """Wait until it has switched itself off."""
        assert self._qemu is not None
        self._qemu.wait(PATIENCE_S)
        self._qemu = None

    def keep_state(self, name: str) -> None:
        """Keep memory and disk as they are now, to go on from them later (QEMU's savevm)."""
        said = self._monitor(f"savevm {name}")
        assert "Error" not in said, said

    def screen(self) -> Path:
        """Return a picture of what is on its screen; it has one if it was switched on with one."""
        picture = self.folder / "screen.png"
        self._monitor(f"screendump {picture.name} -f png")
        return picture

    def _monitor(self, command: str) -> str:
        with self._reach("monitor.sock") as monitor:
            monitor.settimeout(PATIENCE_S)
            monitor.sendall(f"{command}\n".encode())
            said = b""
            while said.count(b"(qemu)") < 2:
                said += monitor.recv(4096)
        return said.decode(errors="replace")

    # ---- what is typed ----

    def run(self, *command: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command on it as root."""
        answer = self._asked({"run": list(command)})
        done = subprocess.CompletedProcess(command, answer["rc"], answer["out"], answer["err"])
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done

    def python(self, program: str, *arguments: str) -> str:
        """Run a program of Python's own modules within the agent: an emulated Python takes seconds to start."""
        return str(self._asked({"python": program, "arguments": arguments})["out"])

    def seconds_up(self) -> float:
        """Seconds since its kernel started, by its own clock."""
        return float(self.run("cat", "/proc/uptime", check=True).stdout.split()[0])

    def put(self, path: str, content: bytes) -> None:
        """Write a file on it."""
        self._asked({"put": path, "base64": base64.b64encode(content).decode()})

    def follow(self, *command: str) -> None:
        """Begin a program on it; what it prints comes into `lines`."""
        self.lines.clear()
        self._asked({"follow": list(command)})

    def listen(self, seconds: float) -> list[str]:
        """Take what comes by itself, for a while; return all lines of the program that is followed."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._hear(left)
        return self.lines

    def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._line is not None
        self._line.settimeout(PATIENCE_S)
        self._line.sendall(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = {}

        def answered() -> bool:
            nonlocal answer
            answer = self._hear(1.0)
            return "rc" in answer

        self._until(answered, f"an answer to {str(request)[:100]}")
        return answer

    def _hear(self, seconds: float) -> dict[str, Any]:
        """Return the next message, {} after so many seconds; lines of followed programs are put aside."""
        assert self._line is not None
        end = time.monotonic() + seconds
        while b"\n" not in self._heard:
            self._line.settimeout(max(0.01, end - time.monotonic()))
            with suppress(TimeoutError, ConnectionResetError):
                self._heard += self._line.recv(65536)
            if time.monotonic() > end and b"\n" not in self._heard:
                return {}
        text, _, self._heard = self._heard.partition(b"\n")
        message: dict[str, Any] = json.loads(text)
        if "line" in message:
            self.lines.append(message["line"])
        return message

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert self._qemu is not None
            assert self._qemu.poll() is None, (self.folder / "qemu.log").read_text(errors="replace")[-2000:]
            assert time.monotonic() < deadline, f"in vain: {what}"
            time.sleep(0.01)

    # ---- what lies on the card ----

    def record(self, to: Path) -> Path:
        """Take the record off the card while it is off, as another computer would; return the folder of the record."""
        start, part = partitions(self.image)[3]["start"], self.folder / "record.ext4"
        fourth: dict[str, Any] = {"driver": "raw", "offset": start, "size": CARD_BYTES - start}
        fourth["file"] = {"driver": "qcow2", "file": {"driver": "file", "filename": str(self.disk)}}
        copy = ["qemu-img", "convert", "-O", "raw", f"json:{json.dumps(fourth)}", str(part)]
        subprocess.run(copy, check=True)
        subprocess.run(["e2fsck", "-f", "-y", part], check=False, capture_output=True)
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        for each in ("feltwatch", "feltwatch-key"):
            subprocess.run(["debugfs", "-R", f"rdump /{each} {to}", part], check=True, capture_output=True)
        return to / "feltwatch"
