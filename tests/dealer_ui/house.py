"""A running table process of a house with people, a past hand and a hand on the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from flask import Flask

from dealer_ui.server.app import Settings, create_app
from firmware.record.journal.captures import CaptureStore
from firmware.runtime.config import Config
from firmware.table.people import Role
from tests.firmware.running_table import Table
from tests.waiting import DEADLINE

PEOPLE: Final = {
    "Tran": (Role.TECHNICIAN, "913753"),
    "Moreno": (Role.FLOOR, "258053"),
    "Okafor": (Role.AUDITOR, "8642053"),
}

NO_FANTASY_LAND: Final[dict[str, Any]] = {"fantasyland.entry": {}, "fantasyland.stay": {}}
"""The options that a closed game of California's rules needs: it deals everybody 13 cards at once."""


def config(folder: Path, **values: Any) -> Config:
    """A table of four, unless `values` say otherwise."""
    seats = [{"seat": seat, "place": place} for seat, place in zip((1, 2, 3, 4), "ABCD", strict=True)]
    return Config.model_validate_json(json.dumps({"data": str(folder), "seats": seats, **values}))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """A house with people and an open hand, for a file of tests."""
    with house(tmp_path_factory.mktemp("house")) as running:
        yield running


def page_of(table: Table) -> Flask:
    """Make a running table's page. It waits for an answer as long as a test waits for anything."""
    config = table.config
    return create_app(
        Settings(config.data, config.socket, answer_floor_s=DEADLINE, answer_ceiling_s=DEADLINE)
    )


@contextmanager
def house(folder: Path, **values: Any) -> Iterator[Table]:
    """Run the house's table; hand 1 is void, hand 2 is open, each has a picture."""
    table = Table(config(folder, **values))
    try:
        for name, (role, pin) in PEOPLE.items():
            person = {"do": "list_person", "person": name, "role": role, **({"new_pin": pin} if pin else {})}
            by = {} if role is Role.TECHNICIAN else {"by": "Tran", "pin": "913753"}
            table.do(json.dumps({**person, **by}))
        table.do('{"do": "next"}', '{"do": "void", "reason": "a hand of the past"}', '{"do": "next"}')
        store = CaptureStore(folder)
        store.save("000001/frame.jpg", b"\xff\xd8 hand 1")
        store.save("000002/frame.jpg", b"\xff\xd8 hand 2")
        yield table
    finally:
        table.stop()
