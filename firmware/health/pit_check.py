"""The check of the pit: up to which row it has this table's record, or for how long it has not answered."""

from collections.abc import Mapping
from typing import Any, Final

from firmware.health.check import CheckFinding, Verdict
from firmware.messages import Message, in_turn, message_of, text_of

SILENT_S: Final = 60.0
"""Seconds without an answer after which people are told: the uplink speaks every 10 s, and tries again every 30 s."""
_CONFLICT: Final = Message(
    "Play goes on. Keep the file conflict.txt in /var/lib/feltwatch-witness for surveillance, then delete it there."
)


def check_pit(pit: Mapping[str, Any] | None, rows: int | None) -> CheckFinding | None:
    """Return how the pit stands with this table; None for a table that is not enrolled.

    `pit`: what `firmware.uplink.status_file.read_status` returns; `rows`: the record's last row. The figure is the
    last row that the pit has, "" if it has none.
    """
    if pit is None:
        return None
    row, silent_s, trouble = pit["have"], pit["silent_s"], text_of(pit["trouble"])
    figure = str(row) if row else ""
    if log_trouble := text_of(pit.get("log_trouble", "")):
        return Verdict.BAD, figure, message_of(log_trouble), _CONFLICT
    if silent_s is not None and silent_s <= SILENT_S:
        says = Message("The pit has everything up to row %(row)s.", row=row)
        if waiting := max(0, (rows or 0) - row):
            says = Message(
                "The pit has everything up to row %(row)s; %(waiting)s more are on their way.",
                row=row,
                waiting=waiting,
            )
        return Verdict.OK, figure, says, None
    if silent_s is None:
        says = Message("The pit has not heard this table since the uplink was started.")
    else:
        says = Message("The pit has not heard this table for %(minutes)s min.", minutes=int(silent_s // 60))
    if trouble:
        says = message_of(in_turn((says, trouble)))
    advice = Message(
        "Play goes on; the record waits here and is sent later. See why: journalctl -u feltwatch-uplink"
    )
    return Verdict.LOOK, figure, says, advice
