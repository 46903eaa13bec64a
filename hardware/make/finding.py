"""One rule of the build, computed: its figure, its limit, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A rule's name, the figure that was computed, the limit that it keeps, and whether it does."""

    rule: str
    figure: str
    limit: str
    ok: bool
