"""Cables are pulled in the demo's room while it plays: the page says so, and everything comes back by itself."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow


class Demo:
    """A demo with its page; a person's hands in its room."""

    def __init__(self, command: list[str], data: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._address = f"http://127.0.0.1:{free.getsockname()[1]}"
        port = self._address.rpartition(":")[2]
        self.process = subprocess.Popen(
            [*command, "demo", "--port", port, "--data", str(data)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        assert port in self.process.stderr.readline()
        page = self._get("/sim")
        self._token = page.partition('csrf-token" content="')[2].partition('"')[0]

    def _get(self, path: str) -> str:
        with urllib.request.urlopen(self._address + path, timeout=DEADLINE) as answer:
            return str(answer.read().decode())

    def do(self, **order: object) -> None:
        headers = {"Content-Type": "application/json", "X-CSRF-Token": self._token}
        request = urllib.request.Request(f"{self._address}/sim/do", json.dumps(order).encode(), headers)
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            assert json.load(answer)["ok"]

    def until(self, device: str, so: Callable[[dict[str, Any]], bool]) -> None:
        """Wait until the page shows a device so."""

        def shown() -> dict[str, Any]:
            devices: list[dict[str, Any]] = json.loads(self._get("/view.json"))["devices"]
            return next(one for one in devices if one["name"] == device)

        until(lambda: so(shown()))


@pytest.fixture
def room(feltwatch: list[str], tmp_path: Path) -> Iterator[Demo]:
    demo = Demo(feltwatch, tmp_path)
    yield demo
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.stderr is not None
    with demo.process.stderr:
        assert demo.process.wait(DEADLINE) == 0


def test_the_page_says_what_is_broken_and_everything_comes_back_by_itself(room: Demo) -> None:
    for device in ("camera", "puck"):
        room.do(do=device, what="unplug")
        room.until(device, lambda shown: shown["ok"] is not True)
        room.do(do=device, what="replug")
        room.until(device, lambda shown: shown["ok"] is True)

    def is_told(shown: dict[str, Any]) -> bool:
        told = "no picture" in shown["text"]
        if not told:
            # again: anyone who opens it again gets pictures, and nobody is told
            room.do(do="camera", what="hang")
        return told

    room.until("camera", is_told)
    room.until("camera", lambda shown: shown["ok"] is True)
