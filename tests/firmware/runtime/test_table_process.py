from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from firmware.devices.panel.simulated import LIFT
from firmware.devices.puck.reading import PuckState
from firmware.record.evidence.verify import verify
from firmware.rules import load_profile, settle_json
from firmware.runtime.socket_server import LONGEST_LINE
from firmware.table import Ask, JournalBusy, JournalError, Phase
from firmware.table.settling import hand_json

if TYPE_CHECKING:
    from tests.firmware.running_table import Table

WHITE = '{"do":"next"}'
Cards = Callable[..., dict[str, Any]]
Start = Callable[[], "Table"]


def to_setting(table: Table) -> None:
    table.puck_at(1)
    table.until(lambda state: state.puck.seat == 1)
    table.do(WHITE, WHITE)


def test_a_whole_hand_with_presses_of_white_alone(table: Table, cards: Cards) -> None:
    table.readings.ready = [cards()]
    table.puck_at(1)
    table.until(lambda state: state.puck.seat == 1)
    table.press("next")
    table.until_phase(Phase.DEALING)
    table.press("next")
    table.until_phase(Phase.SETTING)
    table.press("next")
    state = table.until_phase(Phase.SETTLED)
    assert state.settlement == settle_json(hand_json(state))
    assert state.settlement["points"] == {"1": 3, "2": -3}
    table.let_pass(1.0)  # five presses within less would be a loose wire's
    table.press("next")
    assert table.until(lambda state: bool(state.paid)).phase is Phase.SETTLED, "white marks the payment"
    table.press("next")
    state = table.until(lambda state: state.hand == 2)
    assert state.phase is Phase.DEALING
    assert [seat.stack for seat in state.seats] == [10_300, None]
    who = {entry.type: entry.actor for entry in table.reader.events_since(0)}
    assert (who["hand_opened"], who["puck_seen"], who["reading_taken"], who["settled"]) == (
        "button",
        "puck",
        "camera",
        "table",
    )
    assert verify(table.config.data).ok


def test_the_camera_looks_only_after_the_showdown_signal(table: Table, cards: Cards) -> None:
    to_setting(table)
    table.let_pass(0.3)
    assert table.readings.jobs == []
    table.do(WHITE)
    table.until_phase(Phase.READING)
    table.until(lambda state: table.readings.jobs != [])
    assert table.readings.jobs[0].places == ("A", "B")


def test_an_answer_comes_after_its_event_is_durable(table: Table) -> None:
    for _ in range(20):
        for line in (WHITE, '{"do":"void","reason":"a test"}'):
            answer = table.ask(line)
            assert table.reader.events_since(answer["seq"] - 1), answer


def test_a_hand_with_an_unsure_card_waits_for_the_dealer(table: Table, cards: Cards) -> None:
    table.readings.ready = [cards("Kd")]
    to_setting(table)
    table.do(WHITE)
    state = table.until_phase(Phase.REVIEW)
    assert [(q.what, q.seat, q.row, q.index) for q in state.questions] == [(Ask.CARD, 2, "back", 4)]
    refused = table.ask(WHITE)
    assert not refused["ok"]
    assert "unsure card" in refused["error"]
    table.let_pass(0.3)
    assert "settled" not in table.types()
    table.do('{"do":"set_card","seat":2,"row":"back","index":4,"card":"Kd"}')
    assert table.state.phase is Phase.SETTLED


def test_a_missing_button_is_asked(table: Table, cards: Cards) -> None:
    table.readings.ready = [cards()]
    table.do(WHITE, WHITE, WHITE)
    state = table.until_phase(Phase.REVIEW)
    assert [q.what for q in state.questions] == [Ask.BUTTON]
    table.do('{"do":"key_button","seat":2}')
    assert table.state.phase is Phase.SETTLED


# ---- naturals and green ----


def declared(table: Table, cards: Cards) -> None:
    table.readings.ready = [cards(), cards()]
    to_setting(table)
    table.do('{"do":"declare","seat":1}', '{"do":"declare","seat":2}', WHITE)
    table.until_phase(Phase.REVIEW)


def test_what_the_cards_do_not_bear_out_asks_for_press_and_hold(table: Table, cards: Cards) -> None:
    declared(table, cards)
    table.press("confirm")
    table.let_pass(0.3)
    assert [seat.confirmed for seat in table.state.seats] == [False, False]
    table.press("confirm", 1.3)  # seat 2 settles first: the puck is at seat 1
    table.until(lambda state: state.seats[1].confirmed)
    assert not table.state.seats[0].confirmed, "one hold confirms one natural"
    table.press("confirm", 1.3)
    assert table.until_phase(Phase.SETTLED).settlement is not None


