"""Some of the states again, in other languages: long words in Spanish, other letters in Chinese."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from tests.browser.state import State

SPOKEN: Final = {
    "es": (
        "settled with a foul",
        "wrong count",
        "between hands",
        "seat closer",
        "all paid",
        "payback",
        "large sums",
        "strong hands paid",
    ),
    "zh_Hans": ("settled with a foul", "natural waiting", "between hands", "no cards yet"),
    "zh_Hant": ("settled with a foul", "irregularity moved", "rules in force"),
}
"""By language, the states that are looked at in it."""


def spoken(states: Iterable[State]) -> tuple[State, ...]:
    """Return those of the states again, each in its languages."""
    by_name = {state.name: state for state in states}
    return tuple(
        replace(by_name[name], name=f"{name} in {language}", language=language)
        for language, names in SPOKEN.items()
        for name in names
    )
