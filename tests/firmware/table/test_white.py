"""White does the one thing that is due: a payment, a payback, the next step; closing with open payments is a deed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.record.archive import Archive
from firmware.record.hand_history import load_hand
from firmware.record.journal.journal import Journal, JournalReader
from firmware.record.reopening import end_of_hand
from firmware.rules import load_profile
from firmware.table import INITIAL, CommandRefused, Phase, State
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide, step
from firmware.table.events import canonical, parse
from firmware.table.settling import hand_json
from tests.firmware.conftest import Deal
from tests.firmware.table.next_puck import puck_moved
from tests.firmware.table.test_between import house_of

RULES = load_profile("washington-1-unit")
THREE: dict[int, dict[ev.Row, str]] = {
    1: {"front": "Qh Qd 7c", "middle": "8s 8d 8c Kh 4d", "back": "2h 6h 9h Jh Ah"},
    2: {"front": "Ks 9d 5c", "middle": "As Ad 6s 6d 3c", "back": "5s 6c 7h 8h 9s"},
    3: {"front": "Js 3h 2s", "middle": "Th Tc 5h 5d 4c", "back": "Qs Qc 7d 7s Kc"},
}


class Table:
    """A table with a record."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder)
        self.reader = JournalReader(folder)
        self.state: State = INITIAL
        deal = Deal(THREE)
        self.say(*deal.until(Phase.REVIEW))

    def say(self, *events: ev.Event) -> State:
        self.state, followed = step(self.state, events, RULES)
        self.journal.append(events, "test", followed)
        return self.state

    def do(self, do: str, **fields: object) -> State:
        command = parse_command(canonical({"do": do, **fields}))
        events = decide(self.state, command, house_of(3), RULES, lambda hand: end_of_hand(self.reader, hand))
        return self.say(*events)

    def go_on(self) -> State:
        """Press white, the puck lying where the next hand needs it."""
        self.say(*puck_moved(self.state, house_of(3)))
        return self.do("next")


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.journal.close()


def test_white_marks_one_payment_after_another_and_only_then_closes_the_hand(table: Table) -> None:
    due = table.state.unpaid
    assert len(due) == 3
    for count, pair in enumerate(due, start=1):
        state = table.go_on()
        assert (state.phase, len(state.paid)) == (Phase.SETTLED, count)
        assert pair in state.paid
    before = table.state
    state = table.go_on()
    assert (state.phase, state.hand) == (Phase.DEALING, before.hand + 1)


def test_where_no_next_hand_can_be_dealt_white_closes_this_one_and_then_says_why(table: Table) -> None:
    while table.state.unpaid:
        table.go_on()
    table.say(ev.DeviceFault("disk", "The disk is nearly full."))
    state = table.go_on()
    assert (state.phase, state.hand) == (Phase.ARCHIVED, 1)
    with pytest.raises(CommandRefused, match="nearly full"):
        table.go_on()
    table.say(ev.DeviceRecovered("disk"))
    assert table.go_on().hand == 2


def test_a_hand_closed_with_open_payments_says_which(table: Table) -> None:
    table.go_on()
    due = table.state.unpaid
    table.do("archive")
    last = list(table.reader.of_type("hand_archived"))[-1].event
    assert isinstance(last, ev.HandArchived)
    assert last.unmarked == due
    assert len(due) == 2


def test_a_closing_is_taken_back_with_its_marks_and_its_chips(table: Table) -> None:
    before = table.go_on()
    closed = table.do("archive")
    assert closed.stacks != before.stacks
    again = table.do("undo_close")
    assert (again.phase, again.hand, again.reopened) == (Phase.SETTLED, before.hand, "")
    assert (again.paid, again.stacks, again.settlement) == (before.paid, before.stacks, before.settlement)
    assert table.journal.recover() == again
    for _ in again.unpaid:
        table.go_on()
    assert table.do("archive").stacks == closed.stacks, "the chips move once"
    assert [len(chapter.steps) > 1 for chapter in load_hand(table.reader, 1).corrections] == [True]