def test_one_press_accepts_what_the_cards_bear_out(table: Table, cards: Cards) -> None:
    dragon = {"front": "Qc Kh Ah", "middle": "2c 3d 4h 6d 8h", "back": "5c 7d 9h Td Jc"}
    straights = {"front": "Kc Jd 7s", "middle": "8c 8d Tc 6s 2d", "back": "9s Ts Js Qh Kd"}
    table.readings.ready = [cards(hands={"A": dragon, "B": straights})]
    to_setting(table)
    table.do('{"do":"declare","seat":1}', WHITE)
    table.until_phase(Phase.REVIEW)
    table.press("confirm")
    state = table.until_phase(Phase.SETTLED)
    assert state.settlement is not None
    assert state.settlement["hands"][0]["natural"] == {"kind": "dragon", "value": 3}


def test_red_reads_again_and_settles_nothing(table: Table, cards: Cards) -> None:
    declared(table, cards)
    table.press("reject")
    table.until(lambda state: len(table.readings.jobs) == 2)
    state = table.until_phase(Phase.REVIEW)
    assert [q.what for q in state.questions] == [Ask.NATURAL, Ask.NATURAL]
    assert "settled" not in table.types()


# ---- things that go wrong ----


def test_a_lost_reading_is_said_and_can_be_taken_again(table: Table, cards: Cards) -> None:
    table.readings.ready = ["The camera is not connected: plug it in."]
    to_setting(table)
    table.do(WHITE)
    state = table.until(lambda state: "camera" in state.faults)
    assert state.phase is Phase.REVIEW
    assert str(state.reading_failure) == "The camera is not connected: plug it in."
    table.readings.ready = [cards()]
    table.do('{"do":"look_again"}')
    table.until_phase(Phase.SETTLED)
    table.until(lambda state: not state.faults)


def test_a_reading_that_comes_after_its_hand_was_voided_is_dropped(table: Table, cards: Cards) -> None:
    to_setting(table)
    table.do(WHITE)
    table.until_phase(Phase.READING)
    table.until(lambda state: table.readings.jobs != [])
    table.do('{"do":"void","reason":"exposed card"}', WHITE, WHITE, WHITE)
    table.until(lambda state: len(table.readings.jobs) == 2)
    first, second = (job.number for job in table.readings.jobs)
    table.readings.answer(cards("Kd"), first)
    table.readings.answer(cards(), second)
    state = table.until_phase(Phase.SETTLED)
    assert state.hand == 2
    assert table.types().count("reading_taken") == 1


def test_the_last_hands_cards_that_still_lie_there_are_no_new_hand(table: Table, cards: Cards) -> None:
    dealt = {
        "A": {"front": "2c 3c 5d", "middle": "6h 6d 7d 8s 9h", "back": "Jc Js Jh 4d 4h"},
        "B": {"front": "Kc Jd 7s", "middle": "8c 8d Tc 6s 2d", "back": "9s Ts Td Qh Kd"},
    }
    table.readings.ready = [cards(), cards("Kd"), cards(hands=dealt)]
    to_setting(table)
    table.do(WHITE)
    table.until_phase(Phase.SETTLED)
    table.do(WHITE, WHITE, WHITE, WHITE)  # pressed on and on: nobody has collected, nobody has dealt
    state = table.until(lambda state: state.hand == 2 and state.phase is Phase.REVIEW)
    assert (
        str(state.reading_failure)
        == "The last hand's cards still lie there; collect them, deal, then look again."
    )
    assert {q.what for q in state.questions} == {Ask.COUNT}
    table.do('{"do":"look_again"}')
    assert table.until_phase(Phase.SETTLED).hand == 2


def test_a_reading_that_makes_no_sense_is_a_failed_one(table: Table, cards: Cards) -> None:
    broken = cards()
    broken["zones"].append(broken["zones"][0])
    table.readings.ready = [broken]
    to_setting(table)
    table.do(WHITE)
    assert "read twice" in str(table.until_phase(Phase.REVIEW).reading_failure)


@pytest.mark.parametrize("state", [PuckState.UNKNOWN, PuckState.FAULT])
def test_a_dead_reader_is_shown_as_unknown(table: Table, state: PuckState) -> None:
    table.puck_at(2)
    table.do(WHITE)
    table.until(lambda now: now.button == 2)
    table.puck_at(None, state, "The puck reader is not connected.")
    now = table.until(lambda now: now.puck.state == state.value)
    assert (now.button, now.puck.seat) == (None, None)


def test_faults_are_told_once_and_taken_back(table: Table) -> None:
    table.faults["buttons"] = "Stuck down: next."
    state = table.until(lambda state: bool(state.faults))
    assert state.faults == {"buttons": "Stuck down: next."}
    table.until(lambda _: "fault" in table.panel.lit())
    table.let_pass(0.3)
    table.faults.clear()
    table.until(lambda state: not state.faults)
    table.until(lambda _: "ready" in table.panel.lit() and "fault" not in table.panel.lit())
    assert [t for t in table.types() if t.startswith("device")] == ["device_fault", "device_recovered"]


