"""A past hand is corrected while a later one is played: that one waits, goes on where it was, and settles the same."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.record.archive import Archive
from firmware.record.finished_reader import FinishedReader
from firmware.record.hand_history import load_hand
from firmware.record.journal.journal import JournalReader
from firmware.record.reopening import end_of_hand
from firmware.table import CommandRefused, Phase, State
from firmware.table import events as ev
from tests.dealer_ui.felt import Felt
from tests.examples import examples

Act = Callable[[Felt], Any]
MISREAD = {"seat": 1, "row": "front", "index": 1, "card": "Js"}
SAME = ("seats", "paid", "settlement", "stacks", "irregularities", "keyed", "button", "awaited", "frame")
"""What a hand that waited goes on with."""
RIGHT = {"seat": 1, "row": "front", "index": 1, "card": "Qd"}


@contextmanager
def laid(**made: Any) -> Iterator[Felt]:
    """A felt on which hand 1 was played and closed, two seats, puck first at 1."""
    with tempfile.TemporaryDirectory() as folder:
        felt = Felt(
            Path(folder),
            profile="washington-1-unit",
            options={"deal.kind": "closed"},
            seats={1: "A", 2: "B"},
            **made,
        )
        try:
            felt.to_settled(1)
            felt.pay_all()
            felt.do("archive")
            yield felt
        finally:
            felt.journal.close()


def read(felt: Felt) -> None:
    felt.read()


def pay(felt: Felt) -> None:
    if felt.state.unpaid:
        felt.pay()


PLAY: tuple[Act, ...] = (
    lambda felt: felt.deal(button=2),
    lambda felt: felt.do("next"),
    lambda felt: felt.do("surrender", seat=1),
    lambda felt: felt.do("withdraw_surrender", seat=1),
    lambda felt: felt.do("next"),
    lambda felt: felt.look(),
    lambda felt: felt.read(unsure={(2, "front", 0): ("Ks", "Kc")}),
    lambda felt: felt.do("set_card", seat=2, row="front", index=0, card="Ks"),
    pay,
    lambda felt: felt.do("archive"),
)
"""Hand 2, one act after the other; a correction may stand before each of them and after the last."""


def correct(felt: Felt, card: dict[str, Any]) -> None:
    felt.do("reopen", past=1, reason="A card was read wrong")
    felt.do("set_card", **card)
    felt.do("next")


def unread(felt: Felt) -> None:
    """Try what only the waiting hand could take: nothing of it is taken by the reopened one."""
    before = felt.state
    for event in (ev.ReadingFailed("late"), ev.CardsAwaited((1,)), ev.PhaseAdvanced(Phase.SHOWDOWN)):
        with pytest.raises(CommandRefused):
            felt.say(event)
    for do in ("look_again", "back_to_setting", "undo_close"):
        with pytest.raises(CommandRefused):
            felt.do(do)
    with pytest.raises(CommandRefused, match=r"close it first|not over yet"):
        felt.do("reopen", past=1, reason="Again")
    assert felt.state == before


def paid_back(felt: Felt) -> dict[str, int | None]:
    """Mark all that is to be paid back, as white does, and return the stacks."""
    for number, back in enumerate(felt.state.paybacks, start=1):
        if not back.paid:
            felt.do("mark_paid_back", number=number)
    return dict(felt.state.stacks)


def after_each_other(corrections: list[dict[str, Any]]) -> dict[str, int | None]:
    with laid() as felt:
        for act in PLAY:
            act(felt)
        for card in corrections:
            correct(felt, card)
        return paid_back(felt)


@examples(60)
@given(places=st.lists(st.integers(0, len(PLAY)), max_size=3))
def test_corrections_beside_a_hand_give_the_stacks_of_the_same_acts_one_after_the_other(
    places: list[int],
) -> None:
    cards = [MISREAD, RIGHT, MISREAD][: len(places)]
    with laid() as felt:
        done = iter(cards)
        for at, act in enumerate((*PLAY, None)):
            for _ in range(places.count(at)):
                before = felt.state
                felt.do("reopen", past=1, reason="A card was read wrong")
                waits = before.phase not in (Phase.ARCHIVED, Phase.VOID)
                assert (felt.state.waiting is not None) == waits
                unread(felt)
                assert felt.journal.recover() == felt.state, (
                    "a restart finds the correction and the hand that waits"
                )
                felt.do("set_card", **next(done))
                felt.do("next")
                assert (felt.state.phase, felt.state.hand) == (before.phase, before.hand)
                for name in SAME if waits else ():
                    assert getattr(felt.state, name) == getattr(before, name), name
                assert felt.journal.recover() == felt.state
            if act is not None:
                act(felt)
        assert paid_back(felt) == after_each_other(cards)
        assert felt.journal.recover() == felt.state
        archive = Archive(felt.folder)
        archive.refresh()
        one, two = sorted(archive.hands(), key=lambda line: line.hand)
        assert (one.reopened, two.reopened, two.outcome, two.settled) == (len(places), 0, "settled", 1)
        reader = JournalReader(felt.folder)
        played = load_hand(reader, 2)
        assert len(played.play.settled) == 1
        assert played.settlement == end_of_hand(reader, 2).settlement
        assert not played.play.is_void
        assert len(load_hand(reader, 1).corrections) == len(places)
        assert archive.hand(2).play[-1].type == "hand_archived"
        assert sum(row.type == "settled" for row in archive.hand(2).play) == 1


def at_settled(felt: Felt) -> State:
    for act in PLAY[:8]:
        act(felt)
    return felt.state


def test_what_a_correction_found_beside_a_hand_is_whites_once_that_hand_is_closed() -> None:
    with laid() as felt:
        at_settled(felt)
        correct(felt, MISREAD)
        pay(felt)
        state = felt.do("next")
        assert state.phase is Phase.ARCHIVED, "the payback comes before the next hand"
        assert felt.do("next").paybacks[0].paid


def test_a_correction_of_the_hand_before_ends_its_undo_and_leaves_this_one_dealing() -> None:
    with laid() as felt:
        felt.deal(button=2)
        assert felt.state.opened is not None
        assert felt.state.opened.closed == 1
        correct(felt, MISREAD)
        with pytest.raises(CommandRefused, match="no closing"):
            felt.do("undo_close")
        assert felt.state.phase is Phase.DEALING


def test_the_puck_of_a_hand_that_is_being_dealt_follows_its_reader_through_a_correction() -> None:
    with laid() as felt:
        felt.deal(button=2)
        felt.do("reopen", past=1, reason="The puck was wrong")
        felt.say(ev.PuckSeen("seat", 1))
        assert felt.state.button == 1
        assert felt.state.waiting is not None
        assert felt.state.waiting.button == 2
        felt.do("next")
        assert (felt.state.phase, felt.state.button) == (Phase.DEALING, 1)


def test_the_running_hand_cannot_be_reopened_itself_and_loses_no_image_meanwhile() -> None:
    with laid() as felt:
        at_settled(felt)
        with pytest.raises(CommandRefused, match="not over yet"):
            felt.do("reopen", past=2, reason="x")
        felt.do("reopen", past=1, reason="x")
        with pytest.raises(CommandRefused, match="still open"):
            felt.say(ev.ImagesDropped(2, (), "older than a year"))
        felt.do("void", reason="Damaged card")
        assert felt.state.phase is Phase.SETTLED
        assert felt.state.hand == 2


def test_who_may_not_see_the_hand_on_the_table_does_not_see_it_after_a_correction_either() -> None:
    with laid() as felt:
        for act in PLAY[:5]:
            act(felt)
        last = JournalReader(felt.folder).of_type("hand_opened")[-1].seq - 1
        assert FinishedReader(felt.folder).head()[0] == last
        felt.do("reopen", past=1, reason="x")
        assert FinishedReader(felt.folder).head()[0] == last
        felt.do("next")
        assert FinishedReader(felt.folder).head()[0] == last, (
            "a correction that is over opens no view of the hand"
        )
        for act in PLAY[5:]:
            act(felt)
        assert FinishedReader(felt.folder).head()[0] == felt.seq
