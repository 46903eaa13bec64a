"""What can go wrong in wiring the appliance."""

from __future__ import annotations


class AppError(Exception):
    """Root of this package's errors; the message tells a person what to do."""


class ConfigError(AppError, ValueError):
    """The configuration cannot be used."""


class SocketError(AppError, OSError):
    """The table's socket cannot be opened."""
