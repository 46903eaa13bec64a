"""What is told of past hands."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dealer_ui.profiles.house_rules import house_rules
from dealer_ui.review.frames import compare_readings, frame_annotations
from dealer_ui.review.proofs import Proof, proofs
from dealer_ui.review.timeline import timeline
from dealer_ui.review.view import hand_view, settle_again
from firmware.record.archive import Archive
from firmware.record.hand_history import HandStillOpen
from firmware.rules import load_profile
from firmware.rules.profiles.document import DocumentTable
from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import SIX_PAIRS_DEALT, Felt
from tests.dealer_ui.past import corrected, look, played, reopen, spot_px, ticking
from tests.dealer_ui.review.recalled import of


@pytest.fixture
def felt(lay: Lay) -> Felt:
    return lay(clock=ticking())


# ---- recalling ----


def test_a_hand_is_recalled_as_it_was_played_and_as_it_was_corrected(felt: Felt) -> None:
    corrected(felt)
    found = of(felt)
    assert [step.entry.seq for step in found.steps] == sorted(step.entry.seq for step in found.steps)
    assert found.play.end.settlement != found.settlement
    (correction,) = found.corrections
    assert found.settlement == correction.end.settlement
    assert correction.first.after.previous_settlement == found.play.end.settlement  # the old one stays


def test_what_happened_between_hands_is_no_part_of_the_hand_before(felt: Felt) -> None:
    played(felt)
    felt.say(ev.StackCounted("Lin", 5, "counted"))
    assert of(felt).steps[-1].entry.type == ev.HandArchived.type


def test_a_hand_that_is_open_or_was_never_played_cannot_be_recalled(felt: Felt) -> None:
    felt.to_setting()
    with pytest.raises(HandStillOpen):
        of(felt)
    with pytest.raises(CommandRefused, match="Hand 7 is not in the record"):
        of(felt, 7)


# ---- telling ----


def test_every_row_of_a_hand_is_told_in_words(felt: Felt) -> None:
    corrected(felt)
    felt.say(ev.HandDisputed(1, "The foul is disputed"), ev.HandReviewed(1), ev.HandReviewed(1, "twice"))
    told = timeline(of(felt))
    text = "\n".join(one.text for one in told)
    assert "52 cards were read, 1 of them not surely." in text
    assert "Answered: seat 3, middle, 2nd card is the ten of diamonds" in text
    assert "Corrected: seat 1, front, 2nd card is the two of diamonds, not the queen of diamonds." in text
    assert "Reopened: A card was read wrong." in text
    assert "Kept as disputed: The foul is disputed." in text
    assert "Reviewed: twice." in text
    assert "_" not in text, "an event's own name"
    assert [one.seq for one in told] == sorted(one.seq for one in told)
    assert [one.frame_seq is not None for one in told].count(True) == 2


def test_marks_of_another_hand_are_not_told_in_this_one(felt: Felt) -> None:
    played(felt)
    felt.deal()
    felt.do("void", reason="Misdeal")
    felt.say(ev.HandDisputed(2, "The foul is disputed"))
    assert not any("disputed" in one.text for one in timeline(of(felt)))


# ---- pictures ----


def test_what_was_read_lies_on_the_frame_with_its_doubts(felt: Felt) -> None:
    played(felt)
    seen = frame_annotations(of(felt))
    assert [len(look.cards) for look in seen] == [52, 52]
    assert [look.unsure for look in seen] == [1, 1]
    (asked,) = [card for card in seen[0].cards if not card.sure]
    assert (asked.code, asked.confidence, asked.candidates) == ("Td", 41, ("Td", "Th", "Jd"))
    assert len(seen[0].zones) == 12


def test_a_card_that_counted_as_another_than_was_read_says_so(felt: Felt) -> None:
    corrected(felt)
    final = {card.where: card.final for card in frame_annotations(of(felt))[0].cards if card.final}
    assert final == {"seat 1, front, 2nd card": "2d", "seat 3, back, 5th card": "Qd"}


def test_what_changed_between_two_looks_is_named_and_marked_in_both(felt: Felt) -> None:
    played(felt)
    ((pair),) = compare_readings(frame_annotations(of(felt)))
    (change,) = pair.changes
    assert change.words == "queen of hearts: moved within seat 1, front"
    assert change.before
    assert change.after
    assert change.before != change.after


def test_a_card_that_was_swapped_between_two_looks_is_named_with_the_one_in_its_place(felt: Felt) -> None:
    felt.to_setting()
    felt.to_reading()
    look(felt, "first")
    felt.do("look_again")
    felt.hands[1] = ("2c Qd 7c", *felt.hands[1][1:])
    look(felt, "second")
    felt.do("void", reason="Misdeal")
    (pair,) = compare_readings(frame_annotations(of(felt)))
    assert "seat 1, front, 1st card: first queen of hearts, then two of clubs" in [
        c.words for c in pair.changes
    ]


def test_the_looks_of_irregularities_show_what_they_were_stored_for(lay: Lay) -> None:
    felt = lay(clock=ticking(), options={"limits.min_points": 0})
    felt.deal()
    felt.go_on()
    seen = ev.CardReading("3s", 0.99, True, ("3s",), spot_px(3, "middle", 0))
    felt.say(ev.CardPlaced(3, "back", ev.CardReading("3s", 0.99, True, ("3s",))))
    for number in (1, 2):
        frame = felt.captures.save(f"000001/{number}.jpg", b"a frame")
        moved = ev.IrregularitySeen(number, "card_moved", 3, "back", 0, "3s", 3, "middle", seen, frame=frame)
        felt.say(moved, ev.IrregularityEnded(number))
    felt.do("void", reason="Misdeal")
    (pair,) = compare_readings(frame_annotations(of(felt)))
    words = [change.words.partition(": ")[2] for change in pair.changes]
    assert (
        words == ["The three of spades lies elsewhere than at seat 3, back, 1st card, where it was set."] * 2
    )
    assert [(bool(one.before), bool(one.after)) for one in pair.changes] == [(True, False), (False, True)]


# ---- settlements ----


def test_a_hand_settles_again_to_the_same_under_its_own_rules_and_otherwise_under_others(felt: Felt) -> None:
    played(felt)
    found = of(felt)
    stands, same = settle_again(found, felt.rules, "again")
    assert not stands.differs
    assert not same.differs
    _stands, other = settle_again(found, load_profile("washington-1-6"), "other")
    assert other.differs
    assert other.pairs


def test_every_line_of_a_settlement_names_its_option_as_the_index_of_the_house_rules_does(felt: Felt) -> None:
    played(felt)
    lines = [line for pair in hand_view(of(felt), felt.rules).settled.pairs for line in pair.lines]
    assert lines
    index = house_rules(felt.rules)[-1]
    assert isinstance(index, DocumentTable)
    rules = {row[0]: row[1] for row in index.rows}
    for line in lines:
        section, _colon, title = line.clause.partition(": ")
        assert re.search(rf"(^|; ){title}: \d+\.\d+", rules[section]), line.clause


def test_while_a_past_hand_is_corrected_nobody_is_said_to_pay_anything_back(felt: Felt) -> None:
    played(felt)
    reopen(felt)
    felt.do("set_card", seat=1, row="front", index=1, card="2d")
    assert felt.state.questions, "the card lies twice: nothing is settled"
    (one,) = hand_view(of(felt), felt.rules, felt.state.paybacks).corrections
    assert list(one.paybacks) == []


def test_a_correction_shows_before_and_after_and_who_pays_back_what(felt: Felt) -> None:
    corrected(felt)
    (one,) = hand_view(of(felt), felt.rules, felt.state.paybacks).corrections
    assert one.before.differs
    assert one.after.differs
    assert [told.text for told in one.changed] == [
        "Corrected: seat 1, front, 2nd card is the two of diamonds, not the queen of diamonds.",
        "Corrected: seat 3, back, 5th card is the queen of diamonds, not the two of diamonds.",
    ]
    backs = [f"{b.payer} pays {b.winner} ${b.amount // 100} back · still open" for b in felt.state.paybacks]
    assert list(one.paybacks) == backs
    felt.do("mark_paid_back", number=1, paid=True)
    (one,) = hand_view(of(felt), felt.rules, felt.state.paybacks).corrections
    assert one.paybacks[0].endswith("done")


def test_a_hand_that_lies_reopened_shows_what_its_correction_comes_to_so_far(felt: Felt) -> None:
    played(felt)
    reopen(felt)
    felt.do("set_card", seat=3, row="back", index=4, card="Qd")
    (one,) = hand_view(of(felt), felt.rules).corrections
    assert not one.is_over
    assert one.before.title == "Before"


def test_a_void_hand_settles_nothing_and_says_why(felt: Felt) -> None:
    felt.to_setting()
    felt.do("void", reason="Exposed card")
    view = hand_view(of(felt), felt.rules)
    assert view.void == "This hand is void: Exposed card."
    assert view.settled.pairs == ()


def test_a_natural_that_nobody_declared_is_named_once_the_hand_is_over(felt: Felt) -> None:
    felt.hands = dict(SIX_PAIRS_DEALT)
    felt.to_archived()
    marks = {seat.seat: seat.marks for seat in hand_view(of(felt), felt.rules).seats}
    assert "natural that was not declared: Six pairs" in marks[1]
    assert not any("natural" in mark for seat in (2, 3, 4) for mark in marks[seat])


# ---- what holds ----


def test_the_record_proves_rows_and_pictures_and_says_what_does_not_hold(felt: Felt) -> None:
    corrected(felt)
    archive = Archive(felt.folder)
    hand = archive.hand(1)
    assert [(one.words, one.holds) for one in proofs(hand, archive.images(hand))] == [
        (f"Rows {hand.rows[0].seq} to {hand.rows[-1].seq} are as they were written.", True),
        ("2 pictures are as they were stored.", True),
    ]
    first, second = (felt.captures.path(image.capture.name) for image in archive.images(hand))
    hidden = [replace(image, state="unreadable") for image in archive.images(hand)]
    assert proofs(hand, hidden)[1:] == (Proof("2 pictures cannot be read.", holds=False),)
    first.write_bytes(b"another picture")
    second.unlink()
    bent = replace(hand, rows=(*hand.rows[:3], hand.rows[3]._replace(actor="floor:Moreno"), *hand.rows[4:]))
    assert [(one.words, one.holds) for one in proofs(bent, archive.images(hand))] == [
        (f"Row {hand.rows[3].seq} was changed after it was written.", False),
        ("1 picture is missing.", False),
        ("1 picture is not what was stored.", False),
    ]
