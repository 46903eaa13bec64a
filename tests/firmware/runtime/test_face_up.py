"""The table process while cards are placed face up: it watches, a lost look costs nothing, old hands are reopened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from firmware.record.evidence.verify import verify
from firmware.rules import settle_json
from firmware.runtime.config import Config
from firmware.runtime.reading import scheduler as looks
from firmware.runtime.reading.messages import KnownCard, NothingNew, ReadingJob
from firmware.table import Ask, Phase, State
from firmware.table.settling import hand_json
from tests.firmware.running_table import HANDS, Table, reading_json

WHITE = '{"do":"next"}'
Hands = dict[str, dict[str, str]]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    config = Config.model_validate_json(
        f'{{"data": "{tmp_path}", "profile": "california-face-up", "seats": '
        '[{"seat": 1, "place": "A", "player": "Ann", "stack": 10000}, {"seat": 2, "place": "B", "player": "Bao"}]}'
    )
    table = Table(config)
    yield table
    with suppress(AssertionError):
        table.stop()


def grown(upto: int, hands: Hands = HANDS) -> Hands:
    """What lies there once each seat has placed so many cards: back first, front last."""
    felt: Hands = {}
    for place, rows in hands.items():
        left, felt[place] = upto, {}
        for row in ("back", "middle", "front"):
            cards = rows[row].split()[:left]
            left -= len(cards)
            felt[place][row] = " ".join(cards)
    return felt


def job(table: Table) -> ReadingJob:
    """Return the job that waits for its answer: the look after the signal, else the last one of the watch."""
    answered: set[int] = table.__dict__.setdefault("answered", set())
    reads = table.state.phase is Phase.READING

    def waiting() -> list[ReadingJob]:
        return [j for j in table.readings.jobs if j.number not in answered and (j.watch is None) is reads]

    table.until(lambda _: bool(waiting()))
    asked = waiting()[-1]
    answered.add(asked.number)
    return asked


def see(table: Table, hands: Hands, unsure: frozenset[str] = frozenset(), others: Any = ()) -> ReadingJob:
    """Answer the job that waits with a reading of the zones that it asks for."""
    asked = job(table)
    read = reading_json({place: rows for place, rows in hands.items() if place in asked.places}, unsure)
    table.readings.answer(read | {"others": list(others)}, asked.number)
    return asked


def to_placing(table: Table) -> None:
    table.puck_at(1)
    table.until(lambda state: state.puck.seat == 1)
    table.do(WHITE, WHITE)
    table.until_phase(Phase.PLACING)


def counts(*wanted: int) -> Callable[[State], bool]:
    return lambda state: tuple(seat.placed for seat in state.seats) == wanted


def test_a_face_up_hand_from_the_first_card_to_the_settlement(table: Table) -> None:
    to_placing(table)
    for cards in (5, 6, 9, 13):
        see(table, grown(cards))
        table.until(counts(cards, cards))
    table.press("next")
    table.until_phase(Phase.READING)
    see(table, HANDS)
    state = table.until_phase(Phase.SETTLED)
    assert state.settlement == settle_json(hand_json(state))
    types = table.types()
    assert types.count("card_placed") == 26
    assert types.count("reading_taken") == 1
    assert "irregularity_seen" not in types
    assert verify(table.config.data).ok


def test_the_camera_is_told_what_is_on_record_and_looks_at_open_places_only(table: Table) -> None:
    to_placing(table)
    first = see(table, grown(1), frozenset({"Ah"}))
    assert first.watch is not None
    assert first.watch.fresh
    table.until(counts(1, 1))
    second = job(table)
    assert second.watch is not None
    assert not second.watch.fresh
    assert second.watch.known["A", "back"] == (KnownCard("Ah", False),)
    assert second.watch.known["B", "back"] == (KnownCard("9s", True),)
    assert second.places == ("A", "B")


def test_a_lost_look_is_no_event_of_the_hand_and_the_next_one_makes_up_for_it(table: Table) -> None:
    to_placing(table)
    before = [t for t in table.types() if not t.startswith("device")]
    table.readings.answer("The camera is not connected: plug it in.", job(table).number)
    table.until(lambda state: "camera" in state.faults)
    assert [t for t in table.types() if not t.startswith("device")] == before
    assert see(table, grown(5)).watch.fresh  # type: ignore[union-attr]
    state = table.until(lambda state: counts(5, 5)(state) and not state.faults)
    assert state.phase is Phase.PLACING


def test_white_is_refused_and_unlit_until_all_cards_are_placed(table: Table) -> None:
    to_placing(table)
    see(table, grown(12))
    table.until(counts(12, 12))
    refused = table.ask(WHITE)
    assert "12 of 13" in refused["error"]
    assert "next" not in table.panel.lit()
    see(table, grown(13))
    table.until(counts(13, 13))
    table.until(lambda _: "next" in table.panel.lit())


def test_a_set_card_that_moved_is_asked_and_looked_at_afresh_after_the_answer(table: Table) -> None:
    to_placing(table)
    see(table, grown(5))
    table.until(counts(5, 5))
    moved = grown(5)
    moved["A"] = {"back": "Ah Kh 8h 6h", "middle": "3h", "front": ""}
    see(table, moved)
    state = table.until(lambda state: bool(state.irregularities))
    assert [q.what for q in state.questions] == [Ask.IRREGULARITY]
    table.readings.put(NothingNew(job(table).number))
    job(table)
    table.do('{"do":"resolve","number":1,"stands":"table"}')
    assert [card.card for card in table.state.seats[0].middle] == ["3h"]


def test_a_back_in_a_row_is_an_irregularity_and_a_chip_beside_it_none(table: Table) -> None:
    to_placing(table)
    corners = [[0.0, 0.0]] * 4
    see(table, grown(5), others=[{"what": "foreign", "corners": corners, "zones": [["A", "front"]]}])
    table.until(counts(5, 5))
    see(table, grown(5), others=[{"what": "back", "corners": corners, "zones": [["A", "front"]]}])
    state = table.until(lambda state: bool(state.irregularities))
    assert [(i.what, i.seat, i.row) for i in state.irregularities] == [("face_down", 1, "front")]


def test_hands_over_the_felt_for_long_are_said_and_forgotten_once_it_lies_still(table: Table) -> None:
    to_placing(table)
    for look in range(looks.UNSEEN_LOOKS):
        assert "view" not in table.state.faults, f"{look} looks may be one that took long on a busy machine"
        table.let_pass(looks.UNSEEN_TOO_LONG)
        table.readings.put(NothingNew(job(table).number, "something moves over the table"))
    state = table.until(lambda state: "view" in state.faults)
    assert "something moves" in str(state.faults["view"])
    see(table, grown(5))
    table.until(lambda state: not state.faults)


def test_a_look_that_makes_no_sense_changes_nothing(table: Table) -> None:
    to_placing(table)
    see(table, {"A": {"back": "1x"}, "B": {}})
    see(table, grown(5))
    table.until(counts(5, 5))


def test_a_keyed_face_up_hand_asks_nothing_of_the_camera(table: Table) -> None:
    to_placing(table)
    job(table)
    table.do('{"do":"key_hand","reason":"The camera is dead."}', WHITE)
    state = table.until_phase(Phase.REVIEW)
    assert {q.what for q in state.questions} == {Ask.COUNT}
    asked = len(table.readings.jobs)
    for number, place in ((1, "A"), (2, "B")):
        for row, cards in HANDS[place].items():
            table.do(f'{{"do":"key_row","seat":{number},"row":"{row}","cards":"{cards}"}}')
    state = table.until_phase(Phase.SETTLED)
    assert state.keyed
    assert len(table.readings.jobs) == asked


def test_a_restart_while_placing_keeps_the_cards_and_looks_at_once(table: Table) -> None:
    to_placing(table)
    see(table, grown(6))
    before = table.until(counts(6, 6))
    table.stop()
    again = Table(table.config)
    try:
        assert again.state.seats == before.seats
        assert see(again, grown(7)).watch.fresh  # type: ignore[union-attr]
        again.until(counts(7, 7))
    finally:
        again.stop()


def test_a_past_hand_is_reopened_corrected_and_closed_while_the_table_waits(table: Table) -> None:
    to_placing(table)
    see(table, grown(13))
    table.until(counts(13, 13))
    table.do(WHITE)
    table.until_phase(Phase.READING)
    see(table, HANDS)
    first = table.until_phase(Phase.SETTLED).settlement
    table.do(
        '{"do":"archive"}',
        '{"do":"list_person","person":"Ada","role":"technician","new_pin":"482915"}',
        '{"do":"list_person","person":"Moreno","role":"floor","new_pin":"736104","by":"Ada","pin":"482915"}',
        '{"do":"reopen","past":1,"reason":"a dispute","by":"Moreno","pin":"736104"}',
    )
    assert table.state.settlement == first
    table.do('{"do":"set_card","seat":1,"row":"front","index":1,"card":"Jc"}')
    assert table.state.phase is Phase.SETTLED
    assert table.state.settlement != first
    table.stop()
    again = Table(table.config)  # the power fails while a past hand lies on the table
    try:
        assert again.state.reopened == "a dispute"
        again.do(WHITE)
        assert again.state.phase is Phase.ARCHIVED
        assert len(again.state.paybacks) == 1
        again.do('{"do":"reopen","past":1,"reason":"once more","by":"Moreno","pin":"736104"}')
        assert [card.card for card in again.state.seats[0].front] == ["Qs", "Jc", "4c"]
    finally:
        again.stop()
    assert verify(table.config.data).ok


def test_a_stale_tap_is_refused(table: Table) -> None:
    to_placing(table)
    refused = table.ask('{"do":"next","hand":1,"phase":"dealing"}')
    assert not refused["ok"]
    assert refused["error"] == "That was meant for dealing; the hand is in placing by now."
