"""A box on its battery asks to be switched off: between hands soon, in the middle of a hand late, once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from firmware.runtime.config import PowerConfig, load_config
from firmware.runtime.errors import ConfigError
from firmware.runtime.power_off import PowerOff
from firmware.table.phase import BETWEEN_HANDS, OPEN, Phase


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    return tmp_path / "poweroff"


@pytest.fixture
def power_off(request_file: Path, clock: Clock) -> PowerOff:
    return PowerOff(PowerConfig(between_hands_s=30, at_latest_s=120, request=request_file), clock)


def on_battery(power_off: PowerOff, clock: Clock, seconds: float, phase: Phase) -> None:
    """Turn the table's loop for so long, as often as it does."""
    for _ in range(int(seconds * 10)):
        power_off.update(True, phase)
        clock.now += 0.1


@pytest.mark.parametrize("phase", sorted(BETWEEN_HANDS))
def test_between_hands_it_asks_once_the_mains_is_gone_for_long(
    power_off: PowerOff, clock: Clock, request_file: Path, phase: Phase
) -> None:
    on_battery(power_off, clock, 29, phase)
    assert not request_file.exists()
    on_battery(power_off, clock, 2, phase)
    assert request_file.exists()


@pytest.mark.parametrize("phase", sorted(OPEN))
def test_an_open_hand_gets_as_long_as_the_battery_lasts_for_sure(
    power_off: PowerOff, clock: Clock, request_file: Path, phase: Phase
) -> None:
    on_battery(power_off, clock, 119, phase)
    assert not request_file.exists()
    on_battery(power_off, clock, 2, phase)
    assert request_file.exists()


def test_a_hand_that_ends_on_the_battery_ends_the_waiting(
    power_off: PowerOff, clock: Clock, request_file: Path
) -> None:
    on_battery(power_off, clock, 60, Phase.REVIEW)
    assert not request_file.exists()
    power_off.update(True, Phase.ARCHIVED)
    assert request_file.exists()


def test_mains_that_comes_back_cancels_it_and_the_next_cut_counts_again(
    power_off: PowerOff, clock: Clock, request_file: Path
) -> None:
    on_battery(power_off, clock, 29, Phase.IDLE)
    power_off.update(False, Phase.IDLE)
    on_battery(power_off, clock, 29, Phase.IDLE)
    assert not request_file.exists()


def test_it_asks_once_a_cut(power_off: PowerOff, clock: Clock, request_file: Path) -> None:
    on_battery(power_off, clock, 31, Phase.IDLE)
    request_file.unlink()
    on_battery(power_off, clock, 31, Phase.IDLE)
    assert not request_file.exists()
    power_off.update(False, Phase.IDLE)
    on_battery(power_off, clock, 31, Phase.IDLE)
    assert request_file.exists()


def test_where_nobody_can_be_asked_the_table_goes_on_and_says_so(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    nobody = PowerOff(PowerConfig(request=tmp_path / "no" / "poweroff"), clock)
    on_battery(nobody, clock, 31, Phase.IDLE)
    assert "switch it off by hand" in caplog.text


def test_a_hand_that_would_get_less_than_no_hand_is_a_mistake_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "feltwatch.toml"
    file.write_text("[power]\nbetween_hands_s = 60\nat_latest_s = 30\n")
    with pytest.raises(ConfigError, match="power: at_latest_s lies before between_hands_s"):
        load_config(file)
