"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# a machine that is busy with something else is no reason for a test to fail
settings.register_profile("feltwatch", deadline=None)
settings.load_profile("feltwatch")
