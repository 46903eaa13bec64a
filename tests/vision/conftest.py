"""What several tests of vision need."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools import PHOTOGRAPHS, SHARED, need
from vision.felt.layout import TableLayout
from vision.reading.network import CardReader


@pytest.fixture(scope="session")
def layout() -> TableLayout:
    return TableLayout.load()


@pytest.fixture(scope="session")
def reader() -> CardReader:
    """The product's reader, on one thread: workers share the cores already, and it takes a third less of them."""
    return CardReader(threads=1)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of photographs, which the project does not carry."""
    need(PHOTOGRAPHS)
    return SHARED / "data"
