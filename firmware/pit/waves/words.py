"""What a wave and its tables are called, for terminal and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from firmware.messages import Message
from firmware.pit.waves.plan import Accepted, Failure, Mark, Phase
from firmware.pit.waves.store import Wave, WaveTable

MARKS: Final[Mapping[Mark, Message]] = {
    Mark.WAITS: Message("not yet"),
    Mark.ASKED: Message("asked"),
    Mark.RUNS: Message("started, no hand settled well yet"),
    Mark.UPDATED: Message("updated"),
    Mark.FAILED: Message("failed"),
    Mark.STRUCK: Message("struck off"),
}
FAILURES: Final[Mapping[Failure, Message]] = {
    Failure.SILENT: Message("not heard of"),
    Failure.LATE: Message("not updated in time"),
    Failure.WENT_BACK: Message("runs another release again"),
    Failure.REFUSED: Message("refused the release"),
    Failure.ASKS: Message("asks about twice as many cards"),
}
TO_DO: Final[Mapping[Failure, Message]] = {
    Failure.SILENT: Message(
        "Look whether the table and its network are on. Then try it again, or go on without it."
    ),
    Failure.LATE: Message("See at the table what it waits for. Then try it again, or go on without it."),
    Failure.WENT_BACK: Message(
        "The new release did not stay on this table. Read its log before any other table gets it."
    ),
    Failure.REFUSED: Message("Clear away what it names. Then try it again, or go on without it."),
    Failure.ASKS: Message(
        "Look at its last hands and at the camera's picture. Go on without it only if the release is not the cause."
    ),
}
"""What a person does when a table has stopped a wave for this."""
ACCEPTED: Final[Mapping[Accepted, Message]] = {
    Accepted.NO_WAIT: Message("the wave does not wait for it"),
    Accepted.LEFT_OUT: Message("left out"),
}
STATES: Final[Mapping[str, Message]] = {
    "fetched": Message("has the file"),
    "waiting": Message("has the file and waits"),
}
STEPS: Final = (Message("One table"), Message("A share of the tables"), Message("The rest"))


def said(wave: Wave, tables: Sequence[WaveTable]) -> Message:
    """Return in one sentence how a wave is."""
    updated = sum(one.mark is Mark.UPDATED for one in tables)
    sums = {"updated": updated, "num": len(tables)}
    match wave.phase:
        case Phase.DONE:
            return Message("The wave is over. %(updated)s of %(num)s tables are updated.", **sums)
        case Phase.RUNNING:
            waited = [one for one in tables if is_waited_for(one)]
            if not waited:
                return Message("%(updated)s of %(num)s tables are updated.", **sums)
            names = waited[0].name if len(waited) == 1 else _names(waited)
            return Message(
                "%(updated)s of %(num)s tables are updated. The wave waits for %(names)s.",
                **sums,
                names=names,
            )
    causes = [one for one in tables if one.has_stopped]
    if causes:
        because = Message(
            "%(name)s: %(what)s", name=causes[0].name, what=FAILURES[causes[0].failure or Failure.LATE]
        )
        return Message(
            "The wave was stopped: %(why)s. %(updated)s of %(num)s tables are updated.", **sums, why=because
        )
    if wave.phase_by:
        return Message(
            "The wave was stopped by %(who)s. %(updated)s of %(num)s tables are updated.",
            **sums,
            who=wave.phase_by,
        )
    return Message("The wave was stopped: no table is left that it waits for.")


def is_waited_for(one: WaveTable) -> bool:
    """Return whether a running wave waits for a table now."""
    return (
        one.reached_at is not None
        and one.accepted is Accepted.NOTHING
        and one.mark in (Mark.WAITS, Mark.ASKED, Mark.RUNS)
    )


def _names(waited: Sequence[WaveTable]) -> Message:
    return Message("%(name)s and %(count)s more", name=waited[0].name, count=len(waited) - 1)
