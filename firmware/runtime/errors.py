"""Errors in starting and configuring the appliance."""

from firmware.messages import MessageError


class AppError(MessageError):
    """Root of this package's errors. The message states what the user should do."""


class ConfigError(AppError, ValueError):
    """The configuration cannot be used."""


class SocketError(AppError, OSError):
    """The table's socket cannot be opened."""
