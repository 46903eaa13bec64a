"""How much of the record the pit has, in a small file that the table's health and `doctor` read.

Its time is on the monotonic clock, which all processes share: the wall clock of a box without a clock battery may be
years off. The file lies in /run, so it does not outlive that clock.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware.messages import Message, Text, text_of
from firmware.record.journal.disk import read_plain, write_whole
from firmware.record.stick_request import is_figure

if TYPE_CHECKING:
    from firmware.uplink.follow import UplinkStatus

FILE: Final = "heard.json"
WITNESS: Final = Path("var/lib/feltwatch-witness")
"""Where the uplink keeps what the table witnesses of the pit's log."""
FOLDER: Final = Path("run/feltwatch-uplink")
"""Where the service writes the file, from the root of the file system."""
ENROLLED: Final = Path("var/lib/feltwatch-uplink/uplink.toml")
"""Exists when the table is enrolled."""

MAX_BYTES: Final = 64 << 10
"""Bytes of the file; it has a few thousand."""
UNREADABLE: Final = (OSError, ValueError, LookupError, TypeError, RecursionError)
"""What reading the file may raise. It is not trusted: the uplink, which writes it, speaks to the network."""


def write_status(
    folder: Path, status: UplinkStatus, log_trouble: Text = "", checkpoint: Mapping[str, Any] | None = None
) -> None:
    """Replace the file. Raises OSError.

    `log_trouble`: what is wrong with the pit's log; `checkpoint`: what this table holds of it (`held_to_json`).
    """
    value = {
        "have": status.have.seq,
        "behind": status.behind,
        "at_s": status.at,
        "trouble": _to_json(status.trouble),
        "log_trouble": _to_json(log_trouble),
        "checkpoint": checkpoint,
    }
    write_whole(folder / FILE, json.dumps(value).encode())


def _to_json(text: Text) -> object:
    return text.to_json() if isinstance(text, Message) else text


def read_status(folder: Path, now_s: float) -> dict[str, Any] | None:
    """Return what the file says at a time of the monotonic clock; None where the uplink has not written it.

    `have`: the last row that the pit has; `silent_s`: seconds since the pit answered, None if it never did; `trouble`:
    why not, a text or a message's JSON; `log_trouble`: likewise, what is wrong with the pit's log.
    """
    try:
        value = json.loads(read_plain(folder / FILE, MAX_BYTES))
        if not (is_figure(value["at_s"]) and is_figure(value["have"])):
            return None
        at = float(value["at_s"])
        log_trouble = value["log_trouble"]
        text_of(value["trouble"]), text_of(log_trouble)  # raises for what is not a text
        return {
            "have": int(value["have"]),
            "silent_s": max(0.0, now_s - at) if at else None,
            "trouble": value["trouble"],
            "log_trouble": log_trouble,
        }
    except UNREADABLE:
        return None


def read_pit_status(root: Path, clock: float | None = None) -> dict[str, Any] | None:
    """Return what this machine knows of its pit; None if the table is not enrolled. `root`: of the file system."""
    try:
        if not (root / ENROLLED).exists():
            return None
    except OSError:
        return None
    never = {"have": 0, "silent_s": None, "trouble": "", "log_trouble": ""}
    return read_status(root / FOLDER, time.monotonic() if clock is None else clock) or never
