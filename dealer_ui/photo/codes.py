"""The code that stands on the touchscreen and lets a phone in: it changes every ten minutes.

Two processes know it: the phone's page, which makes a secret when it starts, and the touchscreen's, which reads it from
a file. Both work the code out of the secret and the time, so nothing has to be sent between them.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware.record.journal.disk import write_private

SECRET: Final = Path("/run/feltwatch-photo/secret")
"""Where the phone's page keeps it as long as it runs."""
FIGURES: Final = 8
LASTS_S: Final = 600
GRACE_S: Final = 60
"""Seconds for which the code before still counts: somebody may be keying it."""


@dataclass(frozen=True)
class ShownCode:
    """The code of now. `left_s`: seconds until there is another."""

    code: str
    left_s: int

    @property
    def parted(self) -> str:
        """The code in two halves, easier to key."""
        return f"{self.code[: FIGURES // 2]} {self.code[FIGURES // 2 :]}"


class Codes:
    """The codes of a secret."""

    def __init__(self, secret: bytes, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` must be the same in both processes: the time since the machine started."""
        self._secret, self._clock = secret, clock

    @classmethod
    def new(cls, path: Path) -> Codes:
        """Make a secret, which the group may read. Raises OSError."""
        secret = secrets.token_bytes(32)
        write_private(path, secret, mode=0o640)
        return cls(secret)

    def shown(self) -> ShownCode:
        """Return the code of now."""
        now = self._clock()
        return ShownCode(self._at(now), LASTS_S - int(now % LASTS_S))

    def matches(self, keyed: str) -> bool:
        """Return whether this is the code of now, or was until a minute ago."""
        figures = "".join(keyed.split())[: FIGURES + 1].encode()
        now = self._clock()
        right = [hmac.compare_digest(figures, self._at(then).encode()) for then in (now, now - GRACE_S)]
        return any(right)

    def _at(self, when: float) -> str:
        digest = hmac.digest(self._secret, str(int(when // LASTS_S)).encode(), "sha256")
        return f"{int.from_bytes(digest[:8], 'big') % 10**FIGURES:0{FIGURES}}"


def running(path: Path) -> Codes | None:
    """Return the codes of the phone's page; None if it does not run."""
    try:
        return Codes(path.read_bytes())
    except OSError:
        return None
