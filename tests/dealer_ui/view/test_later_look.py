"""Cards that are no longer as they were read are said over the felt, and in the hand's story."""

from __future__ import annotations

from dealer_ui.review.timeline import timeline
from dealer_ui.view.build import view
from firmware.messages import Message
from firmware.record.hand_history import load_hand
from firmware.record.journal.journal import JournalReader
from firmware.table import events as ev
from tests.dealer_ui.felt import Felt

BACK = ev.ChangedRow(1, "back", ("Th",), ("2d",))
FRONT = ev.ChangedRow(3, "front", ("As",), ("3c",))


def test_a_changed_card_is_said_over_the_felt_before_what_is_wrong_with_devices(felt: Felt) -> None:
    felt.to_settled()
    felt.say(ev.DeviceFault("puck", "The puck reader does not answer."))
    felt.say(ev.CardsCompared(False, changed=(BACK, FRONT)))
    said = view(felt.seq, felt.state, felt.rules).alert
    assert said is not None
    assert said.title == "Cards are no longer as they were read"
    assert said.todo == "Seat 1, back: now 2♦, read as 10♥. Call the floor."
    assert said.others[0].todo == "Seat 3, front: now 3♣, read as A♠."
    assert len(said.others) == 2, "the puck reader's fault is there, too"


def test_cards_that_were_not_compared_are_no_alarm(felt: Felt) -> None:
    felt.to_settled()
    gone = (ev.UncomparedRow(2, "back", "gone"), ev.UncomparedRow(2, "front", "gone"))
    felt.say(ev.CardsCompared(True, same=4, not_compared=gone))
    assert view(felt.seq, felt.state, felt.rules).alert is None


def test_the_hands_story_says_what_was_compared_and_what_not(felt: Felt) -> None:
    felt.to_settled()
    unseen = (ev.UncomparedRow(2, "back", "gone"), ev.UncomparedRow(4, "back", "unsure"))
    felt.say(ev.CardsCompared(True, 3, (BACK,), unseen))
    felt.say(ev.CardsCompared(True, reason=Message("It moved.")))
    felt.do("archive")
    told = {row.text: row.weight for row in timeline(load_hand(JournalReader(felt.folder), 1))}
    said = (
        "Cards are no longer as they were read. Seat 1, back: now 2♦, read as 10♥.",
        "Looked again: 3 rows lie as they were read.",
        "Not compared, cards were gone: seat 2.",
        "Not compared, not surely seen: seat 4.",
    )
    assert told[" ".join(said)] == "fault"
    assert told["Not compared again: It moved."] == ""
