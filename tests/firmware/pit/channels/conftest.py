"""A room of tables for channels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firmware.pit.database import Database
from tests.firmware.pit.channels.room import Room
from tests.firmware.pit.conftest import opened_pit


@pytest.fixture
def room(database: Database, owned: str) -> Iterator[Room]:
    with opened_pit("without nginx", database) as pit:
        yield Room(pit, owned)
