"""The invariants of firmware/table/README.md, by their numbers: each test fails without the one thing that holds it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.rules import load_profile
from firmware.table import (
    Ask,
    CaptureError,
    CommandRefused,
    JournalError,
    Phase,
    State,
    apply,
    fold,
)
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide, step
from firmware.table.house import House
from firmware.table.phase import BETWEEN_HANDS, OPEN
from firmware.table.placing import compare

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

RULES = load_profile("washington-1-unit")


def test_1_an_acknowledged_event_is_on_disk_and_one_that_cannot_be_written_is_not_acknowledged(
    deal: Deal, tmp_path: Path
) -> None:
    with Journal(tmp_path) as journal:
        seq = journal.append([deal.opened()], "test")
        assert [entry.seq for entry in JournalReader(tmp_path).events_since(0)] == [seq]
        with sqlite3.connect(tmp_path / FILE) as other:
            other.execute(
                "CREATE TRIGGER full BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        other.close()
        with pytest.raises(JournalError):
            journal.append([ev.PhaseAdvanced(Phase.SETTING)], "test")
        assert journal.seq == seq


def test_2_apply_is_pure_and_the_same_events_give_the_same_state(face_up: Deal) -> None:
    events = [*face_up.until(Phase.PLACING), *face_up.placed()]
    state = fold(events[:-1])
    kept = replace(state)
    assert apply(state, events[-1]) == fold(events)
    assert state == kept


@pytest.mark.parametrize(
    "kind", [Ask.IRREGULARITY, Ask.CARD, Ask.COUNT, Ask.DUPLICATE, Ask.BUTTON, Ask.NATURAL]
)
def test_3_nothing_is_settled_while_a_question_is_open(deal: Deal, face_up: Deal, kind: Ask) -> None:
    rows = deal.rows
    match kind:
        case Ask.IRREGULARITY:
            missing = ev.IrregularitySeen(1, "card_missing", 1, "back", 0, "Ah")
            state = face_up.at(Phase.READING, missing, face_up.reading())
        case Ask.CARD:
            state = fold(deal.until(Phase.REVIEW, ((1, "back", 0),)))
        case Ask.COUNT:
            short = replace(deal, rows={**rows, 1: {**rows[1], "back": "Ah Kh"}})
            state = deal.at(Phase.READING, short.reading())
        case Ask.DUPLICATE:
            twice = replace(deal, rows={**rows, 1: {**rows[1], "front": "Qs Qd Kc"}})
            state = deal.at(Phase.READING, twice.reading())
        case Ask.BUTTON:
            state = fold([deal.opened(button=None), *deal.until(Phase.REVIEW)[1:]])
        case Ask.NATURAL:
            state = deal.at(Phase.REVIEW, ev.NaturalDeclared(1))
    assert {question.what for question in state.questions} == {kind}
    with pytest.raises(CommandRefused, match="open"):
        apply(state, deal.settled())


def test_4_no_card_of_a_closed_seat_is_known_before_the_signal(fantasyland: Deal) -> None:
    """Of the events that are possible by then, each that names a card refuses a closed seat."""
    state = fold([*fantasyland.until(Phase.PLACING), *fantasyland.placed()])
    card = ev.CardReading("Kc", 1.0, True)
    telling: list[ev.Event] = [
        ev.CardPlaced(2, "front", card),
        ev.CardReread(2, "front", 0, card),
        ev.IrregularitySeen(1, "card_missing", 2, "front", 0, "Kc"),
        ev.IrregularitySeen(1, "card_moved", 1, "front", 0, "Qs", 2, "front"),
        ev.CardResolved(2, "front", 0, "Kc"),
        ev.CardCorrected(2, "front", 0, "Kc"),
        ev.RowKeyed(2, "front", ("Kc", "Jd", "7s")),
        fantasyland.reading(),
        ev.ReadingFailed("x"),
    ]
    for event in telling:
        with pytest.raises(CommandRefused):
            apply(state, event)
    named = {type(event) for event in telling}
    # they carry no reading of this hand
    others = {
        ev.HandOpened,
        ev.HandReopened,
        ev.HandSettled,
        ev.IrregularityEnded,
    }
    carries = {
        kind
        for kind in ev.BY_TYPE.values()
        if any("card" in name or name == "rows" for name in kind.__dataclass_fields__)
    }
    assert carries <= named | others


def test_5_a_hand_ends_once(deal: Deal) -> None:
    for ended in (Phase.ARCHIVED, Phase.VOID):
        state = deal.at(ended)
        for end in (ev.HandArchived(), ev.HandVoided("x"), ev.HandMisdealt("x"), ev.HandWithdrawn()):
            with pytest.raises(CommandRefused):
                apply(state, end)
    for phase in OPEN - {Phase.PLACING}:
        with pytest.raises(CommandRefused):
            apply(deal.at(phase), deal.opened(2))
    assert set(ev.HandOpened.leads) == BETWEEN_HANDS


def test_6_an_unknown_puck_is_no_button(deal: Deal) -> None:
    seen = deal.at(Phase.DEALING, ev.PuckSeen("seat", 2))
    assert seen.button == 2
    for state in ("none", "unknown", "ambiguous", "apart", "fault"):
        assert apply(seen, ev.PuckSeen(state)).button is None


def test_7_an_event_names_a_picture_by_what_is_on_disk(tmp_path: Path) -> None:
    store = CaptureStore(tmp_path)
    capture = store.save("000001/a.jpg", b"pixels")
    assert store.check(capture) == "ok"
    store.path("000001/a.jpg").write_bytes(b"others")
    assert store.check(capture) != "ok"
    with pytest.raises(CaptureError, match="never overwritten"):
        store.save("000001/a.jpg", b"again")


def test_8_rows_are_never_changed_or_removed(deal: Deal, tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append([deal.opened(), ev.PhaseAdvanced(Phase.SETTING)], "test")
    db = sqlite3.connect(tmp_path / FILE)
    for order in ("UPDATE journal SET actor = 'me'", "DELETE FROM journal"):
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(order)
    db.close()
    first, second = JournalReader(tmp_path).events_since(0)
    assert second.previous == first.hash == first.sealed()


def test_9_no_look_changes_a_set_card(face_up: Deal) -> None:
    """An empty felt, another deck on it, all cards gone astray: the record's certain cards stay."""
    state = fold([*face_up.until(Phase.PLACING), *face_up.placed(9)])
    before = [seat.rows for seat in state.seats]
    looks = face_up.looks(9)
    empty = [replace(look, cards=()) for look in looks]
    swapped = [replace(look, cards=looks[-1 - k].cards) for k, look in enumerate(looks)]
    for seen in (empty, swapped):
        after = fold(compare(state, seen), state)
        assert after.irregularities
        for was, now in zip(before, [seat.rows for seat in after.seats], strict=True):
            assert all(now[row][: len(cards)] == cards for row, cards in was.items())


