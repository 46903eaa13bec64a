"""The page's errors. Every message says what to do."""

from __future__ import annotations


class PageError(Exception):
    """The root of this package's errors."""
