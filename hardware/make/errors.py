"""What can go wrong while hardware files are made."""


class HardwareError(Exception):
    """The root; the message says what to do."""


class BomError(HardwareError, ValueError):
    """A bill of materials that contradicts itself."""


class BuildError(HardwareError, ValueError):
    """Steps in the wrong order, or a part that nobody orders or uses."""


class ToolMissing(HardwareError, OSError):
    """A program that draws or builds is not installed, or failed."""


class RuleBroken(HardwareError, ValueError):
    """Data that break a rule of the build."""


class AssemblyError(HardwareError, ValueError):
    """Steps that need what no earlier step gives, or parts that no step uses."""