@pytest.mark.parametrize("what", ["back", "joker"])
@pytest.mark.parametrize("cards", ["Qs Qd", "Qs Qd 4c"])
def test_10_a_back_or_a_joker_in_a_row_is_a_question_however_many_cards_lie_there(
    deal: Deal, what: str, cards: str
) -> None:
    rows = {**deal.rows, 1: {**deal.rows[1], "front": cards}}
    read = replace(replace(deal, rows=rows).reading(), things=(ev.Thing(what, 1, "front"),))
    state = deal.at(Phase.READING, read)
    assert [(q.what, q.seat, q.row, q.things) for q in state.questions] == [(Ask.COUNT, 1, "front", (what,))]
    with pytest.raises(CommandRefused):
        apply(state, deal.settled())
    assert apply(state, ev.RowKeyed(1, "front", ("Qs", "Qd", "4c"))).questions == ()


def test_10_a_thing_where_a_card_is_expected_is_named_in_the_question(deal: Deal) -> None:
    rows = {**deal.rows, 1: {**deal.rows[1], "front": "Qs Qd"}}
    read = replace(replace(deal, rows=rows).reading(), things=(ev.Thing("foreign", 1, "front"),))
    assert [q.things for q in deal.at(Phase.READING, read).questions] == [("foreign",)]
    beside = replace(deal.reading(), things=(ev.Thing("foreign", 1, "front"),))
    assert deal.at(Phase.READING, beside).questions == (), "a chip next to a whole row hides nothing"


def test_11_whatever_ends_a_hand_the_stacks_sum_to_what_they_were(deal: Deal) -> None:
    settled, _ = step(deal.at(Phase.READING), [deal.reading()], RULES)
    assert settled.phase is Phase.SETTLED
    ends: list[tuple[State, ev.Event]] = [
        (settled, ev.HandArchived()),
        (settled, ev.HandVoided("x")),
        (deal.at(Phase.SETTING), ev.HandMisdealt("x")),
    ]
    for state, end in ends:
        after = apply(state, end)
        assert sum(stack or 0 for stack in after.stacks.values()) == 20_000
    assert apply(settled, ev.HandArchived()).stacks == {"p1": 10_300, "p2": 9_700}


@pytest.mark.parametrize(
    "stale", ['"hand":1,"phase":"setting"', '"hand":7,"phase":"showdown"', '"phase":"dealing"']
)
def test_12_a_stale_tap_changes_nothing(deal: Deal, stale: str) -> None:
    house = House(RULES, RULES.name, "", 100, deal.opened().seats)
    state = deal.at(Phase.SETTLED)
    with pytest.raises(CommandRefused, match="meant for"):
        decide(state, parse_command(f'{{"do":"next",{stale}}}'), house, RULES)
    assert decide(state, parse_command('{"do":"next","hand":1,"phase":"settled"}'), house, RULES)
