"""What the service manager hears, over a real datagram socket; and the sockets that it hands over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firmware.record.journal.journal import Journal
from firmware.runtime.config import Config
from firmware.runtime.house_config import prepare_house
from firmware.runtime.table_devices import Devices
from firmware.runtime.table_process import TableProcess
from firmware.systemd import ServiceManager, sockets_from_manager
from tests.firmware.running_table import FakeReadings
from tests.waiting import DEADLINE


class Listener:
    """Stands where the service manager stands."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)

    def heard(self, within: float = 0.0) -> str:
        """The next thing said; "" where nothing is said in time."""
        self._socket.settimeout(within)
        try:
            return self._socket.recv(256).decode()
        except (BlockingIOError, TimeoutError):
            return ""

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def address(tmp_path: Path) -> str:
    return str(tmp_path / "notify")


@pytest.fixture
def manager(address: str) -> Iterator[Listener]:
    listener = Listener(address)
    yield listener
    listener.close()


def test_it_is_told_ready_once_and_then_that_the_work_goes_on_a_few_times_in_its_limit(
    manager: Listener, address: str
) -> None:
    now = [50.0]
    service = ServiceManager(address, watchdog_s=20, clock=lambda: now[0])
    said = []
    for _ in range(200):
        service.alive()
        said.append(manager.heard())
        now[0] += 0.1
    told = [word for word in said if word]
    assert told == ["READY=1", *["WATCHDOG=1"] * 3]


def test_without_a_watchdog_only_the_start_is_told(manager: Listener, address: str) -> None:
    now = [50.0]
    service = ServiceManager(address, clock=lambda: now[0])
    for _ in range(5):
        service.alive()
        now[0] += 100
    assert (manager.heard(), manager.heard()) == ("READY=1", "")


def test_an_abstract_address_is_understood() -> None:
    listener = Listener(f"\0feltwatch-test-{os.getpid()}")
    try:
        ServiceManager(f"@feltwatch-test-{os.getpid()}").alive()
        assert listener.heard() == "READY=1"
    finally:
        listener.close()


def test_a_manager_that_is_gone_is_no_reason_to_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ServiceManager(str(tmp_path / "nobody")).alive()
    assert "cannot be told READY=1" in caplog.text


def test_what_it_left_in_the_environment_is_for_this_process_only(address: str, manager: Listener) -> None:
    environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "1", "HOME": "/"}
    ServiceManager.from_environment(environment).alive()
    assert manager.heard() == "READY=1"
    assert environment == {"HOME": "/"}


def test_sockets_meant_for_another_process_are_not_taken() -> None:
    environment = {"LISTEN_PID": str(os.getpid() + 1), "LISTEN_FDS": "1"}
    assert sockets_from_manager(environment) == []
    assert sockets_from_manager({}) == []


def test_a_socket_that_was_handed_over_is_listened_on() -> None:
    program = (
        "import os; os.environ['LISTEN_PID'] = str(os.getpid())\n"
        "from firmware.systemd import sockets_from_manager\n"
        "one, = sockets_from_manager()\n"
        "print(one.getsockname()[1], one.get_inheritable(), 'LISTEN_FDS' in os.environ)"
    )
    with socket.create_server(("127.0.0.1", 0)) as ours:

        def as_third() -> None:
            os.dup2(ours.fileno(), 3)

        said = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "LISTEN_FDS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
            pass_fds=(3, ours.fileno()),
            preexec_fn=as_third,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert said == [str(ours.getsockname()[1]), "False", "False"]


@pytest.mark.slow
def test_a_table_whose_loop_hangs_falls_silent_and_one_that_works_does_not(
    tmp_path: Path, manager: Listener, address: str
) -> None:
    hang, hangs, go_on = threading.Event(), threading.Event(), threading.Event()

    def trouble() -> dict[str, str]:
        if hang.is_set():
            hangs.set()
            go_on.wait(DEADLINE)
        return {}

    service = ServiceManager(address, watchdog_s=1.0)
    config = Config(data=tmp_path / "data")
    with Journal(config.data) as journal:
        readings: Any = FakeReadings()
        table = TableProcess(
            config.data,
            journal,
            prepare_house(config, journal),
            Devices(None, None, None, trouble),
            readings,
            None,
            0.0,
        )
        thread = threading.Thread(target=table.run, args=(service.alive,))
        thread.start()
        try:
            assert manager.heard(DEADLINE) == "READY=1"
            assert [manager.heard(DEADLINE) for _ in range(3)] == ["WATCHDOG=1"] * 3
            hang.set()
            assert hangs.wait(DEADLINE)
            while manager.heard():
                pass
            assert manager.heard(1.0) == "", "its limit passes unheard"
        finally:
            hang.clear()
            go_on.set()
            table.stop()
            thread.join(DEADLINE)
        assert not thread.is_alive()
