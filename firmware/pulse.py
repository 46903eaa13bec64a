"""The table process's pulse: a small file that says when the table's own socket last answered.

For programs that may not open that socket, such as the uplink. The time is on the clock that counts since the machine
started, which all processes share: a box without a clock battery may be years off. The file lies in /run, so it does
not outlive that clock.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from firmware.messages import Text, text_of

PULSE: Final = Path("run/feltwatch-pulse/pulse.json")
"""Where `feltwatch run` writes it on a box, from the root of the file system."""
FRESH_S: Final = 3.0
"""Seconds after which a pulse no longer shows that the table process answers; it is written every half second."""


@dataclass(frozen=True)
class PulseCheck:
    """The verdict of one health check, as the table process has it."""

    name: str
    verdict: str
    """A `firmware.health.check.Verdict`."""
    title: Text
    says: Text
    figure: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able data, its texts with their templates."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "title": _to_json(self.title),
            "says": _to_json(self.says),
            "figure": self.figure,
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the check that `to_json` wrote. Raises ValueError, LookupError, TypeError for anything else."""
        return cls(
            str(data["name"]),
            str(data["verdict"]),
            text_of(data["title"]),
            text_of(data["says"]),
            str(data["figure"]),
        )


@dataclass(frozen=True)
class Pulse:
    """What the file says. `at_s`: when the table's socket last answered, monotonic seconds; `seq`: its last row then.

    `checks`: the last verdicts of the health checks, the gravest first; None before the first ones.
    """

    at_s: float
    seq: int
    checks: tuple[PulseCheck, ...] | None = None

    def age_s(self, now_s: float) -> float:
        """Return the seconds since the table's socket last answered. `now_s`: the monotonic clock."""
        return max(0.0, now_s - self.at_s)


def write_pulse(path: Path, pulse: Pulse) -> None:
    """Replace the file. It lies in memory, so nothing is synced. Raises OSError."""
    checks = None if pulse.checks is None else [check.to_json() for check in pulse.checks]
    value = {"at_s": pulse.at_s, "seq": pulse.seq, "checks": checks}
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.write_text(json.dumps(value))
        temporary.chmod(0o640)  # the group reads it
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def read_pulse(path: Path) -> Pulse | None:
    """Return what the file says; None if it is missing, or this release does not understand it."""
    try:
        value = json.loads(path.read_bytes())
        checks: Sequence[Any] | None = value["checks"]
        return Pulse(
            float(value["at_s"]),
            int(value["seq"]),
            None if checks is None else tuple(PulseCheck.from_json(one) for one in checks),
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _to_json(text: Text) -> object:
    return text if isinstance(text, str) else text.to_json()
