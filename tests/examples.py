"""How many examples Hypothesis draws: all of them in `make test-all`, a fifth in `make test`, others in each run."""

from __future__ import annotations

import os
from typing import Any, Final

from hypothesis import settings

THOROUGH: Final = "FELTWATCH_THOROUGH" in os.environ


def examples(most: int, **more: Any) -> settings:
    """Return Hypothesis's settings; a machine that is busy with something else is no reason for a test to fail."""
    return settings(max_examples=most if THOROUGH else max(10, most // 5), deadline=None, **more)
