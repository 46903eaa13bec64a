"""What the heartbeat says of the table: when the table process last answered, its last row, its health verdicts.

All of it comes from the process's pulse file: the uplink cannot open the table's socket. Nothing is judged here.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message, Text
from firmware.pulse import FRESH_S, PulseCheck, read_pulse

MAX_BYTES: Final = 16_000
"""Bytes of the verdicts as JSON; more are not sent: the pit refuses a longer health, and with it the rows (`wire`)."""
OK: Final = "ok"


def table_health(path: Path, now_s: float) -> dict[str, Any]:
    """Return what the pulse file says at a time of the monotonic clock.

    `table_s`: seconds since the table process answered, None if there is no pulse; `row`: its last row then. `checks`:
    the checks that found something; `well`: the figures of the others. Neither is there if the process has not told it.
    """
    pulse = read_pulse(path)
    if pulse is None:
        return {"table_s": None}
    found: dict[str, Any] = {"table_s": round(pulse.age_s(now_s), 2), "row": pulse.seq}
    if pulse.checks is None:
        return found
    verdicts = {
        "checks": [_to_send(one) for one in pulse.checks if one.verdict != OK],
        "well": {one.name: one.figure for one in pulse.checks if one.verdict == OK},
    }
    return found | verdicts if len(json.dumps(verdicts)) <= MAX_BYTES else found


def answers(health: Mapping[str, Any]) -> bool:
    """Return whether a health says that the table process answers."""
    age_s = health.get("table_s")
    return age_s is not None and age_s <= FRESH_S


def _to_send(check: PulseCheck) -> dict[str, Any]:
    texts = {"title": _to_json(check.title), "says": _to_json(check.says)}
    return {"name": check.name, "verdict": check.verdict, "figure": check.figure, **texts}


def _to_json(text: Text) -> object:
    return text.to_json() if isinstance(text, Message) else text
