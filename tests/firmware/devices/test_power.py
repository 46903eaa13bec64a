"""Power and heat, from a vcgencmd and a /sys made up for the test."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from firmware.devices import power
from firmware.devices.power import Power, PowerReading, PowerWatch
from tests.waiting import DEADLINE, until


@pytest.fixture(autouse=True)
def answered_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell may take its time to start."""
    monkeypatch.setattr(power, "ANSWER_WITHIN", DEADLINE)


def box(tmp_path: Path, script: str, *zones: tuple[str, str]) -> Power:
    """A Pi whose vcgencmd is this shell script and whose thermal zones are these (type, temp)."""
    command = tmp_path / "vcgencmd"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    for number, (kind, temp) in enumerate(zones):
        zone = tmp_path / f"sys/class/thermal/thermal_zone{number}"
        zone.mkdir(parents=True)
        (zone / "type").write_text(kind + "\n")
        (zone / "temp").write_text(temp + "\n")
    return Power(tmp_path / "sys", str(command))


def throttled(flags: int) -> str:
    return f'[ "$1" = get_throttled ] && echo throttled={flags:#x}'


@pytest.mark.parametrize(
    ("flags", "now", "since_boot", "slow"),
    [
        (0x0, False, False, False),
        (0x50005, True, True, True),
        (0x50000, False, True, False),
        (0x1, True, False, False),
        (0x2, False, False, True),
        (0x80008, False, False, True),
    ],
)
def test_every_flag_is_told(tmp_path: Path, flags: int, now: bool, since_boot: bool, slow: bool) -> None:
    reading = box(tmp_path, throttled(flags), ("cpu-thermal", "48312")).read()
    assert reading == PowerReading(now, since_boot, slow, 48.312)


@pytest.mark.parametrize(
    "script",
    ["exit 1", "echo VCHI initialization failed", "echo throttled=0xzz", "echo throttled=", "printf '\\377'"],
)
def test_what_vcgencmd_cannot_tell_is_unknown(tmp_path: Path, script: str) -> None:
    reading = box(tmp_path, script, ("cpu-thermal", "48312")).read()
    assert reading == PowerReading(None, None, None, 48.312)
    assert reading.warnings() == []


def test_a_vcgencmd_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "ANSWER_WITHIN", 0.2)
    assert box(tmp_path, "exec sleep 1000").read().undervoltage is None


def test_a_computer_that_is_no_pi_knows_nothing_and_warns_of_nothing(tmp_path: Path) -> None:
    reading = Power(tmp_path, "no-such-command-here").read()
    assert reading == PowerReading(None, None, None, None)
    assert reading.warnings() == []


@pytest.mark.parametrize(
    ("zones", "temperature"),
    [
        ((("gpu", "90000"), ("cpu-thermal", "61000")), 61.0),
        ((("cpu-thermal", "nonsense"),), None),
        ((("gpu", "90000"),), None),
        ((("cpu-thermal", "-5000"),), -5.0),
    ],
)
def test_the_processors_own_sensor_is_read(
    tmp_path: Path, zones: tuple[tuple[str, str], ...], temperature: float | None
) -> None:
    assert box(tmp_path, throttled(0), *zones).read().temperature_c == temperature


@pytest.mark.parametrize(
    ("reading", "warnings"),
    [
        (PowerReading(False, False, False, 50.0), []),
        (PowerReading(True, True, True, 50.0), ["too weak: use"]),
        (PowerReading(False, True, False, 50.0), ["was too weak"]),
        (PowerReading(False, False, True, 79.9), ["slowly to cool down"]),
        (PowerReading(False, False, True, 80.0), ["80 °C"]),
        (PowerReading(True, True, True, 85.0), ["too weak", "85 °C"]),
    ],
)
def test_every_alarm_rings(reading: PowerReading, warnings: list[str]) -> None:
    said = reading.warnings()
    assert len(said) == len(warnings)
    assert all(part in str(sentence) for part, sentence in zip(warnings, said, strict=True))


def test_the_watch_tells_what_is_wrong_and_that_it_is_well_again(tmp_path: Path) -> None:
    flags = tmp_path / "flags"
    flags.write_text("throttled=0x1")
    watch = PowerWatch(box(tmp_path, f"cat {flags}"), every=0.02)
    watch.start()
    try:
        for wanted in ("too weak: use", "", "cool down"):
            flags.write_text(
                {"too weak: use": "throttled=0x1", "": "throttled=0x0"}.get(wanted, "throttled=0x4")
            )
            until(partial(_warns, watch, wanted))
    finally:
        watch.close()
        watch.close()


def _warns(watch: PowerWatch, wanted: str) -> bool:
    return wanted in str(watch.warning) if wanted else not watch.warning
