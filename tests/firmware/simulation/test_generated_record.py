from __future__ import annotations

from pathlib import Path

import pytest

from firmware.record.archive import Archive
from firmware.record.dispute_file import write_dispute_file
from firmware.record.evidence.dispute_verifier import check
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Journal, JournalReader
from firmware.rules import settle_json
from firmware.table import Phase, fold
from firmware.table.settling import hand_json
from tests.firmware.record.test_verify import KEY
from tests.generated_record import generate_record

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seats", [2, 4])
def test_a_generated_record_verifies_and_its_hands_settle_to_what_it_says(tmp_path: Path, seats: int) -> None:
    told: list[int] = []
    seq = generate_record(tmp_path, 60, seats=seats, pool=25, on_progress=told.append)
    found = verify(tmp_path)
    assert found.problems == ()
    assert (found.hands, found.entries, sum(told)) == (60, seq, 60)
    reader = JournalReader(tmp_path)
    for hand in (1, 33, 60):
        state = fold(entry.event for entry in reader.of_hand(hand) if entry.type != "hand_archived")
        assert state.phase is Phase.SETTLED
        assert state.settlement == settle_json(hand_json(state))


def test_a_generated_hand_is_exported_like_any_other(tmp_path: Path) -> None:
    data = tmp_path / "data"
    key = DeviceKey.open(tmp_path / "key")
    generate_record(data, 5, key=key)
    for hand in (1, 3, 5):
        assert check(str(write_dispute_file(Archive(data), hand, key, tmp_path / "hand.zip"))).wrong == []


def test_a_record_grows_at_its_end_and_a_table_goes_on_with_it(tmp_path: Path) -> None:
    generate_record(tmp_path, 5)
    generate_record(tmp_path, 5, seed=2)
    assert verify(tmp_path).ok
    with Journal(tmp_path) as journal:
        assert (journal.recover().hand, journal.recover().phase) == (10, Phase.ARCHIVED)


def test_rows_that_do_not_follow_are_refused(tmp_path: Path) -> None:
    generate_record(tmp_path, 1)
    rows = JournalReader(tmp_path).events_since(0)
    with Journal(tmp_path) as journal, pytest.raises(OSError, match="must follow the last one"):
        journal.append_sealed(rows)


def test_with_a_key_each_hand_is_signed(tmp_path: Path) -> None:
    generate_record(tmp_path, 5, key=KEY)
    found = verify(tmp_path)
    assert (found.holds, found.anchors) == (True, 5)
