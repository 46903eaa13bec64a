"""How the table process answers the page's heartbeats, and since when it does not."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from firmware.messages import Message
from firmware.record.journal.witness import Head


@dataclass(frozen=True)
class TableAnswer:
    """The last answer. Without one, nothing is known of the table: what the page shows may be old."""

    is_answering: bool = False
    silent_since: str = ""
    """The box's time of the last answer, once answers have stopped; "" while they come, or where none ever came."""
    notice: Message | None = None
    """Why the last press of a push-button did nothing, while the page has to say it."""
    head: Head | None = None
    """The last row that the table wrote; None if it does not say."""

    def next(self, answer: Mapping[str, Any] | None, last_s: float) -> Self:
        """Return what is known after another heartbeat; `answer` is None if the table did not answer it.

        `last_s`: the wall clock's seconds when it last did.
        """
        if answer is not None:
            return type(self)(True, notice=_notice(answer), head=_head(answer))
        if not self.is_answering:
            return self
        return replace(
            self,
            is_answering=False,
            silent_since=time.strftime("%H:%M:%S", time.localtime(last_s)),
            notice=None,
            head=None,
        )


ANSWERING: Final = TableAnswer(True)


def _notice(answer: Mapping[str, Any]) -> Message | None:
    try:
        return Message.from_json(answer["screen"]["notice"]["why"])
    except (LookupError, TypeError, ValueError):
        return None


def _head(answer: Mapping[str, Any]) -> Head | None:
    seq, digest = answer.get("seq"), answer.get("hash")
    return (seq, digest) if isinstance(seq, int) and isinstance(digest, str) else None
