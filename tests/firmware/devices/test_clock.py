"""The clocks, on trees made up like a Pi's."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from firmware.devices.clock import SystemClock

BOOT = "c0f8a6f1-f228-478c-ac59-fd5f3675e7d7"


class Hands:
    """Two clocks set by hand."""

    def __init__(self) -> None:
        self.monotonic_ns = 5_000_000_000
        self.wall_ns = 1_790_000_000_000_000_000

    def pass_time(self, seconds: float, wall: float | None = None) -> None:
        self.monotonic_ns += int(seconds * 1e9)
        self.wall_ns += int((seconds if wall is None else wall) * 1e9)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def clock(tmp_path: Path, hands: Hands) -> SystemClock:
    boot_id = tmp_path / "proc/sys/kernel/random/boot_id"
    boot_id.parent.mkdir(parents=True)
    boot_id.write_text(BOOT + "\n")
    return SystemClock(tmp_path, lambda: hands.monotonic_ns, lambda: hands.wall_ns)


def test_a_clock_that_nobody_set_is_unknown_until_the_network_sets_it(
    clock: SystemClock, tmp_path: Path
) -> None:
    reading = clock.read()
    assert (reading.boot, reading.monotonic_ns, reading.wall_ms) == (BOOT, 5_000_000_000, 1_790_000_000_000)
    assert (reading.state, reading.rtc) == ("unknown", False)
    mark = tmp_path / "run/systemd/timesync/synchronized"
    mark.parent.mkdir(parents=True)
    mark.touch()
    assert clock.read().state == "synchronised"


def test_a_battery_backed_clock_that_set_the_time_is_seen(clock: SystemClock, tmp_path: Path) -> None:
    for name, used in (("rtc0", "0"), ("rtc1", "1")):
        (tmp_path / "sys/class/rtc" / name).mkdir(parents=True)
        assert not clock.read().rtc
        (tmp_path / "sys/class/rtc" / name / "hctosys").write_text(used + "\n")
    assert clock.read().rtc


@pytest.mark.parametrize(
    ("wall", "jumped_ms"), [(10.0, 0), (10.4, 0), (9.6, 0), (3610.0, 3_600_000), (-50.0, -60_000)]
)
def test_a_jump_is_told_once(clock: SystemClock, hands: Hands, wall: float, jumped_ms: int) -> None:
    assert clock.read().jumped_ms == 0
    hands.pass_time(10, wall=wall)
    assert clock.read().jumped_ms == jumped_ms
    hands.pass_time(10)
    assert clock.read().jumped_ms == 0


def test_a_clock_that_is_bent_slowly_does_not_jump(clock: SystemClock, hands: Hands) -> None:
    clock.read()
    hands.pass_time(86_400, wall=86_400 * 1.0005)
    assert clock.read().jumped_ms == 0


def test_the_systems_own_clocks_go_forward() -> None:
    clock = SystemClock()
    first, wall = clock.read(), time.time()
    second = clock.read()
    assert first.boot == second.boot == SystemClock().read().boot or not Path("/proc/sys/kernel").exists()
    assert first.monotonic_ns <= second.monotonic_ns
    assert abs(first.wall_ms / 1000 - wall) < 5


def test_without_a_boot_id_each_process_is_a_boot_of_its_own(tmp_path: Path) -> None:
    one, other = SystemClock(tmp_path).read(), SystemClock(tmp_path).read()
    assert one.boot
    assert one.boot != other.boot
