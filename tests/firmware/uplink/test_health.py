"""What a heartbeat says of the box; what cannot be read is left out, never called well."""

from __future__ import annotations

from pathlib import Path

from dealer_ui.pit.tile import Health
from firmware.uplink.health import THERMAL, box_health


def test_temperature_room_and_power_are_read_from_the_box(tmp_path: Path) -> None:
    (tmp_path / THERMAL).parent.mkdir(parents=True)
    (tmp_path / THERMAL).write_text("71234\n")
    for number, alarm in enumerate(("0\n", "1\n")):
        hwmon = tmp_path / f"sys/class/hwmon/hwmon{number}"
        hwmon.mkdir(parents=True)
        (hwmon / "in0_lcrit_alarm").write_text(alarm)
    found = box_health(tmp_path, tmp_path)
    assert (found["celsius"], found["weak"]) == (71.2, True)
    assert 0 <= found["free_percent"] <= 100
    assert Health.of_json(found).weak


def test_what_the_box_does_not_tell_is_left_out(tmp_path: Path) -> None:
    assert box_health(tmp_path / "none", tmp_path) == {}
    (tmp_path / THERMAL).parent.mkdir(parents=True)
    (tmp_path / THERMAL).write_text("hot")
    assert "celsius" not in box_health(tmp_path, tmp_path)
