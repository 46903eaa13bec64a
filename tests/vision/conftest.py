"""What several tests of vision need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
    named = os.environ.get("FELTWATCH_SHARED")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(
            "no photographs: put them in ../shared next to the checkout, or name them in FELTWATCH_SHARED"
        )
    return folder / "data"