def test_what_cannot_be_written_did_not_happen(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.do(WHITE)
    before = table.state

    def full(*_: object) -> int:
        raise JournalError("The journal could not be written: the disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(table.journal, "append", full)
        answer = table.ask(WHITE)
        assert not answer["ok"]
        assert answer["error"] == "The journal could not be written: the disk is full."
        table.puck_at(2)
        table.until(lambda _: "fault" in table.panel.lit())
        assert table.process.state == before == table.state
    state = table.until(lambda state: state.puck.seat == 2)  # what the puck said meanwhile is made up for
    assert state.button == 2
    table.until(lambda _: "ready" in table.panel.lit())


def test_a_command_that_comes_again_with_its_id_is_answered_and_not_done_again(
    table: Table, start: Start
) -> None:
    order = '{"do": "add_on", "player": "Ann", "amount": 50000, "id": "one-touch-%s"}'
    first = table.ask(order % 1)
    assert first["ok"]
    assert table.ask(order % 1) == first
    assert table.types().count("added_on") == 1
    assert table.ask(order % 2)["seq"] > first["seq"], "another touch is another add-on"
    table.stop()
    again = start()
    assert again.ask(order % 1) == first, "after a restart, too"
    assert again.types().count("added_on") == 2


def test_two_buttons_at_once_are_nothing(table: Table) -> None:
    table.do(WHITE)
    table.panel.press_together("next", "reject", apart=0.01)
    table.buttons.let_pass(LIFT)
    table.press("next")  # two presses were one too many
    assert [press.button for press in table.process.presses] == ["next"]
    assert table.state.phase is Phase.SETTING


# ---- restarts ----


@pytest.mark.parametrize("phase", [Phase.DEALING, Phase.SETTING, Phase.READING, Phase.REVIEW, Phase.SETTLED])
def test_a_restart_goes_on_where_the_journal_ends(start: Start, cards: Cards, phase: Phase) -> None:
    table = start()
    if phase in (Phase.REVIEW, Phase.SETTLED):
        table.readings.ready = [cards("Kd") if phase is Phase.REVIEW else cards()]
    table.puck_at(1)
    table.until(lambda state: state.puck.seat == 1)
    table.do(WHITE)
    if phase is not Phase.DEALING:
        table.do(WHITE)
    if phase in (Phase.READING, Phase.REVIEW, Phase.SETTLED):
        table.do(WHITE)
    before = table.until_phase(phase)
    table.stop()
    again = start()
    assert again.state.phase is phase
    assert again.state.seats == before.seats
    # the puck counts once it is seen again
    assert again.state.button == (None if phase is Phase.DEALING else 1)
    if phase is Phase.READING:
        again.until(lambda state: again.readings.jobs != [])
        again.readings.answer(cards(), again.readings.jobs[0].number)
        again.until_phase(Phase.SETTLED)
    assert verify(again.config.data).ok


def test_the_panel_shows_where_the_hand_is_before_anything_happens(start: Start) -> None:
    table = start()
    table.until(lambda _: table.panel.lit() == {"ready", "next"})
    to_setting(table)
    table.stop()
    again = start()
    again.until(lambda _: again.panel.lit() == {"ready", "next"})


def test_a_hand_is_settled_by_the_rules_it_was_opened_with(start: Start, cards: Cards) -> None:
    table = start()
    to_setting(table)
    table.stop()
    table.config.__dict__["options"] = {"scoring.row": 5}  # the house changes its rules while a hand is open
    again = start()
    again.readings.ready = [cards()]
    again.do(WHITE)
    state = again.until_phase(Phase.SETTLED)
    assert state.settlement is not None
    assert state.settlement["points"] == {"1": 3, "2": -3}
    again.do(WHITE)
    again.do(WHITE)
    assert again.state.opened is not None
    assert again.state.opened.options == {"scoring.row": 5}
    assert load_profile("washington-1-unit").scoring.row == 1


def test_a_second_table_on_the_same_record_is_refused(table: Table, start: Start) -> None:
    with pytest.raises(JournalBusy):
        start()
    assert table.ask(WHITE)["ok"]


# ---- the socket ----


def test_commands_over_the_socket(table: Table, over_socket: Callable[..., list[bytes]]) -> None:
    answers = over_socket(table.config.socket, WHITE, "dance", '{"do":"confirm"}', "x" * (LONGEST_LINE + 1))
    assert json.loads(answers[0])["ok"] is True
    assert json.loads(answers[1])["error"] == 'A command is one line of JSON, an object with a "do".'
    assert json.loads(answers[2]) == {
        "ok": False,
        "error": "No natural waits to be confirmed.",
        "message": "No natural waits to be confirmed.",
        "args": {},
    }
    assert "too long" in json.loads(answers[3])["error"]
    assert table.config.socket.stat().st_mode & 0o777 == 0o660


def test_the_socket_is_gone_after_a_clean_stop_and_replaced_after_a_dirty_one(start: Start) -> None:
    table = start()
    table.stop()
    assert not table.config.socket.exists()
    table.config.socket.touch()  # what a killed process leaves
    assert start().ask(WHITE)["ok"]
