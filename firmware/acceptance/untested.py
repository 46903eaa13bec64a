"""Which step of the acceptance would clear which place that says UNTESTED: `untested.toml`."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Place:
    """A file of the repository, or some of its lines, with the steps that would clear it, or why none can.

    `file` may be a pattern; `line` is a part of the lines meant, "" for all others of the file.
    """

    file: str
    line: str = ""
    steps: tuple[str, ...] = ()
    none: str = ""


@cache
def places() -> tuple[Place, ...]:
    """Return every place of the list."""
    text = (files("firmware.acceptance") / "untested.toml").read_text(encoding="utf-8")
    return tuple(
        Place(**{**one, "steps": tuple(one.get("steps", ()))}) for one in tomllib.loads(text)["place"]
    )


def cleared_by(step: str) -> list[str]:
    """Return the places that a step would clear, in words."""
    found = (f"{one.file}: {one.line}" if one.line else one.file for one in places() if step in one.steps)
    return list(dict.fromkeys(found))
