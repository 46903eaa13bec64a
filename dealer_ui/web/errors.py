"""The page's errors. Every message says what to do."""


class PageError(Exception):
    """The root of this package's errors."""
