"""The record as far as it is over."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from firmware.record.archive import Archive
from firmware.record.finished_reader import FinishedReader
from firmware.record.hand_history import load_hand
from firmware.record.journal.journal import JournalReader
from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from firmware.table.phase import BETWEEN_HANDS
from tests.dealer_ui.conftest import felt, lay
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import corrected, reopen

__all__ = ["felt", "lay"]


def test_before_the_first_hand_all_of_it_is_there(felt: Felt) -> None:
    assert FinishedReader(felt.folder).head() == JournalReader(felt.folder).head()
    assert FinishedReader(felt.folder / "none").events_since(0) == []


def test_a_hand_is_not_there_until_it_is_over(felt: Felt) -> None:
    reader, whole = FinishedReader(felt.folder), JournalReader(felt.folder)
    felt.say(ev.PuckSeen("seat", 2))
    before = felt.seq
    steps: tuple[Callable[[], object], ...] = (
        partial(felt.deal, None),
        felt.go_on,
        felt.to_reading,
        felt.read,
    )
    for step in steps:
        step()
        assert reader.head()[0] == before
        assert reader.of_hand(1) == reader.events_since(before) == reader.openings() == []
        assert reader.recover()[0].phase in BETWEEN_HANDS
        with pytest.raises(CommandRefused):
            load_hand(reader, 1)
        with reader.opened() as db:
            assert db is not None
            assert db.execute("SELECT max(seq) FROM journal").fetchone()[0] == before
    felt.do("archive")
    assert reader.events_since(0) == whole.events_since(0)
    assert load_hand(reader, 1).settlement == load_hand(whole, 1).settlement


@pytest.mark.parametrize("how", ["void", "misdeal"])
def test_a_hand_that_settled_nothing_is_over_too(felt: Felt, how: str) -> None:
    felt.deal()
    felt.do(how, reason="Exposed card")
    assert FinishedReader(felt.folder).head()[0] == felt.seq


def test_what_is_done_between_hands_is_there(felt: Felt) -> None:
    felt.deal()
    felt.do("void", reason="Exposed card")
    felt.say(ev.PuckSeen("seat", 3))
    assert FinishedReader(felt.folder).head()[0] == felt.seq


def test_a_past_hand_that_lies_on_the_table_again_is_told_as_it_was_before(felt: Felt) -> None:
    corrected(felt)
    before, reader = felt.seq, FinishedReader(felt.folder)
    reopen(felt)
    felt.do("set_card", seat=1, row="front", index=1, card="Qd")
    felt.do("set_card", seat=3, row="back", index=4, card="2d")
    assert len(load_hand(JournalReader(felt.folder), 1).corrections) == 2
    assert len(load_hand(reader, 1).corrections) == 1
    assert Archive(felt.folder, reader).hand(1).settlements == Archive(felt.folder).hand(1).settlements[:2]
    assert reader.head()[0] == before
    felt.do("next")
    assert reader.head()[0] == felt.seq
