"""Four kills of the real table process; `tests.campaigns.appliance.kill_campaign` makes as many as are wanted."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.table import events as ev
from tests.campaigns.appliance.kill_campaign import AcknowledgedCommand, Campaign, RecordError, campaign
from tests.waiting import DEADLINE

SEED = 20_26


@pytest.mark.slow
@pytest.mark.timeout(1200)  # the processes start one after the other
@pytest.mark.parametrize("kills", [4, pytest.param(30, marks=pytest.mark.exhaustive)])
def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path, kills: int) -> None:
    print(f"seed {SEED}")  # noqa: T201
    played = campaign(tmp_path / "data", kills, SEED, longest=0.3, within=DEADLINE)
    print(played.figures.text())  # noqa: T201
    assert played.figures.kills == kills
    assert played.figures.acknowledged > 0, "the client never played"
    found = verify(tmp_path / "data")
    assert found.problems == ()
    assert played.head is not None
    assert found.entries == played.head.seq


# ---- every alarm of the campaign can ring ----


@pytest.fixture
def looked_at(tmp_path: Path) -> Campaign:
    """A campaign that has not yet looked at the three rows of its record."""
    campaign = Campaign(tmp_path / "data", 1, 0.1)
    with Journal(tmp_path / "data") as journal:
        for seat in (1, 2, 3):
            journal.append([ev.PuckSeen("seat", seat)], "test")
    return campaign


def noted(seq: int, **order: Any) -> list[AcknowledgedCommand]:
    return [AcknowledgedCommand(order, seq)]


def test_a_missing_acknowledged_row_is_found(looked_at: Campaign) -> None:
    with pytest.raises(RecordError, match="was acknowledged as row 4"):
        looked_at._check_rows(noted(4, do="next"))


def test_another_event_in_the_place_of_an_acknowledged_one_is_found(looked_at: Campaign) -> None:
    with pytest.raises(RecordError, match="was acknowledged as row 2"):
        looked_at._check_rows(noted(2, do="key_button", seat=2))


def test_a_changed_row_is_found(looked_at: Campaign, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "data" / FILE) as db:
        db.execute("DROP TRIGGER journal_no_update")
        db.execute("UPDATE journal SET payload = ? WHERE seq = 2", (json.dumps({"seat": 5}),))
    db.close()
    with pytest.raises(RecordError, match="Row 2 does not verify"):
        looked_at._check_rows([])


def test_rows_that_vanished_between_two_processes_are_found(looked_at: Campaign, tmp_path: Path) -> None:
    looked_at._check_rows([])
    looked_at.head = JournalReader(tmp_path / "data").events_since(1)[0]
    with pytest.raises(RecordError, match="ended at row 2, and now ends at 3"):
        looked_at._implied()