def test_a_closing_taken_back_is_no_reopened_hand_in_the_archive(table: Table, tmp_path: Path) -> None:
    table.do("archive")
    table.do("undo_close")
    table.do("archive")
    archive = Archive(tmp_path)
    archive.refresh()
    (line,) = archive.hands()
    assert (line.outcome, line.reopened, line.settled) == ("settled", 0, 1)


def test_a_closing_is_taken_back_while_no_card_of_the_next_hand_is_dealt(table: Table) -> None:
    before = table.go_on()
    closed = table.do("archive")
    table.do("pass_round", player="p3", on=True)
    opened = table.go_on()
    assert (opened.phase, opened.hand, len(opened.seats)) == (Phase.DEALING, 2, 2)
    table.say(ev.ButtonKeyed(3))
    again = table.do("undo_close", hand=2, phase="dealing")
    assert (again.phase, again.hand, again.reopened, again.misdealt) == (Phase.SETTLED, 1, "", False)
    assert (again.paid, again.stacks, again.settlement) == (before.paid, before.stacks, before.settlement)
    assert hand_json(again) == hand_json(before)
    assert again.passes == {"p3"}, "who passes the next hand still does"
    assert table.journal.recover() == again
    for _ in again.unpaid:
        table.go_on()
    ended = table.do("archive")
    assert ended.stacks == closed.stacks, "the chips move once"
    table.do("pass_round", player="p3", on=False)
    third = table.go_on()
    assert (third.phase, third.hand) == (Phase.DEALING, 3), "no number is used twice"
    assert table.journal.recover() == third
    assert table.do("undo_close").hand == 1, "once more: the hand that was played last"


def test_a_hand_whose_opening_was_taken_back_stays_in_the_record_as_never_dealt(
    table: Table, tmp_path: Path
) -> None:
    for _ in range(3):
        table.go_on()
    assert table.go_on().hand == 2
    table.do("undo_close")
    table.go_on()
    table.go_on()
    archive = Archive(tmp_path)
    archive.refresh()
    assert [(line.hand, line.outcome) for line in archive.hands()] == [
        (3, "open"),
        (2, "withdrawn"),
        (1, "settled"),
    ]


def test_a_closing_is_not_taken_back_once_the_next_hand_is_said_to_be_dealt(table: Table) -> None:
    table.do("archive")
    table.go_on()
    table.go_on()
    table.do("surrender", seat=1)
    with pytest.raises(CommandRefused, match="Cards of hand 2 are dealt"):
        table.do("undo_close")


def test_a_closing_is_not_taken_back_once_chips_were_counted_or_the_next_hand_is_open(table: Table) -> None:
    with pytest.raises(CommandRefused, match="no closing"):
        table.do("undo_close")
    table.do("archive")
    table.do("count_stack", player="p1", stack=5, reason="counted")
    with pytest.raises(CommandRefused, match="have changed"):
        table.do("undo_close")
    table.go_on()
    with pytest.raises(CommandRefused):
        table.do("undo_close")


def test_a_payback_of_a_corrected_hand_is_whites_and_the_next_hand_opens_without_it_by_a_word(
    table: Table,
) -> None:
    table.do("archive")
    table.do("reopen", past=1, reason="disputed")
    table.do("set_card", seat=1, row="front", index=1, card="Jc")
    closed = table.go_on()
    assert closed.phase is Phase.ARCHIVED
    owed = [back for back in closed.paybacks if not back.paid]
    assert owed
    state = table.go_on()
    assert (state.phase, state.paybacks[0].paid) == (Phase.ARCHIVED, True)
    table.do("mark_paid_back", number=1, paid=False)
    later = table.do("open_hand")
    assert (later.phase, later.hand) == (Phase.DEALING, 2)
    assert not later.paybacks[0].paid
    table.do("void", reason="a test")
    assert table.go_on().phase is Phase.DEALING, "white waits for it no longer"


def test_a_row_of_an_earlier_release_is_read_as_it_was_meant() -> None:
    assert parse("hand_archived", "{}") == ev.HandArchived()
