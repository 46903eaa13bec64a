"""How long a test waits for what the product promises within so many seconds."""

from __future__ import annotations

import os

A_MINUTE = 60.0


def patience(seconds: float) -> float:
    """The promised seconds on a machine of its own; a minute on one that is so busy that processes do not start."""
    return seconds if os.getloadavg()[0] <= 2 * (os.cpu_count() or 1) else A_MINUTE
