"""Fixtures of updates."""

from tests.firmware.update.fixtures import box, maker, new

__all__ = ["box", "maker", "new"]
