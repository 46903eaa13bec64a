"""One rule of the build, computed: its figure, its limit, and whether it holds."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A rule's name, the figure that was computed, the limit that it keeps, and whether it does."""

    rule: str
    figure: str
    limit: str
    ok: bool


def most(rule: str, figure: str, value: float, limit: float, limited: str) -> Finding:
    """Judge that a value is at most its limit; `figure` and `limited` are both in words, `{}` is the number."""
    return Finding(rule, figure.format(value), limited.format(limit), value <= limit)


def least(rule: str, figure: str, value: float, limit: float, limited: str) -> Finding:
    """Judge that a value is at least its limit, as `most` does."""
    return Finding(rule, figure.format(value), limited.format(limit), value >= limit)


def none(rule: str, wrong: Iterable[str], fine: str, limit: str, joint: str = ", ") -> Finding:
    """Judge that nothing is wrong; `fine` is what is said then."""
    words = joint.join(wrong)
    return Finding(rule, words or fine, limit, not words)
