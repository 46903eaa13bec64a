"""A maker, a release that it signed, and a box that trusts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.firmware.update.rig import NEW, Box, Maker


@pytest.fixture
def maker(tmp_path: Path) -> Maker:
    return Maker(tmp_path / "maker")


@pytest.fixture
def new(maker: Maker) -> Path:
    return maker.sign(NEW)


@pytest.fixture
def box(tmp_path: Path, maker: Maker, new: Path) -> Box:
    return Box(tmp_path / "box", maker.root)
