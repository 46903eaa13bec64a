"""The time zone of a process."""

import os
import time
from pathlib import Path
from typing import Final

LOCALTIME: Final = Path("/etc/localtime")


def use_zone(name: str) -> None:
    """Use this time zone from now on: a running process does not notice that the box's time zone was changed."""
    os.environ["TZ"] = name
    time.tzset()


def zone_now() -> str:
    """Return the name of this process's time zone; "" if it is unknown."""
    if named := os.environ.get("TZ", "").removeprefix(":"):
        return named
    try:
        return str(LOCALTIME.readlink()).partition("zoneinfo/")[2]
    except OSError:
        return ""
