"""`feltwatch run` and `feltwatch ui` as the service manager starts them: what it hears, what it hands over."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firmware.cli.run import run
from firmware.record.journal.journal import JournalReader
from firmware.record_folder import SOCKET
from firmware.runtime import device_factory as equipment
from firmware.runtime.config import NO_SCREEN, CameraConfig, Config, PowerConfig, PuckConfig
from firmware.runtime.table_devices import Devices
from firmware.table_client import TableLink
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.slow


class Manager:
    """Stands where the service manager stands, its watchdog set to two seconds."""

    def __init__(self, folder: Path) -> None:
        self.address = str(folder / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.settimeout(DEADLINE)

    def hears(self, what: str) -> None:
        assert self._socket.recv(256).decode() == what

    def fell_silent(self) -> bool:
        """Read what was said; return whether nothing comes for three times the watchdog's seconds."""
        self._socket.settimeout(6)
        try:
            self._socket.recv(256)
        except TimeoutError:
            return True
        finally:
            self._socket.settimeout(DEADLINE)
        return False

    def close(self) -> None:
        self._socket.close()

    @contextmanager
    def started(self, *command: str, port: socket.socket | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """Start a program; `port` becomes its descriptor 3."""

        def hand_over() -> None:
            if port is not None:
                os.dup2(port.fileno(), 3)

        environment = {**os.environ, "NOTIFY_SOCKET": self.address, "WATCHDOG_USEC": "2000000"}
        with subprocess.Popen(
            command,
            env=environment,
            pass_fds=() if port is None else (3, port.fileno()),
            preexec_fn=hand_over,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                yield process
            finally:
                process.kill()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(tmp_path)
    yield manager
    manager.close()


def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "feltwatch.toml"
    path.write_text(
        f'data = "{tmp_path / "data"}"\nin_memory = true\nkey = "{tmp_path / "key"}"\n'
        f'[camera]\nkind = "files"\ndevice = "{tmp_path / "none"}"\n'
        f'[puck]\nport = "{tmp_path / "no-puck"}"\n'
    )
    return path


def test_a_table_without_any_device_says_that_it_is_ready_and_goes_on_saying_that_it_works(
    tmp_path: Path, manager: Manager
) -> None:
    with manager.started(
        sys.executable, "-m", "firmware.cli", "run", "--config", str(config_file(tmp_path))
    ) as table:
        manager.hears("READY=1")
        for _ in range(3):
            manager.hears("WATCHDOG=1")
        table.send_signal(signal.SIGTERM)
        assert table.wait(DEADLINE) == 0


def test_a_table_that_takes_no_commands_feeds_no_watchdog_and_its_successor_answers(
    tmp_path: Path, manager: Manager
) -> None:
    command = (sys.executable, "-m", "firmware.cli", "run", "--config", str(config_file(tmp_path)))
    link = TableLink(tmp_path / "data" / SOCKET, timeout=DEADLINE)
    with manager.started(*command) as deaf:
        manager.hears("READY=1")
        manager.hears("WATCHDOG=1")
        link.path.unlink()  # nobody reaches it any more, while its loop turns
        until(manager.fell_silent)
        assert deaf.poll() is None
    with manager.started(*command):  # as the manager does then
        manager.hears("READY=1")
        manager.hears("WATCHDOG=1")
        assert link.send({"do": "heartbeat"})["ok"]


def test_a_page_serves_the_port_that_it_is_handed_and_says_that_it_works(
    tmp_path: Path, manager: Manager
) -> None:
    script = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" -m firmware.cli ui --data "$1" --port 1'
    with (
        socket.create_server(("127.0.0.1", 0)) as port,
        manager.started("sh", "-c", script, sys.executable, str(tmp_path), port=port) as page,
    ):
        manager.hears("READY=1")
        address = f"http://127.0.0.1:{port.getsockname()[1]}/"
        with urllib.request.urlopen(address, timeout=DEADLINE) as answer:
            assert answer.status == 200
        manager.hears("WATCHDOG=1")
        page.send_signal(signal.SIGTERM)
        assert page.wait(DEADLINE) == 0


def test_a_table_whose_mains_is_gone_asks_to_be_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "poweroff"
    config = Config(
        data=tmp_path / "data",
        key=tmp_path / "key",
        camera=CameraConfig(kind="files", device=tmp_path / "none"),
        puck=PuckConfig(port=str(tmp_path / "no-puck")),
        power=PowerConfig(between_hands_s=0.2, at_latest_s=60, request=asked),
        in_memory=True,
        screen=NO_SCREEN,
    )
    monkeypatch.setattr(
        equipment, "open_devices", lambda _: Devices(None, None, None, mains_gone=lambda: True)
    )
    over = threading.Event()

    def switch_off() -> None:  # as the service manager does, once it sees the file
        for _ in range(600):
            if asked.exists() or over.wait(0.1):
                break
        os.kill(os.getpid(), signal.SIGTERM)

    watcher = threading.Thread(target=switch_off)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    watcher.start()
    try:
        run(config)
    finally:
        over.set()
        watcher.join()
        for number, handler in before.items():
            signal.signal(number, handler)
    assert asked.exists()
    assert JournalReader(config.data).events_since(0)[0].type == "table_started"
