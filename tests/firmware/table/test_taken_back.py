"""A closing that is taken back after the next opening leaves a record that verifies, settles again and exports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from firmware.cli.record_audit import audit
from firmware.record.archive import Archive
from firmware.record.dispute_file import write_dispute_file
from firmware.record.evidence.dispute_verifier import check
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import verify
from firmware.record.finished_reader import FinishedReader
from firmware.record.hand_history import load_hand
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import Journal, JournalReader
from firmware.record.reopening import end_of_hand
from firmware.rules import load_profile, profile_toml
from firmware.table import CommandRefused, Phase, State
from firmware.table import events as ev
from firmware.table.decide import step
from firmware.table.topics.opening import open_hand, opening_withdrawn
from tests.dealer_ui.felt import Felt
from tests.firmware.conftest import FRAME, PIXELS, ROWS, Deal
from tests.firmware.table.test_between import house_of

KEY = DeviceKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
RULES = load_profile("washington-1-unit")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Hand 1 closed, hand 2 opened and withdrawn, hand 1 closed again, hand 3 void."""
    deal = Deal(ROWS)
    with Journal(tmp_path) as journal:
        CaptureStore(tmp_path).save(FRAME.name, PIXELS)
        journal.append([ev.KeyAnnounced(KEY.public.hex())], "table")
        rules = journal.keep("profile", profile_toml(RULES).encode())
        house = replace(house_of(2), profile_hash=rules)
        state = State()

        def say(*events: ev.Event) -> None:
            nonlocal state
            state, followed = step(state, events, RULES)
            journal.append(events, "test", followed)

        say(replace(deal.opened(), profile_hash=rules), *deal.until(Phase.REVIEW)[1:])
        say(ev.HandArchived(state.unpaid))
        say(open_hand(state, house))
        say(*opening_withdrawn(state, lambda hand: end_of_hand(JournalReader(tmp_path), hand)))
        assert FinishedReader(tmp_path).events_since(0)[-1].type == "hand_withdrawn", (
            "hand 1 lies there again"
        )
        say(ev.PaymentMarked(*state.unpaid[0]))
        say(ev.HandArchived(state.unpaid))
        say(open_hand(state, house))
        say(ev.HandVoided("a test"))
    return tmp_path


def test_the_record_verifies_and_every_settlement_comes_out_again(data: Path) -> None:
    assert verify(data).problems == ()
    found = audit(data, pictures=False, processes=1)
    assert (found.hands, found.settlements, found.differences) == (3, 1, ())


def test_both_hands_are_recalled_for_what_they_were(data: Path) -> None:
    reader = JournalReader(data)
    played = load_hand(reader, 1)
    assert played.settlement is not None
    assert [chapter.is_over for chapter in (played.play, *played.corrections)] == [True, True]
    never = load_hand(reader, 2)
    assert (never.settlement, never.corrections) == (None, ())
    assert [step.entry.type for step in never.steps] == ["hand_opened", "hand_withdrawn"]
    assert end_of_hand(reader, 2).misdealt, "it cannot be reopened"


@pytest.mark.parametrize("hand", [1, 2])
def test_its_dispute_file_holds(data: Path, tmp_path: Path, hand: int) -> None:
    file = write_dispute_file(Archive(data), hand, KEY, tmp_path / "hand.zip", lambda _: b"%PDF")
    unsigned = [what for what in check(str(file)).wrong if "NOT signed" not in what]
    assert unsigned == [], "this record was made without signatures, and that is all that is wrong with it"


def test_a_closing_can_be_undone_until_a_card_is_seen_and_not_after(tmp_path: Path) -> None:
    """White was pressed once too often: paid, next hand, cards are out, showdown; nobody has dealt."""
    felt = Felt(tmp_path)
    felt.to_settled()
    felt.pay_all()
    felt.say(ev.PuckSeen("seat", 3))
    felt.do("next")
    assert (felt.state.hand, felt.state.phase) == (2, Phase.DEALING)
    felt.go_on()
    felt.go_on()
    assert felt.state.phase is Phase.SHOWDOWN
    before = felt.state
    felt.do("undo_close")
    assert (felt.state.hand, felt.state.phase) == (1, Phase.SETTLED)
    assert felt.state.unpaid == ()
    shown = replace(before, phase=Phase.READING)
    dealt = replace(
        shown, seats=tuple(replace(seat, surrenders=True) for seat in shown.seats[:1]) + shown.seats[1:]
    )
    with pytest.raises(CommandRefused, match="are dealt"):
        opening_withdrawn(dealt, lambda hand: before)
    felt.journal.close()
