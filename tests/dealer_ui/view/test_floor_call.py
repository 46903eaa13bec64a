"""The call for the floor on the dealer's page: who offers it, and what is said of whether the pit has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dealer_ui.review.timeline import timeline
from dealer_ui.view.build import view
from dealer_ui.view.floor_call import SENDING_S, CallClock, CallState
from dealer_ui.view.live import Live
from dealer_ui.view.screen import Screen
from firmware.record.hand_history import load_hand
from firmware.record.journal.journal import JournalReader
from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from firmware.uplink import follow, status_file
from firmware.uplink.wire import Head
from tests.dealer_ui.felt import Felt

UP_TO_40 = {"have": 40, "silent_s": 1.0, "trouble": ""}


def shown(felt: Felt, heard: CallState) -> Screen:
    return view(felt.seq, felt.state, felt.rules, call=heard)


def offered(screen: Screen) -> list[dict[str, Any]]:
    calls = ("call_floor", "end_floor_call")
    return [a.command for group in screen.more for a in group.actions if a.command["do"] in calls]


def test_a_table_without_a_pit_offers_no_call(felt: Felt) -> None:
    assert offered(shown(felt, CallState.NONE)) == []
    assert offered(shown(felt, CallState.SENDING)) == [{"do": "call_floor"}]


def test_what_is_offered_is_what_the_table_takes_in_every_phase_and_blocks_nothing(felt: Felt) -> None:
    def both() -> None:
        for _ in range(2):
            command = offered(shown(felt, CallState.HEARD))[-1]
            felt.do(**command)

    both()
    felt.to_setting()
    both()
    felt.do("call_floor")
    with pytest.raises(CommandRefused, match="called already"):
        felt.do("call_floor")
    felt.to_reading()
    felt.read()
    felt.pay()
    felt.do("archive")
    assert felt.state.floor_called, "from hand to hand"
    felt.deal()
    assert felt.state.floor_called, "and in what a restart begins with"
    felt.do(**offered(shown(felt, CallState.UNHEARD))[0])
    with pytest.raises(CommandRefused, match="not called"):
        felt.do("end_floor_call", answered=True)


def test_a_call_made_while_a_past_hand_is_corrected_stays_when_that_is_closed(felt: Felt) -> None:
    felt.to_archived()
    felt.do("reopen", past=1, reason="Disputed at the table")
    felt.do("call_floor")
    felt.do("next")
    assert felt.state.floor_called


@pytest.mark.parametrize(
    ("how", "words", "first"),
    [
        (CallState.SENDING, "The call is on its way.", "The puck is not seen"),
        (CallState.HEARD, "The pit has the call.", "The puck is not seen"),
        (CallState.UNHEARD, "The pit has not got the call. Call aloud.", "The floor is called"),
        (CallState.NONE, "The pit has not got the call. Call aloud.", "The floor is called"),
    ],
)
def test_the_line_over_the_felt_says_whether_the_pit_has_the_call(
    felt: Felt, how: CallState, words: str, first: str
) -> None:
    felt.do("call_floor")
    alert = shown(felt, how).alert
    assert alert is not None
    assert (alert.title, alert.todo) == ("The floor is called", words)
    felt.say(ev.DeviceFault("puck", "The cable is out."))
    alert = shown(felt, how).alert
    assert alert is not None
    assert alert.title == first
    said = {one.title: one.todo for one in (alert, *alert.others)}
    assert said["The floor is called"] == words, "a call that nobody has comes first, and none is left out"
    assert "The puck is not seen" in said


def test_a_call_is_heard_once_the_pit_has_its_row_and_stays_heard(felt: Felt) -> None:
    pit: list[Mapping[str, Any] | None] = [UP_TO_40]
    clock = CallClock(lambda: pit[0])
    assert clock.at(felt.state, 41, 0.0) is CallState.SENDING
    felt.do("call_floor")
    assert clock.at(felt.state, 42, 10.0) is CallState.SENDING
    assert clock.at(felt.state, 50, 10.0 + SENDING_S) is CallState.UNHEARD
    pit[0] = {**UP_TO_40, "have": 42}
    assert clock.at(felt.state, 60, 20.0) is CallState.HEARD
    pit[0] = None
    assert clock.at(felt.state, 70, 30.0) is CallState.HEARD, "it was heard, whatever is heard later"
    felt.do("end_floor_call", answered=False)
    assert clock.at(felt.state, 71, 31.0) is CallState.NONE
    pit[0] = {**UP_TO_40, "have": 70}
    felt.do("call_floor")
    assert clock.at(felt.state, 72, 32.0) is CallState.SENDING, "another call"


def test_a_page_that_starts_later_believes_no_more_than_the_pit_has(felt: Felt) -> None:
    felt.do("call_floor")
    assert CallClock(lambda: UP_TO_40).at(felt.state, 41, 10.0) is not CallState.HEARD


def test_the_page_reads_the_uplinks_file(felt: Felt, tmp_path: Path) -> None:
    felt.do("call_floor")
    live = Live(
        JournalReader(felt.folder), lambda: {"ok": True}, pit=lambda: status_file.read_status(tmp_path, 12.0)
    )
    assert "Call aloud" in str(live.now().screen.alert)
    status_file.write_status(tmp_path, follow.UplinkStatus(Head(felt.seq), at=11.0))
    live = Live(
        JournalReader(felt.folder), lambda: {"ok": True}, pit=lambda: status_file.read_status(tmp_path, 12.0)
    )
    assert "The pit has the call." in str(live.now().screen.alert)


def test_the_review_tells_that_the_floor_was_called_and_came(felt: Felt) -> None:

    felt.to_setting()
    felt.do("call_floor")
    felt.do("end_floor_call", answered=True)
    felt.do("call_floor")
    felt.do("end_floor_call", answered=False)
    felt.do("void", reason="Fire alarm")
    past = load_hand(JournalReader(felt.folder), 1)
    told = [row.text for row in timeline(past)]
    assert told[-5:-1] == [
        "The floor is called.",
        "A floor person has come.",
        "The floor is called.",
        "The call for the floor is taken back.",
    ]
