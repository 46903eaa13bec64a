"""The registry of cheats, and what comes of one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from tests.campaigns.security.cheats.stage import Stage

Cheater = Literal["player", "dealer", "floor", "technician", "outsider"]
REFUSED: Final = "refused"


@dataclass(frozen=True)
class Outcome:
    """What came of a cheat. `seen`: what the screen or the command said and when, "" if nothing did.

    `record`: the row that tells of it, "" for none. `proof`: whether a dispute file or the verifier proves it.
    """

    seen: str
    record: str
    proof: bool

    @property
    def cells(self) -> tuple[str, str, str]:
        """The verdict as the table has it."""
        seen = re.sub(r"\s+", " ", self.seen).replace("|", "/")
        return (
            f"yes: {seen}" if seen else "**no**",
            f"yes: {self.record}" if self.record else "**no**",
            "yes" if self.proof else "**no**",
        )

    @property
    def verdict(self) -> tuple[bool, bool, bool]:
        return bool(self.seen), bool(self.record), self.proof


@dataclass(frozen=True)
class Cheat:
    """One cheat: who does what, and how it is played at a table between two hands."""

    name: str
    cheater: Cheater
    title: str
    play: Callable[[Stage], Outcome]

    @property
    def said(self) -> str:
        """Who does what, as the table has it."""
        cheater = {"outsider": "an outsider", "floor": "a floor person"}.get(
            self.cheater, f"a {self.cheater}"
        )
        return f"{cheater} {self.title}"


CHEATS: Final[dict[str, Cheat]] = {}


def cheat(cheater: Cheater, title: str) -> Callable[[Callable[[Stage], Outcome]], Callable[[Stage], Outcome]]:
    """Register a function as a cheat under its own name."""

    def register(play: Callable[[Stage], Outcome]) -> Callable[[Stage], Outcome]:
        name = play.__name__.replace("_", "-")
        assert name not in CHEATS, name
        CHEATS[name] = Cheat(name, cheater, title, play)
        return play

    return register


def quoted(when: str, said: str) -> str:
    """Say when the page said something; "" if it said nothing."""
    return f"{when}: “{said}”" if said else ""
