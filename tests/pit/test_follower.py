"""What the pit knows of each table, followed from its rows, and what it never learns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firmware.record.journal.reader import JournalReader
from firmware.record.report_span import Span, report_of_span
from firmware.record.shift_counts import Counts
from firmware.record.shift_report import RunningReport
from firmware.table import events as ev
from firmware.table.event import Event, apply
from firmware.table.people import Role
from firmware.table.state import State
from pit.follow import following
from pit.follow.follower import Follower
from pit.follow.following import RecordState
from pit.store.database import Database
from tests.dealer_ui.conftest import felt, lay
from tests.dealer_ui.felt import HANDS, Felt
from tests.pit.sent import FollowedTable

__all__ = ["felt", "lay"]


@pytest.fixture
def sent(database: Database, felt: Felt) -> FollowedTable:
    return FollowedTable(database, felt.folder)


def needs(sent: FollowedTable) -> set[str]:
    sent.send()
    return {need.kind for need in sent.facts.needs}


def test_the_phase_the_hand_the_dealer_and_the_seats_are_followed(felt: Felt, sent: FollowedTable) -> None:
    felt.say(ev.PersonListed("Lin", Role.DEALER), ev.LoggedOn("Lin", 3))
    felt.to_setting()
    sent.send()
    facts = sent.facts
    assert (facts.phase, facts.hand, facts.dealer, facts.down, facts.taken) == ("setting", 1, "Lin", 3, 4)
    assert facts.down_ms is not None
    assert facts.needs == ()


def test_no_card_of_an_open_hand_is_in_the_facts(felt: Felt, sent: FollowedTable) -> None:
    felt.to_setting()
    felt.to_reading()
    sent.send()
    text = sent.facts.to_text()
    cards = {card for rows in HANDS.values() for row in rows for card in row.split()}
    assert not [card for card in cards if f'"{card}"' in text or f" {card}" in text]


def test_rows_of_an_open_hand_are_not_finished_until_it_is_closed(felt: Felt, sent: FollowedTable) -> None:
    before = felt.seq
    felt.to_setting()
    sent.send()
    assert sent.finished < before + 2
    felt.do("void", reason="Fire alarm")
    sent.send()
    assert sent.finished == felt.seq


def test_a_fault_and_a_dispute_are_needs_until_they_are_over(felt: Felt, sent: FollowedTable) -> None:
    felt.say(ev.DeviceFault("camera", "The camera is gone."))
    felt.to_setting()
    felt.do("void", reason="Fire alarm")
    felt.say(ev.HandDisputed(1, "A card was read wrong"))
    assert needs(sent) == {"fault", "dispute"}
    dispute = next(need for need in sent.facts.needs if need.kind == "dispute")
    assert (dispute.hand, dispute.text, dispute.by) == (1, "A card was read wrong", "test")
    felt.say(ev.DeviceRecovered("camera"))
    felt.deal()
    assert needs(sent) == {"dispute"}
    assert sent.facts.needs[0] == dispute
    felt.say(ev.DisputeClosed(1, "The settlement stands"))
    assert needs(sent) == set()


def test_a_call_for_the_floor_is_a_need_of_its_own_each_time_from_hand_to_hand(
    felt: Felt, sent: FollowedTable
) -> None:
    felt.say(ev.FloorCalled())
    called = felt.seq
    felt.to_setting()
    sent.send()
    assert [(need.key, need.by) for need in sent.facts.needs] == [(f"call:{called}", "test")]
    felt.do("void", reason="Fire alarm")
    felt.deal()
    sent.follower = Follower(sent.database)  # the pit was started again
    felt.do("next")
    assert needs(sent) == {"call"}
    assert [need.key for need in sent.facts.needs] == [f"call:{called}"]
    felt.do("end_floor_call", answered=True)
    assert needs(sent) == set()
    felt.do("call_floor")
    assert needs(sent) == {"call"}
    assert sent.facts.needs[0].key != f"call:{called}", "an earlier answer is not an answer to this one"


def test_what_is_followed_at_once_is_as_what_is_followed_row_by_row(felt: Felt, sent: FollowedTable) -> None:
    felt.say(ev.PersonListed("Lin", Role.DEALER), ev.LoggedOn("Lin", 3), ev.DeviceFault("puck", "gone"))
    felt.deal()
    felt.say(ev.FloorCalled(), ev.DeviceRecovered("puck"), ev.DeviceFault("printer", "No paper."))
    felt.do("void", reason="Fire alarm")
    felt.say(ev.HandDisputed(1, "A card was read wrong"), ev.DeviceFault("puck", "gone again"))
    felt.deal()
    felt.do("void", reason="Fire alarm")
    felt.say(
        ev.HandDisputed(2, "The deal"), ev.DisputeClosed(2, "It stands"), ev.HandDisputed(2, "Once more")
    )
    felt.to_setting()
    felt.to_reading()
    one_by_one, at_once = (RecordState(RunningReport(nothing), nothing) for nothing in [lambda _: None] * 2)
    rows = [(row, row.seq) for row in sent.reader.events_since(0, 10_000)]
    for row in rows:
        one_by_one.take_all([row])
    at_once.take_all(rows)
    assert one_by_one.stuck is at_once.stuck is None
    assert [need.key.partition(":")[0] for need in at_once.facts().needs][:4] == [
        *("call", "dispute", "dispute"),
        *("fault",),
    ]
    for name in (
        "seq",
        "finished",
        "state",
        "last",
        "phase_ms",
        "since_ms",
        "readings",
        "why",
        "call",
        "places",
    ):
        assert getattr(one_by_one, name) == getattr(at_once, name), name
    assert one_by_one.facts() == at_once.facts()
    assert one_by_one.report.downs() == at_once.report.downs()


def test_a_need_keeps_its_beginning_over_a_restart_of_the_pit(felt: Felt, sent: FollowedTable) -> None:
    felt.deal()
    felt.say(ev.DeviceFault("puck", "The puck reader is gone."))
    sent.send()
    began = sent.facts.needs
    sent.follower = Follower(sent.database)
    felt.do("next")
    sent.send()
    assert sent.facts.needs == began
    assert sent.facts.phase == "setting"


def test_a_row_of_a_later_release_stops_only_that_table_and_is_tried_again(
    felt: Felt, sent: FollowedTable
) -> None:
    sent.send()
    with sent.database.transaction() as connection:
        connection.execute("UPDATE table_now SET stuck_why = 'later'")
    felt.deal()
    sent.send()
    assert sent.facts.hand == 0
    sent.follower.retry()
    sent.send()
    assert sent.facts.hand == 1


def test_a_row_that_breaks_the_pits_code_stops_only_its_own_table(
    felt: Felt, sent: FollowedTable, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = FollowedTable(sent.database, record, "Table 2")
    other.follower = sent.follower

    def breaks(state: State, event: Event) -> State:
        if isinstance(event, ev.HandOpened):
            raise KeyError("what no release wrote")
        return apply(state, event)

    felt.deal()
    monkeypatch.setattr(following, "apply", breaks)
    sent.send()
    monkeypatch.setattr(following, "apply", apply)
    other.send()
    assert sent.facts.hand == 0
    assert other.facts.hand == 12
    with sent.database.transaction() as connection:
        why = connection.execute("SELECT stuck_why FROM table_now WHERE stuck_why IS NOT NULL").fetchall()
    assert [text.endswith("is of no release. Show it to a technician.") for (text,) in why] == [True]


def totals(sent: FollowedTable) -> tuple[Counts, ...]:
    names = ", ".join(vars(Counts()))
    with sent.database.transaction() as connection:
        rows = connection.execute(f"SELECT {names} FROM down_total ORDER BY began_seq").fetchall()
    return tuple(Counts(*row) for row in rows)


def test_the_downs_have_the_totals_of_the_tables_own_report(database: Database, record: Path) -> None:
    sent = FollowedTable(database, record)
    sent.send()
    own = report_of_span(JournalReader(record), Span())
    assert sum(totals(sent), Counts()) == own.total
    assert own.total.hands == 12


def test_the_totals_are_the_same_when_the_pit_starts_again_after_every_hand(
    felt: Felt, sent: FollowedTable
) -> None:
    felt.say(ev.PersonListed("Lin", Role.DEALER), ev.PersonListed("Bo", Role.DEALER), ev.LoggedOn("Lin", 1))
    for number in range(4):
        felt.to_setting()
        felt.to_reading()
        sent.send()
        sent.follower = Follower(database=sent.database)
        if felt.state.settlement is None:
            felt.do("void", reason="Fire alarm")
        else:
            felt.say(ev.HandArchived())
        if number == 1:
            felt.say(ev.LoggedOn("Bo", 2))
        sent.send()
        sent.follower = Follower(database=sent.database)
    own = report_of_span(JournalReader(felt.folder), Span())
    assert [down.counts for down in own.downs if down.dealer] == list(totals(sent))[-2:]
    first = totals(sent)
    sent.follower.start_over()
    sent.send()
    assert totals(sent) == first


def test_the_places_are_those_of_the_tables_index(database: Database, record: Path) -> None:
    sent = FollowedTable(database, record)
    sent.send()
    with database.transaction() as connection:
        found = connection.execute(
            "SELECT hand, seq FROM place WHERE type = 'hand_opened' ORDER BY hand"
        ).fetchall()
    opened = JournalReader(record).of_type(ev.HandOpened.type)
    assert found == [(row.hand, row.seq) for row in opened]


def test_facts_come_back_from_their_json(felt: Felt, sent: FollowedTable) -> None:
    felt.deal()
    felt.say(ev.DeviceFault("puck", "gone"))
    sent.send()
    facts = sent.facts
    assert json.loads(facts.to_text())["needs"][0]["detail"] == "puck"
    assert type(facts).from_text(facts.to_text()) == facts
