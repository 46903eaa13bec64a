"""What the heartbeat says of the box: temperature, room on the disk, a weak power supply. Unknown is left out."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

THERMAL: Final = Path("sys/class/thermal/thermal_zone0/temp")
UNDERVOLTAGE: Final = "sys/class/hwmon/hwmon*/in0_lcrit_alarm"


def box_health(data: Path, root: Path = Path("/")) -> dict[str, Any]:
    """Return `celsius`, `free_percent` of the disk that `data` is on, and `weak`. `root` is of the box's files."""
    found: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        found["celsius"] = round(int((root / THERMAL).read_text()) / 1000, 1)
    with suppress(OSError, ZeroDivisionError):
        disk = os.statvfs(data)
        found["free_percent"] = round(100 * disk.f_bavail / disk.f_blocks, 1)
    for alarm in root.glob(UNDERVOLTAGE):
        with suppress(OSError, ValueError):
            found["weak"] = found.get("weak", False) or int(alarm.read_text()) == 1
    return found
