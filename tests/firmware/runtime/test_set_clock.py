"""The root program that sets the box's clock, from outside: what it believes, and what it runs.

It is run as the service manager runs it, with a timedatectl that writes down what it is told, and a folder of time
zones of its own. What the real timedatectl makes of it, on a booted box with a real clock: UNTESTED.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firmware.runtime.box_clock import ask
from firmware.table import CommandRefused
from firmware.table.topics.setup import SetClock

MODULE = "firmware.runtime.set_clock"


class Box:
    """A timedatectl and a folder of zones."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "told"
        self.program = folder / "timedatectl"
        self.zones = folder / "zoneinfo"
        (self.zones / "Europe").mkdir(parents=True)
        (self.zones / "Europe/Madrid").write_bytes(b"TZif2")
        (self.zones / "Europe/Nowhere").write_bytes(b"no zone at all")
        (self.zones / "Europe/Out").symlink_to(folder / "secret")
        (folder / "secret").write_bytes(b"TZif2")
        self.says(ntp="no")

    def says(self, ntp: str, refuses: str = "nothing") -> None:
        self.log.write_text("")
        self.program.write_text(
            f'#!/bin/sh\necho "$*" >> {self.log}\n'
            f'[ "$1" = {refuses} ] && {{ echo no >&2; exit 1; }}\n[ "$1" = show ] && echo {ntp}\nexit 0\n'
        )
        self.program.chmod(0o755)

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", "-m", MODULE, str(self.program), str(self.zones)]

    def send(self, line: bytes) -> dict[str, Any]:
        done = subprocess.run(self.command, input=line, capture_output=True, check=True, cwd=Path.cwd())
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def told(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def request(date: Any = "", time: Any = "", zone: Any = "") -> bytes:
    return json.dumps({"date": date, "time": time, "zone": zone}).encode() + b"\n"


@pytest.mark.slow
def test_zone_and_time_are_set_and_the_network_goes_on_correcting_where_it_did(box: Box) -> None:
    assert box.send(request("2026-11-22", "21:30", "Europe/Madrid")) == {"ok": True}
    show = "show --property=NTP --value"
    assert box.told() == ["set-timezone Europe/Madrid", show, "set-time 2026-11-22 21:30:00"]
    box.says(ntp="yes")
    assert box.send(request("2026-11-22", "21:30")) == {"ok": True}
    assert box.told() == [show, "set-ntp false", "set-time 2026-11-22 21:30:00", "set-ntp true"]
    box.says(ntp="yes", refuses="set-time")
    assert box.send(request("2026-11-22", "21:30")) == {"ok": False, "why": "refused"}
    assert box.told()[-1] == "set-ntp true", "a refused time leaves the network's as it was"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (request(zone="../Europe/Madrid"), "zone"),
        (request(zone="/etc/passwd"), "zone"),
        (request(zone="Europe/../Europe/Madrid"), "zone"),
        (request(zone="Europe/Nowhere"), "zone"),
        (request(zone="Europe/Out"), "zone"),
        (request(zone="Europe"), "zone"),
        (request(zone="--help"), "zone"),
        (request("2026-02-30", "10:00"), "time"),
        (request("1970-01-01", "10:00"), "time"),
        (request("2026-11-22", "24:00"), "time"),
        (request("2026-11-22", "1000"), "time"),
        (request("--adjust", "10:00"), "time"),
        (request("2026-11-22"), "request"),
        (request(), "request"),
        (request(zone=["Europe/Madrid"]), "request"),
        (request(zone="Europe/Madr\u00edd"), "request"),
        (b"", "request"),
        (b"x" * 100_000, "request"),
        (b"[" * 150, "request"),
        (b'{"date": "", "time": "", "zone": "Europe/Madrid", "more": 1}\n', "request"),
    ],
)
def test_what_is_no_date_time_or_zone_sets_nothing(box: Box, line: bytes, why: str) -> None:
    assert box.send(line) == {"ok": False, "why": why}
    assert box.told() == []


@pytest.fixture
def unit(box: Box, tmp_path: Path) -> Iterator[Path]:
    """The program behind a socket, begun for each connection as the service manager does."""
    path = tmp_path / "clock.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    return
                with line:
                    subprocess.run(box.command, stdin=line.fileno(), stdout=line.fileno(), check=True)

        thread = threading.Thread(target=serve)
        thread.start()
        yield path
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.slow
def test_the_table_asks_by_a_socket_and_a_refusal_is_a_sentence(box: Box, unit: Path) -> None:
    ask(SetClock(zone="Europe/Madrid"), unit)
    assert box.told() == ["set-timezone Europe/Madrid"]
    with pytest.raises(CommandRefused, match="no such time zone"):
        ask(SetClock(zone="Europe/Nowhere"), unit)
    with pytest.raises(CommandRefused, match="no date and time"):
        ask(SetClock(date="2026-13-01", time="10:00"), unit)


def test_a_box_without_the_unit_says_so(tmp_path: Path) -> None:
    with pytest.raises(CommandRefused, match="nothing that sets its clock"):
        ask(SetClock(zone="Europe/Madrid"), tmp_path / os.devnull.strip("/"))
