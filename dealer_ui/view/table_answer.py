"""How the table process answers the page's heartbeats, and since when it does not."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from firmware.messages import Message


@dataclass(frozen=True)
class TableAnswer:
    """The last answer. Without one, nothing is known of the table: what the page shows may be old."""

    is_answering: bool = False
    silent_since: str = ""
    """The box's time of the last answer, once answers have stopped; "" while they come, or where none ever came."""
    notice: Message | None = None
    """Why the last press of a push-button did nothing, while the page has to say it."""

    def next(self, answer: Mapping[str, Any] | None, last_s: float) -> Self:
        """Return what is known after another heartbeat; `answer` is None if the table did not answer it.

        `last_s`: the wall clock's seconds when it last did.
        """
        if answer is not None:
            return type(self)(True, notice=_notice(answer))
        if not self.is_answering:
            return self
        return replace(
            self,
            is_answering=False,
            silent_since=time.strftime("%H:%M:%S", time.localtime(last_s)),
            notice=None,
        )


ANSWERING: Final = TableAnswer(True)


def _notice(answer: Mapping[str, Any]) -> Message | None:
    try:
        return Message.from_json(answer["screen"]["notice"]["why"])
    except (LookupError, TypeError, ValueError):
        return None
