"""What can go wrong while hardware files are made."""


class HardwareError(Exception):
    """The root; the message says what to do."""


class BomError(HardwareError, ValueError):
    """A bill of materials that contradicts itself."""


class ToolMissing(HardwareError, OSError):
    """A program that draws or builds is not installed, or failed."""
