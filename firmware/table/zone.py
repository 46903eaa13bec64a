"""The time zone in which a process tells times."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

LOCALTIME: Final = Path("/etc/localtime")


def use_zone(name: str) -> None:
    """Tell times in this zone from now on: a process that runs does not see that the box has another one."""
    os.environ["TZ"] = name
    time.tzset()


def zone_now() -> str:
    """Return the name of the zone in which this process tells times; "" where nobody knows."""
    if named := os.environ.get("TZ", "").removeprefix(":"):
        return named
    try:
        return str(LOCALTIME.readlink()).partition("zoneinfo/")[2]
    except OSError:
        return ""
