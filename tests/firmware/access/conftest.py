"""A table at its gate: fresh, and with people listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.firmware.access.gate import AUDITORS, OTHER, PIN, Table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.journal.close()


@pytest.fixture
def staffed(table: Table) -> Table:
    """Ada is technician, Moreno floor, Lin dealer, Ito auditor."""
    assert table.give("list_person", person="Ada", role="technician", new_pin=OTHER)["ok"]
    ada = {"by": "Ada", "pin": OTHER}
    assert table.give("list_person", person="Moreno", role="floor", new_pin=PIN, **ada)["ok"]
    assert table.give("list_person", person="Lin", role="dealer", **ada)["ok"]
    assert table.give("list_person", person="Ito", role="auditor", new_pin=AUDITORS, **ada)["ok"]
    return table
