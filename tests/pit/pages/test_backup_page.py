"""The tables' page and `/metrics` say when the server was last backed up."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from pit.pages import metrics, tables
from pit.pages.people import PitRole
from tests.pit.pages.conftest import House


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "feltwatch-pit-backup" / "last.json"
    monkeypatch.setattr(tables, "BACKUP_STATE", path)
    monkeypatch.setattr(metrics, "BACKUP_STATE", path)
    return path


def test_the_last_backup_is_said_and_a_late_one_is_marked(house: House, state: Path) -> None:
    client = house.logged_in(PitRole.TECHNICIAN)
    assert "backup" not in client.get("/tables").text, "no server that was installed"
    assert "feltwatch_pit_backup_time_seconds 0.0" in client.get("/metrics").text
    state.parent.mkdir()
    assert '<span class="bad">No backup was ever made.</span>' in client.get("/tables").text
    for hours, words in (
        (2, '<p class="say">The last backup: '),
        (26, '"bad">The last backup is more than a day old: '),
    ):
        at = time.time() - hours * 3600
        state.write_text(json.dumps({"name": "x", "at": at, "seconds": 3.0, "size": 5}))
        assert words in client.get("/tables").text
        found = re.search(r"(?m)^feltwatch_pit_backup_time_seconds (\S+)$", client.get("/metrics").text)
        assert found
        assert float(found[1]) == pytest.approx(at)


def test_who_copies_the_database_is_told_to_prometheus(house: House, state: Path) -> None:
    with house.database.transaction() as connection:
        made = connection.execute("SELECT has_table_privilege('pg_replication_slots', 'SELECT')").fetchone()
    assert made == (True,)
    text = house.logged_in(PitRole.OWNER).get("/metrics").text
    assert "# TYPE feltwatch_pit_slot_active gauge" in text
    assert "# TYPE feltwatch_pit_slot_lost gauge" in text
