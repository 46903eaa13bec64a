"""A room of tables for channels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pit.store.database import Database
from tests.pit.channels.room import Room
from tests.pit.conftest import opened_pit


@pytest.fixture
def room(database: Database, owned: str) -> Iterator[Room]:
    with opened_pit("without nginx", database) as pit:
        yield Room(pit, owned)
