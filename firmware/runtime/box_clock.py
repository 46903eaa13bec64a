"""Requests clock changes from the root service (`set_clock.py`): the table process may not set the clock itself."""

import json
import socket
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.table import CommandRefused
from firmware.table.topics.setup import SetClock

UNIT: Final = Path("/run/feltwatch-clock.sock")
"""The service manager's socket for it (systemd/units/feltwatch-clock.socket)."""
WITHIN: Final = 10.0
"""Timeout in seconds: half of the watchdog's interval."""
REFUSALS: Final = {
    "time": Message("That is no date and time: key the year, the month, the day, the hour and the minute."),
    "zone": Message("The box knows no such time zone."),
    "refused": Message("The box did not take that time. Its log says why."),
}


def ask(command: SetClock, unit: Path = UNIT) -> None:
    """Have the clock set. Raises CommandRefused with the reason if it was not set."""
    wanted = {"date": command.date, "time": command.time, "zone": command.zone}
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(WITHIN)
            line.connect(str(unit))
            line.sendall(json.dumps(wanted).encode() + b"\n")
            answer = json.loads(line.makefile("rb").readline(1000))
    except (OSError, ValueError) as error:
        raise CommandRefused(
            "This box has nothing that sets its clock. Set it with the box's own tools."
        ) from error
    if not answer.get("ok"):
        raise CommandRefused(REFUSALS.get(str(answer.get("why")), REFUSALS["refused"]))
