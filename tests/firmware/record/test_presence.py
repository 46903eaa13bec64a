"""A signed head must follow each hand that ended: what was left out is found, and what a power cut leaves is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.record.evidence.dispute_verifier import unsigned_ends
from firmware.record.evidence.presence import presence
from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Journal, JournalReader
from firmware.table import events as ev
from tests.firmware.conftest import ROWS, Deal
from tests.firmware.record.test_verify import KEY, head

END, HEAD, START, FAULT, BACK = (
    "hand_archived",
    "head_signed",
    "table_started",
    "record_fault",
    "record_restored",
)


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        ([], []),
        ([END], []),
        ([END, HEAD, END, HEAD], []),
        ([END, END, HEAD], [(1, 2)]),
        ([END, "hand_opened", HEAD, "hand_voided", HEAD], []),
        ([END, "hand_misdealt", "hand_withdrawn", HEAD], [(1, 2), (2, 3)]),
        ([END, START, HEAD], []),
        ([END, START, END, HEAD], []),
        ([END, START, END, START, END, HEAD], [(3, 5)]),
        ([END, START, END, START, END, START, END], [(3, 5), (5, 7)]),
        ([END, START, END, HEAD, END, START, END, HEAD], []),
        ([END, FAULT, HEAD], [(1, 2)]),
        ([END, START, FAULT, HEAD], [(1, 3)]),
        ([END, BACK, HEAD], [(1, 2)]),
        ([END, HEAD, BACK, FAULT, START, HEAD], []),
    ],
)
def test_an_end_is_due_a_head_before_the_next_end_a_fault_or_a_restore(
    rows: list[str], missing: list[tuple[int, int]]
) -> None:
    assert unsigned_ends(list(enumerate(rows, start=1))) == missing


def test_hands_without_any_head_are_not_signed_and_with_one_left_out_not_as_a_whole(tmp_path: Path) -> None:
    deal = Deal(ROWS)
    with Journal(tmp_path) as journal:
        journal.append([ev.KeyAnnounced(KEY.public.hex()), deal.opened(), ev.HandVoided("one")], "table")
        assert verify(tmp_path, is_open_here=True).holds, "the head may be about to be signed"
        journal.append([deal.opened(2), ev.HandVoided("two")], "table")
    found = verify(tmp_path)
    assert (found.ok, found.holds, found.verdict) == (True, False, "NOT signed.")
    head(tmp_path)
    found = verify(tmp_path)
    assert [problem.seq for problem in found.unproven] == [3]
    assert (found.holds, found.verdict) == (False, "NOT signed as a whole.")
    with JournalReader(tmp_path).opened() as db:
        assert db is not None
        assert not presence(db, since=4).missing


def test_a_record_without_a_hand_has_nothing_to_be_signed(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append([ev.TableStarted(), ev.KeyAnnounced(KEY.public.hex())], "table")
    assert verify(tmp_path).verdict == "All of it holds."
