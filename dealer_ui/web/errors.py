"""What can go wrong in the page; every message tells a person what to do."""

from __future__ import annotations


class PageError(Exception):
    """The root of this package's errors."""
