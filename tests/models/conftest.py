"""What the tests of the training need: fonts to draw with."""

from __future__ import annotations

import pytest

from models.training.glyphs import FONT_ROOT, font_files


@pytest.fixture(scope="session")
def fonts() -> None:
    if not font_files():
        pytest.skip(f"no font to draw cards with in {FONT_ROOT}: install fonts-dejavu-core, fonts-liberation")
